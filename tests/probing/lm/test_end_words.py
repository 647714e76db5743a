"""Words that end a prompt: one token or several, in all three kinds of models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from probing.lm import ContextTooLongError, MaskCountError, SlotContext, UnknownWordError
from probing.lm.end_words import Opening, plan_words, shared_beginning
from probing.lm.masked import MaskedLanguageModel
from tests.golden.text_cases import load_expected, load_lm

pytestmark = pytest.mark.shared

PROMPT = 'A person who says " he be workin " is'
WORDS = ("lazy", "untrustworthy", "sophisticated")


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-opt", "tiny-llama"])
def test_the_chain_rule_matches_the_golden_continuations(shared_dir: Path, name: str) -> None:
    golden = load_expected(shared_dir, "causal_continuations")
    cases = golden["models"][name]["continuations"]
    words = list(cases[0]["token_log_probs"])
    lm = load_lm(shared_dir, name)
    found = lm.end_logprobs(lm.open_ends([case["prompt"] for case in cases], words))
    expected = [[sum(case["token_log_probs"][word]) for word in words] for case in cases]
    np.testing.assert_allclose(found, expected, atol=2e-4, rtol=0)


def test_several_masks_are_read_as_in_a_slot(
    shared_dir: Path, tiny_roberta: MaskedLanguageModel
) -> None:
    """The slot measures read the same masks; two adapters, one number."""
    lm = load_lm(shared_dir, "tiny-roberta")
    found = lm.end_logprobs(lm.open_ends([PROMPT], WORDS))
    slot = tiny_roberta.word_logprobs([SlotContext(f"{PROMPT} ", "")], WORDS)
    np.testing.assert_allclose(found, slot, atol=1e-5)


def test_what_rows_share_is_read_once_and_changes_nothing(shared_dir: Path) -> None:
    """Against transformers' own logits, row by row."""
    folder = shared_dir / "golden" / "models" / "tiny-gpt2"
    model, tokenizer = (
        loader.from_pretrained(folder) for loader in (AutoModelForCausalLM, AutoTokenizer)
    )
    lm = load_lm(shared_dir, "tiny-gpt2")
    prompts = [PROMPT.replace("workin", text) for text in ("workin", "cookin dinner", "at home")]
    rows = lm.open_ends(prompts, ["lazy"])
    assert shared_beginning([row.ids for row in rows]) > 4
    word = tokenizer.encode(" lazy")
    with torch.inference_mode():
        expected = [
            float(
                torch.log_softmax(
                    model(torch.tensor([tokenizer.encode(prompt)])).logits[0, -1].double(), 0
                )[word[0]]
            )
            for prompt in prompts
        ]
    np.testing.assert_allclose(lm.end_logprobs(rows)[:, 0], expected, atol=1e-5)


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-roberta", "tiny-t5"])
def test_neighbors_change_nothing(shared_dir: Path, name: str) -> None:
    lm = load_lm(shared_dir, name)
    rows = lm.open_ends([PROMPT, "They are", f"{PROMPT} really {PROMPT}"], WORDS)
    together = lm.end_logprobs(rows)
    alone = np.concatenate([lm.end_logprobs([row]) for row in rows])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert (together < 0).all()
    assert lm.end_logprobs([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "text"), [("tiny-roberta", "a <mask> b"), ("tiny-t5", "a <extra_id_0> b")]
)
def test_a_text_with_the_opening_token_is_refused(shared_dir: Path, name: str, text: str) -> None:
    with pytest.raises(MaskCountError):
        load_lm(shared_dir, name).open_ends([text], ())


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-roberta"])
def test_a_text_that_does_not_fit_and_an_empty_word_are_refused(
    shared_dir: Path, name: str
) -> None:
    lm = load_lm(shared_dir, name)
    with pytest.raises(ContextTooLongError):
        lm.open_ends([PROMPT * 20], ())
    with pytest.raises(UnknownWordError):
        lm.open_ends([PROMPT], [" "])


def test_words_share_openings() -> None:
    """By hand: 1, 1 2 and 1 3 without masks need the openings “” and “1”."""
    plan = plan_words([(1,), (1, 2), (1, 3)], masks=False)
    found = {opening: list(map(tuple, arrays)) for opening, arrays in plan.items()}
    assert found == {
        Opening((), 0): [(0, 1, 2), (1, 1, 1)],
        Opening((1,), 0): [(1, 2), (2, 3)],
    }
    with_masks = plan_words([(1,), (1, 2)], masks=True)
    assert set(with_masks) == {Opening((), 1), Opening((), 2), Opening((1,), 1)}


def test_rows_share_at_most_all_but_one_token() -> None:
    assert shared_beginning([(1, 2, 3), (1, 2, 4)]) == 2
    assert shared_beginning([(1, 2), (1, 2)]) == 1
    assert shared_beginning([(1, 2), (1, 2, 3)]) == 1
    assert shared_beginning([(5,), (6,)]) == 0
