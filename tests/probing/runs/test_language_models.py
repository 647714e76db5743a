"""Models are registered by their place; their configuration says the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors import safe_open

from probing.models import LanguageModel, ModelKind, ModelSource
from probing.runs.errors import RunError
from probing.runs.language_models import find_model, register_model

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def count_weights(file: Path) -> int:
    """Count the numbers in a checkpoint with the format's own reader."""
    with safe_open(str(file), framework="np") as tensors:
        return sum(tensors.get_tensor(name).size for name in tensors.keys())  # noqa: SIM118


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_folder_is_registered_with_what_its_configuration_says(
    checkpoints: Path, family: str
) -> None:
    folder = checkpoints / f"tiny-{family}"
    model = register_model(location=f" {folder} ")
    assert model.name == f"tiny-{family}"
    assert model.kind == ModelKind.MASKED
    assert model.family == family == json.loads((folder / "config.json").read_text())["model_type"]
    assert model.source == ModelSource.PATH
    assert model.location == str(folder.resolve())
    assert model.parameter_count == count_weights(folder / "model.safetensors")
    assert not model.is_demo


def test_the_same_place_is_registered_once(checkpoints: Path) -> None:
    first = register_model(location=str(checkpoints / "tiny-bert"), name="first")
    second = register_model(location=str(checkpoints / "." / "tiny-bert"), name="second")
    assert first == second
    assert LanguageModel.objects.get().name == "first"


def test_a_name_that_is_taken_is_refused(checkpoints: Path) -> None:
    register_model(location=str(checkpoints / "tiny-bert"), name="bert")
    with pytest.raises(RunError) as caught:
        register_model(location=str(checkpoints / "tiny-roberta"), name="bert")
    assert caught.value.problems[0].where == "name"
    assert LanguageModel.objects.count() == 1


def test_a_derived_name_is_made_unique(checkpoints: Path, own_copy: LanguageModel) -> None:
    register_model(location=str(checkpoints / "tiny-bert"), name="other")
    LanguageModel.objects.filter(pk=own_copy.pk).update(name="tiny-roberta")
    assert register_model(location=str(checkpoints / "tiny-roberta")).name == "tiny-roberta (2)"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/no/such/folder", "/no/such/folder"),
        ("", "Name a local folder"),
        ("no-such-owner/no-such-model", "no-such-owner/no-such-model"),
    ],
)
def test_a_place_without_a_model_is_refused(place: str, said: str) -> None:
    with pytest.raises(RunError) as caught:
        register_model(location=place)
    assert caught.value.problems[0].where == "location"
    assert said in str(caught.value)
    assert not LanguageModel.objects.exists()


@pytest.mark.parametrize(
    ("checkpoint", "kind"), [("tiny-gpt2", "causal"), ("tiny-t5", "sequence-to-sequence")]
)
def test_a_model_of_another_kind_is_refused(checkpoints: Path, checkpoint: str, kind: str) -> None:
    with pytest.raises(RunError) as caught:
        register_model(location=str(checkpoints / checkpoint))
    assert kind in str(caught.value)
    assert "masked" in str(caught.value)
    assert not LanguageModel.objects.exists()


def test_a_folder_has_no_revision(checkpoints: Path) -> None:
    with pytest.raises(RunError) as caught:
        register_model(location=str(checkpoints / "tiny-bert"), revision="main")
    assert caught.value.problems[0].where == "revision"


def test_a_model_is_found_by_name_or_registered_by_place(checkpoints: Path) -> None:
    model = find_model(wanted=str(checkpoints / "tiny-bert"))
    assert find_model(wanted="tiny-bert") == model
    assert find_model(wanted=str(checkpoints / "tiny-bert")) == model
