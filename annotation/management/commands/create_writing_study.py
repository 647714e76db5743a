"""Creates a study in which annotators write counterparts, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.urls import reverse

from annotation.counterparts.creation import create_writing_study
from annotation.management.owner import find_owner
from annotation.models import Corpus


class Command(BaseCommand):
    help = (
        "Creates a draft of a writing study. Deas et al. (2023) took 50 texts of each source and "
        "12 more that everybody rewrote: --texts 62 --common 12 --per-source --by-features."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("corpus", help="name or public id of the corpus")
        parser.add_argument("--title", required=True, help="title of the study, for annotators")
        parser.add_argument("--contact", required=True, metavar="EMAIL", help="for annotators")
        parser.add_argument("--owner", default="", help="user name of the study's owner")
        parser.add_argument("--texts", type=int, metavar="N", help="how many; without it all")
        parser.add_argument(
            "--common", type=int, default=0, metavar="N", help="how many everybody rewrites"
        )
        parser.add_argument(
            "--per-source", action="store_true", help="both numbers are of every source"
        )
        parser.add_argument(
            "--by-features", action="store_true", help="texts with more features come more often"
        )
        parser.add_argument(
            "--shared-percent",
            type=float,
            default=10,
            metavar="P",
            help="of the other texts, what each pair of annotators has in common; default 10",
        )
        parser.add_argument("--seed", type=int, help="of the draw; without it one is chosen")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["corpus"]
        corpus = Corpus.objects.filter(Q(public_id=name) | Q(name=name)).first()
        if corpus is None:
            raise CommandError(f"No corpus is called “{name}”.")
        try:
            study = create_writing_study(
                title=options["title"],
                owner=find_owner(options["owner"]),
                contact_email=options["contact"],
                corpus=corpus,
                n_texts=options["texts"],
                common_texts=options["common"],
                per_source=options["per_source"],
                weighted_by_features=options["by_features"],
                shared_percent=options["shared_percent"],
                seed=options["seed"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        link = reverse("admin:annotation_writingstudy_overview", args=[study.pk])
        self.stdout.write(
            f"Study “{study.title}” ({study.public_id}) is a draft. Invite its annotators on "
            f"{settings.SITE_URL}{link}"
        )
