"""Imports a CSV or TSV file of library entries: says what it would do, then does all or nothing.

An entry is found by its slug: one that is there is changed in the columns that the file has, one
that is not is added. Nothing is ever deleted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.common.table_file import (
    DIGEST_SHOWN,
    Heading,
    Problem,
    Record,
    TableFileError,
    describe_import,
    list_columns,
    read_table,
)
from annotation.common.text_shortening import shorten
from annotation.library.library_kind import (
    Action,
    Change,
    Column,
    Draft,
    Known,
    LibraryKind,
    Plan,
    Values,
    join,
)

SLUG = re.compile(r"[-a-zA-Z0-9_]+")


class BadEntriesError(Exception):
    """The file has bad rows and nothing was stored; `plan` names every one."""

    def __init__(self, plan: ImportPlan) -> None:
        n, total = len(plan.of(Action.REFUSED)), len(plan.entries)
        super().__init__(
            f"Nothing was imported: {n} of {total} {plan.kind.plural} {'is' if n == 1 else 'are'} "
            "bad."
        )
        self.plan = plan


@dataclass(frozen=True)
class ImportPlan:
    """What an import of a file does, entry by entry, in the file's order."""

    kind: LibraryKind
    entries: tuple[Plan, ...]
    #: What was assumed of the file.
    notices: tuple[str, ...] = ()

    def of(self, action: Action) -> list[Plan]:
        """Return the entries with which this is done."""
        return [entry for entry in self.entries if entry.action == action]

    @property
    def problems(self) -> list[Problem]:
        """Everything that keeps entries from being imported, in the lines' order."""
        found = [fault for entry in self.entries for fault in entry.faults]
        return sorted(found, key=lambda problem: problem.line)

    @property
    def remarks(self) -> list[Problem]:
        """What may be wrong with entries that can be imported."""
        return [Problem(entry.line, text) for entry in self.entries for text in entry.remarks]

    @cached_property
    def new_sets(self) -> list[str]:
        """Slugs of the sets that the import makes."""
        model = self.kind.set_model
        if model is None:
            return []
        named = {
            slug
            for entry in self.entries
            if entry.action in (Action.ADDED, Action.CHANGED)
            for slug in entry.values.get("sets", ())
        }
        known = set(model._default_manager.values_list("slug", flat=True))
        return sorted(named - known)

    @property
    def digest(self) -> str:
        """The same for the same outcome: a preview is kept only as long as it holds."""
        said = [(e.slug, e.action, sorted(e.values.items()), e.changes) for e in self.entries]
        return hashlib.sha256(repr(said).encode("utf-8", "replace")).hexdigest()[:DIGEST_SHOWN]


def plan_import(
    *,
    kind: LibraryKind,
    content: bytes,
    file_name: str,
    as_written: bool = False,
    heading: Heading | None = None,
) -> ImportPlan:
    """Return what importing a file would do. One query for each part of the kind's entries.

    heading : which columns of other names hold what
    as_written : takes what the check of English is certain about as a remark, for words of another
        language or wrong on purpose.

    Raises `TableFileError` where the file as a whole cannot be read.
    """
    table = read_table(content, file_name, or_json=True, heading=heading)
    records = table.records
    columns = _match_heading(kind, records)
    known = Known(kind.stored())
    drafts = kind.drafts(records, columns)
    first_lines: dict[str, int] = {}
    for draft in drafts:
        first = first_lines.setdefault(draft.slug, draft.line)
        if draft.slug and first != draft.line:
            draft.faults.append(
                Problem(draft.line, f"“{draft.slug}” stands on line {first} already.")
            )
    plans = []
    for draft in kind.order(drafts):
        plan = _plan(kind, draft, known, as_written=as_written)
        if plan.action != Action.REFUSED:
            known.planned[plan.slug] = plan
        plans.append(plan)
    plans.sort(key=lambda plan: plan.line)
    return ImportPlan(kind, tuple(plans), table.notices)


@transaction.atomic
def import_library(
    *,
    kind: LibraryKind,
    content: bytes,
    file_name: str,
    user: AbstractBaseUser | None = None,
    as_written: bool = False,
    skip_bad_rows: bool = False,
    expected_digest: str = "",
    heading: Heading | None = None,
) -> ImportPlan:
    """Store a file's entries, all or none; return what was done.

    user : who imports, for the history
    skip_bad_rows : leaves bad entries out instead of refusing the file
    expected_digest : of the plan that somebody agreed to; another outcome is refused

    Raises `TableFileError` for a file that cannot be read, `BadEntriesError` for bad rows and
    `StalePlanError` where the library has changed since the preview.
    """
    given: dict[str, Any] = {
        "kind": kind,
        "content": content,
        "file_name": file_name,
        "as_written": as_written,
        "heading": heading,
    }
    plan = plan_import(**given)
    if plan.of(Action.REFUSED) and not skip_bad_rows:
        raise BadEntriesError(plan)
    if expected_digest and plan.digest != expected_digest:
        raise StalePlanError(plan)
    try:
        with transaction.atomic():
            kind.store(
                added=plan.of(Action.ADDED),
                changed=plan.of(Action.CHANGED),
                user=user,
                reason=describe_import(content, file_name),
            )
    except IntegrityError as error:  # somebody else added the same just now
        raise StalePlanError(plan_import(**given)) from error
    return plan


