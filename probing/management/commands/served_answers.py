"""Shows and deletes the answers of servers that are kept."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from probing.lm.server_answers import AnswerStore


class Command(BaseCommand):
    help = "Say how many answers of served models are kept on this machine, or delete them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--empty", action="store_true", help="delete all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        store = AnswerStore(settings.CHAT_ANSWERS_ROOT)
        count, size = store.size()
        used = "" if settings.CHAT_KEEP_ANSWERS else " They are not used: CHAT_KEEP_ANSWERS is off."
        if options["empty"]:
            store.empty()
            self.stdout.write(f"{count:,} answers deleted, {size / 1e6:.1f} MB.")
        else:
            self.stdout.write(f"{count:,} answers, {size / 1e6:.1f} MB, in {store.folder}.{used}")
