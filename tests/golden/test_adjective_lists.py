"""The library's adjectives against Table A7 of Cao et al. (2022) and the released lists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from annotation.library.abc_model import TRAIT_PAIRS
from probing.measures.adjectives import pole_words
from probing.measures.stimuli import Trait

pytestmark = pytest.mark.shared

TRAITS = [
    Trait(
        entry.slug,
        entry.low,
        entry.high,
        entry.dimension,
        entry.low_synonyms,
        entry.high_synonyms,
    )
    for entry in TRAIT_PAIRS
]


def test_every_list_is_that_of_table_a7(shared_dir: Path) -> None:
    """The paper as text: between section and caption, each row is a pole, a tab and its words."""
    text = (shared_dir / "papers" / "cao-2022-abc-stereotypes.txt").read_text(encoding="utf-8")
    table = text[text.index("is in the Table A7") : text.index("Table A7: Full list")]
    printed = {
        pole.strip().lower().replace(" ", "-"): tuple(words.split(", "))
        for pole, words in re.findall(
            r"^(?!Trait\t)([A-Z][\w -]+)\t([^\t\n·]+)$", table, re.MULTILINE
        )
    }
    assert len(printed) == 32
    ours = {}
    for trait in TRAITS:
        ours |= {trait.low: trait.low_synonyms, trait.high: trait.high_synonyms}
    assert ours == printed


@pytest.mark.parametrize("model", ["bert", "roberta"])
def test_the_released_lists_are_those_of_the_released_code(shared_dir: Path, model: str) -> None:
    file = shared_dir / "golden" / "expected" / f"abc_released_{model}.json"
    released = json.loads(file.read_text(encoding="utf-8"))["trait_lists"]
    ours = {
        own: list(pole_words(trait, pole, "released_lists"))
        for trait in TRAITS
        for pole, own in (("low", trait.low), ("high", trait.high))
    }
    assert ours == released
