"""Folders with a model that cannot be read: registering one says why, and so does the list."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import transformers
from django.core.management import CommandError, call_command

from probing.models import LanguageModel
from tests.probing.lm.tiny_families import make_family

pytestmark = [pytest.mark.django_db]

#: As git leaves it if git-lfs is not installed; 134 bytes.
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 548118077\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama in several shards."""
    folder = make_family(tmp_path_factory.mktemp("whole"), "llama")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(whole, tmp_path / "tiny"))


def edit_config(folder: Path, **values: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def bring_own_code(folder: Path, family: str) -> None:
    for name in ("configuration_own.py", "modeling_own.py"):
        (folder / name).write_text("raise SystemExit('own code was run')\n")
    edit_config(
        folder,
        model_type=family,
        architectures=["OwnForCausalLM"],
        auto_map={
            "AutoConfig": "configuration_own.OwnConfig",
            "AutoModelForCausalLM": "modeling_own.OwnForCausalLM",
        },
    )


def second_shard(folder: Path) -> Path:
    return sorted(folder.glob("model-*.safetensors"))[1]


def cut_config(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(path.read_text()[:80])


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "no tokenizer": (lambda at: (at / "tokenizer.json").unlink(), "holds no tokenizer"),
    "a truncated configuration": (cut_config, r"config\.json' cannot be read"),
    "a pointer for a shard": (
        lambda at: second_shard(at).write_text(POINTER),
        r"model-00002-of-\d+\.safetensors' is a Git LFS pointer, 134 bytes; run git lfs pull",
    ),
    "a pointer for the tokenizer": (
        lambda at: (at / "tokenizer.json").write_text(POINTER),
        r"tokenizer\.json' is a Git LFS pointer, 134 bytes; run git lfs pull",
    ),
    "its own code": (
        lambda at: bring_own_code(at, "own"),
        "is a 'OwnForCausalLM', which only its own code defines",
    ),
    "its own code for a known family": (
        lambda at: bring_own_code(at, "llama"),
        "is a 'OwnForCausalLM', which only its own code defines",
    ),
    "a family of later": (
        lambda at: edit_config(at, model_type="own"),
        r"family 'own', which transformers \S+ does not know\. A model's own code is never run",
    ),
    "no known architecture": (
        lambda at: edit_config(at, architectures=["OwnForTranslation"]),
        "of an unknown architecture, 'OwnForTranslation'",
    ),
    "a model of sound": (
        lambda at: edit_config(
            at, model_type="whisper", architectures=["WhisperForConditionalGeneration"]
        ),
        "'whisper', of which transformers has no encoder and decoder of texts",
    ),
    "no language": (
        lambda at: edit_config(
            at, model_type="xmod", architectures=["XmodForMaskedLM"], languages=["en_XX", "de_DE"]
        ),
        "Set default_language in its config.json to one of en_XX, de_DE",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_folder_is_refused_with_the_reason(case: str, folder: Path) -> None:
    break_it, reason = REFUSED[case]
    break_it(folder)
    with pytest.raises(CommandError, match=reason):
        call_command("register_model", str(folder), stdout=StringIO())
    assert not LanguageModel.objects.exists()


def test_a_missing_shard_is_said_until_it_is_there(folder: Path, whole: Path) -> None:
    shard = second_shard(folder)
    shard.unlink()
    with pytest.raises(CommandError, match=rf"is registered, but can’t be used\..*{shard.name}"):
        call_command("register_model", str(folder), stdout=StringIO())
    listed = StringIO()
    call_command("models", stdout=listed)
    assert listed.getvalue() == "tiny: Causal, 0 of 15 measures, weights cannot be read\n"

    shutil.copyfile(whole / shard.name, shard)
    listed = StringIO()
    call_command("models", stdout=listed)
    assert "The model's files have changed" in listed.getvalue()
    call_command("register_model", str(folder), stdout=StringIO())
    listed = StringIO()
    call_command("models", stdout=listed)
    assert listed.getvalue() == "tiny: Causal, 14 of 15 measures\n"
