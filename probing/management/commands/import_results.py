"""Imports what was made elsewhere: ratings, judgments, scores, span probabilities, counterparts."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    COLUMNS,
    BadImportError,
    ImportPlan,
    ImportRequest,
    import_file,
    plan_import,
)
from annotation.imports.import_rows import MissingColumnError
from annotation.management.file_command import HINT, FileCommand
from annotation.management.lookups import find_owner
from probing.imports.registry import IMPORTS

OPTIONS = {option.name: option for kind in IMPORTS.values() for option in kind.options}


class Command(FileCommand):
    help = "Imports what was made elsewhere, marked as imported wherever it is shown."

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        lines = [
            f"{kind.name}: {kind.purpose}"
            + (f" Columns: {', '.join(c.name for c in kind.columns)}." if kind.columns else "")
            for kind in IMPORTS.values()
        ]
        return super().create_parser(
            *args,
            formatter_class=RawDescriptionHelpFormatter,
            epilog="\n\n".join(lines),
            **kwargs,
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=sorted(IMPORTS))
        parser.add_argument("file", type=Path)
        self.add_map(parser, "value=Q7", dest=COLUMNS.name)
        for option in OPTIONS.values():
            if option is COLUMNS:
                continue
            kinds = [kind.name for kind in IMPORTS.values() if option in kind.options]
            parser.add_argument(
                f"--{option.name}", default="", help=f"{option.help} ({', '.join(kinds)})"
            )
        parser.add_argument("--owner", default="", help="user name of whoever it belongs to")
        parser.add_argument("--dry-run", action="store_true", help="say what would be stored")
        self.add_skip_bad_rows(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        kind, path = IMPORTS[options["kind"]], options["file"]
        content = self.read(path)
        user = find_owner(options["owner"])
        given = {name: options[name] for name in OPTIONS if options[name]}
        given[COLUMNS.name] = ",".join(options[COLUMNS.name])
        request = ImportRequest(content, path.name, given, user)
        try:
            if options["dry_run"]:
                plan = plan_import(kind, request)
                self._tell(plan, "Bad")
                self.stdout.write(f"The file holds {_counts(plan)}. Nothing was stored.")
                if plan.problems and not options["skip_bad_rows"]:
                    self.refuse(BadImportError(plan), hint=HINT)
                return
            done, plan = import_file(kind, request, skip_bad_rows=options["skip_bad_rows"])
        except BadImportError as error:
            self._tell(error.plan, "Bad")
            self.refuse(error, hint=HINT)
        except MissingColumnError as error:
            self.refuse(error, hint=" For that there is --map.")
        except (TableFileError, ValidationError) as error:
            self.refuse(error)
        self._tell(plan, "Left out")
        self.stdout.write(
            f"{done.name} ({done.public_id}): {_counts(plan)} imported.\n"
            f"Look at it on {settings.SITE_URL}{done.address}"
        )

    def _tell(self, plan: ImportPlan, what: str) -> None:
        self.tell(plan.problems, what)
        self.tell(plan.warnings, "Warning")


def _counts(plan: ImportPlan) -> str:
    return ", ".join(f"{n} {name}" for name, n in plan.counts.items())
