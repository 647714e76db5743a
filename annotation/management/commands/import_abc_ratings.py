"""Imports published group ratings from a JSON file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.urls import reverse

from annotation.imports.abc_file import AbcFileError
from annotation.imports.abc_ratings import (
    CITATION,
    TITLE,
    BadRowsError,
    NamedContent,
    import_abc_ratings,
)
from annotation.management.file_command import FileCommand
from annotation.management.lookups import find_owner


class Command(FileCommand):
    help = (
        "Imports group ratings from a JSON file of the shape annotator → group → trait pair → "
        "value (0 to 100), as published by Cao et al. (2022), into a closed study."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the JSON file")
        parser.add_argument("--title", default=TITLE, help="title of the study")
        parser.add_argument("--citation", default=CITATION, help="where the data come from")
        parser.add_argument("--owner", default="", help="user name of the study's owner")
        parser.add_argument(
            "--skip-bad", action="store_true", help="leave bad rows out instead of stopping"
        )
        parser.add_argument(
            "--demographics",
            type=Path,
            metavar="FILE",
            help="a JSON file of the shape person → question → answer that says who took part; "
            "only counts per question are kept",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path, demographics = options["file"], options["demographics"]
        about = demographics and NamedContent(demographics.name, self.read(demographics))
        owner = find_owner(options["owner"])
        try:
            result = import_abc_ratings(
                content=self.read(path),
                file_name=path.name,
                demographics=about,
                owner=owner,
                title=options["title"],
                citation=options["citation"],
                skip_bad=options["skip_bad"],
            )
        except BadRowsError as error:
            self.refuse(error, error.problems, " Mend them, or leave them out with --skip-bad.")
        except AbcFileError as error:
            self.refuse(error)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.tell(result.skipped, "Left out")
        self.tell(result.warnings, "May be damaged")
        described = (
            f"Who took part: {result.n_described} people, counted per question; their answers "
            "cannot be joined to ratings.\n"
            if result.n_described
            else ""
        )
        link = reverse("admin:annotation_study_overview", args=[result.study.pk])
        self.stdout.write(
            f"Study “{result.study.title}” ({result.study.public_id}): "
            f"{result.n_submissions} submissions, {result.n_groups} groups, "
            f"{result.n_scales} trait scales, {result.n_ratings} ratings stored, "
            f"{result.n_skipped} left out.\n"
            f"{described}"
            f"Look at it on {settings.SITE_URL}{link}"
        )
