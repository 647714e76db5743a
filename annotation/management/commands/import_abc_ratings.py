"""Imports published group ratings from a JSON file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from annotation.imports.abc_file import AbcFileError
from annotation.imports.abc_ratings import (
    CITATION,
    TITLE,
    AlreadyImportedError,
    BadRowsError,
    NamedContent,
    import_abc_ratings,
)
from annotation.management.owner import find_owner


class Command(BaseCommand):
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
        ratings = _read(options["file"])
        about = _read(options["demographics"]) if options["demographics"] else None
        owner = find_owner(options["owner"])
        try:
            result = import_abc_ratings(
                content=ratings.content,
                file_name=ratings.name,
                demographics=about,
                owner=owner,
                title=options["title"],
                citation=options["citation"],
                skip_bad=options["skip_bad"],
            )
        except BadRowsError as error:
            for problem in error.problems:
                self.stderr.write(str(problem))
            raise CommandError(f"{error} Mend them, or leave them out with --skip-bad.") from error
        except (AbcFileError, AlreadyImportedError) as error:
            raise CommandError(str(error)) from error
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        for problem in result.skipped:
            self.stderr.write(f"Left out: {problem}")
        for warning in result.warnings:
            self.stderr.write(f"May be damaged: {warning}")
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


def _read(path: Path) -> NamedContent:
    try:
        return NamedContent(path.name, path.read_bytes())
    except OSError as error:
        raise CommandError(f"“{path}” cannot be read: {error.strerror}.") from error
