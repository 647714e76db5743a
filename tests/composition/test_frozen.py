"""Records of everything that other programs rely on: addresses, API, commands, tables, hashes.

`make frozen` writes `tests/frozen/` again. A difference is then part of the change, where a reader
sees it and the commit explains it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import get_commands, load_command_class
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer

from annotation.exports.study_tables import list_study_tables
from annotation.models import Study, StudyKind
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study
from evaluation.reports.registry import KINDS
from probing.measures.registry import MEASURES
from probing.runs.stimuli import DEFAULT_GROUPS, load_stimuli
from stereoscope.demo.seeding import LIBRARY_TEMPLATES, ensure_speakers_survey, ensure_survey
from tests.annotation.annotators.people import make_annotated_study
from tests.annotation.survey.flows import every_kind

pytestmark = pytest.mark.django_db

FROZEN = Path(__file__).resolve().parent.parent / "frozen"
OURS = ("annotation", "probing", "evaluation", "stereoscope")


def list_addresses() -> str:
    """Every address with its name, and the methods of views that are classes."""

    def walk(patterns: list[URLPattern | URLResolver], start: str, space: str) -> Iterator[str]:
        for pattern in patterns:
            # The admin names its apps in the order in which their pages were registered.
            address = start + re.sub(
                r"(?<=<app_label>)[\w|]+",
                lambda apps: "|".join(sorted(apps[0].split("|"))),
                str(pattern.pattern),
            )
            if isinstance(pattern, URLResolver):
                inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
                yield from walk(pattern.url_patterns, address, inner)
                continue
            view = getattr(pattern.callback, "view_class", getattr(pattern.callback, "cls", None))
            actions = getattr(pattern.callback, "actions", None) or {
                name: name for name in getattr(view, "http_method_names", ()) if hasattr(view, name)
            }
            # HEAD and OPTIONS come with the others, and views get HEAD only on their first request.
            methods = " ".join(sorted(set(actions) - {"head", "options"})) or "any"
            yield f"{address}  {space}{pattern.name or '–'}  {methods}"

    return "\n".join(sorted(walk(get_resolver().url_patterns, "/", "")))


def describe_api() -> str:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return OpenApiYamlRenderer().render(schema, renderer_context={}).decode()


def print_help() -> str:
    names = (name for name, app in get_commands().items() if app in OURS)
    parsers = (
        load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        for name in sorted(names)
    )
    return "\n\n".join(parser.format_help() for parser in parsers)


def describe_database() -> str:
    if connection.vendor != "sqlite":
        pytest.skip("the schema is recorded as SQLite has it")
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql")
        return "\n".join(sql for (sql,) in cursor.fetchall())


def make_studies() -> Iterator[Study]:
    """A study of each kind; the first has a step of every kind."""
    owner = User.objects.create_superuser("frozen")
    yield launch_study(
        study=create_study(
            title="Every step", owner=owner, contact_email="lab@example.org", flow=every_kind()
        )
    )
    yield ensure_speakers_survey(owner=owner)
    yield make_annotated_study()
    yield make_annotated_study(kind=StudyKind.COUNTERPART_JUDGMENT)


def list_columns() -> str:
    """The columns of every table of a study, with type and possible values."""
    return "\n".join(
        f"{study.kind}  {name}  {column.name}  {column.type.value}  {column.values}"
        for study in make_studies()
        for name, table in list_study_tables(study).items()
        for column in table.build(study, ()).columns
    )


def describe_settings() -> str:
    """The parameters of every measure and of every kind of report."""
    parts = {f"measure {name}": measure.Parameters for name, measure in MEASURES.items()} | {
        f"report {name}": kind.Parameters for name, kind in KINDS.items()
    }
    schemas = {name: part.model_json_schema() for name, part in parts.items()}
    return json.dumps(schemas, indent=1, sort_keys=True, ensure_ascii=False, default=str)


def hash_contents() -> str:
    survey = ensure_survey(owner=User.objects.create_superuser("frozen"))
    stimuli = load_stimuli(groups=DEFAULT_GROUPS, templates=LIBRARY_TEMPLATES)
    return (
        f"instrument of the demo  {survey.instruments.get().content_hash}\n"
        f"stimuli of the demo  {stimuli.content_hash()}"
    )


RECORDS: dict[str, Callable[[], str]] = {
    "addresses.txt": list_addresses,
    "api.yaml": describe_api,
    "commands.txt": print_help,
    "database.sql": describe_database,
    "columns.txt": list_columns,
    "settings.json": describe_settings,
    "hashes.txt": hash_contents,
}


@pytest.mark.parametrize("name", RECORDS)
def test_is_as_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found, file = RECORDS[name]() + "\n", FROZEN / name
    if os.environ.get("STEREOSCOPE_FREEZE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(found)
    recorded = file.read_text() if file.exists() else ""
    assert found.splitlines() == recorded.splitlines(), (
        f"{name} differs. If that was meant, run `make frozen` and explain the difference."
    )
