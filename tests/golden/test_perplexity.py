"""Perplexity and pseudo-perplexity against golden/expected/perplexity.json.

Those values come from the released code of Hofmann et al. (2024), run on the tiny checkpoints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.golden.text_cases import load_expected, load_lm, load_pairs

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-roberta", "tiny-t5"])
def test_perplexities_match_released_code(shared_dir: Path, name: str) -> None:
    golden = load_expected(shared_dir, "perplexity")
    lm = load_lm(shared_dir, name)
    for texts, variety in zip(
        load_pairs(shared_dir), ("first_variety", "second_variety"), strict=True
    ):
        expected = golden["perplexity"][name][variety]
        found = [np.exp(-np.mean(values)) for values in lm.token_logprobs(texts)]
        assert len(found) == len(expected) == 40
        np.testing.assert_allclose(found, expected, rtol=golden["header"]["tolerance"]["rel"])
