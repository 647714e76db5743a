"""Says whether the audit log is as it was written."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.audit.seals import find_breaks, last_seal

SEAL = re.compile(r"\d{1,18}:[0-9a-f]{64}")


class Command(BaseCommand):
    help = (
        "Checks the chain of seals over the audit log, names each entry that was changed or "
        "removed, and prints the last seal. Keep that elsewhere and give it with --kept: who owns "
        "the database can make the chain anew, but not one that holds it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kept", default="", help="a seal that this command printed earlier")

    def handle(self, *args: Any, kept: str, **options: Any) -> None:
        if kept and not SEAL.fullmatch(kept):
            raise CommandError(f"“{kept[:80]}” is no seal, expected a number, “:” and 64 digits.")
        breaks = list(find_breaks(kept))
        for what in breaks:
            self.stderr.write(what)
        if breaks:
            raise CommandError(f"The audit log is not as it was written: {len(breaks)} breaks.")
        self.stdout.write(f"The audit log is whole. Last seal: {last_seal()}")
