"""Statements whose SQL is written once: queries, inserts and updates.

Django writes the SQL of a QuerySet each time, which takes several times as long as running it: a
page that a participant submits costs 8.4 ms of CPU by plain QuerySets and 4.6 ms by these.
Participants' pages ask and store the same few things again and again, with other values.

This module alone relies on what Django does not document: the compiler of a query with its
`klass_info`, and `get_related_populators`, as `QuerySet` itself uses them. A test holds every other
module to the public API, and tests compare what is read and stored here with the ORM.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.query import ValuesIterable, get_related_populators

Row = TypeVar("Row")
_PLAIN = frozenset({int, float, str, bool, type(None)})
# Stands for a moment while SQL is written.
_MOMENT = datetime(1, 1, 1, tzinfo=UTC)


class PreparedQuery(Generic[Row]):
    """Objects of a QuerySet whose conditions compare with other values each time.

        by_token = PreparedQuery(lambda token: Submission.objects.filter(token=token))
        submission = by_token.get("dXJsc2FmZQ")

    ``build`` is called once for each kind of database. Its arguments are negative integers, which
    stand for the values of a run; conditions on numbers and on texts both take them. A parameter
    named ``now`` is a moment. Joins by `select_related`, annotations and `values` work, deferred
    columns and `prefetch_related` do not. Every method sends one query.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Row]]) -> None:
        self._build = build
        self._compiled: dict[str, _CompiledQuery] = {}

    def all(self, *values: int | str | datetime) -> list[Row]:
        return list(self._run(values))

    def first(self, *values: int | str | datetime) -> Row | None:
        return next(self._run(values), None)

    def get(self, *values: int | str | datetime) -> Row:
        """Return the first object. Raises the model's `DoesNotExist` if there is none."""
        found = self.first(*values)
        if found is None:
            raise self._compiled[_connection().vendor].model.DoesNotExist
        return found

    def _run(self, values: tuple[int | str | datetime, ...]) -> Iterator[Row]:
        connection = _connection()
        compiled = self._compiled.get(connection.vendor)
        if compiled is None:
            compiled = _CompiledQuery(self._build, connection)
            self._compiled[connection.vendor] = compiled
        return compiled.run(values, connection)


class _CompiledQuery:
    """The SQL for one kind of database, and how its rows become objects.

    Follows `django.db.models.query.ModelIterable`, which compiles the query on each iteration.
    """

    def __init__(
        self, build: Callable[..., models.QuerySet[Any, Any]], connection: BaseDatabaseWrapper
    ) -> None:
        names = inspect.signature(build).parameters
        stand_ins: list[Any] = [
            _MOMENT if name == "now" else place - len(names) for place, name in enumerate(names)
        ]
        queryset = build(*stand_ins)
        self._compiler: Any = queryset.query.get_compiler(connection=connection)
        self._sql, parameters = self._compiler.as_sql()
        places = {
            form: place
            for place, one in enumerate(stand_ins)
            for form in (one, str(one), _adapt(one, connection))
        }
        # Which of a run's values each parameter of the SQL takes, None for one that never changes.
        self._parameters = [(places.get(parameter), parameter) for parameter in parameters]
        select, described = self._compiler.select, self._compiler.klass_info
        self._converters = self._compiler.get_converters([column[0] for column in select])
        self.model: Any = queryset.model
        self._is_values = issubclass(queryset._iterable_class, ValuesIterable)
        if self._is_values:
            self._names = list(queryset.query.selected or ())
            return
        columns = described["select_fields"]
        self._own = slice(columns[0], columns[-1] + 1)
        self._names = [column[0].target.attname for column in select[self._own]]
        self._related = get_related_populators(  # type: ignore[call-arg]  # newer stubs
            described, select, connection.alias
        )

    def run(self, values: tuple[Any, ...], connection: BaseDatabaseWrapper) -> Iterator[Any]:
        adapted = [_adapt(value, connection) for value in values]
        parameters = [
            fixed if place is None else adapted[place] for place, fixed in self._parameters
        ]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, parameters)
            rows = cursor.fetchall()
        if self._converters:
            rows = self._compiler.apply_converters(rows, self._converters)
        for row in rows:
            if self._is_values:
                yield dict(zip(self._names, row, strict=True))
                continue
            found = self.model.from_db(connection.alias, self._names, row[self._own])
            for related in self._related:
                related.populate(row, found)
            for name, place in self._compiler.annotation_col_map.items():
                setattr(found, name, row[place])
            yield found


def _adapt(value: Any, connection: BaseDatabaseWrapper) -> Any:
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value


def _connection() -> BaseDatabaseWrapper:
    """Return this thread's connection itself: the proxy looks it up at every use."""
    return connections[DEFAULT_DB_ALIAS]


def _prepare(field: Any, value: Any, connection: BaseDatabaseWrapper) -> Any:
    """Return a value as the database's driver takes it; numbers and texts go as they are."""
    if type(value) in _PLAIN and not isinstance(field, models.JSONField):
        return value
    return field.get_db_prep_save(value, connection)


class PreparedInsert:
    """Inserts rows of one table with one query, however many they are.

        PreparedInsert(Rating).insert([{"assignment_id": 5, "scale_id": 7, "value": 100.0}])

    Values are named as columns are (``scale_id``); what is left out takes the field's default. As
    with `bulk_create`, no signal is sent; unlike there, no object is made.
    """

    def __init__(self, model: type[models.Model]) -> None:
        self._fields: list[Any] = [
            field for field in model._meta.concrete_fields if not field.primary_key
        ]
        self._table = model._meta.db_table

    def insert(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store ``rows``, of which there is at least one."""
        connection, fields = _connection(), self._fields
        quote = connection.ops.quote_name
        columns = ", ".join(quote(field.column) for field in fields)
        places = f"({', '.join(['%s'] * len(fields))})"
        sql = f"INSERT INTO {quote(self._table)} ({columns}) VALUES "  # noqa: S608 - our names
        values = [
            _prepare(
                field,
                row[field.attname] if field.attname in row else field.get_default(),
                connection,
            )
            for row in rows
            for field in fields
        ]
        with connection.cursor() as cursor:
            cursor.execute(sql + ", ".join([places] * len(rows)), values)


class PreparedUpdate:
    """Saves a few fields of a row that exists, as ``save(update_fields=…)`` without signals."""

    def __init__(self, model: type[models.Model], *names: str) -> None:
        self._fields: list[Any] = [model._meta.get_field(name) for name in names]
        self._table = model._meta.db_table

    def save(self, row: models.Model) -> None:
        """Raises `DatabaseError` if the row is gone."""
        connection = _connection()
        quote = connection.ops.quote_name
        changes = ", ".join(f"{quote(field.column)} = %s" for field in self._fields)
        sql = f"UPDATE {quote(self._table)} SET {changes} WHERE id = %s"  # noqa: S608
        values = [
            _prepare(field, getattr(row, field.attname), connection) for field in self._fields
        ]
        with connection.cursor() as cursor:
            cursor.execute(sql, [*values, row.pk])
            if not cursor.rowcount:
                raise DatabaseError(f"{row!r} was not saved: its row is gone.")
