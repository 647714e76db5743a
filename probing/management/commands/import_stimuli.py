"""Imports labelled templates, a lexicon of groups or labelled texts from a CSV or TSV file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from probing.imports.stimuli import KINDS, import_stimuli
from probing.library.labelled_files import BadRowsError
from probing.runs.errors import RunError


class Command(BaseCommand):
    help = (
        "Imports labelled templates (columns template and label; or filled sentences with --words)"
        ", a lexicon (column group, and one for every placeholder) or labelled texts (columns text "
        "and label, perhaps split), for demonstrations and to train classifiers on; or pairs of "
        "texts in several varieties (columns pair, group, text and label), which become templates "
        "and a lexicon of one name. "
        "All rows, or none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a .csv or .tsv file in UTF-8")
        parser.add_argument("--kind", required=True, choices=list(KINDS), help="what it holds")
        parser.add_argument("--slug", required=True, help="the entry's name in commands")
        parser.add_argument("--title", default="", help="as pages call it; default: the slug")
        parser.add_argument("--licence", required=True, help="for example MIT")
        parser.add_argument("--citation", default="", help="who made it, and where it is from")
        parser.add_argument(
            "--labels",
            default="ternary",
            help="ternary, sst5, semeval, or a map such as “bad=negative, good=positive”",
        )
        parser.add_argument(
            "--words",
            default="",
            metavar="LEXICON",
            help="for a file of filled sentences: the lexicon whose words are taken out of them",
        )
        parser.add_argument(
            "--skip-bad-rows", action="store_true", help="leave bad rows out instead of stopping"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CommandError(f"“{path}” cannot be read: {error.strerror}.") from error
        try:
            done = import_stimuli(
                kind=options["kind"],
                content=content,
                file_name=path.name,
                labels=options["labels"],
                words=options["words"],
                skip_bad_rows=options["skip_bad_rows"],
                slug=options["slug"],
                title=options["title"] or options["slug"],
                licence=options["licence"],
                citation=options["citation"],
            )
        except BadRowsError as error:
            for problem in error.problems:
                self.stderr.write(str(problem))
            hint = " Mend them, or leave them out with --skip-bad-rows." if error.problems else ""
            raise CommandError(f"{error}{hint}") from error
        except (ValidationError, RunError) as error:
            raise CommandError(" ".join(error.messages)) from error
        for problem in done.parsed.left_out:
            self.stderr.write(f"Left out: {problem}")
        n = len(done.parsed.entries)
        what = "groups" if options["kind"] == "lexicon" else options["kind"]
        self.stdout.write(f"“{done.entry.slug}” holds {n:,} {what}.")
