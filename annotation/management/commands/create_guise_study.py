"""Creates a study in which participants rate the speakers of texts, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.urls import reverse

from annotation.models import Corpus, TraitPair
from annotation.studies.creation import create_guise_study


class Command(BaseCommand):
    help = (
        "Creates a draft in which participants rate the speakers of a corpus's text pairs on trait "
        "scales. Nobody reads both texts of a pair."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("corpus", help="name or public id of the corpus")
        parser.add_argument("--title", required=True, help="participants read it")
        parser.add_argument("--contact", required=True, metavar="EMAIL", help="for participants")
        parser.add_argument("--owner", default="", help="user name of the study's owner")
        parser.add_argument("--pairs", type=int, metavar="N", help="how many; without it all")
        parser.add_argument(
            "--scale",
            action="append",
            metavar="SLUG",
            help="a trait pair, several times for more; without it the 16 of the ABC model",
        )
        parser.add_argument(
            "--quota", type=int, default=20, metavar="N", help="ratings of each text; default 20"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["corpus"]
        corpus = Corpus.objects.filter(Q(public_id=name) | Q(name=name)).first()
        if corpus is None:
            raise CommandError(f"No corpus is called “{name}”.")
        owner = None
        if options["owner"]:
            owner = get_user_model().objects.filter(username=options["owner"]).first()
            if owner is None:
                raise CommandError(f"No user is called “{options['owner']}”.")
        try:
            study = create_guise_study(
                title=options["title"],
                owner=owner,
                contact_email=options["contact"],
                corpus=corpus,
                n_pairs=options["pairs"],
                trait_pairs=find_scales(options["scale"]) if options["scale"] else None,
                quota_per_group=options["quota"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        link = reverse("admin:annotation_study_overview", args=[study.pk])
        self.stdout.write(
            f"Study “{study.title}” ({study.public_id}) is a draft. Launch it on "
            f"{settings.SITE_URL}{link}"
        )


def find_scales(slugs: list[str]) -> list[TraitPair]:
    """Return trait pairs in the order given. Raises `CommandError` for one that is not there."""
    known = {pair.slug: pair for pair in TraitPair.objects.filter(slug__in=slugs)}
    if missing := [slug for slug in slugs if slug not in known]:
        raise CommandError(f"The library has no trait pair “{missing[0]}”.")
    return [known[slug] for slug in dict.fromkeys(slugs)]
