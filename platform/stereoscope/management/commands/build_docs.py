"""`manage.py build_docs`: the documentation as a site, served at /docs/."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from stereoscope.documentation.site import DocumentationError, build_documentation


class Command(BaseCommand):
    help = "Builds the documentation as a site, which the platform serves at /docs/."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--output", type=Path, default=settings.DOCS_ROOT, help="Folder. Default: DOCS_ROOT."
        )
        parser.add_argument(
            "--strict", action="store_true", help="Refuse links that lead nowhere; always build."
        )

    def handle(self, *args: Any, output: Path, strict: bool, **options: Any) -> None:
        try:
            is_new = build_documentation(output.resolve(), strict=strict)
        except DocumentationError as error:
            raise CommandError(f"The documentation could not be built. {error}") from error
        self.stdout.write(f"The documentation {'was built' if is_new else 'is current'}: {output}")
