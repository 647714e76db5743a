"""Models are registered by their place; their configuration says the rest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open

from probing.lm.errors import AccessDeniedError, ModelNotFoundError
from probing.models import LanguageModel, ModelKind, ModelSource
from probing.runs.errors import RunError
from probing.runs.language_models import find_model, is_registered, register_model
from probing.runs.loaded_models import load_model

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
    ("checkpoint", "kind"),
    [
        ("tiny-gpt2", ModelKind.CAUSAL),
        ("tiny-opt", ModelKind.CAUSAL),
        ("tiny-llama", ModelKind.CAUSAL),
        ("tiny-t5", ModelKind.SEQ2SEQ),
    ],
)
def test_the_configuration_tells_the_kind(checkpoints: Path, checkpoint: str, kind: str) -> None:
    model = register_model(location=str(checkpoints / checkpoint))
    assert model.kind == kind
    assert model.family == checkpoint.removeprefix("tiny-")


def test_a_model_of_a_kind_that_no_measure_uses_is_refused(
    checkpoints: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(checkpoints / "tiny-classifier", tmp_path / "tagger")
    config = (folder / "config.json").read_text(encoding="utf-8")
    tagger = config.replace("ForSequenceClassification", "ForTokenClassification")
    (folder / "config.json").write_text(tagger, encoding="utf-8")
    with pytest.raises(RunError) as caught:
        register_model(location=str(folder))
    assert "a classifier" in str(caught.value)
    assert "'gpt2'" in str(caught.value)
    assert not LanguageModel.objects.exists()


def test_a_folder_has_no_revision(checkpoints: Path) -> None:
    with pytest.raises(RunError) as caught:
        register_model(location=str(checkpoints / "tiny-bert"), revision="main")
    assert caught.value.problems[0].where == "revision"


def test_a_model_is_found_by_name_or_registered_by_place(checkpoints: Path) -> None:
    model = find_model(wanted=str(checkpoints / "tiny-bert"))
    assert find_model(wanted="tiny-bert") == model
    assert find_model(wanted=str(checkpoints / "tiny-bert")) == model


SERVER = "http://localhost:11434/v1"


def test_a_chat_model_is_registered_without_asking_its_server(settings: Any) -> None:
    settings.MODEL_KEY_HOSTS = {"MODEL_KEY_HERE": "localhost:11434"}
    model = register_model(
        location=f" {SERVER}/ ", served_name=" llama3.2 ", key_variable="MODEL_KEY_HERE"
    )
    assert (model.kind, model.source) == (ModelKind.CHAT, ModelSource.SERVER)
    assert (model.location, model.served_name) == (SERVER, "llama3.2")
    assert (model.name, model.key_variable) == ("llama3.2", "MODEL_KEY_HERE")


def test_a_server_may_hold_several_models_each_registered_once() -> None:
    first = register_model(location=SERVER, served_name="one")
    assert register_model(location=f"{SERVER}/", served_name="one") == first
    assert register_model(location=SERVER, served_name="two") != first
    assert is_registered(location=f"{SERVER}/", served_name="one") == first
    assert is_registered(location=SERVER, served_name="three") is None
    assert find_model(wanted=SERVER, served_name="one") == first
    assert find_model(wanted="one") == first
    assert LanguageModel.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "where", "said"),
    [
        ({"served_name": ""}, "served_name", "has a name there"),
        ({"served_name": "x" * 161}, "served_name", "161 characters"),
        ({"revision": "main"}, "revision", "“main”"),
        ({"key_variable": "sk-abcdef123456"}, "key_variable", "never the key itself"),
        ({"key_variable": "MODEL_KEY_" + "A" * 71}, "key_variable", "never the key itself"),
        ({"key_variable": "SECRET_KEY"}, "key_variable", "begins with MODEL_KEY_"),
        ({"key_variable": "MODEL_KEY_OTHER"}, "key_variable", "not meant for localhost:11434"),
        ({"location": "http://169.254.169.254/v1"}, "location", "not on the internet"),
        ({"location": "http://10.0.0.7:8000/v1"}, "location", "not on the internet"),
        ({"location": "http://"}, "location", "not the base URL"),
        ({"location": "https://host:port/v1"}, "location", "not the base URL"),
        ({"location": "https://host/v1?key=abc"}, "location", "not the base URL"),
        ({"location": "https://me:secret@host/v1"}, "location", "holds a user name or a key"),
        ({"location": "somebody/some-model"}, "served_name", "is not a server’s address"),
    ],
)
def test_what_is_wrong_with_a_chat_model_is_said_where_it_was_entered(
    changes: dict[str, str], where: str, said: str
) -> None:
    asked = {"location": SERVER, "served_name": "llama3.2", **changes}
    with pytest.raises(RunError) as caught:
        register_model(**asked)  # type: ignore[arg-type]
    assert caught.value.problems[0].where == where
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "sk-abcdef123456" not in str(caught.value)
    assert not LanguageModel.objects.exists()


def test_a_folder_has_no_key(checkpoints: Path) -> None:
    with pytest.raises(RunError) as caught:
        register_model(location=str(checkpoints / "tiny-bert"), key_variable="MY_KEY")
    assert caught.value.problems[0].where == "key_variable"


def test_folders_outside_of_the_roots_are_refused_alike_whatever_is_there(
    checkpoints: Path, tmp_path: Path, settings: Any
) -> None:
    inside = tmp_path / "models"
    inside.mkdir()
    (inside / "leads-out").symlink_to(checkpoints / "tiny-bert")
    settings.MODEL_ROOTS = [str(inside)]
    said = set()
    for location in (
        str(checkpoints / "tiny-bert"),
        str(checkpoints),
        str(checkpoints / "tiny-bert" / "config.json"),
        "/no/such/folder",
        str(inside / ".." / "elsewhere"),
        str(inside / "leads-out"),
    ):
        with pytest.raises(RunError) as caught:
            register_model(location=location)
        assert caught.value.problems[0].where == "location"
        said.add(str(caught.value).replace(location, "X"))
    assert len(said) == 1
    settings.MODEL_ROOTS = [str(checkpoints)]
    assert register_model(location=str(checkpoints / "tiny-bert")).name == "tiny-bert"


def test_a_model_whose_folder_is_no_longer_allowed_is_not_loaded(
    checkpoints: Path, settings: Any
) -> None:
    model = register_model(location=str(checkpoints / "tiny-bert"))
    settings.MODEL_ROOTS = ["/somewhere/else"]
    with pytest.raises(ModelNotFoundError, match="No model can be read"):
        load_model(model)


@pytest.mark.parametrize("address", ["http://localhost/v1", "http://llm.lab/v1"])
def test_a_key_goes_by_https_alone_but_for_this_machine(settings: Any, address: str) -> None:
    host = address.split("/")[2]
    settings.MODEL_KEY_HOSTS = {"MODEL_KEY_HERE": host}
    settings.MODEL_SERVER_HOSTS = [host]
    secure = address.replace("http:", "https:")
    register_model(location=secure, served_name="one", key_variable="MODEL_KEY_HERE")
    settings.PLAIN_LOOPBACK_KEYS = host != "localhost"
    with pytest.raises(RunError, match="by https alone"):
        register_model(location=address, served_name="one", key_variable="MODEL_KEY_HERE")


def test_a_key_goes_to_its_own_host_alone(settings: Any) -> None:
    settings.MODEL_KEY_HOSTS = {"MODEL_KEY_HERE": "localhost"}
    model = register_model(location=SERVER, served_name="llama3.2", key_variable="MODEL_KEY_HERE")
    settings.MODEL_KEY_HOSTS = {"MODEL_KEY_HERE": "api.openai.com"}
    with pytest.raises(AccessDeniedError, match="not meant for localhost:11434"):
        load_model(model, {"generate"})
