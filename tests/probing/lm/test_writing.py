"""Writing: against transformers' own generate, and independent of whatever shares a batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
import transformers

from probing.lm import (
    ContextTooLongError,
    GenerationSettings,
    GenerationSettingsError,
    TokenizerError,
    load_text_model,
)
from probing.lm.causal import CausalModel
from probing.lm.generation import banned_tokens, choose
from probing.lm.seq2seq import Seq2SeqModel
from tests.probing.lm.tiny_bart import make_tiny_bart

pytestmark = pytest.mark.shared

CAUSAL = ["tiny-gpt2", "tiny-opt", "tiny-llama"]
EVERY = [*CAUSAL, "tiny-t5", "tiny-bart"]
#: Of different length, so that padding matters; several of one length, so that batches form.
PROMPTS = [
    "he be",
    "she is usually working late",
    "they",
    "The person says:",
    "People who say",
    "What are one of his traits? He",
]
GREEDY = GenerationSettings(max_new_tokens=16, temperature=0)
SAMPLED = GenerationSettings(max_new_tokens=16, temperature=0.7)
BEAMS = GenerationSettings(max_new_tokens=16, temperature=0, beams=3, no_repeat_ngram=3)


@pytest.fixture(scope="module")
def folders(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {name: checkpoints / name for name in EVERY[:-1]}
    return {**found, "tiny-bart": make_tiny_bart(tmp_path_factory.mktemp("bart"))}


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, CausalModel | Seq2SeqModel]:
    return {name: load_text_model(folder, threads=1) for name, folder in folders.items()}  # type: ignore[misc]


def write_alone(folder: Path, prompt: str, **settings: Any) -> str:
    """One prompt by transformers' generate, without any batch; without sampling."""
    config = transformers.AutoConfig.from_pretrained(folder)
    loader = (
        transformers.AutoModelForSeq2SeqLM
        if config.is_encoder_decoder
        else transformers.AutoModelForCausalLM
    )
    model = loader.from_pretrained(folder).eval()
    model.generation_config.forced_eos_token_id = None  # BART's would disguise a cut text
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    pad = config.pad_token_id if config.pad_token_id is not None else config.eos_token_id
    with torch.inference_mode():
        found = model.generate(ids, do_sample=False, pad_token_id=pad, **settings)[0]
    new = found if config.is_encoder_decoder else found[ids.shape[1] :]
    return tokenizer.decode(new, skip_special_tokens=True).strip()


@pytest.mark.parametrize("name", EVERY)
def test_the_likeliest_text_is_that_of_transformers(
    models: dict[str, Any], folders: dict[str, Path], name: str
) -> None:
    found = models[name].generate(PROMPTS, GREEDY, seeds=[0] * len(PROMPTS))
    expected = [write_alone(folders[name], prompt, max_new_tokens=16) for prompt in PROMPTS]
    assert [one.text for one in found] == expected
    assert any(expected)


@pytest.mark.parametrize("name", EVERY)
def test_beams_are_those_of_transformers(
    models: dict[str, Any], folders: dict[str, Path], name: str
) -> None:
    settings = replace(BEAMS, no_repeat_ngram=0)
    found = models[name].generate(PROMPTS, settings, seeds=[0] * len(PROMPTS))
    expected = [
        write_alone(folders[name], prompt, max_new_tokens=16, num_beams=3) for prompt in PROMPTS
    ]
    assert [one.text for one in found] == expected


@pytest.mark.parametrize("name", ["tiny-t5", "tiny-bart"])
def test_beams_without_repeats_are_those_of_transformers(
    models: dict[str, Any], folders: dict[str, Path], name: str
) -> None:
    """Where only the decoder writes, transformers counts the same n-grams as we do."""
    found = models[name].generate(PROMPTS, BEAMS, seeds=[0] * len(PROMPTS))
    expected = [
        write_alone(folders[name], p, max_new_tokens=16, num_beams=3, no_repeat_ngram_size=3)
        for p in PROMPTS
    ]
    assert [one.text for one in found] == expected


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("settings", [GREEDY, SAMPLED, BEAMS], ids=["greedy", "sampled", "beams"])
def test_a_text_depends_on_no_other_in_its_batch(
    models: dict[str, Any], name: str, settings: GenerationSettings
) -> None:
    model, seeds = models[name], [7, 8, 9, 10, 11, 12]
    together = model.generate(PROMPTS, settings, seeds=seeds)
    alone = [
        model.generate([prompt], settings, seeds=[seed])[0]
        for prompt, seed in zip(PROMPTS, seeds, strict=True)
    ]
    assert together == alone
    turned = model.generate(PROMPTS[::-1], settings, seeds=seeds[::-1])
    assert turned[::-1] == together
    usual = model.batch_tokens
    try:
        model.batch_tokens = 50
        assert model.generate(PROMPTS, settings, seeds=seeds) == together
    finally:
        model.batch_tokens = usual


def test_the_seed_decides_what_is_sampled(models: dict[str, Any]) -> None:
    texts = models["tiny-gpt2"].generate(["he be"] * 8, SAMPLED, seeds=[1, 1, 2, 3, 4, 5, 6, 7])
    assert texts[0] == texts[1]
    assert len({one.text for one in texts}) > 4


