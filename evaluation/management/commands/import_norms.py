"""Imports norms of published studies from a CSV or TSV file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.file_command import FileCommand
from evaluation.norms.norm_import import NormFileError, import_norms


class Command(FileCommand):
    help = (
        "Imports norms, a row for each value: adjective and percent (studies by study_key, with "
        "year), adjective and favourability, or title and prestige; each with a column source."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="+", type=Path, help="a .csv or .tsv file in UTF-8")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in options["file"]:
            try:
                stored = import_norms(content=self.read(path), file_name=path.name)
            except NormFileError as error:
                self.tell(error.problems)
                raise CommandError(f"{path.name}: {error}") from error
            for norm in stored:
                self.stdout.write(
                    f"{norm.slug}: {len(norm.values)} values, {norm.get_kind_display().lower()}"
                )
