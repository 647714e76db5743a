"""Training real checkpoints: the right loss, the same weights again, and nothing cut."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from probing.lm.errors import WrongModelKindError
from probing.training.base_model import RECORD
from probing.training.errors import TrainingError
from probing.training.rewriting_examples import (
    IGNORED,
    ExampleEncoder,
    RewritingExample,
    encode_examples,
)
from probing.training.schedule import LossPoint, TrainingSettings
from probing.training.trainable import Trainable, WritingTask
from probing.training.weights import base_revision, load_trainable_tokenizer, load_weights

pytestmark = pytest.mark.shared

EXAMPLES = [
    RewritingExample(f"pair-{number}", f"group-{number // 2}", prompt, answer)
    for number, (prompt, answer) in enumerate(
        [
            ("Rewrite: the man is poor", "that man is wealthy"),
            ("Rewrite: the women are cold", "those women are warm people"),
            ("Rewrite: that man is wealthy", "the man is poor"),
            ("Rewrite: those people are warm", "the people are cold"),
            ("Rewrite: all men are honest", "no man is dishonest"),
            ("Rewrite: the elderly are kind", "elderly people are kind"),
        ]
    )
]
SETTINGS = TrainingSettings(learning_rate=1e-3, epochs=2, batch_size=2, seed=3)

TrainableMaker = Callable[..., Trainable]


def with_dropout(source: Path, folder: Path) -> Path:
    """Copy a checkpoint and give it dropout, so that its training depends on random numbers."""
    shutil.copytree(source, folder)
    config = json.loads((folder / "config.json").read_text())
    names = ("dropout_rate", "resid_pdrop", "embd_pdrop", "attn_pdrop", "dropout")
    config |= {name: 0.1 for name in names if name in config}
    assert any(config.get(name) == 0.1 for name in names)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def make_trainable(checkpoints: Path, tmp_path: Path) -> TrainableMaker:
    def make(model: str = "tiny-t5", *, place: str = "one", **changes: Any) -> Trainable:
        source = changes.pop("source", checkpoints / model)
        values: dict[str, Any] = {
            "location": str(source),
            "revision": "",
            "base_revision": base_revision(source, ""),
            "base_name": model,
            "name": f"{model} (fine-tuned)",
            "workspace": tmp_path / place / "workspace",
            "target": tmp_path / place / "model",
            "report": lambda point: None,
            "device": "cpu",
            "threads": 1,
        }
        return Trainable(**(values | changes))

    return make


def weights_in(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("model", ["tiny-t5", "tiny-gpt2", "tiny-opt", "tiny-llama"])
def test_the_loss_of_one_example_is_the_library_s_own(checkpoints: Path, model: str) -> None:
    """One example at a time, so that no padding is involved on either side."""
    folder = checkpoints / model
    read = load_trainable_tokenizer(folder)
    plain = AutoTokenizer.from_pretrained(folder)
    loader: Any = AutoModelForSeq2SeqLM if read.kind == "seq2seq" else AutoModelForCausalLM
    network = loader.from_pretrained(folder).eval()
    encoded = encode_examples(ExampleEncoder(read), EXAMPLES).encoded
    task = WritingTask(network, read.kind, encoded, padding=read.pad_id)
    total, count = 0.0, 0
    with torch.no_grad():
        for place, example in enumerate(EXAMPLES):
            if read.kind == "seq2seq":
                batch = plain(example.prompt, text_target=example.answer, return_tensors="pt")
                expected, targets = network(**batch).loss, batch["labels"].shape[1]
            else:
                prompt = plain(example.prompt)["input_ids"]
                whole = [*plain(f"{example.prompt} {example.answer}")["input_ids"]]
                whole.append(plain.eos_token_id)
                assert whole[: len(prompt)] == prompt, "the answer begins a word of its own"
                targets = len(whole) - len(prompt)
                labels = [IGNORED] * len(prompt) + whole[len(prompt) :]
                expected = network(
                    input_ids=torch.tensor([whole]), labels=torch.tensor([labels])
                ).loss
            found = task.loss([place])
            assert found.count == targets
            assert (found.total / found.count).item() == pytest.approx(expected.item(), rel=1e-5)
            total, count = total + expected.item() * targets, count + targets
        together = task.loss(range(len(EXAMPLES)))
    assert together.count == count
    assert together.total.item() == pytest.approx(total, rel=1e-5), "padding changes nothing"


@pytest.mark.parametrize("model", ["tiny-t5", "tiny-gpt2"])
def test_training_again_gives_the_same_bytes(
    make_trainable: TrainableMaker, checkpoints: Path, tmp_path: Path, model: str
) -> None:
    source = with_dropout(checkpoints / model, tmp_path / "source")
    trained = [
        make_trainable(source=source, place=place).train(
            EXAMPLES, held_out_share=0.0, settings=replace(SETTINGS, seed=seed)
        )
        for place, seed in (("one", 3), ("two", 3), ("three", 4))
    ]
    first, again, other = (weights_in(one.folder) for one in trained)
    assert first == again
    assert first != other
    assert first != weights_in(source)


def test_a_crash_with_a_real_model_changes_no_byte(
    make_trainable: TrainableMaker, checkpoints: Path, tmp_path: Path
) -> None:
    source = with_dropout(checkpoints / "tiny-t5", tmp_path / "source")
    settings = replace(SETTINGS, checkpoint_every=1)

    def crash(point: LossPoint) -> None:
        if point.step == 4:
            raise KeyboardInterrupt

    calm = make_trainable(source=source, place="calm")
    hurt = make_trainable(source=source, place="hurt", report=crash)
    expected = calm.train(EXAMPLES, held_out_share=0.3, settings=settings)
    with pytest.raises(KeyboardInterrupt):
        hurt.train(EXAMPLES, held_out_share=0.3, settings=settings)
    assert not hurt.target.exists()
    healed = replace(hurt, report=lambda point: None)
    found = healed.train(EXAMPLES, held_out_share=0.3, settings=settings)
    assert found.resumed_at == 3
    assert weights_in(found.folder) == weights_in(expected.folder)
    assert base_revision(found.folder, "") == base_revision(expected.folder, "")


def test_a_model_that_lies_there_complete_is_taken(make_trainable: TrainableMaker) -> None:
    points: list[LossPoint] = []
    trainable = make_trainable(report=points.append)
    first = trainable.train(EXAMPLES, held_out_share=0.3, settings=SETTINGS)
    number = len(points)
    again = trainable.train(EXAMPLES, held_out_share=0.3, settings=SETTINGS)
    assert len(points) == number
    assert again == first
    assert (again.n_train, again.n_held_out) == (4, 2), "a group of two of three groups"
    elsewhere = replace(trainable, workspace=trainable.workspace / "other")
    other = elsewhere.train(EXAMPLES, held_out_share=0.0, settings=SETTINGS)
    assert other.n_train == 6


def test_the_trained_folder_is_a_whole_model_without_texts(make_trainable: TrainableMaker) -> None:
    folder = make_trainable().train(EXAMPLES, held_out_share=0.0, settings=SETTINGS).folder
    assert load_trainable_tokenizer(folder).kind == "seq2seq"
    assert load_weights(folder, "", device="cpu") is not None
    written = (folder / RECORD).read_text() + (folder / "README.md").read_text()
    assert "tiny-t5 (fine-tuned)" in written
    assert not any(example.answer in written for example in EXAMPLES)
    assert str(folder.parent) not in written, "no path of this machine"


def test_what_does_not_fit_is_left_out_with_its_length(
    make_trainable: TrainableMaker, checkpoints: Path
) -> None:
    limit = load_trainable_tokenizer(checkpoints / "tiny-gpt2").max_length
    assert limit is not None
    long = RewritingExample("pair-long", "g", "Rewrite: " + "the man " * limit, "the man")
    trained = make_trainable("tiny-gpt2").train(
        [*EXAMPLES, long], held_out_share=0.0, settings=SETTINGS
    )
    assert trained.n_train == 6
    (left,) = trained.left_out
    assert left.slug == "pair-long"
    assert left.reason.endswith(f"tokens, but the model reads {limit}")
    with pytest.raises(TrainingError, match="nothing to train on"):
        make_trainable("tiny-gpt2", place="two").train(
            [long], held_out_share=0.0, settings=SETTINGS
        )


def test_other_kinds_of_models_are_refused(checkpoints: Path) -> None:
    with pytest.raises(WrongModelKindError, match="of the kind 'masked'"):
        load_trainable_tokenizer(checkpoints / "tiny-bert")
