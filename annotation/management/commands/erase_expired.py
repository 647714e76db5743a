"""Erases what studies have promised to erase by now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from annotation.studies.erasure import erase_expired


class Command(BaseCommand):
    help = (
        "Erases panel ids and answers of closed studies whose periods of retention are over, as "
        "the workers do by themselves once an hour. Each study's audit log says what was erased."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{erase_expired():,} rows were erased.")
