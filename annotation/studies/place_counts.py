"""Keeps `PlaceCount` by triggers: in the transaction of whatever changes a submission, by any way.

What one submission adds is one SELECT, `_places`. The triggers take it for the row before a change
and for the row after it, `recount` for all rows, and `find_wrong_counts` compares.
"""

# ruff: noqa: S608 - every part of the statements is written here
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

SUBMISSIONS, ASSIGNMENTS = "annotation_submission", "annotation_groupassignment"
COUNTS = "annotation_placecount"
NUMBERS = ("accepted", "in_review", "doubtful")
_KEYS = ("study_id", "scope", "kind", "key")
_DECIDING = ("study_id", "state", "data_decision", "checks_passed", "is_counted", "origin", "arm")
_GIVING = ("submission_id", "group_id", "is_repeat", "skipped")
#: Name → table, and what fires it: rows before (OLD) and after (NEW) the change.
TRIGGERS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "places_by_new_submission": (SUBMISSIONS, "INSERT", ("NEW",)),
    "places_by_submission": (SUBMISSIONS, f"UPDATE OF {', '.join(_DECIDING)}", ("OLD", "NEW")),
    "places_by_gone_submission": (SUBMISSIONS, "DELETE", ("OLD",)),
    "places_by_new_group": (ASSIGNMENTS, "INSERT", ("NEW",)),
    "places_by_group": (ASSIGNMENTS, f"UPDATE OF {', '.join(_GIVING)}", ("OLD", "NEW")),
    "places_by_gone_group": (ASSIGNMENTS, "DELETE", ("OLD",)),
}


def _places(submissions: str = SUBMISSIONS, assignments: str = ASSIGNMENTS) -> str:
    """Return a SELECT of every place that is taken: its keys, and one of the numbers is 1."""
    waiting = "s.data_decision = 'waiting'"
    columns = f"""
        CASE WHEN s.data_decision = 'accepted' THEN 1 ELSE 0 END AS accepted,
        CASE WHEN {waiting} AND s.checks_passed IS NOT FALSE THEN 1 ELSE 0 END AS in_review,
        CASE WHEN {waiting} AND s.checks_passed IS FALSE THEN 1 ELSE 0 END AS doubtful"""
    scopes = """(SELECT 'counted' AS scope UNION ALL SELECT 'pilot') AS c
        ON (c.scope = 'counted' AND s.is_counted) OR (c.scope = 'pilot' AND s.origin = 'pilot')"""
    taken = "s.state = 'finished' AND s.data_decision <> 'excluded'"
    found = f"""
        SELECT s.study_id, c.scope, 'group' AS kind, g.slug AS key, {columns}
        FROM {submissions} AS s JOIN {assignments} AS a ON a.submission_id = s.id
        JOIN annotation_studygroup AS g ON g.id = a.group_id JOIN {scopes}
        WHERE {taken} AND NOT a.is_repeat AND a.skipped = ''"""
    if assignments != ASSIGNMENTS:
        return found
    return f"""{found} UNION ALL
        SELECT s.study_id, c.scope, 'arm', s.arm, {columns}
        FROM {submissions} AS s JOIN {scopes} WHERE {taken} AND s.arm <> ''"""


def _change(table: str, row: str, *, locks: bool) -> Iterator[str]:
    """Yield what takes the places of the row OLD away, or adds those of NEW."""
    names = ("id", *_DECIDING) if table == SUBMISSIONS else _GIVING
    stored = f"(SELECT {', '.join(f'{row}.{name} AS {name}' for name in names)})"
    places = _places(stored) if table == SUBMISSIONS else _places(assignments=stored)
    same = " AND ".join(f"{COUNTS}.{key} = p.{key}" for key in _KEYS)
    if row == "NEW":
        yield f"""INSERT INTO {COUNTS} ({", ".join((*_KEYS, *NUMBERS))})
            SELECT {", ".join(f"p.{key}" for key in _KEYS)}, 0, 0, 0 FROM ({places}) AS p
            WHERE TRUE ORDER BY {", ".join(f"p.{key}" for key in _KEYS)} ON CONFLICT DO NOTHING"""
    if locks:  # always in one order, so that no two transactions wait for each other
        yield f"""PERFORM 1 FROM {COUNTS} JOIN ({places}) AS p ON {same}
            ORDER BY {COUNTS}.id FOR UPDATE OF {COUNTS}"""
    sign = "+" if row == "NEW" else "-"
    changes = ", ".join(f"{name} = {COUNTS}.{name} {sign} p.{name}" for name in NUMBERS)
    yield f"UPDATE {COUNTS} SET {changes} FROM ({places}) AS p WHERE {same}"