class StalePlanError(Exception):
    """The library is no longer as the preview found it; `plan` is what would be done now."""

    def __init__(self, plan: ImportPlan) -> None:
        super().__init__(
            "Nothing was imported: the library has changed since the preview. Look at what would "
            "be done now."
        )
        self.plan = plan


def _match_heading(kind: LibraryKind, records: Sequence[Record]) -> dict[str, Column]:
    """Return the column of each name in the heading."""
    first = next((record for record in records if not record.fault), None)
    expected = f"expected {', '.join(column.name for column in kind.columns)}"
    if first is None:
        raise TableFileError(f"No row can be read. Line {records[0].line} {records[0].fault}")
    matched: dict[str, Column] = {}
    given = dict.fromkeys(name for record in records for name in record.values)
    for heading in given:
        column = kind.column(heading)
        if column is None:
            raise TableFileError(
                f"The column “{shorten(heading)}” is not known for {kind.plural}, {expected}."
            )
        if column in matched.values():
            raise TableFileError(f"Two columns hold “{column.name}”, {expected}.")
        matched[heading] = column
    if all(column.name != "slug" for column in matched.values()):
        raise TableFileError(
            f"There is no column “slug”, which says which entry a row is about. "
            f"{list_columns(given)} {expected.capitalize()}."
        )
    return matched


def _plan(kind: LibraryKind, draft: Draft, known: Known, *, as_written: bool) -> Plan:
    """Return what becomes of one draft."""
    if draft.faults and not draft.slug:
        return Plan(
            draft.line, draft.slug, Action.REFUSED, draft.values, faults=tuple(draft.faults)
        )
    old = known.stored.get(draft.slug)
    values = kind.complete(
        {**(old or kind.empty), **draft.values}, given=draft.values, old=old, known=known
    )
    changes = tuple(
        Change(name, (old or kind.empty)[name], value)
        for name, value in values.items()
        if value != (old or kind.empty)[name]
    )
    faults = [*draft.faults, *_slug_faults(draft)]
    if old is not None and not changes and not faults:
        return Plan(draft.line, draft.slug, Action.UNCHANGED, values)
    remarks: list[str] = []
    if not faults:
        faults += [Problem(draft.line, text) for text in _missing(kind, values)]
        faults += [Problem(draft.line, text) for text in _field_faults(kind, draft.slug, values)]
    if not faults:
        seen: set[str] = set()
        for finding in kind.check(draft.slug, values, known):
            if finding.message in seen:
                continue  # the same word in another form
            seen.add(finding.message)
            if finding.certain and (finding.firm or not as_written):
                faults.append(Problem(draft.line, str(finding)))
            else:
                remarks.append(str(finding))
    action = Action.CHANGED if old is not None else Action.ADDED
    return Plan(
        draft.line,
        draft.slug,
        Action.REFUSED if faults else action,
        values,
        changes if old is not None else (),
        tuple(faults),
        tuple(remarks),
    )


def _slug_faults(draft: Draft) -> Iterable[Problem]:
    if not draft.slug:
        yield Problem(draft.line, "“slug” is empty, expected the name that data go by.")
    elif not SLUG.fullmatch(draft.slug):
        yield Problem(
            draft.line,
            f"“slug” is “{shorten(draft.slug)}”, expected letters, digits, hyphens and "
            "underscores.",
        )


def _missing(kind: LibraryKind, values: Values) -> Iterable[str]:
    for column in kind.columns:
        if column.needed and column.name != "slug" and not values[column.name]:
            yield f"“{column.name}” is empty, expected {column.meaning}."


def _field_faults(kind: LibraryKind, slug: str, values: Values) -> Iterable[str]:
    """Validate each field of the model; say its value with what is wrong.

    Empty ones are told by the columns that are needed and by the kind's own check.
    """
    try:
        kind.build(slug, values).clean_fields()
    except ValidationError as error:
        for name, errors in error.error_dict.items():
            shown = shorten(slug if name == "slug" else join(values.get(name, "")))
            for found in errors:
                if found.code != "blank":
                    yield f"“{name}” is “{shown}”. {' '.join(found.messages)}"
