"""Creates a study of group ratings with its instrument, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.instruments.presets import PresetName
from annotation.management.draft_command import DraftCommand
from annotation.models import GroupSet, Study
from annotation.studies.creation import create_study, gather_groups


class Command(DraftCommand):
    help = (
        "Creates a draft of a study in which participants rate groups. With --preset "
        f"{PresetName.CAO_2022} it asks as Cao et al. (2022) printed it."
    )
    todo = "Edit and launch it"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--preset", choices=PresetName.values[1:], default="", help="question, sides and checks"
        )
        parser.add_argument(
            "--groups",
            nargs="+",
            metavar="SET",
            default=[],
            help="slugs of sets of groups; without any the 25 of Cao et al. (2022)",
        )

    def create(self, options: dict[str, Any], **common: Any) -> Study:
        sets = GroupSet.objects.filter(slug__in=options["groups"])
        if unknown := set(options["groups"]) - {found.slug for found in sets}:
            raise CommandError(f"There is no set of groups “{sorted(unknown)[0]}”.")
        groups = gather_groups(sets) if sets else None
        return create_study(**common, groups=groups, preset=options["preset"])
