"""Imports what classifiers are asked about: kinds of `import_results`, by their older names."""

from __future__ import annotations

from typing import ClassVar

from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Imports labeled templates, lexicons, labeled texts, or pairs of texts."
    kinds: ClassVar[dict[str, str] | None] = {
        "templates": "labeled-templates",
        "lexicon": "lexicon",
        "texts": "labeled-texts",
        "pairs": "text-pairs",
    }
