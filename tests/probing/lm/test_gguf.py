"""GGUF files: the numbers of the model that they were made from, and what each fault says."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
import transformers

from probing.lm import ModelFilesError, ModelNotFoundError, WrongModelKindError, inspect_model
from probing.lm.gguf_files import alone
from probing.lm.loaders import load_slot_model, load_text_model, load_text_tokenizer
from probing.lm.protocols import SlotContext
from probing.lm.text_protocols import GenerationSettings
from probing.lm.weights import revision_of
from probing.models import LanguageModel
from probing.runs.certificates import measure_fits, read_certificate, why_outdated
from probing.runs.errors import RunError
from probing.runs.language_models import is_registered, register_model
from tests.probing.lm.tiny_families import logprobs_alone, make_family
from tests.probing.lm.tiny_gguf import Q8_0, write_gguf

pytestmark = pytest.mark.shared
TEXT = "The people aren't kind, 1234 and the people are poor."


@pytest.fixture(scope="module")
def llama(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny Llama of the reference data, as a GGUF file with whole numbers."""
    place = tmp_path_factory.mktemp("gguf") / "tiny.F32.gguf"
    return write_gguf(checkpoints / "tiny-llama", place)


def test_an_unpacked_file_gives_the_numbers_of_its_original(llama: Path, checkpoints: Path) -> None:
    read, original = (load_text_model(one) for one in (llama, checkpoints / "tiny-llama"))
    ids = torch.tensor([original.tokenizer.encode(TEXT)])
    assert list(read.tokenizer.encode(TEXT)) == ids[0].tolist()
    assert torch.equal(read.network(ids).logits, original.network(ids).logits)
    how = GenerationSettings(max_new_tokens=12)
    assert read.generate([TEXT], how, seeds=[0]) == original.generate([TEXT], how, seeds=[0])
    assert read.facts.parameter_count == original.facts.parameter_count
    assert read.facts.max_length == original.facts.max_length


def test_words_in_a_slot_have_the_values_of_the_dequantized_weights(tmp_path: Path) -> None:
    original = make_family(tmp_path / "original", "llama")
    path = write_gguf(original, tmp_path / "small.gguf", kind=Q8_0)
    assert inspect_model(path).quantization == "Q8_0 (Q8_0, F32)"
    rounded = transformers.AutoModelForCausalLM.from_pretrained(original)
    with torch.no_grad():
        for weight in rounded.parameters():
            if weight.ndim > 1:
                packed = gguf.quants.quantize(weight.numpy(), Q8_0)
                weight.copy_(torch.from_numpy(gguf.quants.dequantize(packed, Q8_0)))
    rounded.save_pretrained(original)
    lm, context = load_slot_model(path), SlotContext("She is ", ".")
    opened = lm.open([context], ("kind", "rude"))
    wanted = logprobs_alone(original, [opened[0].before])[0]
    found = lm.word_logprobs([context], ("kind", "rude"))[0]
    np.testing.assert_allclose(found, [wanted[piece[0]] for piece in opened[0].pieces], atol=1e-4)


def test_divisors_of_rotary_frequencies_count(tmp_path: Path) -> None:
    original = make_family(tmp_path / "original", "llama")
    config = transformers.AutoConfig.from_pretrained(original)
    config.rope_parameters = {
        "rope_type": "llama3",
        "rope_theta": 10000.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }
    config.save_pretrained(original)
    model = transformers.AutoModelForCausalLM.from_pretrained(original)
    plain = 10000.0 ** (-torch.arange(0, 8, 2) / 8)
    divisors = (plain / model.model.rotary_emb.inv_freq).numpy()
    assert divisors.max() > 1
    path = write_gguf(original, tmp_path / "l.gguf", extra={"rope_freqs.weight": divisors})
    row = list(range(5, 60))
    with torch.inference_mode():
        found = load_text_model(path).network(torch.tensor([row])).logits[0, -1]
    wanted = logprobs_alone(original, [row])[0]
    np.testing.assert_allclose(torch.log_softmax(found.double(), -1), wanted, atol=1e-5)


