"""Imports groups, trait pairs, templates or word lists from a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.common.table_file import SUFFIXES, TableFileError, read_heading
from annotation.library.library_import import (
    BadEntriesError,
    ImportPlan,
    import_library,
    plan_import,
)
from annotation.library.library_kind import Action, LibraryKind, join
from annotation.management.file_command import HINT, FileCommand
from probing.library.kinds import KINDS


class Command(FileCommand):
    help = (
        "Imports entries of the library. An entry that is there, by its slug, is changed in the "
        "columns that the file has; others are added; nothing is deleted. `manage.py "
        "export_library KIND --example` writes a file to begin with."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=", ".join(SUFFIXES))
        parser.add_argument(
            "--kind", required=True, choices=list(KINDS), help="what the file holds"
        )
        self.add_map(parser, "slug=name")
        self.add_skip_bad_rows(parser)
        parser.add_argument(
            "--as-written",
            action="store_true",
            help="take what the check of article, number and capitals refuses",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done, store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        kind = KINDS[options["kind"]]
        given: dict[str, Any] = {
            "kind": kind,
            "content": self.read(path),
            "file_name": path.name,
            "as_written": options["as_written"],
        }
        try:
            given["heading"] = read_heading(options["map"], is_there=None)
            if options["dry_run"]:
                plan = plan_import(**given)
                if plan.of(Action.REFUSED) and not options["skip_bad_rows"]:
                    raise BadEntriesError(plan)
            else:
                plan = import_library(**given, skip_bad_rows=options["skip_bad_rows"])
        except BadEntriesError as error:
            self.refuse(error, error.plan.problems, HINT)
        except TableFileError as error:
            self.refuse(error)
        self._report(kind, plan, dry_run=options["dry_run"])

    def _report(self, kind: LibraryKind, plan: ImportPlan, *, dry_run: bool) -> None:
        self.tell(plan.notices, "Note")
        self.tell(plan.problems, "Left out")
        self.tell(plan.remarks, "Look at it")
        for entry in plan.entries:
            if entry.action == Action.ADDED:
                self.stdout.write(f"+ {entry.slug}")
            for change in entry.changes if entry.action == Action.CHANGED else ():
                before, after = join(change.before), join(change.after)
                self.stdout.write(f"~ {entry.slug}, {change.column}: “{before}” → “{after}”")
        counts = ", ".join(f"{len(plan.of(action))} {action}" for action in Action)
        sets = f" New sets: {', '.join(plan.new_sets)}." if plan.new_sets else ""
        done = "Nothing was stored." if dry_run else "Done."
        self.stdout.write(f"{kind.plural.capitalize()}: {counts}.{sets if dry_run else ''} {done}")
