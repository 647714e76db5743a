"""Base of commands that import a file: reading it, and saying what is wrong with it."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

HINT = " Mend them, or leave them out with --skip-bad-rows."


class FileCommand(BaseCommand):
    """A command that imports a file, all of it or nothing."""

    def add_skip_bad_rows(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--skip-bad-rows", action="store_true", help="leave bad rows out instead of stopping"
        )

    def add_map(self, parser: ArgumentParser, example: str, dest: str = "map") -> None:
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            dest=dest,
            metavar="FIELD=COLUMN",
            help=f"which column holds what, such as {example}, repeatable",
        )

    def read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise CommandError(f"“{path}” cannot be read: {error.strerror}.") from error

    def tell(self, problems: Iterable[Any], what: str = "") -> None:
        """Write a line for each, after `what` it is."""
        for problem in problems:
            self.stderr.write(f"{what}: {problem}" if what else str(problem))

    def refuse(self, error: Exception, problems: Iterable[Any] = (), hint: str = "") -> NoReturn:
        """Stop with the problems, then the error and how to go on."""
        self.tell(problems)
        if isinstance(error, ValidationError):
            raise CommandError(in_words(error)) from error
        raise CommandError(f"{error}{hint}") from error


def in_words(error: ValidationError) -> str:
    """Return what is wrong on one line, with the names of fields where there are some."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(f"{name}: {' '.join(said)}" for name, said in error.message_dict.items())
