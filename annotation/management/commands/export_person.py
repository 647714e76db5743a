"""Writes down everything that is held about one person."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from annotation.audit.record import record
from annotation.exports.person import describe_person, find_submissions
from annotation.models import AuditAction


class Command(BaseCommand):
    help = (
        "Writes everything that the platform holds about one person into FILE as JSON, for a "
        "request of theirs. Name them by the panel's id, or by the number of a submission."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--panel-id", default="", help="the panel's id of the person")
        who.add_argument("--submission", default="", help="such as S-4f7k2m9x1c3d")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        found = find_submissions(
            external_id=options["panel_id"].strip(),
            public_id=options["submission"].strip().removeprefix("S-"),
        )
        if not found:
            raise CommandError("Nothing is held about this person. Check the id.")
        text = json.dumps(
            describe_person(found), cls=DjangoJSONEncoder, ensure_ascii=False, indent=2
        )
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(f"“{file}” could not be written: {error}.") from error
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(text + "\n")
        for submission in found:
            record(
                AuditAction.EXPORTED,
                submission,
                study=submission.study_id,
                detail="for a request of the person",
            )
        self.stdout.write(f"{len(found)} submissions were written to {file}.")
