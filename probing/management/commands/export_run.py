"""Writes the results of a run to a file."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.common.table_formats import TABLE_FORMATS, split_file_name
from annotation.common.tables import Table, stream_json_lines
from probing.models import Run, RunStatus
from probing.runs.answers import build_answer_table, keeps_answers
from probing.runs.run_tables import build_reading_table, build_result_table

JSON = ".json"
ENDS = (*(end for end in TABLE_FORMATS if end.startswith(".")), JSON)


class Command(BaseCommand):
    help = (
        "Writes the scores of a finished run to a file, with the columns of its download on the "
        "run's page; the file's ending says how. import_results reads it back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="number or public id of the run")
        parser.add_argument("file", type=Path, help=", ".join(ENDS))
        parser.add_argument(
            "--readings",
            action="store_true",
            help="instead of scores, what they were computed from, word by word, such as ln P of "
            "a word after a group and after its prior (logprob_group, logprob_prior)",
        )
        parser.add_argument(
            "--answers",
            action="store_true",
            help="instead of scores, what the model answered, how each answer ended and why",
        )
        parser.add_argument(
            "--unread", action="store_true", help="of answers, only those that were not read"
        )
        parser.add_argument(
            "--reasoning",
            action="store_true",
            help="with readings or answers, what the model wrote to itself before",
        )
        parser.add_argument(
            "--overwrite", action="store_true", help="write over a file that is there"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run, path = _find_run(options["run"]), options["file"]
        if run.status != RunStatus.FINISHED:
            raise CommandError(
                f"Run {run.pk} is {run.get_status_display().lower()}; only a finished run is "
                "written."
            )
        if path.exists() and not options["overwrite"]:
            raise CommandError(f"“{path}” is there already; --overwrite replaces it.")
        try:
            table = _build(run, options)
            chunks = _stream(table, path.name)
            part = path.with_name(f"{path.name}.part")
            try:
                with part.open("wb") as file:
                    file.writelines(chunks)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise CommandError(f"“{path}” cannot be written: {error.strerror}.") from error
        except ValueError as error:
            raise CommandError(f"Run {run.pk} was not written: {error}.") from error
        rows = sum(1 for _ in table.load())
        self.stdout.write(f"{path}: {rows:,} rows of run {run.pk}, {table.name}.")


def _build(run: Run, options: dict[str, Any]) -> Table:
    if options["answers"] or options["unread"]:
        if not keeps_answers(run):
            raise ValueError(f"{run.measure} keeps no answers")
        return build_answer_table(run, unread=options["unread"], reasoning=options["reasoning"])
    if options["readings"]:
        return build_reading_table(run, reasoning=options["reasoning"])
    return build_result_table(run)


def _find_run(wanted: str) -> Run:
    known = {"pk": int(wanted)} if wanted.isdecimal() else {"public_id": wanted}
    run = Run.objects.select_related("model").filter(**known).first()
    if run is None:
        raise CommandError(f"There is no run “{wanted}”, expected its number or public id.")
    return run


def _stream(table: Table, name: str) -> Iterator[bytes]:
    """Return the bytes of a table in the format of a file's ending. Raises `CommandError`."""
    if name.lower().endswith(JSON):
        return _stream_array(table)
    try:
        return split_file_name(name.lower())[1].stream([table], False)
    except KeyError:
        raise CommandError(
            f"“{name}” ends in nothing that can be written, expected {', '.join(ENDS)}."
        ) from None


def _stream_array(table: Table) -> Iterator[bytes]:
    """Yield a table as one JSON array, an object for each row."""
    before = b"[\n"
    for line in stream_json_lines(table):
        yield before + line.rstrip(b"\n")
        before = b",\n"
    yield b"\n]\n" if before == b",\n" else b"[]\n"
