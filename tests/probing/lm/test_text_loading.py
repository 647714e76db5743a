"""Loading models of texts: which of them a configuration makes, and what each fault says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GPT2Config, GPT2Model

from probing.lm import (
    DeviceError,
    SpanModel,
    TextGenerator,
    TextScorer,
    TextTokenizer,
    TokenizerError,
    WrongModelKindError,
    inspect_model,
    load_text_model,
    load_text_tokenizer,
)
from tests.probing.lm.tiny_bart import POSITIONS, make_tiny_bart

pytestmark = pytest.mark.shared

SCORES, WRITES, FILLS, TRAINS = "text_logprob", "generate", "span", "train"
ENDS, ANSWERS = "end_word", "answer"


@pytest.fixture(scope="module")
def tiny_bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bart(tmp_path_factory.mktemp("bart"))


@pytest.mark.parametrize(
    ("name", "kind", "abilities", "protocol", "max_length"),
    [
        ("tiny-gpt2", "causal", {SCORES, ENDS, WRITES, FILLS, TRAINS, ANSWERS}, "left_context", 64),
        ("tiny-opt", "causal", {SCORES, ENDS, WRITES, FILLS, TRAINS, ANSWERS}, "left_context", 64),
        (
            "tiny-llama",
            "causal",
            {SCORES, ENDS, WRITES, FILLS, TRAINS, ANSWERS},
            "left_context",
            64,
        ),
        ("tiny-t5", "seq2seq", {SCORES, ENDS, WRITES, FILLS, TRAINS, ANSWERS}, "sentinel", None),
        ("bart", "seq2seq", {WRITES, FILLS, TRAINS, ANSWERS}, "mask", POSITIONS),
        ("tiny-bert", "masked", {SCORES, ENDS}, None, 64),
        ("tiny-roberta", "masked", {SCORES, ENDS}, None, 64),
    ],
)
def test_facts_of_the_tokenizer_are_those_of_the_model(
    checkpoints: Path,
    tiny_bart: Path,
    name: str,
    kind: str,
    abilities: set[str],
    protocol: str | None,
    max_length: int | None,
) -> None:
    folder = tiny_bart if name == "bart" else checkpoints / name
    facts, lm = load_text_tokenizer(folder), load_text_model(folder, threads=1)
    assert isinstance(facts, TextTokenizer)
    for one in (facts, lm):
        assert (one.kind, one.abilities, one.max_length) == (kind, abilities, max_length)
        assert one.count_tokens("he be") >= 2
    if protocol is not None:
        assert facts.span_protocol == lm.span_protocol == protocol  # type: ignore[union-attr]
    assert isinstance(lm, TextGenerator) == (WRITES in abilities)
    if SCORES in abilities:
        assert isinstance(lm, TextScorer)
    if FILLS in abilities:
        assert isinstance(lm, SpanModel)
    assert lm.revision.startswith("sha256:")
    assert lm.device == "cpu"


def test_a_bart_without_a_head_of_its_own_is_complete(tmp_path: Path) -> None:
    """As bart-base is published: the head shares the weights of the embeddings."""
    folder = make_tiny_bart(tmp_path, with_head=False)
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["BartModel"]
    assert inspect_model(folder).kind == "seq2seq"
    lm = load_text_model(folder, threads=1)
    model: Any = lm._model  # type: ignore[union-attr]
    assert torch.equal(model.lm_head.weight, model.model.shared.weight)


def test_a_classifier_is_refused_with_what_would_do(checkpoints: Path) -> None:
    for load in (load_text_model, load_text_tokenizer):
        with pytest.raises(WrongModelKindError, match="a classifier") as raised:
            load(checkpoints / "tiny-classifier")
        assert "'gpt2'" in str(raised.value)


def test_a_model_without_its_layers_is_refused(checkpoints: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "tiny-gpt2", folder)
    config = GPT2Config.from_pretrained(folder)
    config.n_layer = 1
    GPT2Model(config).save_pretrained(folder)  # one layer of weights under a title of two
    shutil.copyfile(checkpoints / "tiny-gpt2" / "config.json", folder / "config.json")
    with pytest.raises(WrongModelKindError, match="weights of a causal language model"):
        load_text_model(folder)


def test_a_foreign_tokenizer_is_refused(checkpoints: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "tiny-opt", folder)
    shutil.copyfile(checkpoints / "tiny-gpt2" / "tokenizer.json", folder / "tokenizer.json")
    with pytest.raises(TokenizerError, match="do not belong together"):
        load_text_tokenizer(folder)


def test_a_device_that_does_not_exist_is_named(checkpoints: Path) -> None:
    with pytest.raises(DeviceError, match="abacus"):
        load_text_model(checkpoints / "tiny-gpt2", device="abacus")
    with pytest.raises(ValueError, match="batch_tokens"):
        load_text_model(checkpoints / "tiny-gpt2", batch_tokens=0)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_other_number_formats_give_nearly_the_same(checkpoints: Path, dtype: Any) -> None:
    usual = load_text_model(checkpoints / "tiny-gpt2", threads=1)
    other = load_text_model(checkpoints / "tiny-gpt2", threads=1, dtype=dtype)
    text = ["she is usually working late"]
    tolerance = 1e-5 if dtype == "float64" else 0.1
    assert abs(usual.token_logprobs(text)[0] - other.token_logprobs(text)[0]).max() < tolerance
