"""Exports the texts of a study's instrument as a file, and adds a language from one."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from annotation.common.language_codes import normalize_code
from annotation.instruments.languages.language_file import (
    LanguageFileError,
    import_language,
    stream_language,
)
from annotation.instruments.languages.language_service import add_known_language
from annotation.instruments.versions import current_instrument
from annotation.models import Instrument, Study


class Command(BaseCommand):
    help = (
        "Languages of the newest version of a study's instrument. “export” writes a CSV with a row "
        "for each text, “import” takes it back filled in, “add” brings in a language that the "
        "platform has its default texts in. Imports need a draft."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["export", "import", "add"])
        parser.add_argument("study", help="public id of the study")
        parser.add_argument("language", help="its code, such as es, pt-BR or ar")
        parser.add_argument("file", type=Path, nargs="?", help="a .csv or .tsv file in UTF-8")

    def handle(self, *args: Any, **options: Any) -> None:
        instrument = _find_instrument(options["study"])
        try:
            language = normalize_code(options["language"])
            if options["action"] == "add":
                add_known_language(instrument=instrument, language=language)
                self.stdout.write(f"{instrument}: “{language}” added.")
                return
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        file: Path | None = options["file"]
        if file is None:
            raise CommandError("No file is named, expected one after the language.")
        if options["action"] == "export":
            with file.open("wb") as handle:
                handle.writelines(stream_language(instrument, language))
            self.stdout.write(f"{file} written.")
        else:
            self._import(instrument, language, file)

    def _import(self, instrument: Instrument, language: str, file: Path) -> None:
        try:
            done = import_language(
                instrument=instrument,
                language=language,
                content=file.read_bytes(),
                file_name=file.name,
            )
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        except LanguageFileError as error:
            lines = "\n".join(error.problems)
            raise CommandError(f"{lines}\nNothing was stored.") from None
        self.stdout.write(f"{instrument}: {done.n_texts} texts in “{done.language}”.")


def _find_instrument(public_id: str) -> Instrument:
    study = Study.objects.filter(public_id=public_id).first()
    instrument = current_instrument(study) if study else None
    if instrument is None:
        raise CommandError(f"No study with an instrument has the public id “{public_id}”.")
    return instrument
