"""Fine-tuning of classifiers as a measure: presets, seeds and grids, splits, and who is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from probing.lm.sources import ModelFacts
from probing.measures.classifier_fine_tuning import (
    TABLE_1,
    ClassifierFineTuning,
    ClassifierTuningParameters,
    best_point,
    find_preset,
)
from probing.measures.labeled_texts import LabeledText, LabeledTexts, complete_splits
from probing.measures.stimuli import StimuliError
from probing.training.schedule import TrainingSettings
from probing.training.trainable_classifier import Example, Lora, TrainedClassifier
from tests.probing.training.made_up_texts import compose_texts

MEASURE = ClassifierFineTuning()
STIMULI = LabeledTexts(tuple(LabeledText(*row) for row in compose_texts()), "made-up")


@dataclass
class Facts:
    """What a dry run reads: words of a text stand for its tokens."""

    facts: ModelFacts
    max_length: int | None = 64

    def encode(self, texts: Any) -> list[list[int]]:
        return [[1] * len(text.split()) for text in texts]


def facts(family: str = "roberta", size: int | None = 125_000_000) -> Facts:
    return Facts(ModelFacts("m", "masked", family, size, 100, 48, 64, None))


def completed(lm: Facts | None = None, **given: Any) -> ClassifierTuningParameters:
    return MEASURE.complete(ClassifierTuningParameters(**given), lm or facts())


@pytest.mark.parametrize(
    ("family", "size", "expected"),
    [
        # Kohankhaki et al., Table 1: patience, learning rate, weight decay; §3.3: method, runs.
        ("roberta", 124_647_170, ("full", [1e-5], [1e-5], 7, 15)),
        ("roberta", 355_361_794, ("full", [1e-5], [1e-5], 7, 15)),
        ("opt", 125_239_296, ("full", [1e-5], [1e-5], 7, 15)),
        ("opt", 331_196_416, ("full", [1e-5], [1e-3], 7, 15)),
        ("opt", 1_315_758_080, ("lora", [1e-4], [1e-4], 5, 5)),
        ("opt", 12_853_473_280, ("lora", [1e-4], [1e-4], 5, 5)),
        ("llama", 6_738_415_616, ("lora", [1e-4], [1e-4], 5, 5)),
        ("llama", 13_015_864_320, ("lora", [1e-4], [1e-4], 5, 5)),
        ("llama", 8_030_261_248, ("lora", [1e-4], [1e-3], 5, 5)),
        ("mistral", 7_241_732_096, ("lora", [3e-5], [1e-3], 5, 5)),
        # A family that the table lacks, and a size that is not known: as the nearest, in full.
        ("bert", 110_000_000, ("full", [1e-5], [1e-5], 7, 15)),
        ("bert", None, ("full", [1e-5], [1e-5], 7, 15)),
    ],
)
def test_what_is_left_open_is_that_of_the_paper(
    family: str, size: int | None, expected: tuple[Any, ...]
) -> None:
    done = completed(facts(family, size))
    found = (done.method, done.learning_rate, done.weight_decay, done.patience, done.trainings)
    assert found == expected
    assert (done.kept, done.lora_rank) == (5, 8)


def test_the_table_has_every_model_of_the_paper_once() -> None:
    assert len({row.name for row in TABLE_1}) == len(TABLE_1) == 11
    assert find_preset("roberta", 125_000_000, "lora").method == "lora"


def test_what_is_given_stays() -> None:
    done = completed(learning_rate=["1e-3", 0.1], trainings=3, patience=0, method="lora")
    assert (done.learning_rate, done.trainings, done.patience) == ([1e-3, 0.1], 3, 0)
    assert done.kept == 3, "no more than there are"
    for bad in ({"learning_rate": [0]}, {"learning_rate": []}, {"kept": 0}, {"method": "qlora"}):
        with pytest.raises(ValidationError):
            ClassifierTuningParameters(**bad)  # type: ignore[arg-type]


def test_a_grid_gives_every_point_the_same_seeds() -> None:
    parameters = completed(learning_rate=[1e-3, 1e-4], weight_decay=[0, 1e-5], trainings=2)
    plan = MEASURE.plan(STIMULI, parameters, seed=2024)
    assert [shard.index for shard in plan] == list(range(8))
    payloads = [shard.payload for shard in plan]
    assert [one["number"] for one in payloads] == list(range(1, 9))
    assert [one["seed"] for one in payloads] == [2024, 2025] * 4
    points = [(one["learning_rate"], one["weight_decay"]) for one in payloads[::2]]
    assert points == [(1e-3, 0), (1e-3, 1e-5), (1e-4, 0), (1e-4, 1e-5)]
    assert plan[0].title == "Seed 2024, learning rate 0.001, weight decay 0"


class Recorder:
    """Keeps what it is asked to train on: only that matters here, not the training."""

    name = "the trained one"

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def train(self, **asked: Any) -> TrainedClassifier:
        self.asked = asked
        return TrainedClassifier(
            "/m/001", 9, 6, True, 0.5, 0.75, 0.5, 0.25, 48, 15, 18, 0, True, resumed_at=6
        )


def test_a_training_gets_its_splits_and_its_settings() -> None:
    parameters = completed(method="lora", lora_rank=4, patience=3, epochs=2, trainings=1)
    (shard,) = MEASURE.plan(STIMULI, parameters, seed=9)
    recorder = Recorder()
    frame = MEASURE.compute(shard.payload, STIMULI, parameters, recorder)
    asked = recorder.asked
    assert [len(asked[part]) for part in ("train", "validation", "test")] == [48, 15, 18]
    text, label, _ = compose_texts()[0]
    assert asked["train"][0] == Example(text, label)
    assert (asked["classes"], asked["lora"]) == (("negative", "neutral", "positive"), Lora(4, 8))
    rate, decay = (shard.payload[name] for name in ("learning_rate", "weight_decay"))
    assert asked["settings"] == TrainingSettings(
        learning_rate=rate,
        weight_decay=decay,
        epochs=2,
        batch_size=16,
        seed=9,
        schedule="constant",
        keep_best=True,
        patience=3,
    )
    assert frame.loc[0, "number"] == 1
    assert frame.loc[0, "folder"] == "/m/001"
    with pytest.raises(StimuliError, match="payload"):
        MEASURE.compute({}, STIMULI, parameters, recorder)


def frames(rows: list[tuple[float, float, float]]) -> list[pd.DataFrame]:
    """Return results of trainings: learning rate, validation loss, test accuracy."""
    done = TrainedClassifier("", 9, 6, True, 0.5, 0.75, 0.5, 0.25, 48, 15, 18, 0, True)
    return [
        pd.DataFrame(
            [
                {
                    "number": number,
                    "seed": number,
                    "learning_rate": rate,
                    "weight_decay": 1e-5,
                    "name": f"model {number}",
                    **vars(
                        replace(
                            done,
                            folder=f"/m/{number}",
                            validation_loss=loss,
                            test_accuracy=accuracy,
                        )
                    ),
                }
            ]
        )
        for number, (rate, loss, accuracy) in enumerate(rows, start=1)
    ]


def kept(scores: pd.DataFrame) -> list[int]:
    return sorted(set(scores[scores["kept"]]["number"]))


def test_the_best_by_test_accuracy_are_kept_equal_ones_by_their_order() -> None:
    rows = [(1e-5, 1.0, accuracy) for accuracy in (0.5, 0.9, 0.7, 0.9, 0.7)]
    parameters = completed(trainings=5, kept=3)
    scores = MEASURE.aggregate(STIMULI, parameters, frames(rows))
    assert kept(scores) == [2, 3, 4]
    accuracy = scores[scores["score"] == "test_accuracy"].set_index("number")
    assert accuracy.loc[2, "value"] == 0.9
    assert set(accuracy["n"]) == {18}
    first, second = MEASURE.remarks(STIMULI, parameters, frames(rows))
    # By hand: mean 3.7 / 5; deviations −.24 .16 −.04 .16 −.04, squares sum to .112, /4 = .028.
    assert "5 trainings reach a test accuracy of 0.740 (sd 0.167) on 18 texts" in first
    assert "the commonest class always would reach 0.333" in first
    assert "kept (3) it is 0.833 (sd 0.115)" in second
    with pytest.raises(ValueError, match="missing or doubled"):
        MEASURE.aggregate(STIMULI, parameters, frames(rows)[1:])


def test_of_a_grid_the_point_is_chosen_by_validation_and_never_by_the_test() -> None:
    """The worse point on validation has the best test accuracies."""
    rows = [(1e-3, 0.9, 0.99), (1e-3, 0.8, 0.98), (1e-4, 0.3, 0.5), (1e-4, 1.0, 0.6)]
    parameters = completed(learning_rate=[1e-3, 1e-4], trainings=2, kept=1)
    assert kept(MEASURE.aggregate(STIMULI, parameters, frames(rows))) == [4]
    assert best_point(pd.concat(frames(rows))) == (1e-4, 1e-5)
    assert "the learning rate 0.0001 with the weight decay 1e-05" in " ".join(
        MEASURE.remarks(STIMULI, parameters, frames(rows))
    )


def test_splits_that_are_missing_are_drawn_from_every_class_alike() -> None:
    texts = [LabeledText(f"text {n}", n % 3) for n in range(300)]
    doubled = [*texts, texts[0]]

    def draw(seed: int, some: list[LabeledText] = doubled) -> LabeledTexts:
        return LabeledTexts(complete_splits(some, validation_share=0.1, test_share=0.2, seed=seed))

    found = draw(1)
    # By hand: of 100 texts of each class 20 to test, 10 to validate, 70 left.
    for split, expected in (("test", 20), ("validation", 10), ("train", 70)):
        distinct = {(one.text, one.label) for one in found.texts if one.split == split}
        assert [sum(label == n for _, label in distinct) for n in range(3)] == [expected] * 3
    assert found.texts[0].split == found.texts[-1].split, "equal texts stay together"
    assert found == draw(1)
    assert found != draw(2)
    # What a set says itself stays; validation alone is drawn from what is trained on.
    given = [replace(one, split="test" if n < 30 else "train") for n, one in enumerate(texts)]
    part = draw(1, given)
    assert [one.text for one in part.part("test")] == [one.text for one in texts[:30]]
    assert len(part.part("validation")) == 27
    assert LabeledTexts.from_json(part.to_dict()) == part
    assert part.content_hash() != found.content_hash()


@pytest.mark.parametrize(
    ("texts", "expected", "fatal"),
    [
        ([("a", 0, "train"), ("b", 0, "train"), ("c", 1, "test")], "two classes at least", True),
        ([("a", 0, "train"), ("b", 1, "train")], "no texts to test with", True),
        ([("a", 0, "train"), ("b", 1, "train"), ("c", 1, "test")], "no validation texts", False),
        ([("a", 0, "train"), ("b", 1, "train"), ("c", 1, "test")], "is positive, so", False),
        ([("a", 0, "train"), ("b", 1, "train"), ("a", 0, "test")], "several splits: “a”", True),
        ([("a", 0, "train"), ("b", 1, "train"), ("w " * 65, 1, "test")], "1 of 3 texts", False),
    ],
)
def test_what_cannot_be_trained_on_is_said(
    texts: list[tuple[str, int, Any]], expected: str, fatal: bool
) -> None:
    stimuli = LabeledTexts(tuple(LabeledText(*one) for one in texts))
    found = MEASURE.problems(stimuli, completed(), facts())
    assert [problem.fatal for problem in found if expected in problem.message] == [fatal]


def test_more_models_than_trainings_cannot_be_kept() -> None:
    (problem,) = MEASURE.problems(STIMULI, completed(trainings=2, kept=3), facts())
    assert problem.fatal
    assert problem.where == "parameter kept"


def test_the_estimate_counts_every_pass() -> None:
    cost = MEASURE.estimate(STIMULI, completed(trainings=3, epochs=2), facts())
    # By hand: 48 and 15 texts in two epochs, 18 once, each of six words, three times.
    assert (cost.shards, cost.forward_passes, cost.tokens) == (3, 3 * 144, 3 * 144 * 6)


def test_an_empty_data_set_is_refused() -> None:
    with pytest.raises(StimuliError, match="no labeled texts"):
        LabeledTexts(())
    with pytest.raises(StimuliError, match="label 3"):
        LabeledTexts((LabeledText("a", 3, "train"),))
