"""Imports files of every kind: `manage.py import_results KIND FILE`."""

from __future__ import annotations

from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports files of every kind, such as ratings, scores, or norms, made elsewhere."
