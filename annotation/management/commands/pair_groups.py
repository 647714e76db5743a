"""Creates the paired groups of sets of the library, as its page does."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from annotation.library.paired_groups import create_paired_groups, plan_pairs
from annotation.models import GroupSet


class Command(BaseCommand):
    help = (
        "Creates the paired groups of a set, such as “Asian teenagers”, and the set SLUG-paired "
        "that holds them. A second time it follows the groups and exclusions as they are now; "
        "entries that are there keep their edits."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sets", nargs="+", metavar="set", help="slug of a set of groups")
        parser.add_argument(
            "--dry-run", action="store_true", help="list the paired groups, store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = GroupSet.objects.in_bulk(options["sets"], field_name="slug")
        if unknown := [slug for slug in options["sets"] if slug not in found]:
            known = ", ".join(GroupSet.objects.order_by("slug").values_list("slug", flat=True))
            raise CommandError(f"There is no set “{unknown[0]}”. There are: {known or 'none'}.")
        for slug in options["sets"]:
            if options["dry_run"]:
                for pair in plan_pairs(group_set=found[slug]):
                    self.stdout.write(f"{pair.slug}: {pair.plural}")
                continue
            try:
                paired = create_paired_groups(group_set=found[slug])
            except ValidationError as error:
                raise CommandError(" ".join(error.messages)) from error
            self.stdout.write(
                f"{paired.group_set.slug}: {paired.n_groups} paired groups, {paired.n_created} "
                "of them new."
            )
