"""Loading from a folder: what is read, and what each fault says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from probing.lm import (
    DeviceError,
    ModelFilesError,
    ModelNotFoundError,
    SlotContext,
    TokenizerError,
    WrongModelKindError,
    inspect_model,
    load_masked,
    load_tokenizer,
)
from probing.lm.masked import MaskedLanguageModel
from probing.lm.sources import fingerprint


@pytest.fixture
def copy_of_bert(checkpoints: Path, tmp_path: Path) -> Path:
    """A writable copy of the tiny BERT checkpoint."""
    folder = tmp_path / "model"
    folder.mkdir()
    for file in (checkpoints / "tiny-bert").iterdir():
        shutil.copyfile(file, folder / file.name)
    return folder


def edit_config(folder: Path, **values: Any) -> None:
    path = folder / "config.json"
    config = {**json.loads(path.read_text(encoding="utf-8")), **values}
    path.write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-roberta"])
def test_facts_agree_with_the_loaded_model(checkpoints: Path, name: str) -> None:
    facts = inspect_model(checkpoints / name)
    model = transformers.AutoModelForMaskedLM.from_pretrained(checkpoints / name)
    assert facts.kind == "masked"
    assert facts.family == name.removeprefix("tiny-")
    assert facts.parameter_count == sum(weight.numel() for weight in model.parameters())
    assert facts.vocabulary_size == model.config.vocab_size
    assert facts.hidden_size == model.config.hidden_size
    assert facts.max_length == 64
    assert facts.revision is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tiny-gpt2", "causal"),
        ("tiny-llama", "causal"),
        ("tiny-t5", "seq2seq"),
        ("tiny-classifier", "classifier"),
    ],
)
def test_other_kinds_are_told_apart_before_weights_are_read(
    checkpoints: Path, tmp_path: Path, name: str, kind: str
) -> None:
    # The configuration alone: had the loader wanted weights, it would complain of those.
    shutil.copyfile(checkpoints / name / "config.json", tmp_path / "config.json")
    assert inspect_model(tmp_path).kind == kind
    with pytest.raises(WrongModelKindError) as raised:
        load_masked(tmp_path)
    assert str(tmp_path) in str(raised.value)
    assert "not a masked language model" in str(raised.value)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    for source in (tmp_path / "nothing", str(tmp_path / "nothing")):
        with pytest.raises(ModelNotFoundError) as raised:
            load_masked(source)
        assert str(tmp_path / "nothing") in str(raised.value)


@pytest.mark.parametrize("source", ["", "  ", "./no/such/folder", "../nothing", "a b"])
def test_what_is_neither_a_folder_nor_a_hub_id_is_refused_without_a_network(source: str) -> None:
    with pytest.raises(ModelNotFoundError):
        inspect_model(source)


def test_a_folder_without_a_model_and_a_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"holds no config\.json"):
        inspect_model(tmp_path)
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"")
    with pytest.raises(ModelNotFoundError, match="is a file"):
        inspect_model(file)


@pytest.mark.parametrize("content", ["{", "[]", "\xff"])
def test_a_damaged_configuration_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ModelFilesError, match=r"config\.json"):
        inspect_model(tmp_path)


def test_a_family_that_is_not_supported_lists_those_that_are(copy_of_bert: Path) -> None:
    edit_config(copy_of_bert, model_type="nystromformer", architectures=["ElectraForMaskedLM"])
    with pytest.raises(WrongModelKindError, match=r"'nystromformer'.*BERT, RoBERTa"):
        load_masked(copy_of_bert)


def test_an_encoder_without_a_head_is_refused(copy_of_bert: Path) -> None:
    edit_config(copy_of_bert, architectures=["BertModel"])
    with pytest.raises(WrongModelKindError, match="without a language model's head"):
        load_masked(copy_of_bert)


def test_a_checkpoint_that_only_claims_a_head_is_refused(copy_of_bert: Path) -> None:
    """Else its head would be filled with random numbers, and scored."""
    model = transformers.BertModel.from_pretrained(copy_of_bert, add_pooling_layer=False)
    model.save_pretrained(copy_of_bert)
    edit_config(copy_of_bert, architectures=["BertForMaskedLM"])
    with pytest.raises(WrongModelKindError, match=r"lacks .* weights"):
        load_masked(copy_of_bert)


def test_truncated_weights_are_reported(copy_of_bert: Path) -> None:
    weights = copy_of_bert / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelFilesError, match="cannot be loaded"):
        load_masked(copy_of_bert)


def test_missing_weights_are_reported(copy_of_bert: Path) -> None:
    (copy_of_bert / "model.safetensors").unlink()
    with pytest.raises(ModelFilesError, match="cannot be loaded"):
        load_masked(copy_of_bert)
    assert inspect_model(copy_of_bert).parameter_count is None


def test_a_missing_tokenizer_is_reported(copy_of_bert: Path) -> None:
    (copy_of_bert / "tokenizer.json").unlink()
    with pytest.raises(TokenizerError, match="holds no tokenizer"):
        load_masked(copy_of_bert)


def test_a_damaged_tokenizer_is_reported(copy_of_bert: Path) -> None:
    (copy_of_bert / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(TokenizerError, match="cannot be read"):
        load_tokenizer(copy_of_bert)


def test_a_tokenizer_without_a_mask_token_is_reported(
    copy_of_bert: Path, checkpoints: Path
) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(checkpoints / "tiny-gpt2" / name, copy_of_bert / name)
    with pytest.raises(TokenizerError, match="no mask token"):
        load_tokenizer(copy_of_bert)


def test_a_tokenizer_larger_than_the_output_layer_is_reported(
    copy_of_bert: Path, checkpoints: Path
) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(checkpoints / "tiny-roberta" / name, copy_of_bert / name)
    with pytest.raises(TokenizerError, match=r"1,000 tokens.*700"):
        load_tokenizer(copy_of_bert)


def test_devices_and_formats_that_do_not_exist_are_refused(checkpoints: Path) -> None:
    with pytest.raises(DeviceError, match="'abacus'"):
        load_masked(checkpoints / "tiny-bert", device="abacus")
    with pytest.raises(DeviceError, match="'int8'"):
        load_masked(checkpoints / "tiny-bert", dtype="int8")  # type: ignore[arg-type]
    with pytest.raises(DeviceError, match="threads"):
        load_masked(checkpoints / "tiny-bert", threads=0)
    if not torch.cuda.is_available():
        with pytest.raises(DeviceError, match="no device 'cuda'"):
            load_masked(checkpoints / "tiny-bert", device="cuda")


def test_the_device_is_chosen_and_told(tiny_bert: MaskedLanguageModel) -> None:
    assert tiny_bert.device == ("cuda:0" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize(("dtype", "atol"), [("float64", 1e-5), ("bfloat16", 0.3)])
def test_other_number_formats_give_nearly_the_same(
    checkpoints: Path, tiny_bert: MaskedLanguageModel, dtype: Any, atol: float
) -> None:
    contexts, words = [SlotContext("That man is ", ".")], ["poor", "unconfident"]
    other = load_masked(checkpoints / "tiny-bert", dtype=dtype, threads=1)
    found = other.word_logprobs(contexts, words)
    expected = tiny_bert.word_logprobs(contexts, words)
    np.testing.assert_allclose(found, expected, atol=atol)
    assert not np.array_equal(found, expected)


def test_a_local_model_is_told_by_the_content_of_its_files(
    copy_of_bert: Path, checkpoints: Path, tiny_bert: MaskedLanguageModel
) -> None:
    assert tiny_bert.revision == fingerprint(checkpoints / "tiny-bert")
    assert tiny_bert.revision.startswith("sha256:")
    assert fingerprint(copy_of_bert) == tiny_bert.revision
    weights = bytearray((copy_of_bert / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy_of_bert / "model.safetensors").write_bytes(weights)
    assert fingerprint(copy_of_bert) != tiny_bert.revision


def test_loading_draws_no_random_numbers_and_leaves_no_gradient(checkpoints: Path) -> None:
    state = torch.random.get_rng_state()
    lm = load_masked(checkpoints / "tiny-roberta", threads=1)
    lm.word_logprobs([SlotContext("That man is ", ".")], ["poor"])
    assert torch.equal(torch.random.get_rng_state(), state)
