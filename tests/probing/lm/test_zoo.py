"""Every family gives what plain transformers gives, or is refused; docs/models.md says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probing.lm.zoo import Family, all_families
from tests.probing.lm.zoo_table import PAGE, row_of

#: One for each kind of tokenizer, cache, head and refusal.
SAMPLE = {
    *(("masked", name) for name in ("bert", "roberta", "albert", "ernie", "eurobert", "fnet")),
    *(("causal", name) for name in ("gpt2", "llama", "gemma2", "qwen3_5_text", "mamba2", "rwkv")),
    *(("causal", name) for name in ("rembert", "minimax")),
    *(("seq2seq", name) for name in ("t5", "bart", "nllb-moe", "fsmt")),
}
ROWS = PAGE.read_text().splitlines()
LISTED = {tuple(row.split(" | ")[:2]) for row in ROWS}


def _cases() -> list[object]:
    return [
        pytest.param(
            family,
            id=f"{family.kind}-{family.name}",
            marks=() if (family.kind, family.name) in SAMPLE else pytest.mark.slow,
        )
        for family in all_families()
        if (f"| {family.name}", family.architecture) in LISTED
    ]


@pytest.mark.parametrize("family", _cases())
def test_a_family_is_right_or_refused_as_the_page_of_models_says(
    family: Family, tmp_path: Path
) -> None:
    row = row_of(family, tmp_path)
    assert "WRONG" not in row
    assert row in ROWS


def test_the_page_of_models_lists_the_sample() -> None:
    listed = {
        (one.kind, one.name)
        for one in all_families()
        if (f"| {one.name}", one.architecture) in LISTED
    }
    assert listed >= SAMPLE
    assert len(SAMPLE) >= 12
