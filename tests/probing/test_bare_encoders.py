"""Encoders without a head: CEAT, and no measure that asks for what they lack."""

from __future__ import annotations

import re
import shutil
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from probing.lm import load_masked, load_text_tokenizer
from probing.lm.errors import ContextTooLongError, WrongModelKindError
from probing.lm.loaders import load_encoder, load_slot_model
from probing.lm.protocols import SpanText
from probing.lm.trials import TOLERANCE
from probing.models import LanguageModel, ModelKind, Run
from probing.runs.certificates import measure_fits, read_certificate
from probing.runs.creation import create_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from tests.probing.runs.fixtures import few_stimuli

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

_SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
#: Class in transformers → whose tokenizer, and settings beside the usual ones.
BODIES = {
    "BertModel": ("tiny-bert", {}),
    "RobertaModel": ("tiny-roberta", {}),
    "XLMRobertaModel": ("tiny-roberta", {}),
    "MPNetModel": ("tiny-roberta", {}),
    "DistilBertModel": ("tiny-bert", {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}),
    "ElectraModel": ("tiny-bert", {}),
    "T5EncoderModel": ("tiny-t5", {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2}),
}


def save_body(folder: Path, name: str, checkpoints: Path) -> Path:
    source, own = BODIES[name]
    kind = getattr(transformers, name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints / source)
    settings = own or _SMALL | {"intermediate_size": 32, "max_position_embeddings": 64}
    config = kind.config_class(
        vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **settings
    )
    torch.manual_seed(0)
    model = kind(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.normal_(0.0, 0.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path, checkpoints: Path) -> Path:
    return save_body(tmp_path / "body", "BertModel", checkpoints)


@pytest.mark.parametrize("name", BODIES)
def test_embeddings_are_those_of_the_model_itself(
    name: str, tmp_path: Path, checkpoints: Path
) -> None:
    folder = save_body(tmp_path / name, name, checkpoints)
    texts = ["The man sleeps at home.", "A long day: she saw the old man again."]
    found = load_encoder(folder, threads=1).embed(
        [SpanText(one, one.index("man"), one.index("man") + 3) for one in texts]
    )
    model = getattr(transformers, name).from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, row in zip(texts, found, strict=True):
        given = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            states = model(given.input_ids, given.attention_mask).last_hidden_state[0]
        place = given.char_to_token(0, text.index("man"))
        np.testing.assert_allclose(row, states[place], atol=1e-5)


@pytest.mark.parametrize("name", BODIES)
def test_registered_with_its_trials(name: str, tmp_path: Path, checkpoints: Path) -> None:
    model = register_model(location=str(save_body(tmp_path / name, name, checkpoints)))
    assert model.kind == ModelKind.ENCODER
    found = read_certificate(model)
    assert found is not None
    assert (found.tried, found.failed) == ("weights", ())
    for trial in ("batches", "repeat"):
        check = found.check(trial)
        assert check is not None
        assert check.value is not None
        assert check.value <= TOLERANCE
    assert {check.name for check in found.checks} >= {"leak", "words", "length", "speed", "memory"}


def test_other_measures_are_refused_with_the_reason_before_a_run(folder: Path) -> None:
    model = register_model(location=str(folder), name="body")
    fits = {fit.name: fit for fit in measure_fits(model)}
    # A head for classes is new in every training, whatever the base has.
    assert {name for name, fit in fits.items() if fit.can} == {"ceat", "classifier_fine_tuning"}
    reason = (
        "needs a masked, causal, or sequence-to-sequence language model; “body” is an encoder "
        "without a head."
    )
    assert fits["ilps"].reason == f"{fits['ilps'].title} {reason}"
    with pytest.raises(RunError, match="an encoder without a head"):
        create_run(
            measure="ilps",
            model=model,
            stimuli=few_stimuli(),
            parameters={},
            seed=0,
            created_by=None,
        )
    assert not Run.objects.exists()
    out = StringIO()
    call_command("models", "body", stdout=out)
    assert "yes  ceat: CEAT" in out.getvalue()
    # Measures of one reason share a line.
    (line,) = [one for one in out.getvalue().splitlines() if f"N{reason[1:]}" in one]
    assert {"ilps", "set", "perplexity"} <= set(re.split("[ ,:]+", line))


def test_page_and_api_tell_the_same(folder: Path, client: Client) -> None:
    model = register_model(location=str(folder), name="body")
    client.force_login(User.objects.create_superuser("alice"))
    page = client.get(reverse("admin:probing_languagemodel_change", args=[model.pk]))
    why = "Needs a masked, causal, or sequence-to-sequence language model; “body” is an encoder"
    assert page.content.decode().count(why) == 1
    told = client.get(f"/api/v1/models/{model.public_id}/").json()["measures"]
    assert {one["name"] for one in told if one["can"]} == {"ceat", "classifier_fine_tuning"}
    assert all("an encoder without a head" in one["reason"] for one in told if not one["can"])


@pytest.mark.parametrize("load", [load_masked, load_slot_model, load_text_tokenizer])
def test_no_loader_for_heads_takes_one(load: object, folder: Path) -> None:
    with pytest.raises(WrongModelKindError, match="an encoder without a language model's head"):
        load(folder)  # type: ignore[operator]


def test_a_longer_sentence_is_not_cut(folder: Path) -> None:
    with pytest.raises(ContextTooLongError, match="reads 64"):
        load_encoder(folder, threads=1).embed([SpanText("man " * 80, 0, 3)])


def test_the_folder_of_an_older_sentence_transformers(folder: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(folder, older / "0_Transformer")
    (older / "modules.json").write_text("[]", encoding="utf-8")
    model = register_model(location=str(older))
    assert (model.kind, Path(model.location).name) == (ModelKind.ENCODER, "0_Transformer")


@pytest.mark.parametrize(
    ("kind", "source"), [("GPT2Model", "tiny-gpt2"), ("ViTModel", "tiny-bert")]
)
def test_other_bodies_are_refused(
    kind: str, source: str, tmp_path: Path, checkpoints: Path
) -> None:
    made = getattr(transformers, kind)
    small = {"n_embd": 16, "n_layer": 1, "n_head": 2} if kind == "GPT2Model" else _SMALL
    made(made.config_class(**small)).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(checkpoints / source).save_pretrained(tmp_path)
    with pytest.raises(RunError, match="no encoder of texts without a head"):
        register_model(location=str(tmp_path))
    assert not LanguageModel.objects.exists()


def test_a_body_that_lacks_weights_is_said_to_be_unusable(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    stored = load_file(folder / "model.safetensors")
    name = "encoder.layer.0.attention.self.query.weight"
    save_file(
        {key: one for key, one in stored.items() if key != name},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    model = register_model(location=str(folder))
    fit = next(fit for fit in measure_fits(model) if fit.name == "ceat")
    assert name in fit.reason