def test_sampling_follows_the_distribution_at_its_temperature() -> None:
    """Against theory: frequencies of 4,000 draws from softmax(logits / T), chi-square, seed 3."""
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5])
    temperature, n = 0.7, 4000
    p = np.exp(logits.numpy() / temperature)
    drawn = np.random.default_rng(3).random(n).tolist()
    found = choose(logits.expand(n, -1).clone(), temperature, drawn, [()] * n).numpy()
    counts = np.bincount(found, minlength=5)
    assert scipy.stats.chisquare(counts, n * p / p.sum()).pvalue > 0.01


def test_the_ends_of_the_unit_interval_draw_the_ends_of_the_vocabulary() -> None:
    logits = torch.zeros(2, 3)
    assert choose(logits, 1.0, [0.0, np.nextafter(1, 0)], [(), ()]).tolist() == [0, 2]
    # A token of no probability is never drawn, not even by the smallest number.
    assert choose(logits, 1.0, [0.0, 0.0], [{0}, {0, 1}]).tolist() == [1, 2]


@pytest.mark.parametrize("name", EVERY)
def test_no_gram_of_three_tokens_comes_twice(models: dict[str, Any], name: str) -> None:
    model = models[name]
    for settings in (BEAMS, replace(GREEDY, no_repeat_ngram=3, max_new_tokens=40)):
        for one in model.generate(PROMPTS[:3], settings, seeds=[0] * 3):
            ids = model.tokenizer.encode_plain(one.text)
            assert one.n_tokens
            words = [tuple(one.text.split()[at : at + 4]) for at in range(len(ids))]
            whole = [gram for gram in words if len(gram) == 4]
            assert len(whole) == len(set(whole))  # four words are three tokens at least


def test_banned_tokens_are_those_that_would_repeat_a_gram() -> None:
    """By hand: after 1 2 3 1 2 the trigram 1 2 3 would repeat with a 3."""
    assert banned_tokens([1, 2, 3, 1, 2], 3) == {3}
    assert banned_tokens([1, 2, 3, 1, 2, 4, 1, 2], 3) == {3, 4}
    assert banned_tokens([5, 6], 1) == {5, 6}
    assert banned_tokens([1, 2], 3) == banned_tokens([1, 2, 1], 0) == set()


@pytest.mark.parametrize("settings", [GREEDY, SAMPLED, replace(BEAMS, no_repeat_ngram=0)])
def test_a_stop_text_ends_the_writing_and_is_left_out(
    models: dict[str, Any], settings: GenerationSettings
) -> None:
    model = models["tiny-gpt2"]
    usual = model.generate(PROMPTS, replace(settings, max_new_tokens=40), seeds=range(6))
    stopped = model.generate(
        PROMPTS, replace(settings, max_new_tokens=40, stop=(".", "?")), seeds=range(6)
    )
    for before, one in zip(usual, stopped, strict=True):
        assert "." not in one.text
        assert "?" not in one.text
        if one.finish == "stop" and settings.beams == 1:
            assert before.text.startswith(one.text)
            assert one.n_tokens < 40
    assert sum(one.finish == "stop" for one in stopped) >= 4


def test_a_text_that_reaches_the_limit_is_reported_as_cut(models: dict[str, Any]) -> None:
    found = models["tiny-gpt2"].generate(["he be"], replace(GREEDY, max_new_tokens=3), seeds=[0])
    assert (found[0].finish, found[0].n_tokens) == ("length", 3)
    ended = models["tiny-t5"].generate(["he be"], GREEDY, seeds=[0])
    assert ended[0].finish == "stop"


def test_what_does_not_fit_is_refused_with_its_lengths_and_never_cut(
    models: dict[str, Any],
) -> None:
    prompt = "he be " * 25
    n = models["tiny-gpt2"].count_tokens(prompt)
    with pytest.raises(ContextTooLongError, match=rf"has {n} tokens, 16 more .* reads 64"):
        models["tiny-gpt2"].generate(["he be", prompt], GREEDY, seeds=[0, 0])
    with pytest.raises(ContextTooLongError, match="reads 40"):
        models["tiny-bart"].generate([prompt], GREEDY, seeds=[0])
    assert models["tiny-t5"].generate([prompt * 3], GREEDY, seeds=[0])


def test_an_empty_prompt_needs_a_begin_token(models: dict[str, Any]) -> None:
    with pytest.raises(TokenizerError, match="prompt is empty"):
        models["tiny-gpt2"].generate([""], GREEDY, seeds=[0])
    assert models["tiny-llama"].generate([""], GREEDY, seeds=[0])[0].text
    assert models["tiny-gpt2"].generate([], GREEDY, seeds=[]) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens is 0"),
        ({"temperature": -1.0}, "temperature is -1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"temperature": float("inf")}, "infinite"),
        ({"beams": 0}, "beams is 0"),
        ({"beams": 2, "temperature": 0.7}, "Set beams to 1"),
        ({"no_repeat_ngram": -1}, "no_repeat_ngram is -1"),
        ({"stop": ("",)}, "stop text is empty"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(
    models: dict[str, Any], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(GenerationSettingsError, match=said):
        models["tiny-gpt2"].generate(["he be"], replace(GREEDY, **changes), seeds=[0])


def test_every_prompt_needs_a_seed(models: dict[str, Any]) -> None:
    with pytest.raises(GenerationSettingsError, match="1 seeds for 2 prompts"):
        models["tiny-gpt2"].generate(["he", "she"], GREEDY, seeds=[0])
