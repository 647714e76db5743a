"""Certificates of models: made when registered, shown, and renewed."""

from __future__ import annotations

import shutil
from io import StringIO
from pathlib import Path

import pytest
import torch
import transformers
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient
from safetensors.torch import load_file, save_file

from annotation.library.abc_model import TRAIT_PAIRS
from probing.lm.certificate import Certificate
from probing.lm.examination import MOST_WEIGHTS, narrow
from probing.lm.trials import TOLERANCE
from probing.measures.registry import MEASURES
from probing.measures.stimuli import Stimuli
from probing.models import LanguageModel, ModelKind, ModelSource, Template
from probing.runs.certificates import (
    certify,
    certify_loaded,
    ensure_certificate,
    measure_fits,
    read_certificate,
    why_outdated,
)
from probing.runs.creation import create_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.loaded_models import load_model
from tests.probing.lm.tiny_families import make_family

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

TRIALS = {
    "tiny-bert": ["leak", "batches", "repeat", "rows"],
    "tiny-gpt2": ["leak", "batches", "repeat", "prefix", "rows"],
    "tiny-t5": ["leak", "batches", "repeat", "rows"],
    "tiny-classifier": ["batches", "repeat"],
}


def certificate_of(model: LanguageModel) -> Certificate:
    model.refresh_from_db()
    found = read_certificate(model)
    assert found is not None
    return found


@pytest.mark.parametrize("name", TRIALS)
def test_a_small_model_is_tried_with_its_weights_when_registered(
    name: str, checkpoints: Path
) -> None:
    found = certificate_of(register_model(location=str(checkpoints / name)))
    assert found.tried == "weights"
    assert found.fingerprint.startswith("sha256:")
    assert found.versions["transformers"] == transformers.__version__
    for trial in TRIALS[name]:
        check = found.check(trial)
        assert check is not None
        assert check.outcome == "passed", check
        if not (name == "tiny-bert" and trial == "leak"):
            assert check.value is not None
            assert check.value <= TOLERANCE
    for noted in ("speed", "memory"):
        check = found.check(noted)
        assert check is not None
        assert check.value
    assert not found.failed


def test_words_of_several_tokens_are_counted_and_listed(checkpoints: Path) -> None:
    from transformers import AutoTokenizer

    found = certificate_of(register_model(location=str(checkpoints / "tiny-bert")))
    tokenizer = AutoTokenizer.from_pretrained(checkpoints / "tiny-bert")
    assert "kind" in tokenizer.get_vocab()
    assert "kind" not in found.several
    for word in found.several:
        assert len(tokenizer.tokenize(word)) > 1 or tokenizer.unk_token in tokenizer.tokenize(word)
    check = found.check("words")
    assert check is not None
    assert check.value == len(found.several)


def test_a_model_whose_head_is_missing_can_be_trained_alone(
    tmp_path: Path, checkpoints: Path, small_stimuli: Stimuli
) -> None:
    folder = tmp_path / "headless"
    shutil.copytree(checkpoints / "tiny-bert", folder)
    file = folder / "model.safetensors"
    weights = {name: one for name, one in load_file(file).items() if "transform" not in name}
    save_file(weights, file, metadata={"format": "pt"})
    model = register_model(location=str(folder))
    assert [check.name for check in certificate_of(model).failed] == ["weights"]
    fits = {fit.name: fit for fit in measure_fits(model)}
    assert "lacks" in fits["set"].reason
    assert fits["classifier_fine_tuning"].can
    with pytest.raises(RunError, match="lacks"):
        create_run(
            measure="set",
            model=model,
            stimuli=small_stimuli,
            parameters={},
            seed=0,
            created_by=None,
        )


