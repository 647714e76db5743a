"""Creates a study in which participants rate the speakers of texts, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.draft_command import DraftCommand
from annotation.models import Study, TraitPair
from annotation.studies.creation import create_guise_study


class Command(DraftCommand):
    help = (
        "Creates a draft in which participants rate the speakers of a corpus's text pairs on trait "
        "scales. Nobody reads both texts of a pair."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("corpus", help="name or public id of the corpus")
        super().add_arguments(parser)
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

    def create(self, options: dict[str, Any], **common: Any) -> Study:
        return create_guise_study(
            **common,
            n_pairs=options["pairs"],
            trait_pairs=find_scales(options["scale"]) if options["scale"] else None,
            quota_per_group=options["quota"],
        )


def find_scales(slugs: list[str]) -> list[TraitPair]:
    """Return trait pairs in the order given. Raises `CommandError` for one that is not there."""
    known = {pair.slug: pair for pair in TraitPair.objects.filter(slug__in=slugs)}
    if missing := [slug for slug in slugs if slug not in known]:
        raise CommandError(f"The library has no trait pair “{missing[0]}”.")
    return [known[slug] for slug in dict.fromkeys(slugs)]
