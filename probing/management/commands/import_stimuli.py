"""Imports labelled templates, a lexicon of groups or labelled texts from a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from annotation.common.table_file import SUFFIXES, TableFileError, read_heading
from annotation.management.file_command import HINT, FileCommand
from probing.imports.stimuli import KINDS, import_stimuli
from probing.library.labelled_files import BadRowsError
from probing.runs.errors import RunError


class Command(FileCommand):
    help = (
        "Imports labelled templates (columns template and label; or filled sentences with --words)"
        ", a lexicon (column group, and one for every placeholder) or labelled texts (columns text "
        "and label, perhaps split), for demonstrations and to train classifiers on; or pairs of "
        "texts in several varieties (columns pair, group, text and label), which become templates "
        "and a lexicon of one name. "
        "All rows, or none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=", ".join(SUFFIXES))
        parser.add_argument("--kind", required=True, choices=list(KINDS), help="what it holds")
        parser.add_argument("--slug", required=True, help="the entry's name in commands")
        parser.add_argument("--title", default="", help="as pages call it; default: the slug")
        parser.add_argument(
            "--license", "--licence", dest="licence", required=True, help="for example MIT"
        )
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
        self.add_map(parser, "text=sentence")
        self.add_skip_bad_rows(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            done = import_stimuli(
                kind=options["kind"],
                content=self.read(path),
                file_name=path.name,
                heading=read_heading(options["map"], is_there=None),
                labels=options["labels"],
                words=options["words"],
                skip_bad_rows=options["skip_bad_rows"],
                slug=options["slug"],
                title=options["title"] or options["slug"],
                licence=options["licence"],
                citation=options["citation"],
            )
        except BadRowsError as error:
            self.refuse(error, error.problems, HINT if error.problems else "")
        except TableFileError as error:
            self.refuse(error)
        except (ValidationError, RunError) as error:
            raise CommandError(" ".join(error.messages)) from error
        self.tell(done.parsed.notices, "Note")
        self.tell(done.parsed.left_out, "Left out")
        n = len(done.parsed.entries)
        what = "groups" if options["kind"] == "lexicon" else options["kind"]
        self.stdout.write(f"“{done.entry.slug}” holds {n:,} {what}.")
