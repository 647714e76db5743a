"""Puts all that is encrypted in the database under the first key of IDENTITY_KEYS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from annotation.panels.key_rotation import rotate_identity_key
from stereoscope.second_factor.devices import rotate_secrets


class Command(BaseCommand):
    help = (
        "Encrypts stored ids of people and secrets of second factors with the first key of "
        "IDENTITY_KEYS. Put the new key first, restart web and workers, run this, then take the "
        "old key out and restart again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        number = rotate_identity_key() + rotate_secrets()
        self.stdout.write(f"{number:,} rows are under the first key now; no row needs another.")
