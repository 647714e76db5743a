"""Imports norms of published studies: `manage.py import_results norms`, by its older name."""

from __future__ import annotations

from typing import ClassVar

from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports norms of published studies."
    kinds: ClassVar[dict[str, str] | None] = {"norms": "norms"}
