"""Writes groups, trait pairs, templates or word lists as CSV, as they are imported."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.library.library_export import stream_example, stream_library
from probing.library.kinds import KINDS


class Command(BaseCommand):
    help = "Writes entries of the library as CSV; import_library takes the file back unchanged."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=list(KINDS), help="what to write")
        parser.add_argument("--output", type=Path, help="a file; without one it is printed")
        parser.add_argument(
            "--example", action="store_true", help="the columns with made-up entries instead"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stream = stream_example if options["example"] else stream_library
        content = b"".join(stream(KINDS[options["kind"]]))
        path: Path | None = options["output"]
        if path is None:
            self.stdout.write(content.decode("utf-8"), ending="")
            return
        try:
            path.write_bytes(content)
        except OSError as error:
            raise CommandError(f"“{path}” cannot be written: {error.strerror}.") from error
