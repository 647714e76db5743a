"""Fine-tuning of classifiers: Kohankhaki et al. (2024), §3.3.

A model gets a head for the classes of a labeled data set and is trained several times, with seeds
of its own, in full or by low-rank adapters. The best trainings by accuracy on the test set become
models that classification can be run with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from annotation.common.lazy import pd
from probing.lm.classifier import ClassifierTokenizer
from probing.measures.base import (
    TRAINED_CLASSIFIER_COLUMNS,
    Cost,
    Frames,
    Measure,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
    in_words,
)
from probing.measures.labeled_texts import LabeledText, LabeledTexts, shared_texts
from probing.measures.stimuli import StimuliError
from probing.training.schedule import TrainingSettings
from probing.training.trainable_classifier import Example, Lora

if TYPE_CHECKING:
    from probing.training.trainable_classifier import TrainableClassifier

# --- How Kohankhaki et al. (2024) fine-tuned their classifiers: §3.3 and Table 1 ------------------

Method = Literal["full", "lora"]
#: Larger models were trained by adapters; above 355 million, since checkpoints count heads too.
LARGEST_IN_FULL = 400_000_000
LORA_RANK = 8


@dataclass(frozen=True)
class TuningPreset:
    """One row of Table 1.

    family : as configurations call it
    size : number of weights
    patience : evaluations without a lower validation loss that end a training
    """

    name: str
    family: str
    size: float
    patience: int
    learning_rate: float
    weight_decay: float

    @property
    def method(self) -> Method:
        return "full" if self.size <= LARGEST_IN_FULL else "lora"

    @property
    def trainings(self) -> int:
        """Runs for every model; of 15 the best five were taken."""
        return 15 if self.method == "full" else KEPT


KEPT = 5
TABLE_1 = (
    TuningPreset("RoBERTa-125M", "roberta", 125e6, 7, 1e-5, 1e-5),
    TuningPreset("RoBERTa-355M", "roberta", 355e6, 7, 1e-5, 1e-5),
    TuningPreset("OPT-125M", "opt", 125e6, 7, 1e-5, 1e-5),
    TuningPreset("OPT-350M", "opt", 350e6, 7, 1e-5, 1e-3),
    TuningPreset("OPT-1.3B", "opt", 1.3e9, 5, 1e-4, 1e-4),
    TuningPreset("OPT-6.7B", "opt", 6.7e9, 5, 1e-4, 1e-4),
    TuningPreset("OPT-13B", "opt", 13e9, 5, 1e-4, 1e-4),
    TuningPreset("Llama-2-7B", "llama", 6.7e9, 5, 1e-4, 1e-4),
    TuningPreset("Llama-2-13B", "llama", 13e9, 5, 1e-4, 1e-4),
    TuningPreset("Llama-3-8B", "llama", 8e9, 5, 1e-4, 1e-3),
    TuningPreset("Mistral-7B", "mistral", 7.2e9, 5, 3e-5, 1e-3),
)


def find_preset(family: str, size: int | None, method: Method | None = None) -> TuningPreset:
    """Return the row nearest in size among those of the family and the method.

    method : None takes that of the paper for the size

    A family that the table lacks takes the rows of all; a size that is not known, the smallest.
    """
    known = size or TABLE_1[0].size
    wanted = method or ("full" if known <= LARGEST_IN_FULL else "lora")
    fitting = [row for row in TABLE_1 if row.method == wanted]
    own = [row for row in fitting if row.family == family]
    return min(own or fitting, key=lambda row: abs(math.log(row.size / known)))


TEST_ACCURACY, VALIDATION_ACCURACY = "test_accuracy", "validation_accuracy"
VALIDATION_LOSS, STEPS, BEST_STEP = "validation_loss", "steps", "best_step"
#: What is told of every training, and which of its numbers of texts goes with it.
SCORES = {
    TEST_ACCURACY: "n_test",
    VALIDATION_ACCURACY: "n_validation",
    VALIDATION_LOSS: "n_validation",
    STEPS: "n_train",
    BEST_STEP: "n_train",
}
SHOWN = 3
_Rate = Annotated[float, Field(gt=0, le=1)]
_Decay = Annotated[float, Field(ge=0, le=1)]


class ClassifierTuningParameters(MeasureParameters):
    """What is left empty is taken from Table 1, by the model's family and size."""

    method: Method | None = Field(
        None,
        description="All weights (full), or adapters of low rank on all linear layers (lora). "
        "Empty trains models of up to 400 million weights in full, as in the paper.",
        json_schema_extra={
            "empty": "as in the paper",
            **in_words({"full": "all weights", "lora": "adapters of low rank"}),
        },
    )
    learning_rate: list[_Rate] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Several with commas are a grid: of all combinations with the weight decays, "
        "the one with the lowest mean validation loss is taken. The paper tried 1e-3, 3e-4, 1e-4, "
        "3e-5 and 1e-5. Empty takes Table 1’s choice for the model.",
    )
    weight_decay: list[_Decay] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Several are a grid. The paper tried 1e-3, 1e-4, 1e-5 and 1e-6. Empty takes "
        "Table 1’s choice for the model.",
    )
    trainings: int | None = Field(
        None,
        ge=1,
        le=100,
        description="With seeds from the run’s on. Empty takes 15 in full, 5 by adapters.",
    )
    kept: int | None = Field(
        None,
        ge=1,
        le=100,
        title="Models kept",
        description=f"The best by accuracy on the test set. Empty keeps {KEPT}, or all where "
        "there are fewer.",
    )
    epochs: int = Field(
        20, ge=1, le=1000, title="Most epochs", description="How often every text is trained on."
    )
    batch_size: int = Field(
        16, ge=1, le=1024, description="Texts in a step. A large model may need a smaller one."
    )
    patience: int | None = Field(
        None,
        ge=0,
        description="So many evaluations without a lower validation loss end a training; 0 never "
        "does. Empty takes Table 1’s choice, 7 or 5. The weights with the lowest loss are taken.",
    )
    evaluate_every: int | None = Field(
        None,
        ge=1,
        title="Steps between evaluations",
        description="Empty evaluates after each epoch.",
    )
    schedule: Literal["constant", "linear"] = Field(
        "constant",
        description="Whether the learning rate stays, or falls linearly to zero.",
        json_schema_extra=in_words({"constant": "constant", "linear": "falls linearly to zero"}),
    )
    warmup_share: float = Field(
        0.0,
        ge=0,
        lt=1,
        title="Warm-up",
        description="Share of all steps in which the learning rate climbs from zero.",
    )
    lora_rank: int = Field(
        LORA_RANK, ge=1, le=1024, title="Rank", description="Of the adapters; 8 in the paper."
    )
    lora_alpha: int = Field(
        8,
        ge=1,
        le=4096,
        title="Alpha",
        description="Adapters are scaled by alpha / rank. The paper does not state it; 8 is what "
        "the peft library takes.",
    )
    validation_share: float = Field(
        0.1,
        ge=0,
        le=0.5,
        description="Of a data set that names no validation texts, drawn with the seed.",
    )
    test_share: float = Field(
        0.2,
        gt=0,
        le=0.5,
        description="Of a data set that names no test texts, drawn with the seed.",
    )
    checkpoint_every: int | None = Field(
        None,
        ge=1,
        title="Steps between checkpoints",
        description="Besides those at the end of each epoch. After a crash the training "
        "continues from the newest one.",
    )


