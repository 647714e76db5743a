"""Imports predictions: `manage.py import_results predictions`, by its older name."""

from __future__ import annotations

from typing import ClassVar

from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports predictions made elsewhere as finished runs of classification."
    kinds: ClassVar[dict[str, str] | None] = {"predictions": "predictions"}
