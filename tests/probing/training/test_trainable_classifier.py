"""Training classifiers from real checkpoints: in full, by adapters, killed, and saved."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from probing.lm.errors import WrongModelKindError
from probing.lm.loaders import load_classifier
from probing.training.base_model import RECORD
from probing.training.checkpoints import list_checkpoints
from probing.training.classifier_weights import load_base_classifier, load_base_tokenizer
from probing.training.errors import TrainingError
from probing.training.schedule import TrainingSettings, epoch_batches
from probing.training.trainable_classifier import (
    ADAPTERS,
    ClassifyingTask,
    Example,
    Lora,
    TrainableClassifier,
    TrainedClassifier,
)
from probing.training.weights import base_revision
from tests.conftest import ROOT
from tests.probing.training.made_up_texts import compose_texts
from tests.probing.training.test_trainable import with_dropout

pytestmark = [pytest.mark.slow, pytest.mark.shared]

CLASSES = ("negative", "neutral", "positive")
SETTINGS = TrainingSettings(
    learning_rate=3e-3,
    weight_decay=1e-5,
    epochs=2,
    batch_size=8,
    seed=3,
    schedule="constant",
    keep_best=True,
    patience=7,
)
#: Every family has its head elsewhere; BERT's checkpoint lacks a pooler too, GPT-2 transposes.
FAMILIES = ("tiny-bert", "tiny-roberta", "tiny-gpt2", "tiny-opt", "tiny-llama", "tiny-t5")

Maker = Callable[..., TrainableClassifier]


def examples(split: str) -> list[Example]:
    return [Example(text, label) for text, label, part in compose_texts() if part == split]


def train(
    one: TrainableClassifier, *, lora: Lora | None = None, **changes: Any
) -> TrainedClassifier:
    return one.train(
        train=examples("train"),
        validation=examples("validation"),
        test=examples("test"),
        classes=CLASSES,
        lora=lora,
        settings=replace(SETTINGS, **changes),
    )


def make_in(place: Path, source: Path, **changes: Any) -> TrainableClassifier:
    values: dict[str, Any] = {
        "location": str(source),
        "revision": "",
        "base_revision": base_revision(source, ""),
        "base_name": source.name,
        "name": f"{source.name} (fine-tuned)",
        "workspace": place / "workspace",
        "target": place / "model",
        "report": lambda point: None,
        "device": "cpu",
        "threads": 1,
    }
    return TrainableClassifier(**(values | changes))


@pytest.fixture
def make(checkpoints: Path, tmp_path: Path) -> Maker:
    def build(model: str = "tiny-roberta", *, place: str = "one", **changes: Any) -> Any:
        source = changes.pop("source", checkpoints / model)
        return make_in(tmp_path / place, source, **changes)

    return build


def weights_in(folder: str | Path) -> bytes:
    return (Path(folder) / "model.safetensors").read_bytes()


def test_it_does_what_a_plain_loop_of_torch_and_transformers_does(
    checkpoints: Path, make: Maker
) -> None:
    """The library's own padding and loss, on the same batches; the tiny checkpoint has no dropout
    that matters, since both draw it from the same seed."""
    trained = train(make(), keep_best=False, patience=None)
    folder = checkpoints / "tiny-roberta"
    reading = load_base_tokenizer(folder)
    given = {"classes": CLASSES, "pad_id": reading.pad_id, "seed": 3, "device": "cpu"}
    model = load_base_classifier(folder, "", **given).model.train()
    plain = AutoTokenizer.from_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-5)
    texts = examples("train")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        for epoch in range(2):
            for batch in epoch_batches(range(len(texts)), 8, seed=3, epoch=epoch):
                chosen = [texts[place] for place in batch]
                read = plain([one.text for one in chosen], padding=True, return_tensors="pt")
                labels = torch.tensor([one.label for one in chosen])
                optimizer.zero_grad()
                model(**read, labels=labels).loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
    ours = AutoModelForSequenceClassification.from_pretrained(trained.folder)
    for name, weight in model.state_dict().items():
        if name.endswith("key.bias"):
            continue  # attention does not depend on it: its gradient is rounding alone
        torch.testing.assert_close(ours.state_dict()[name], weight, rtol=1e-4, atol=1e-5, msg=name)


def test_a_classifier_learns_and_its_record_says_how_well(make: Maker) -> None:
    trained = train(make(), epochs=12, learning_rate=1e-2)
    classifier = load_classifier(trained.folder, device="cpu", threads=1)
    assert classifier.labels == CLASSES
    test = examples("test")
    said = classifier.classify([one.text for one in test]).argmax(axis=1)
    right = sum(int(s) == one.label for s, one in zip(said, test, strict=True))
    assert trained.test_accuracy == right / 18
    assert trained.test_accuracy > 0.9
    assert (trained.n_train, trained.n_validation, trained.n_test) == (48, 15, 18)
    written = (Path(trained.folder) / RECORD).read_text()
    assert (
        "classify texts as negative, neutral, positive"
        in (Path(trained.folder) / "README.md").read_text()
    )
    assert not any(one.text in written for one in test)
    assert str(Path(trained.folder).parent) not in written, "no path of this machine"
    again = train(make(), epochs=12, learning_rate=1e-2)
    assert again == trained, "what lies there complete is taken"


@pytest.mark.parametrize("model", FAMILIES)
def test_adapters_that_are_saved_loaded_or_merged_predict_the_same(
    make: Maker, checkpoints: Path, model: str
) -> None:
    """Merging adds B A to W, which rounds otherwise than adding B A x to W x: 1e-5 in logits of
    about 1."""
    trained = train(make(model), lora=Lora(8, 8), learning_rate=1e-2)
    texts = [one.text for one in examples("test")]
    merged = load_classifier(trained.folder, device="cpu", threads=1)
    found = torch.tensor(merged.classify(texts))

    reading = load_base_tokenizer(checkpoints / model)
    given = {"classes": CLASSES, "pad_id": reading.pad_id, "device": "cpu"}
    # A head of another seed, since the adapters bring the trained one.
    base = load_base_classifier(checkpoints / model, "", seed=99, **given).model.eval()
    plain = AutoTokenizer.from_pretrained(checkpoints / model)

    def logits(network: Any) -> torch.Tensor:
        with torch.no_grad():
            rows = [network(**plain(text, return_tensors="pt")).logits for text in texts]
        return torch.cat(rows)

    before = logits(base)
    loaded = peft.PeftModel.from_pretrained(base, str(Path(trained.folder) / ADAPTERS)).eval()
    torch.testing.assert_close(logits(loaded), found, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(logits(loaded.merge_and_unload()), found, rtol=1e-5, atol=1e-5)
    assert (before - found).abs().max() > 0.1, "the adapters do something"
    config = json.loads((Path(trained.folder) / ADAPTERS / "adapter_config.json").read_text())
    assert (config["r"], config["base_model_name_or_path"]) == (8, model)


def test_every_linear_layer_but_those_of_the_head_gets_adapters(
    make: Maker, checkpoints: Path
) -> None:
    from safetensors import safe_open

    trained = train(make("tiny-opt"), lora=Lora(4, 4))
    file = Path(trained.folder) / ADAPTERS / "adapter_model.safetensors"
    with safe_open(file, "pt") as stored:
        names = set(stored.keys())
        assert all(stored.get_tensor(n).shape[0] == 4 for n in names if "lora_A" in n)
    adapted = {
        name.split(".lora_")[0].split("base_model.model.")[1] for name in names if "lora" in name
    }
    network = AutoModelForSequenceClassification.from_pretrained(trained.folder)
    linear = {n for n, m in network.named_modules() if isinstance(m, torch.nn.Linear)}
    assert adapted == linear - {"score"}
    assert any(name.endswith("score.weight") for name in names)
    original = AutoModelForSequenceClassification.from_pretrained(checkpoints / "tiny-opt")
    embedding = "model.decoder.embed_tokens.weight"
    assert torch.equal(network.state_dict()[embedding], original.state_dict()[embedding])


PROGRAM = """
import sys
from pathlib import Path
from tests.probing.training.test_trainable_classifier import Lora, make_in, train

