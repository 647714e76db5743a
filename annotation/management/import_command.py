"""The command of every kind of import: a kind's own, or one that is told the kind."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management.base import CommandError

from annotation.common.table_file import TableFileError, read_heading
from annotation.imports.bad_rows import write_bad_rows
from annotation.imports.import_kind import (
    BadImportError,
    ImportKind,
    ImportPlan,
    ImportRequest,
    MissingColumnError,
    import_kinds,
    plan_import,
)
from annotation.imports.recipes import import_and_save, use_recipe
from annotation.library.library_kind import Action, join
from annotation.management.file_command import HINT, FileCommand
from annotation.management.lookups import find_owner


class ImportCommand(FileCommand):
    """Imports files, each all of it or nothing."""

    #: The kinds that it imports, by what the command calls them; None for every kind by its name.
    kinds: ClassVar[dict[str, str] | None] = None

    @cached_property
    def known(self) -> dict[str, ImportKind]:
        found = import_kinds()
        if self.kinds is None:
            return dict(sorted(found.items()))
        return {called: found[name] for called, name in self.kinds.items()}

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        lines = [
            f"{name}: {kind.purpose} Columns: {', '.join(c.name for c in kind.columns)}."
            for name, kind in self.known.items()
        ]
        return super().create_parser(
            *args, formatter_class=RawDescriptionHelpFormatter, epilog="\n\n".join(lines), **kwargs
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        if len(self.known) > 1:
            named: dict[str, Any] = {"required": True} if self.kinds else {}
            parser.add_argument("--kind" if named else "kind", choices=list(self.known), **named)
        parser.add_argument("files", type=Path, nargs="+", help="what one of them holds: see below")
        self.add_map(parser, "value=Q7")
        parser.add_argument("--sheet", default="", help="of a workbook, the sheet to read")
        parser.add_argument(
            "--recipe", default="", metavar="NAME", help="columns as they were saved under a name"
        )
        parser.add_argument(
            "--save-recipe", default="", metavar="NAME", help="save what --map says under a name"
        )
        options: dict[str, dict[str, list[str]]] = {}
        flags = set()
        for called, kind in self.known.items():
            for option in kind.options:
                options.setdefault(option.name, {}).setdefault(str(option.help), []).append(called)
                flags |= {option.name} if option.is_flag else set()
        for name, told in options.items():
            of = {text: f" ({', '.join(kinds)})" for text, kinds in told.items()}
            flag: dict[str, Any] = {"action": "store_const", "const": "yes"}
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                *(["--licence"] if name == "license" else []),
                dest=name,
                default="",
                help=" ".join(f"{text}{of[text] if len(self.known) > 1 else ''}" for text in told),
                **(flag if name in flags else {}),
            )
        parser.add_argument("--owner", default="", help="user name of whoever it belongs to")
        parser.add_argument("--dry-run", action="store_true", help="say what would be stored")
        self.add_skip_bad_rows(parser)
        parser.add_argument(
            "--bad-rows", type=Path, metavar="FILE", help="write the bad rows there, as CSV"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        kind = self.known[options.get("kind") or next(iter(self.known))]
        names = {name for one in self.known.values() for name in (o.name for o in one.options)}
        given = {name: options[name] for name in names if options[name]}
        user = find_owner(options["owner"])
        try:
            columns = read_heading(options["map"]).columns
        except TableFileError as error:
            self.refuse(error)
        for path in options["files"]:
            request = ImportRequest(
                self.read(path), path.name, given, user, columns, sheet=options["sheet"]
            )
            try:
                request = use_recipe(kind, request, options["recipe"])
            except ValidationError as error:
                self.refuse(error)
            how = ("dry_run", "skip_bad_rows", "bad_rows", "save_recipe")
            asked = {name: options[name] for name in how}
            self._import(kind, request, **asked)

    def _import(
        self,
        kind: ImportKind,
        request: ImportRequest,
        *,
        dry_run: bool,
        skip_bad_rows: bool,
        bad_rows: Path | None,
        save_recipe: str,
    ) -> None:
        try:
            if dry_run:
                plan = plan_import(kind, request)
                self._keep_bad_rows(kind, request, plan, bad_rows)
                self._tell(plan, "Bad")
                self.stdout.write(
                    f"The file holds {', '.join(plan.told_counts)}. Nothing was stored."
                )
                if plan.problems and not skip_bad_rows:
                    self.refuse(BadImportError(plan), hint=HINT)
                return
            done, plan = import_and_save(kind, request, save_recipe, skip_bad_rows=skip_bad_rows)
        except BadImportError as error:
            self._keep_bad_rows(kind, request, error.plan, bad_rows)
            self.tell(error.plan.problems, "Bad")
            self.tell(error.plan.warnings, "Warning")
            self.refuse(error, hint=HINT)
        except MissingColumnError as error:
            self.refuse(error, hint=" For that there is --map.")
        except (TableFileError, ValidationError, PermissionDenied) as error:
            self.refuse(error)
        self._keep_bad_rows(kind, request, plan, bad_rows)
        self._tell(plan, "Left out")
        self.stdout.write(
            f"{done.name} ({done.public_id}): {', '.join(plan.told_counts)} imported.\n"
            f"Look at it on {settings.SITE_URL}{done.address}"
        )

    def _keep_bad_rows(
        self, kind: ImportKind, request: ImportRequest, plan: ImportPlan, path: Path | None
    ) -> None:
        if path is None or not (written := write_bad_rows(kind, request, plan)):
            return
        try:
            path.write_bytes(written)
        except OSError as error:
            raise CommandError(f"“{path}” cannot be written: {error.strerror}.") from error
        self.stdout.write(f"The bad rows are in {path}, with what is wrong. Import it when mended.")

    def _tell(self, plan: ImportPlan, what: str) -> None:
        for entry in plan.entries:
            if entry.action == Action.ADDED:
                self.stdout.write(f"+ {entry.slug}")
            for change in entry.changes if entry.action == Action.CHANGED else ():
                before, after = join(change.before), join(change.after)
                self.stdout.write(f"~ {entry.slug}, {change.column}: “{before}” → “{after}”")
        self.tell(plan.problems, what)
        self.tell(plan.warnings, "Warning")
