"""Imports a corpus of texts or of text pairs from a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.urls import reverse

from annotation.common.table_file import SUFFIXES, TableFileError, read_heading
from annotation.corpora.corpus_file import HeadingError
from annotation.corpora.corpus_import import BadRowsError, ImportResult, import_corpus
from annotation.management.file_command import HINT, FileCommand
from annotation.management.lookups import find_corpus, find_owner

OPTIONS_OF_NEW = ("name", "license", "source_variety", "target_variety", "owner", "access_note")

HEADING_HINT = " For that there are --map source_text=COLUMN and --no-heading."


class Command(FileCommand):
    help = (
        "Imports texts or pairs of texts in two varieties. Columns: the two varieties by name (or "
        "source_text and target_text) for pairs, text and variety for texts; beside them id, "
        "source, context, split. JSON may carry spans. Other columns are named and not read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=", ".join(SUFFIXES))
        parser.add_argument(
            "--no-heading", action="store_true", help="the first line is a row; columns are 1, 2 …"
        )
        self.add_map(parser, "source_text=dialect")
        parser.add_argument("--into", help="name or public id of a corpus that is there")
        parser.add_argument("--name", help="name of the new corpus")
        parser.add_argument(
            "--license", "--licence", dest="license", help="license or terms of the texts"
        )
        parser.add_argument("--access-note", help="who may read the texts and publish of them")
        parser.add_argument("--source-variety", help="the variety that is rewritten (AAL)")
        parser.add_argument("--target-variety", help="the variety it is rewritten in (WME)")
        parser.add_argument(
            "--other-variety",
            action="append",
            default=[],
            metavar="NAME",
            help="a further variety that single texts may be in, repeatable",
        )
        parser.add_argument("--owner", help="user name of the corpus's owner")
        parser.add_argument("--shared", action="store_true", help="every researcher may see it")
        self.add_skip_bad_rows(parser)
        parser.add_argument("--dry-run", action="store_true", help="check the file, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        content, facts = self.read(path), self._facts(options)
        try:
            result = import_corpus(
                content=content,
                file_name=path.name,
                other_varieties=options["other_variety"],
                heading=read_heading(options["map"], is_there=not options["no_heading"]),
                skip_bad_rows=options["skip_bad_rows"],
                dry_run=options["dry_run"],
                **facts,
            )
        except BadRowsError as error:
            self.refuse(error, error.problems, HINT)
        except HeadingError as error:
            self.refuse(error, hint=HEADING_HINT)
        except (TableFileError, ValidationError) as error:
            self.refuse(error)
        self._report(result, dry_run=options["dry_run"])

    def _facts(self, options: dict[str, Any]) -> dict[str, Any]:
        given = {name: options[name] for name in OPTIONS_OF_NEW if options[name] is not None}
        if options["into"]:
            if given or options["shared"]:
                raise CommandError("--into takes the corpus as it is: leave out what describes it.")
            return {"into": find_corpus(options["into"])}
        for name in ("name", "license"):
            if not given.get(name):
                raise CommandError(f"A new corpus needs --{name}; or name one with --into.")
        if "owner" in given:
            given["owner"] = find_owner(given["owner"])
        return {**given, "is_shared": options["shared"]}

    def _report(self, result: ImportResult, *, dry_run: bool) -> None:
        self.tell(result.notices, "Note")
        self.tell(result.skipped, "Left out")
        for (source, split), number in sorted(result.by_source.items()):
            self.stdout.write(f"{source or '(no source)'}, {split}: {number}")
        counts = f"{result.n_texts} texts, {result.n_pairs} pairs, {result.n_skipped} rows left out"
        if dry_run or result.corpus is None:
            self.stdout.write(f"The file can be imported: {counts}. Nothing was stored.")
            return
        link = reverse("admin:annotation_corpus_overview", args=[result.corpus.pk])
        self.stdout.write(
            f"Corpus “{result.corpus.name}” ({result.corpus.public_id}): {counts}.\n"
            f"Look at it on {settings.SITE_URL}{link}"
        )