def test_damaged_weights_are_noticed_before_a_run(tmp_path: Path, checkpoints: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(checkpoints / "tiny-gpt2", folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(5000)
    model = register_model(location=str(folder))
    assert [check.name for check in certificate_of(model).failed] == ["weights"]
    fits = {fit.name: fit for fit in measure_fits(model)}
    assert "cannot be loaded" in fits["matched_guise"].reason
    assert "cannot be loaded" in fits["classifier_fine_tuning"].reason


def test_a_model_that_scales_its_logits_cannot_serve_set(tmp_path: Path) -> None:
    model = register_model(location=str(make_family(tmp_path / "cohere", "cohere")))
    fits = {fit.name: fit for fit in measure_fits(model)}
    assert "output layer" in fits["set"].reason
    assert fits["ilps_star"].can


def test_changed_files_and_libraries_end_a_certificate(tmp_path: Path, checkpoints: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "tiny-gpt2", folder)
    model = register_model(location=str(folder))
    assert why_outdated(model) == ""
    first = certificate_of(model)

    file = folder / "model.safetensors"
    save_file({name: one * 1.01 for name, one in load_file(file).items()}, file, {"format": "pt"})
    assert "files have changed" in why_outdated(model)
    second = ensure_certificate(model)
    assert second is not None
    assert second.fingerprint != first.fingerprint
    assert why_outdated(model) == ""

    older = second.model_copy(update={"versions": {**second.versions, "torch": "1.0"}})
    model.certificate = older.model_dump(mode="json")
    assert "torch 1.0 →" in why_outdated(model)
    renewed = ensure_certificate(model)
    assert renewed is not None
    assert renewed.versions != older.versions


def test_a_model_without_a_certificate_gets_one_when_it_is_first_loaded(checkpoints: Path) -> None:
    model = LanguageModel.objects.create(
        name="plain",
        kind=ModelKind.CAUSAL,
        source=ModelSource.PATH,
        location=str(checkpoints / "tiny-gpt2"),
    )
    assert why_outdated(model)
    certify_loaded(model, load_model(model))
    assert certificate_of(model).tried == "weights"


def test_large_configurations_are_tried_in_small_copies() -> None:
    # Mistral 7B's and Mixtral's sizes; no weights are stored.
    for family in ("mistral", "mixtral"):
        config = transformers.AutoConfig.for_model(family)
        small = narrow(config)
        assert small.num_hidden_layers == 2
        assert small.hidden_size // small.num_attention_heads == 128
        heads = config.num_attention_heads // config.num_key_value_heads
        assert small.num_attention_heads // small.num_key_value_heads == heads
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(small)
        assert sum(weight.numel() for weight in model.parameters()) < MOST_WEIGHTS


def test_copies_have_every_kind_of_layer() -> None:
    config = transformers.AutoConfig.for_model("gemma3_text")
    assert set(narrow(config).layer_types) == set(config.layer_types)


def test_command_and_api_show_the_same_table(
    checkpoints: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = register_model(location=str(checkpoints / "tiny-bert"))
    call_command("models", model.name)
    printed = capsys.readouterr().out
    client = APIClient()
    client.force_authenticate(User.objects.create_superuser("alice"))
    answer = client.get(f"/api/v1/models/{model.public_id}/").json()
    assert [row["name"] for row in answer["measures"]] == list(MEASURES)
    for row in answer["measures"]:
        assert row["can"] == (not row["reason"])
        assert row["name"] in printed
        assert row["reason"].removeprefix(f"{row['title']} n") in printed  # its line says “Needs …”
    assert answer["certificate"]["tried"] == "weights"
    assert answer["outdated"] == ""


def test_the_form_offers_what_a_model_can_do_and_says_why_not_the_rest(
    client: Client, tmp_path: Path, checkpoints: Path
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    scaled = register_model(location=str(make_family(tmp_path / "cohere", "cohere")))
    masked = register_model(location=str(checkpoints / "tiny-bert"))
    page = client.get("/admin/probing/run/add/?measure=set").content.decode()
    assert f'<option value="{masked.pk}"' in page
    assert f'<option value="{scaled.pk}"' not in page
    assert "output layer" in page

    address = f"/admin/probing/run/add/?model={masked.public_id}&measure=ilps"
    page = client.get(address).content.decode()
    assert f'<option value="{masked.pk}" selected' in page
    assert "measure=direct_rating" not in page
    assert "Direct rating needs a causal" in page
    assert client.post(address, {"model": scaled.pk}).status_code == 200


def save_joining(folder: Path, checkpoints: Path) -> str:
    """Save tiny-gpt2 with a tokenizer that cuts at spaces alone, so a full stop joins its word."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    shutil.copytree(checkpoints / "tiny-gpt2", folder)
    words = {pole for pair in TRAIT_PAIRS for pole in (pair.low, pair.high)} | {"people"}
    listed = ["<unk>", "Those", "The", "are", "is", "men", *words, *(f"{word}." for word in words)]
    tokenizer = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(listed)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    for stale in ("vocab.json", "merges.txt", "tokenizer.json"):
        (folder / stale).unlink(missing_ok=True)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", model_max_length=64
    ).save_pretrained(folder)
    return str(folder)


def test_words_joined_with_their_neighbors_are_refused_once_in_the_runs_own_sentences(
    tmp_path: Path, checkpoints: Path
) -> None:
    location = save_joining(tmp_path / "joins", checkpoints)
    found = certificate_of(register_model(location=location))
    check = found.check("words")
    assert check is not None
    assert check.outcome == "look"
    assert "joins" in check.result
    said = StringIO()
    call_command("models", "joins", stdout=said)
    (line,) = [one for one in said.getvalue().splitlines() if "  ilps:" in one]
    assert "the tokenizer joins" in line

    with pytest.raises(CommandError) as raised:
        call_command("probe", model="joins", measure="ilps", groups=["man"], dry_run=True)
    message = str(raised.value)
    assert "They are" not in message
    assert message.count("The tokenizer joins") == message.count("replace these adjectives") == 1
    assert "joins 32 of 32 adjectives" in message
    assert message.count("powerless") == 2  # in the sentence of the template, and in the list


def test_templates_in_which_no_word_is_joined_are_taken_whatever_a_plain_sentence_does(
    tmp_path: Path, checkpoints: Path
) -> None:
    Template.objects.create(slug="open-end", text="Those {plural} are {trait}")
    location = save_joining(tmp_path / "joins", checkpoints)
    said = StringIO()
    call_command(
        "probe",
        *("--model", location, "--measure", "ilps", "--groups", "man", "--dry-run"),
        *("--templates", "open-end"),
        stdout=said,
    )
    assert "Nothing was stored" in said.getvalue()


def test_a_reason_that_holds_for_several_measures_is_printed_once(
    tmp_path: Path, checkpoints: Path
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(checkpoints / "tiny-gpt2", folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    register_model(location=str(folder))
    said = StringIO()
    call_command("models", "broken", stdout=said)
    lines = said.getvalue().splitlines()
    (tested,) = [line for line in lines if line.startswith("Tested")]
    assert tested == "Tested by its files alone, since its weights can’t be read:"
    refused = [line for line in lines if line.startswith("  no ")]
    reasons = [line.partition(": ")[2] for line in refused]
    assert len(reasons) == len(set(reasons))
    assert any("ilps, ilps_star" in line for line in refused)


def test_a_tiny_model_is_timed_on_one_thread(checkpoints: Path) -> None:
    """Its passes take 2 ms; waking a second thread on a busy machine took up to 0.8 s each."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = certificate_of(register_model(location=str(checkpoints / "tiny-gpt2")))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    check = found.check("speed")
    assert check is not None
    assert "on 1 thread; median of " in check.result
    assert "passes, half of them between" in check.result


def test_a_model_whose_files_changed_since_they_were_tested_is_announced(
    tmp_path: Path, checkpoints: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "tiny-gpt2", folder)
    given = {"model": str(folder), "measure": "ilps", "groups": ["man"], "local": True}

    def probe() -> str:
        said = StringIO()
        call_command("probe", **given, stdout=said)
        return said.getvalue()

    register_model(location=str(folder))
    assert "have changed" not in probe()
    file = folder / "model.safetensors"
    save_file({name: one * 1.01 for name, one in load_file(file).items()}, file, {"format": "pt"})
    certify(LanguageModel.objects.get(), again=True)
    assert "The files of “model” have changed since run" in probe()
    assert "have changed" not in probe()
    save_file({name: one * 1.01 for name, one in load_file(file).items()}, file, {"format": "pt"})
    assert "The files of “model” have changed since they were tested on" in probe()


def test_a_model_without_runs_is_removed(checkpoints: Path) -> None:
    model = register_model(location=str(checkpoints / "tiny-gpt2"))
    call_command(
        "probe", model=model.name, measure="ilps", groups=["man"], local=True, stdout=StringIO()
    )
    with pytest.raises(CommandError, match="stays: 1 run and 0 models trained from it"):
        call_command("models", model.name, remove=True)
    model.runs.all().delete()
    call_command("models", model.name, remove=True, stdout=StringIO())
    assert not LanguageModel.objects.exists()