@pytest.mark.parametrize("endian", list(gguf.GGUFEndian))
def test_the_quick_reader_reads_what_the_packages_reads(
    tmp_path: Path, endian: gguf.GGUFEndian
) -> None:
    path = tmp_path / "some.gguf"
    writer = gguf.GGUFWriter(path, "llama", endianess=endian)
    writer.add_token_list(["a", "é", "日本", ""])
    writer.add_token_scores([0.5, -1.0, 3e5, 0.0])
    writer.add_rope_freq_base(10000.5)
    writer.add_add_bos_token(True)
    writer.add_tensor("weights", np.arange(12, dtype=np.float32).reshape(3, 4))
    for write in ("header", "kv_data", "tensors"):
        getattr(writer, f"write_{write}_to_file")()
    writer.close()
    with alone(path):
        quick, plain = gguf.GGUFReader(path), gguf.gguf_reader.GGUFReader(path)
    assert type(quick) is not type(plain)
    contents = [{k: field.contents() for k, field in r.fields.items()} for r in (quick, plain)]
    assert contents[0] == contents[1]
    assert contents[0]["tokenizer.ggml.tokens"] == ["a", "é", "日本", ""]
    assert (quick.tensors[0].data == plain.tensors[0].data).all()
    assert quick.tensors[0].data.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_a_folder_with_one_file_stands_for_it(llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    shutil.copyfile(llama, folder / "model.gguf")
    (folder / "README.md").write_text("about")
    assert inspect_model(folder).source == str(folder / "model.gguf")
    assert revision_of(inspect_model(folder)) == revision_of(inspect_model(llama))
    shutil.copyfile(llama, folder / "other.gguf")
    with pytest.raises(ModelNotFoundError, match=r"2 GGUF files \(model.gguf, other.gguf\)"):
        inspect_model(folder)
    assert inspect_model(folder / "other.gguf").family == "llama"


def test_files_beside_it_change_nothing(llama: Path, tmp_path: Path, checkpoints: Path) -> None:
    shutil.copyfile(llama, tmp_path / "model.gguf")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(checkpoints / "tiny-t5" / name, tmp_path / name)
    read = load_text_tokenizer(tmp_path / "model.gguf")
    assert read.encode(TEXT) == load_text_tokenizer(llama).encode(TEXT)


@pytest.mark.parametrize("share", [0.001, 0.3, 0.97])
def test_a_file_that_is_cut_short_is_refused(llama: Path, tmp_path: Path, share: float) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(llama.read_bytes()[: int(llama.stat().st_size * share)])
    with pytest.raises(ModelFilesError, match="damaged or was not copied whole"):
        inspect_model(path)


def test_other_files_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "notes.gguf").write_text("nothing of the kind")
    with pytest.raises(ModelFilesError, match="not a GGUF file"):
        inspect_model(tmp_path / "notes.gguf")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"architecture": "bert"}, "its architecture is 'bert'"),
        ({"cut": "falcon"}, "its rule for cutting texts into tokens is 'falcon'"),
        ({"values": {"llama.rope.scaling.type": "yarn"}}, r"positions are scaled \('yarn'\)"),
        ({"extra": {"rope_factors_long.weight": np.ones(6, np.float32)}}, "positions are scaled"),
        ({"values": {"split.count": 3}}, "one of 3 parts"),
    ],
)
def test_what_would_be_read_wrong_is_refused(
    given: dict[str, object], said: str, checkpoints: Path, tmp_path: Path
) -> None:
    path = write_gguf(checkpoints / "tiny-llama", tmp_path / "model.gguf", **given)
    with pytest.raises(WrongModelKindError, match=said):
        inspect_model(path)


def test_a_missing_package_is_named(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(llama, tmp_path / "model.gguf")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModelFilesError, match="pip install gguf"):
        inspect_model(tmp_path / "model.gguf")


@pytest.mark.django_db
def test_a_file_is_registered_by_its_path_and_tried(llama: Path, tmp_path: Path) -> None:
    path = tmp_path / "Tiny.F32.gguf"
    shutil.copyfile(llama, path)
    model = register_model(location=str(path))
    assert (model.name, model.location) == ("Tiny.F32", str(path))
    assert register_model(location=str(tmp_path)) == model == is_registered(location=str(tmp_path))
    found = read_certificate(model)
    assert found is not None
    assert found.tried == "weights"
    assert not found.failed
    form = found.check("form")
    assert form is not None
    assert form.result.startswith("GGUF, F32; unpacked")
    can = {fit.name for fit in measure_fits(model) if fit.can}
    assert {"ilps_star", "direct_rating", "matched_guise", "counterpart_generation"} <= can
    path.write_bytes(b"")
    assert why_outdated(model)
    assert LanguageModel.objects.count() == 1


@pytest.mark.django_db
def test_a_file_has_no_revision(llama: Path) -> None:
    with pytest.raises(RunError) as raised:
        register_model(location=str(llama), revision="main")
    assert "only models of the hub have revisions" in str(raised.value)
