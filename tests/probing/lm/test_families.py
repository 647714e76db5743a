"""Families of causal models that differ in caches, positions, or output layers.

Expected values are transformers' own passes over each row alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from probing.lm import ModelFilesError, WrongModelKindError, examination
from probing.lm.causal import CausalModel
from probing.lm.decoding import Seq2SeqDecoding
from probing.lm.examination import body_of
from probing.lm.loaders import (
    load_slot_model,
    load_slot_tokenizer,
    load_text_model,
    load_text_tokenizer,
)
from probing.lm.protocols import SlotContext, SpanText
from probing.lm.text_protocols import GenerationSettings
from probing.measures.stimuli import Group, Stimuli, Template, Trait
from probing.models import LanguageModel, Run
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from tests.probing.lm.tiny_families import (
    BOTH_DIRECTIONS,
    FAMILIES,
    SWITCH,
    logprobs_alone,
    make_family,
)
from tools.bench.guise_checkpoints import Size, make_tokenizer

WORDS = ("kind", "rude")
#: One beginning; the second and the last are on the far side of longrope's switch.
PROMPTS = (
    "She says: hey. She is",
    "She says: they be out here every night. She is",
    "She says: no. She is",
    "She says: ain't nobody got time to hear it. She is",
)
STIMULI = Stimuli(
    groups=(Group("teenager", "teenager", "teenagers", "Teenagers"),),
    traits=(Trait("rude-kind", "rude", "kind", "communion"),),
    templates=(Template("that", "That {singular} is {trait}."),),
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A checkpoint of every family."""
    place = tmp_path_factory.mktemp("families")
    return {name: make_family(place / name, name) for name in (*FAMILIES, *BOTH_DIRECTIONS)}


