"""Writes the instrument of a study to a file, and makes a study of such a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from annotation.instruments.documents.document import DocumentError
from annotation.instruments.documents.instrument_file import (
    read_instrument_file,
    write_instrument_file,
)
from annotation.instruments.versions import current_instrument
from annotation.management.lookups import find_owner
from annotation.models import Study
from annotation.studies.instrument_import import import_study


class Command(BaseCommand):
    help = (
        "The instrument of a study as one JSON file. “export” writes the newest version, “import” "
        "creates a draft study from a file; groups and trait pairs that the library lacks join it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["export", "import"])
        parser.add_argument("file", type=Path, help="a .json file")
        parser.add_argument("--study", default="", help="public id of the study to export")
        parser.add_argument("--title", default="", help="title of the new study")
        parser.add_argument("--contact", default="", metavar="EMAIL", help="for participants")
        parser.add_argument("--owner", default="", help="user name of the new study's owner")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            if options["action"] == "export":
                self._export(file, options["study"])
            else:
                self._import(file, options)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}.") from None
        except DocumentError as error:
            lines = "\n".join(f"{place}: {said}" for place, said in error.problems.items())
            raise CommandError(f"{lines}\nNothing was stored.") from None
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None

    def _export(self, file: Path, public_id: str) -> None:
        study = Study.objects.surveys().filter(public_id=public_id).first()
        instrument = current_instrument(study) if study else None
        if instrument is None:
            raise CommandError(f"No study with an instrument has the public id “{public_id}”.")
        file.write_bytes(write_instrument_file(instrument))
        self.stdout.write(f"{instrument} written to {file}.")

    def _import(self, file: Path, options: dict[str, Any]) -> None:
        study = import_study(
            document=read_instrument_file(file.read_bytes()),
            title=options["title"],
            owner=find_owner(options["owner"]),
            contact_email=options["contact"],
            may_add=True,
        )
        link = reverse("admin:annotation_study_overview", args=[study.pk])
        self.stdout.write(
            f"Study “{study.title}” ({study.public_id}) is a draft: {settings.SITE_URL}{link}"
        )
