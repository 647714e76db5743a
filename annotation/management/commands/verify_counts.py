"""Says whether the kept numbers of taken places are those of the submissions."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from annotation.studies.place_counts import find_wrong_counts
from annotation.studies.place_counts import recount as count_anew


class Command(BaseCommand):
    help = (
        "Compares the numbers of taken places that quotas rest on, which the database keeps with "
        "every change, with the submissions, and names each that differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--recount", action="store_true", help="count all of them anew first")

    def handle(self, *args: Any, recount: bool, **options: Any) -> None:
        if recount:
            count_anew(connection)
        wrong = find_wrong_counts()
        for line in wrong:
            self.stderr.write(line)
        if wrong:
            raise CommandError(f"{len(wrong)} numbers differ. Count anew with --recount.")
        self.stdout.write("Every number of taken places is that of the submissions.")