@pytest.mark.parametrize("name", FAMILIES)
def test_words_at_the_end_have_the_value_of_a_whole_pass(
    name: str, folders: dict[str, Path]
) -> None:
    lm = load_text_model(folders[name], threads=1)
    ends = lm.open_ends(PROMPTS, WORDS)
    assert len(ends[0].ids) <= SWITCH < len(ends[1].ids)
    expected = logprobs_alone(folders[name], [end.ids for end in ends])
    wanted = [
        [row[piece[0]] for piece in end.words] for row, end in zip(expected, ends, strict=True)
    ]
    np.testing.assert_allclose(lm.end_logprobs(ends), wanted, atol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_words_in_a_slot_have_the_value_of_a_whole_pass(
    name: str, folders: dict[str, Path]
) -> None:
    lm = load_slot_model(folders[name], threads=1)
    contexts = [SlotContext(f"{prompt} ", ".") for prompt in PROMPTS]
    opened = lm.open(contexts, WORDS)
    expected = logprobs_alone(folders[name], [sentence.before for sentence in opened])
    wanted = [
        [row[piece[0]] for piece in one.pieces] for row, one in zip(expected, opened, strict=True)
    ]
    np.testing.assert_allclose(lm.word_logprobs(contexts, WORDS), wanted, atol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_words_have_the_states_of_a_whole_pass(name: str, folders: dict[str, Path]) -> None:
    lm = load_slot_model(folders[name], threads=1)
    model = transformers.AutoModelForCausalLM.from_pretrained(folders[name]).eval()
    wanted = []
    for prompt in PROMPTS:
        ids = torch.tensor([lm.encode(prompt[: prompt.rindex("She") + 1])])
        with torch.inference_mode():
            read = model(input_ids=ids, use_cache=False, output_hidden_states=True)
        wanted.append(read.hidden_states[-1][0, -1].numpy())
    places = [prompt.rindex("She") for prompt in PROMPTS]
    spans = [SpanText(prompt, at, at + 3) for prompt, at in zip(PROMPTS, places, strict=True)]
    np.testing.assert_allclose(lm.embed(spans), wanted, atol=1e-4)


def test_refuses_a_model_that_is_nothing_but_an_output_layer() -> None:
    class Bare(transformers.PreTrainedModel):
        config_class = transformers.LlamaConfig

    with pytest.raises(WrongModelKindError, match="'Bare' has no part below its output layer"):
        body_of(Bare(transformers.LlamaConfig()))


@pytest.mark.parametrize("name", FAMILIES)
def test_writes_what_whole_passes_make_likeliest(name: str, folders: dict[str, Path]) -> None:
    lm = load_text_model(folders[name], threads=1)
    assert isinstance(lm, CausalModel)
    written = lm.generate(
        PROMPTS, GenerationSettings(max_new_tokens=6, temperature=0), seeds=[0] * 4
    )
    rows = [list(lm.tokenizer.encode(prompt)) for prompt in PROMPTS]
    begun = [len(row) for row in rows]
    for _ in range(6):
        for row, found in zip(rows, logprobs_alone(folders[name], rows), strict=True):
            row.append(int(found.argmax()))
    for text, row, first in zip(written, rows, begun, strict=True):
        ids = row[first:]
        ids = ids[: ids.index(2)] if 2 in ids else ids
        assert text.text == lm.tokenizer.decode(ids).strip()


@pytest.mark.parametrize("name", FAMILIES)
def test_beams_are_those_of_whole_passes(name: str, folders: dict[str, Path]) -> None:
    lm = load_text_model(folders[name], threads=1)
    assert isinstance(lm, CausalModel)
    written = lm.generate(
        PROMPTS, GenerationSettings(max_new_tokens=6, temperature=0, beams=3), seeds=[0] * 4
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(folders[name]).eval()
    for prompt, text in zip(PROMPTS, written, strict=True):
        ids = torch.tensor([lm.tokenizer.encode(prompt)])
        with torch.inference_mode():
            found = model.generate(
                ids, num_beams=3, do_sample=False, max_new_tokens=6, use_cache=False
            )
        assert text.text == lm.tokenizer.decode(found[0, ids.shape[1] :].tolist()).strip()


def test_rows_past_a_wide_window_have_the_value_of_a_whole_pass(folders: dict[str, Path]) -> None:
    lm = load_text_model(folders["moshi-wide"], threads=1)
    assert isinstance(lm, CausalModel)
    begun = f"She says {'they be out. ' * 50}"
    rows = [tuple(lm.tokenizer.encode(begun + end)) for end in ("She is", "No. She is")]
    assert len(rows[0]) > 600
    expected = logprobs_alone(folders["moshi-wide"], rows)
    np.testing.assert_allclose(torch.log_softmax(lm.end_logits(rows), -1), expected, atol=1e-4)
    answers = [(5,), (5, 6)]
    wanted = (
        logprobs_alone(folders["moshi-wide"], [(*row, 5) for row in rows])[:, 6] + expected[:, 5]
    )
    found = lm.begin_logprobs(rows, answers)
    np.testing.assert_allclose(found[:, 1], wanted, atol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_causal_models_are_registered_by_their_trial(name: str, folders: dict[str, Path]) -> None:
    assert load_text_tokenizer(folders[name]).kind == "causal"


@pytest.mark.parametrize("name", BOTH_DIRECTIONS)
@pytest.mark.parametrize("load", [load_text_model, load_text_tokenizer])
@pytest.mark.parametrize("slot", [False, True])
def test_refuses_what_reads_in_both_directions(
    name: str, load: Any, slot: bool, folders: dict[str, Path]
) -> None:
    whole = load is load_text_model
    tried = (load_slot_model if whole else load_slot_tokenizer) if slot else load
    with pytest.raises(WrongModelKindError, match="reads in both directions"):
        tried(folders[name])


@pytest.mark.django_db
@pytest.mark.parametrize("name", BOTH_DIRECTIONS)
def test_a_model_of_both_directions_leaves_no_run(name: str, folders: dict[str, Path]) -> None:
    with pytest.raises(RunError, match="reads in both directions"):
        register_model(location=str(folders[name]))
    # As an earlier version registered it.
    model = LanguageModel.objects.create(
        name=name, kind="causal", source="path", location=str(folders[name])
    )
    asked: dict[str, Any] = {
        "measure": "ilps",
        "model": model,
        "stimuli": STIMULI,
        "parameters": {},
    }
    tried = dry_run(**asked)
    assert any("both directions" in problem.message for problem in tried.fatal)
    with pytest.raises(RunError, match="reads in both directions"):
        create_run(**asked, seed=0, created_by=None)
    assert not Run.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["gemma2", "cohere", "granite", "granite-4-h"])
def test_sensitivity_of_a_scaled_output_layer_is_refused_before_the_run(
    name: str, folders: dict[str, Path]
) -> None:
    model = register_model(location=str(folders[name]))
    asked: dict[str, Any] = {"measure": "set", "model": model, "stimuli": STIMULI, "parameters": {}}
    tried = dry_run(**asked)
    assert any("scales or caps" in problem.message for problem in tried.fatal)
    with pytest.raises(RunError, match="scales or caps"):
        create_run(**asked, seed=0, created_by=None)
    assert not Run.objects.exists()
    assert not dry_run(**asked | {"measure": "ilps", "parameters": {"prior": "noun"}}).fatal


def test_a_model_whose_own_code_fails_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied\nTraceback of a kernel")

    monkeypatch.setattr(examination, "require_left_to_right", fail)
    monkeypatch.setattr(examination, "_examined", {})
    with pytest.raises(ModelFilesError) as raised:
        load_slot_tokenizer(make_family(tmp_path / "one", next(iter(FAMILIES))))
    said = str(raised.value)
    assert "can't run a model of the family" in said
    assert "(RuntimeError: mat1 and mat2 shapes cannot be multiplied)" in said
    assert "Traceback" not in said


def tiny_t5gemma() -> Any:
    half: dict[str, Any] = {
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 64,
        "head_dim": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    config = transformers.T5GemmaConfig(
        encoder=transformers.T5GemmaModuleConfig(**half),
        decoder=transformers.T5GemmaModuleConfig(**half, is_decoder=True),
        vocab_size=300,
    )
    torch.manual_seed(0)
    return transformers.T5GemmaForConditionalGeneration(config).eval()


def test_a_decoder_that_is_described_apart_begins_with_its_own_first_token(tmp_path: Path) -> None:
    model = tiny_t5gemma()
    model.save_pretrained(tmp_path)
    words = ["she", "is", "warm", "cold"]
    made = make_tokenizer("seq2seq", words, Size(vocabulary=300))
    made.save_pretrained(tmp_path)
    ids = made.encode("she is warm")
    first = model.prepare_decoder_input_ids_from_labels(torch.tensor([ids]))[0, 0].item()
    assert first != made.pad_token_id
    sentinel = made.convert_tokens_to_ids("<extra_id_0>")
    hidden = torch.tensor([[*ids[:2], sentinel, *ids[3:]]])
    with torch.inference_mode():
        logits = model(input_ids=hidden, decoder_input_ids=torch.tensor([[first, sentinel]])).logits
    wanted = logits[0, 1].double().log_softmax(0)[ids[2]].item()
    (found,) = load_text_model(tmp_path).token_logprobs(["she is warm"])
    assert found[2] == pytest.approx(wanted, abs=1e-5)
    slot = load_slot_model(tmp_path).word_logprobs([SlotContext("she is ", "")], ["warm"])
    assert float(np.asarray(slot).ravel()[0]) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("written", [2, 15, 16, 30])
def test_a_decoder_that_outgrows_its_window_has_the_value_of_a_whole_pass(written: int) -> None:
    model = tiny_t5gemma()
    sources = [list(range(5, 25)), list(range(5, 12))]

    def write(*, cached: bool) -> torch.Tensor:
        decoding = Seq2SeqDecoding(model, sources, [[2], [2]], 0, cached=cached)
        for place in range(written):
            decoding.advance(torch.tensor([10 + place, 30 + place]))
        forked = decoding.fork(torch.tensor([1, 0]))
        forked.advance(torch.tensor([7, 9]))
        return forked.logits

    torch.testing.assert_close(write(cached=True), write(cached=False), atol=1e-5, rtol=0)
