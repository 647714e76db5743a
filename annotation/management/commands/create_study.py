"""Creates a study of group ratings with its instrument, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from annotation.instruments.presets import PresetName
from annotation.management.owner import find_owner
from annotation.models import GroupSet
from annotation.studies.creation import create_study, gather_groups


class Command(BaseCommand):
    help = (
        "Creates a draft of a study in which participants rate groups. With --preset "
        f"{PresetName.CAO_2022} it asks as Cao et al. (2022) printed it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--title", required=True, help="title of the study, for participants")
        parser.add_argument("--contact", required=True, metavar="EMAIL", help="for participants")
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
        parser.add_argument("--owner", default="", help="user name of the study's owner")

    def handle(self, *args: Any, **options: Any) -> None:
        sets = GroupSet.objects.filter(slug__in=options["groups"])
        if unknown := set(options["groups"]) - {found.slug for found in sets}:
            raise CommandError(f"There is no set of groups “{sorted(unknown)[0]}”.")
        try:
            study = create_study(
                title=options["title"],
                owner=find_owner(options["owner"]),
                contact_email=options["contact"],
                groups=gather_groups(sets) if sets else None,
                preset=options["preset"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        link = reverse("admin:annotation_study_overview", args=[study.pk])
        self.stdout.write(
            f"Study “{study.title}” ({study.public_id}) is a draft. Edit and launch it on "
            f"{settings.SITE_URL}{link}"
        )
