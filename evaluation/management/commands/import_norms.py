"""Imports norms of published studies from a CSV or TSV file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.norms.norm_import import NormFileError, import_norms


class Command(BaseCommand):
    help = (
        "Imports norms, a row for each value: adjective and percent (studies by study_key, with "
        "year), adjective and favourability, or title and prestige; each with a column source."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="+", type=Path, help="a .csv or .tsv file in UTF-8")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in options["file"]:
            try:
                content = path.read_bytes()
            except OSError as error:
                raise CommandError(f"“{path}” cannot be read: {error.strerror}.") from error
            try:
                stored = import_norms(content=content, file_name=path.name)
            except NormFileError as error:
                for problem in error.problems:
                    self.stderr.write(str(problem))
                raise CommandError(f"{path.name}: {error}") from error
            for norm in stored:
                self.stdout.write(
                    f"{norm.slug}: {len(norm.values)} values, {norm.get_kind_display().lower()}"
                )
