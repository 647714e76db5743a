"""The published ratings as a study, with the golden scores of other people's code as runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.imports.abc_file import build_vocabulary
from annotation.imports.abc_ratings import import_abc_ratings
from annotation.models import SocialGroup, Study, TraitPair


def import_published(shared_dir: Path, **options: Any) -> Study:
    """Return the published ratings of Cao et al. (2022) as a study."""
    file = shared_dir / "data/us_stereotypes/data_full.json"
    return import_abc_ratings(content=file.read_bytes(), file_name=file.name, **options).study


def golden_cases(shared_dir: Path) -> list[dict[str, Any]]:
    """Return scores and expected values by the library's slugs, and the tolerance.

    Source: human_alignment.json, made with scipy on the published ratings.
    """
    golden = json.loads((shared_dir / "golden/expected/human_alignment.json").read_text())
    vocabulary = build_vocabulary(
        [
            (group.slug, (group.singular, group.plural, group.plural_capitalised))
            for group in SocialGroup.objects.all()
        ],
        TraitPair.objects.values_list("slug", "low", "high"),
    )
    traits = [vocabulary.find_scale(name) for name in golden["trait_pairs"]]
    return [
        {
            "scores": {
                vocabulary.find_group(name): dict(zip(traits, values, strict=True))
                for name, values in case["scores"].items()
            },
            "per_group": {
                vocabulary.find_group(name): values for name, values in case["per_group"].items()
            },
            "overall": case["overall"],
            "tolerance": golden["header"]["tolerance"]["abs"],
        }
        for case in golden["cases"]
    ]
