"""The tables of a new database, made from what all migrations of a room lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import RunPython
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Model


class CreateTables(Operation):
    """Create the tables of a room as they are after the named migrations, each of them once.

    Step by step Django draws up all models that hang together anew, hundreds of times. What the
    migrations do to rows is left out: there are none.
    """

    reduces_to_sql = True
    reversible = True

    def __init__(self, room: str, migrations: Sequence[str]) -> None:
        self.room = room
        self.migrations = list(migrations)

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # Without drawn-up models a state takes in operations at once; it draws them up when asked.
        state.__dict__.pop("apps", None)
        for name in self.migrations:
            module = import_module(f"{self.room}.migrations.{name}")
            for operation in module.Migration.operations:
                if not isinstance(operation, RunPython):
                    operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in self._find_models(app_label, schema_editor, to_state):
            schema_editor.create_model(model)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for model in reversed([*self._find_models(app_label, schema_editor, from_state)]):
            schema_editor.delete_model(model)

    def describe(self) -> str:
        return f"Create the tables of {self.room}"

    def _find_models(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, state: ProjectState
    ) -> Iterator[type[Model]]:
        alias: Any = schema_editor.connection.alias
        for label, name in state.models:
            if label == app_label:
                model = state.apps.get_model(label, name)
                if self.allow_migrate_model(alias, model):
                    yield model
