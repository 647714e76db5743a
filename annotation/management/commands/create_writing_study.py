"""Creates a study in which annotators write counterparts, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotation.counterparts.creation import create_writing_study
from annotation.management.draft_command import DraftCommand
from annotation.models import Study


class Command(DraftCommand):
    help = (
        "Creates a draft of a writing study. Deas et al. (2023) took 50 texts of each source and "
        "12 more that everybody rewrote: --texts 62 --common 12 --per-source --by-features."
    )
    people = "annotators"
    model_name = "writingstudy"
    todo = "Invite its annotators"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("corpus", help="name or public id of the corpus")
        super().add_arguments(parser)
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

    def create(self, options: dict[str, Any], **common: Any) -> Study:
        return create_writing_study(
            **common,
            n_texts=options["texts"],
            common_texts=options["common"],
            per_source=options["per_source"],
            weighted_by_features=options["by_features"],
            shared_percent=options["shared_percent"],
            seed=options["seed"],
        )