place, source, lora = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "lora"
def report(point):
    import signal
    print(point.step, flush=True)
    if point.step == 15:
        signal.pause()
train(make_in(place, source, report=report), lora=Lora(8, 8) if lora else None, epochs=4)
"""


@pytest.mark.parametrize("method", ["full", "lora"])
def test_a_process_killed_half_way_changes_no_bit_of_the_weights(
    checkpoints: Path, tmp_path: Path, method: str
) -> None:
    """On the CPU with one thread the tolerance is zero. 48 texts in batches of 8: 24 steps."""
    source = checkpoints / "tiny-roberta"
    lora = Lora(8, 8) if method == "lora" else None
    calm = train(make_in(tmp_path / "calm", source), lora=lora, epochs=4)
    assert calm.resumed_at == 0

    place = tmp_path / "hurt"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(place), str(source), method],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ".:platform"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == 15:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (place / "model").exists()
    assert [found.step for found in list_checkpoints(place / "workspace")] == [12, 6]

    healed = train(make_in(place, source), lora=lora, epochs=4)
    assert healed.resumed_at == 12
    assert weights_in(healed.folder) == weights_in(calm.folder)
    if lora:
        adapters = f"{ADAPTERS}/adapter_model.safetensors"
        assert (Path(healed.folder) / adapters).read_bytes() == (
            Path(calm.folder) / adapters
        ).read_bytes()
    assert replace(healed, folder=calm.folder, resumed_at=0) == calm


def test_checkpoints_of_adapters_hold_no_frozen_weight(make: Maker, tmp_path: Path) -> None:
    full, lora = make(place="full"), make(place="lora")
    train(full)
    train(lora, lora=Lora(2, 2))
    (large, *_), (small, *_) = (list_checkpoints(one.workspace) for one in (full, lora))
    state = torch.load(small.path, weights_only=True)
    assert all("lora_" in name or "modules_to_save" in name for name in state["model"])
    assert small.path.stat().st_size < large.path.stat().st_size / 2


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(
    make: Maker, checkpoints: Path, tmp_path: Path
) -> None:
    source = with_dropout(checkpoints / "tiny-opt", tmp_path / "source")
    first, again, other = (
        train(make(source=source, place=place), seed=seed)
        for place, seed in (("one", 3), ("two", 3), ("three", 4))
    )
    assert weights_in(first.folder) == weights_in(again.folder)
    assert weights_in(first.folder) != weights_in(other.folder)


def test_a_head_for_the_same_classes_is_kept_and_any_other_is_new(checkpoints: Path) -> None:
    folder = checkpoints / "tiny-classifier"
    stored = AutoModelForSequenceClassification.from_pretrained(folder).classifier.weight

    def load(classes: tuple[str, ...], seed: int = 1) -> Any:
        return load_base_classifier(folder, "", classes=classes, pad_id=0, seed=seed, device="cpu")

    kept = load(CLASSES)
    assert not kept.new_head
    assert torch.equal(kept.model.classifier.weight, stored)
    turned = load(CLASSES[::-1])
    assert turned.new_head
    assert not torch.equal(turned.model.classifier.weight, stored)
    assert not torch.equal(
        turned.model.classifier.weight, load(CLASSES[::-1], 2).model.classifier.weight
    )
    two = load(("bad", "good"))
    assert two.new_head
    assert two.model.classifier.weight.shape[0] == 2
    body = "bert.encoder.layer.0.attention.self.query.weight"
    assert torch.equal(two.model.state_dict()[body], kept.model.state_dict()[body])


def test_a_family_without_such_a_head_is_refused(tmp_path: Path) -> None:
    config = {"architectures": ["XGLMForCausalLM"], "model_type": "xglm"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(WrongModelKindError, match="family 'xglm', for which there is no head"):
        load_base_tokenizer(tmp_path)


def test_texts_that_are_too_long_are_left_out_whole(make: Maker) -> None:
    limit = load_base_tokenizer(make().location).max_length
    assert limit == 64
    long = Example("the man " * 60, 0)
    trained = make().train(
        train=[*examples("train"), long],
        validation=examples("validation"),
        test=[*examples("test"), long],
        classes=CLASSES,
        lora=None,
        settings=SETTINGS,
    )
    assert (trained.n_train, trained.n_test, trained.n_left_out) == (48, 18, 2)
    with pytest.raises(TrainingError, match="nothing to train on"):
        make(place="two").train(
            train=[long], validation=[], test=[long], classes=CLASSES, lora=None, settings=SETTINGS
        )


def test_the_loss_counts_texts_and_right_ones(checkpoints: Path) -> None:
    """Against cross entropy and argmax by hand, text by text without padding."""
    reading = load_base_tokenizer(checkpoints / "tiny-roberta")
    given = {"classes": CLASSES, "pad_id": reading.pad_id, "seed": 1, "device": "cpu"}
    model = load_base_classifier(checkpoints / "tiny-roberta", "", **given).model.eval()
    texts = examples("train")[:5]
    ids = reading.encode([one.text for one in texts])
    task = ClassifyingTask(model, ids, [one.label for one in texts], padding=reading.pad_id)
    with torch.no_grad():
        found = task.loss(range(5))
        rows = [model(input_ids=torch.tensor([row])).logits[0].log_softmax(0) for row in ids]
    expected = -sum(row[one.label].item() for row, one in zip(rows, texts, strict=True))
    assert found.total.item() == pytest.approx(expected, rel=1e-5)
    assert found.count == 5
    assert found.correct == sum(
        int(row.argmax()) == one.label for row, one in zip(rows, texts, strict=True)
    )
