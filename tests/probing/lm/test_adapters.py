"""LoRA adapters in a folder: merged into their base when loaded; and quantized checkpoints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers

from probing.lm import (
    ModelFilesError,
    ModelNotFoundError,
    TokenizerError,
    WrongModelKindError,
    inspect_model,
)
from probing.lm.loaders import load_classifier, load_masked, load_text_model
from probing.lm.weights import revision_of
from probing.runs.certificates import read_certificate, why_outdated
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from tests.probing.lm.tiny_gguf import write_gguf

pytestmark = pytest.mark.shared
IDS = torch.tensor([[0, 5, 6, 9, 40, 7]])


def make_adapter(folder: Path, base: Path, **settings: Any) -> Any:
    """Save a random adapter for the checkpoint in `base`; return base and adapter, not merged."""
    torch.manual_seed(4)
    loader: Any = {
        "SEQ_CLS": transformers.AutoModelForSequenceClassification,
        None: transformers.AutoModelForMaskedLM,
    }.get(settings.get("task_type"), transformers.AutoModelForCausalLM)
    config = peft.LoraConfig(r=4, lora_alpha=8, init_lora_weights=False, **settings)
    adapted = peft.get_peft_model(loader.from_pretrained(base), config).eval()
    adapted.save_pretrained(str(folder))
    return adapted


def edit(folder: Path, **values: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values))


@pytest.fixture
def base(checkpoints: Path, tmp_path: Path) -> Path:
    """A copy of the tiny Llama."""
    return Path(shutil.copytree(checkpoints / "tiny-llama", tmp_path / "base"))


@pytest.fixture
def adapter(base: Path, tmp_path: Path) -> Path:
    """An adapter for it in the next folder."""
    causal = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "v_proj"]}
    make_adapter(tmp_path / "adapter", base, **causal)
    return tmp_path / "adapter"


def test_a_merged_adapter_gives_the_values_of_both(base: Path, adapter: Path) -> None:
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    adapted = peft.PeftModel.from_pretrained(plain, adapter).eval()
    lm = load_text_model(adapter)
    with torch.inference_mode():
        wanted, found = adapted(IDS).logits, lm.network(IDS).logits
        with adapted.disable_adapter():
            assert not torch.allclose(adapted(IDS).logits, wanted, atol=1e-2)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    assert not any("lora" in name for name, _ in lm.network.named_parameters())


@pytest.mark.parametrize(
    ("name", "load", "settings"),
    [
        ("tiny-bert", load_masked, {"target_modules": ["query", "value"]}),
        ("tiny-classifier", load_classifier, {"task_type": "SEQ_CLS"}),
    ],
)
def test_other_kinds_are_merged_too(
    name: str, load: Any, settings: dict[str, Any], checkpoints: Path, tmp_path: Path
) -> None:
    adapted = make_adapter(tmp_path / "adapter", checkpoints / name, **settings)
    with torch.inference_mode():
        wanted, found = adapted(IDS).logits, load(tmp_path / "adapter").network(IDS).logits
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


def test_the_base_may_be_a_gguf_file(base: Path, adapter: Path, tmp_path: Path) -> None:
    edit(adapter, base_model_name_or_path=str(write_gguf(base, tmp_path / "base.gguf")))
    merged = load_text_model(adapter).network(IDS).logits
    edit(adapter, base_model_name_or_path=str(base))
    torch.testing.assert_close(merged, load_text_model(adapter).network(IDS).logits)


def test_a_path_is_taken_from_the_adapters_folder(adapter: Path) -> None:
    edit(adapter, base_model_name_or_path="../base")
    assert inspect_model(adapter).family == "llama"


def test_its_revision_covers_adapter_and_base(base: Path, adapter: Path) -> None:
    first = revision_of(inspect_model(adapter))
    edit(adapter, lora_alpha=16)
    second = revision_of(inspect_model(adapter))
    (base / "config.json").write_text((base / "config.json").read_text() + "\n")
    assert len({first, second, revision_of(inspect_model(adapter))}) == 3


@pytest.mark.parametrize("named", ["/nowhere/base", "no/such-model-anywhere", ""])
def test_a_missing_base_is_named_with_the_remedy(named: str, adapter: Path) -> None:
    edit(adapter, base_model_name_or_path=named)
    with pytest.raises(ModelNotFoundError, match=r"base of the adapter .* is missing") as raised:
        inspect_model(adapter)
    assert "base_model_name_or_path" in str(raised.value)


def test_a_base_of_another_kind_is_refused(adapter: Path, checkpoints: Path) -> None:
    edit(adapter, base_model_name_or_path=str(checkpoints / "tiny-t5"))
    with pytest.raises(WrongModelKindError, match=r"of the kind 'causal'.*of the kind 'seq2seq'"):
        inspect_model(adapter)
    edit(adapter, base_model_name_or_path=str(adapter))
    with pytest.raises(WrongModelKindError, match="is an adapter"):
        inspect_model(adapter)


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-opt"])
def test_a_base_that_does_not_match_is_refused(name: str, adapter: Path, checkpoints: Path) -> None:
    edit(adapter, base_model_name_or_path=str(checkpoints / name))
    with pytest.raises((ModelFilesError, TokenizerError), match="cannot be merged into its base"):
        load_text_model(adapter)


def test_adapters_that_cannot_be_merged_are_refused(adapter: Path) -> None:
    edit(adapter, peft_type="PROMPT_TUNING")
    with pytest.raises(WrongModelKindError, match="'PROMPT_TUNING'; only LORA"):
        inspect_model(adapter)


def test_a_damaged_adapter_is_refused(adapter: Path) -> None:
    stored = adapter / "adapter_model.safetensors"
    stored.write_bytes(stored.read_bytes()[:500])
    with pytest.raises(ModelFilesError, match="cannot be merged"):
        load_text_model(adapter)


@pytest.mark.django_db
def test_an_adapter_is_registered_and_tried_with_its_base(base: Path, adapter: Path) -> None:
    model = register_model(location=str(adapter))
    found = read_certificate(model)
    assert found is not None
    assert found.tried == "weights"
    assert not found.failed
    form = found.check("form")
    assert form is not None
    assert form.result == f"LoRA adapter, merged into '{base}' when loaded"
    assert why_outdated(model) == ""
    (base / "config.json").write_text((base / "config.json").read_text() + "\n")
    assert why_outdated(model) == "The model's files have changed."


@pytest.mark.django_db
def test_a_base_outside_the_allowed_folders_is_refused(
    adapter: Path, tmp_path: Path, settings: Any
) -> None:
    settings.MODEL_ROOTS = [str(adapter)]
    with pytest.raises(RunError, match="No model can be read from"):
        register_model(location=str(adapter))
    settings.MODEL_ROOTS = [str(tmp_path)]
    assert register_model(location=str(adapter)).kind == "causal"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("stated", "needs"),
    [
        ({"quant_method": "gptq", "bits": 4}, r"\(gptq\) and need the package gptqmodel"),
        ({"quant_method": "awq", "bits": 4}, r"\(awq\) and need the package gptqmodel"),
        ({"load_in_4bit": True}, r"\(bitsandbytes\) and need the package bitsandbytes"),
        ({"quant_method": "fp8"}, r"\(fp8\) and need a GPU that computes in FP8"),
        ({"quant_method": "hqq"}, r"\(hqq\) and need a package of their own"),
    ],
)
def test_weights_quantized_for_other_devices_are_refused_at_registration(
    stated: dict[str, Any], needs: str, base: Path
) -> None:
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    (base / "config.json").write_text(json.dumps(config | {"quantization_config": stated}))
    with pytest.raises(RunError, match=needs):
        register_model(location=str(base))
