"""Writes pairs of texts that differ in one feature of African American English each."""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.corpora.guise_features import GUISE_FEATURES, feature_pairs


class Command(BaseCommand):
    help = (
        "Writes a TSV file of pairs, a set for each of the eight features of Hofmann et al. "
        "(2024, Fig. 2c), with the feature as their source. “import_corpus” reads it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write; it must not exist yet")
        parser.add_argument(
            "--feature",
            action="append",
            choices=list(GUISE_FEATURES),
            help="one of the features, repeatable; default all",
        )
        parser.add_argument("--source-variety", default="AAE", help="default AAE")
        parser.add_argument("--target-variety", default="SAE", help="default SAE")

    def handle(self, *args: Any, **options: Any) -> None:
        names = dict.fromkeys(options["feature"] or GUISE_FEATURES)
        pairs = [pair for name in names for pair in feature_pairs(name)]
        try:
            with options["file"].open("x", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, delimiter="\t", lineterminator="\n")
                writer.writerow([options["source_variety"], options["target_variety"], "source"])
                writer.writerows((pair.first, pair.second, pair.feature) for pair in pairs)
        except OSError as error:
            raise CommandError(
                f"“{options['file']}” cannot be written: {error.strerror}."
            ) from error
        self.stdout.write(f"{len(pairs)} pairs of {len(names)} features.")