class ClassifierFineTuning(Measure[LabeledTexts, ClassifierTuningParameters]):
    """Trains copies of the model to classify, one shard each, and takes the best of them.

    All but `complete` takes parameters that are complete.
    """

    name = "classifier_fine_tuning"
    title = "Fine-tuning of classifiers"
    citation = (
        "Kohankhaki, Emerson, Tian, Seyyed-Kalantari and Khattak (2024), The Impact of Unstated "
        "Norms in Bias Analysis of Language Models, §3.3"
    )
    abilities = frozenset({"train_classifier"})
    Parameters = ClassifierTuningParameters
    stimuli_type = LabeledTexts
    result = ResultKind.TRAINED_CLASSIFIERS

    def complete(
        self, parameters: ClassifierTuningParameters, lm: ClassifierTokenizer
    ) -> ClassifierTuningParameters:
        """Return the parameters with those of Table 1 where none are given."""
        preset = find_preset(lm.facts.family, lm.facts.parameter_count, parameters.method)
        trainings = parameters.trainings or preset.trainings
        chosen = {
            "method": preset.method,
            "learning_rate": [preset.learning_rate],
            "weight_decay": [preset.weight_decay],
            "trainings": trainings,
            "kept": min(KEPT, trainings),
            "patience": preset.patience,
        }
        left = {name: value for name, value in chosen.items() if getattr(parameters, name) is None}
        return parameters.model_copy(update=left)

    def plan(
        self, stimuli: LabeledTexts, parameters: ClassifierTuningParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return one shard for every training; all points of a grid get the same seeds."""
        return [
            ShardPlan(
                number - 1,
                f"Seed {own}, learning rate {rate:g}, weight decay {decay:g}",
                {"number": number, "seed": own, "learning_rate": rate, "weight_decay": decay},
            )
            for number, (rate, decay, own) in enumerate(_grid(parameters, seed), start=1)
        ]

    def problems(
        self,
        stimuli: LabeledTexts,
        parameters: ClassifierTuningParameters,
        lm: ClassifierTokenizer,
    ) -> list[Problem]:
        """Name splits and classes without texts, texts in two splits, and texts too long."""
        found = list(_split_problems(stimuli))
        if (parameters.kept or 0) > (parameters.trainings or 0):
            message = (
                f"{parameters.kept} models are to be kept of {parameters.trainings} trainings. "
                "Keep fewer, or train more."
            )
            found.append(Problem("parameter kept", message, True))
        if lm.max_length is not None:
            texts = stimuli.texts
            encoded = lm.encode([one.text for one in texts])
            long = sum(len(ids) > lm.max_length for ids in encoded)
            if long:
                message = (
                    f"{long:,} of {len(texts):,} texts are longer than the {lm.max_length:,} "
                    "tokens that the model reads, and are left out; nothing is cut."
                )
                found.append(Problem("texts", message, long == len(texts)))
        return found

    def estimate(
        self,
        stimuli: LabeledTexts,
        parameters: ClassifierTuningParameters,
        lm: ClassifierTokenizer,
    ) -> Cost:
        """Count the passes of trainings that no early stop ends, evaluations after each epoch."""
        shards, epochs = len(_grid(parameters, 0)), parameters.epochs
        passes = tokens = 0
        for split, times in (("train", epochs), ("validation", epochs), ("test", 1)):
            encoded = lm.encode([one.text for one in stimuli.texts if one.split == split])
            passes += times * len(encoded)
            tokens += times * sum(map(len, encoded))
        return Cost(shards=shards, forward_passes=shards * passes, tokens=shards * tokens)

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: LabeledTexts,
        parameters: ClassifierTuningParameters,
        lm: TrainableClassifier,
    ) -> pd.DataFrame:
        """Return one row: how the training was set, and how it ended."""
        if set(payload) != {"number", "seed", "learning_rate", "weight_decay"}:
            raise StimuliError("A training’s payload holds its number, its seed and both rates.")
        validation = _examples(stimuli.part("validation"))
        trained = lm.train(
            train=_examples(stimuli.part("train")),
            validation=validation,
            test=_examples(stimuli.part("test")),
            classes=stimuli.classes,
            lora=Lora(parameters.lora_rank, parameters.lora_alpha)
            if parameters.method == "lora"
            else None,
            settings=TrainingSettings(
                learning_rate=payload["learning_rate"],
                weight_decay=payload["weight_decay"],
                epochs=parameters.epochs,
                batch_size=parameters.batch_size,
                warmup_share=parameters.warmup_share,
                seed=payload["seed"],
                checkpoint_every=parameters.checkpoint_every,
                schedule=parameters.schedule,
                evaluate_every=parameters.evaluate_every,
                keep_best=bool(validation),
                patience=(parameters.patience or None) if validation else None,
            ),
        )
        return pd.DataFrame([{**payload, "name": lm.name, **asdict(trained)}])

    def aggregate(
        self, stimuli: LabeledTexts, parameters: ClassifierTuningParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return the scores of every training, and which are kept.

        Of a grid, only trainings at its best point are: that with the lowest mean validation
        loss. Raises ValueError where trainings are missing or doubled.
        """
        rows = _rows(shard_frames, parameters)
        rate, decay = best_point(rows)
        at_best = rows[(rows["learning_rate"] == rate) & (rows["weight_decay"] == decay)]
        # Equally good ones in the order of their seeds.
        order = at_best.sort_values([TEST_ACCURACY, "number"], ascending=[False, True])
        kept = set(order["number"].head(parameters.kept or KEPT))
        return pd.DataFrame(
            [
                {
                    "folder": row["folder"],
                    "name": row["name"],
                    "kept": row["number"] in kept,
                    "number": row["number"],
                    "score": name,
                    "value": row[name],
                    "n": row[n],
                }
                for row in rows.to_dict(orient="records")
                for name, n in SCORES.items()
            ],
            columns=list(TRAINED_CLASSIFIER_COLUMNS),
        )

    def remarks(
        self, stimuli: LabeledTexts, parameters: ClassifierTuningParameters, shard_frames: Frames
    ) -> list[str]:
        rows = _rows(shard_frames, parameters)
        scores = self.aggregate(stimuli, parameters, shard_frames)
        accuracy = scores[scores["score"] == TEST_ACCURACY]
        kept = accuracy[accuracy["kept"]]["value"]
        largest = max(n for (split, _), n in stimuli.counts().items() if split == "test")
        n_test = len(stimuli.part("test"))
        said = [
            f"{len(rows)} trainings reach a test accuracy of {_mean_sd(accuracy['value'])} on "
            f"{n_test:,} texts; to name the commonest class always would reach "
            f"{largest / n_test:.3f}."
        ]
        if len(kept) < len(rows):
            said.append(
                f"Of those that are kept ({len(kept)}) it is {_mean_sd(kept)}; they were chosen by "
                "it, so that it flatters them."
            )
        if len(rows[["learning_rate", "weight_decay"]].drop_duplicates()) > 1:
            rate, decay = best_point(rows)
            said.append(
                f"Of the grid, the learning rate {rate:g} with the weight decay {decay:g} has the "
                "lowest mean validation loss."
            )
        if left := int(rows["n_left_out"].max()):
            said.append(f"{left:,} texts are too long for the model and were left out.")
        resumed, damaged = int((rows["resumed_at"] > 0).sum()), int(rows["damaged"].sum())
        if resumed:
            said.append(f"{resumed} of the trainings were continued from a checkpoint.")
        if damaged:
            said.append(f"{damaged} damaged checkpoints were found and not used.")
        return said


def best_point(rows: pd.DataFrame) -> tuple[float, float]:
    """Return learning rate and weight decay with the lowest mean validation loss.

    The first ones where no loss was measured.
    """
    points = ["learning_rate", "weight_decay"]
    means = rows.groupby(points, sort=False, as_index=False)[VALIDATION_LOSS].mean()
    best = means[VALIDATION_LOSS].idxmin() if means[VALIDATION_LOSS].notna().any() else 0
    rate, decay = means.loc[best, points]
    return float(rate), float(decay)


def _grid(parameters: ClassifierTuningParameters, seed: int) -> list[tuple[float, float, int]]:
    seeds = range(seed, seed + (parameters.trainings or 1))
    return list(product(parameters.learning_rate or (), parameters.weight_decay or (), seeds))


def _rows(shard_frames: Frames, parameters: ClassifierTuningParameters) -> pd.DataFrame:
    rows = pd.concat(shard_frames, ignore_index=True)
    if sorted(rows["number"]) != list(range(1, len(_grid(parameters, 0)) + 1)):
        raise ValueError("trainings are missing or doubled among the shards")
    return rows.astype({VALIDATION_LOSS: float, VALIDATION_ACCURACY: float})


def _mean_sd(values: Any) -> str:
    if len(values) < 2:
        return f"{values.mean():.3f}"
    return f"{values.mean():.3f} (sd {values.std(ddof=1):.3f})"


def _examples(texts: Sequence[LabeledText]) -> list[Example]:
    return [Example(one.text, one.label) for one in texts]


def _split_problems(stimuli: LabeledTexts) -> list[Problem]:
    found = []
    counts = stimuli.counts()
    if sum(n > 0 for (split, _), n in counts.items() if split == "train") < 2:
        message = "Training needs texts of two classes at least. Choose another data set."
        found.append(Problem("texts", message, True))
    elif absent := [name for (split, name), n in counts.items() if split == "train" and not n]:
        message = f"No text to train on is {' or '.join(absent)}, so no prediction will be."
        found.append(Problem("texts", message, False))
    if not stimuli.part("test"):
        message = "There are no texts to test with. Add some, or set a larger test share."
        found.append(Problem("texts", message, True))
    if not stimuli.part("validation"):
        message = "There are no validation texts: every training runs to its last epoch."
        found.append(Problem("texts", message, False))
    if shared := shared_texts(stimuli.texts):
        named = ", ".join(f"“{text}”" for text in shared[:SHOWN])
        message = (
            f"{len(shared):,} texts stand in several splits: {named}. What is trained on must not "
            "be tested."
        )
        found.append(Problem("texts", message, True))
    return found
