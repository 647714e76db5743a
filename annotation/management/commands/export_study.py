"""Writes the data of a study as files: all its tables, or those that are named."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.common.table_formats import TABLE_FORMATS
from annotation.exports.downloads import name_file, stream_file
from annotation.exports.package import PackageFacts, write_package
from annotation.exports.study_tables import list_study_tables
from annotation.management.lookups import find_study
from annotation.models import Study
from annotation.models.submission import EXTRAS

FORMATS = {end.removeprefix("."): end for end in TABLE_FORMATS if end.startswith(".")}
CODEBOOK = "-codebook.csv"


class Command(BaseCommand):
    help = (
        "Exports the data of a study, of whatever kind, without identity: every table in the "
        "formats that are asked for, each with its codebook as CSV beside it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="public id of the study")
        parser.add_argument(
            "--format", nargs="+", choices=FORMATS, default=["csv"], help="csv without a choice"
        )
        parser.add_argument(
            "--table", nargs="+", metavar="NAME", default=[], help="all tables without a choice"
        )
        parser.add_argument(
            "--include",
            nargs="+",
            choices=[str(extra) for extra in EXTRAS],
            default=[],
            help="submissions that do not count, marked by their origin or decision",
        )
        parser.add_argument(
            "--package",
            type=Path,
            metavar="FOLDER",
            help="instead write a new folder for an archive: every table as CSV and Parquet, with "
            "Croissant, Data Package, RO-Crate, and Psych-DS",
        )
        parser.add_argument("--license", default="", help="of the package, such as CC-BY-4.0")
        parser.add_argument(
            "--creator", nargs="+", metavar="NAME", default=[], help="of the package"
        )
        parser.add_argument("--citation", default="", help="how to cite the package")
        parser.add_argument("--url", default="", help="where the package will be published")
        parser.add_argument(
            "--output", type=Path, default=Path(), metavar="FOLDER", help="here without a choice"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        if options["package"] is not None:
            self._write_package(study, options["package"], options)
            return
        tables, folder = list_study_tables(study), options["output"]
        if unknown := [name for name in options["table"] if name not in tables]:
            raise CommandError(
                f"This study has no table “{unknown[0]}”, expected one of: {', '.join(tables)}."
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"“{folder}” is no folder, and none can be made there.") from error
        for table in options["table"] or tables:
            for end in [*(FORMATS[name] for name in options["format"]), CODEBOOK]:
                self._write(study, f"{table}{end}", folder, options["include"])

    def _write_package(self, study: Study, folder: Path, options: dict[str, Any]) -> None:
        if folder.exists():
            raise CommandError(f"“{folder}” exists. Give the name of a folder to be made.")
        facts = PackageFacts(
            license=options["license"],
            creators=tuple(options["creator"]),
            citation=options["citation"],
            url=options["url"],
        )
        # Whole or not at all: an archive must not get half a package.
        unfinished = folder.with_name(f".{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            written = write_package(study, unfinished, facts, include=options["include"])
            unfinished.rename(folder)
        except OSError as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise CommandError(f"“{folder}” was not written: {error}") from None
        for path in written:
            whole = folder / path.relative_to(unfinished)
            self.stdout.write(f"{whole}: {whole.stat().st_size:,} bytes")
        if not facts.license:
            self.stdout.write("No license is stated; archives ask for one (--license CC-BY-4.0).")

    def _write(self, study: Study, name: str, folder: Path, include: list[str]) -> None:
        path = folder / name_file(study, name, include)
        try:
            chunks, _form = stream_file(study, name, include=include)
            with path.open("wb") as handle:
                handle.writelines(chunks)
        except (OSError, ValueError) as error:
            raise CommandError(f"{path.name} was not written: {error}") from None
        self.stdout.write(f"{path}: {path.stat().st_size:,} bytes")