def add_triggers(connection: BaseDatabaseWrapper) -> None:
    """Let the database keep the counts, and count once what it holds already."""
    is_sqlite = connection.vendor == "sqlite"
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        for name, (table, event, rows) in TRIGGERS.items():
            steps = [step for row in rows for step in _change(table, row, locks=not is_sqlite)]
            body, head = "; ".join(steps), f"CREATE TRIGGER {name} AFTER {event} ON {table}"
            watched = _DECIDING if table == SUBMISSIONS else _GIVING
            if len(rows) == 2:
                differ = "IS NOT" if is_sqlite else "IS DISTINCT FROM"
                changed = " OR ".join(f"OLD.{one} {differ} NEW.{one}" for one in watched)
                condition = f"WHEN ({changed})"
            else:
                condition = ""
            if is_sqlite:
                cursor.execute(f"{head} FOR EACH ROW {condition} BEGIN {body}; END")
                continue
            cursor.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger AS $$ BEGIN {body}; RETURN NULL; END $$ "
                "LANGUAGE plpgsql"
            )
            cursor.execute(f"{head} FOR EACH ROW {condition} EXECUTE FUNCTION {name}()")
        recount(connection)


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Forget the triggers: SQLite alters no table that one of them names."""
    with connection.cursor() as cursor:
        for name in TRIGGERS:
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


def has_triggers(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the database has every trigger. One query."""
    is_sqlite = connection.vendor == "sqlite"
    listed = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if is_sqlite
        else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    with connection.cursor() as cursor:
        cursor.execute(listed)
        return {name for (name,) in cursor.fetchall()} >= TRIGGERS.keys()


def recount(connection: BaseDatabaseWrapper) -> None:
    """Count every submission anew."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {COUNTS}")
        cursor.execute(
            f"INSERT INTO {COUNTS} ({', '.join((*_KEYS, *NUMBERS))}) {_sum(f'({_places()}) AS p')}"
        )


def find_wrong_counts() -> list[str]:
    """Return a line for every place whose kept numbers are not those of the submissions."""
    with transaction.atomic(), connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(
            f"SELECT 'kept' AS source, f.* FROM ({_sum(COUNTS)}) AS f "
            f"UNION ALL SELECT 'counted', f.* FROM ({_sum(f'({_places()}) AS p')}) AS f"
        )
        found: dict[tuple[Any, ...], dict[str, tuple[int, ...]]] = {}
        for source, *row in cursor.fetchall():
            if any(numbers := tuple(map(int, row[len(_KEYS) :]))):
                found.setdefault(tuple(row[: len(_KEYS)]), {})[source] = numbers
    none = (0,) * len(NUMBERS)
    return [
        f"study {study}, {scope}, {kind} “{key}”: kept {sides.get('kept', none)}, "
        f"counted {sides.get('counted', none)} ({', '.join(NUMBERS)})"
        for (study, scope, kind, key), sides in sorted(found.items())
        if sides.get("kept", none) != sides.get("counted", none)
    ]


def _sum(rows: str) -> str:
    keys, sums = ", ".join(_KEYS), ", ".join(f"SUM({name}) AS {name}" for name in NUMBERS)
    return f"SELECT {keys}, {sums} FROM {rows} GROUP BY {keys}"


def before_migrate(*, plan: Any, using: str, **_options: Any) -> None:
    if plan:
        drop_triggers(connections[using])


def after_migrate(*, plan: Any, using: str, **_options: Any) -> None:
    """Whatever was altered: the counts are exact from here on.

    Also after a migration that was killed between dropping the triggers and this.
    """
    connection = connections[using]
    if COUNTS not in connection.introspection.table_names():
        return
    if plan or not has_triggers(connection):
        drop_triggers(connection)
        add_triggers(connection)
