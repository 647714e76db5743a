"""Fine-tuning a model that writes on the training pairs of a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from annotation.common.lazy import pd
from probing.lm.text_tokenizer import PretrainedTextTokenizer
from probing.measures.base import (
    TRAINED_MODEL_COLUMNS,
    Cost,
    Frames,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
    in_words,
)
from probing.measures.prompt_choice import fill_prompt, other_variety
from probing.measures.stimuli import StimuliError
from probing.measures.text_measure import TextMeasure, directions, text_of
from probing.measures.text_stimuli import PairStimulus, TextStimuli
from probing.training.rewriting_examples import (
    EncodedExamples,
    ExampleEncoder,
    RewritingExample,
    encode_examples,
)
from probing.training.schedule import TrainingSettings

if TYPE_CHECKING:
    from probing.training.trainable import Trainable

NAMED_EXAMPLES = 8
_SUMMARY = ("folder", "name", "steps", "loss", "held_out_loss", "n_train", "n_held_out")
_ASIDE = ("left_out", "resumed_at", "damaged")


class FineTuningParameters(MeasureParameters):
    """Learning rate and epochs are those of Deas et al. (2023, Appendix E.1)."""

    learning_rate: float = Field(
        3e-5, gt=0, le=1, description="The highest one; it falls linearly to zero."
    )
    epochs: int = Field(5, ge=1, le=1000, description="How often every pair is trained on.")
    batch_size: int = Field(
        8, ge=1, le=1024, description="Examples in a step. A large model may need a smaller one."
    )
    warmup_share: float = Field(
        0.0,
        ge=0,
        lt=1,
        title="Warm-up",
        description="Share of all steps in which the learning rate climbs from zero.",
    )
    directions: Literal["both", "to_target", "to_source"] = Field(
        "both",
        description="Which rewritings one model learns: into the corpus’s target variety, into its "
        "source variety, or both, told apart by the prompt.",
        json_schema_extra=in_words(
            {
                "both": "both",
                "to_target": "into the target variety",
                "to_source": "into the source variety",
            }
        ),
    )
    held_out_share: float = Field(
        0.0,
        ge=0,
        le=0.5,
        title="Held-out share",
        description="Share of the training pairs on which the loss is only measured, after each "
        "epoch. The paper trains on all of them.",
    )
    checkpoint_every: int | None = Field(
        None,
        ge=1,
        title="Steps between checkpoints",
        description="Besides those at the end of each epoch. After a crash the training "
        "continues from the newest one.",
    )


class FineTuning(TextMeasure[FineTuningParameters]):
    """Trains a copy of the model to give a text's counterpart to the prompt with that text.

    The stimuli's `pairs` are training pairs, and the first and only prompt is the one that the
    trained model should be asked with later. One shard: its worker saves checkpoints, from which
    another one continues.
    """

    name = "fine_tuning"
    title = "Fine-tuning on counterparts"
    citation = "Deas, Grieser, Kleiner, Patton, Turcan and McKeown (2023), Appendix E.1"
    abilities = frozenset({"train"})
    Parameters = FineTuningParameters
    result = ResultKind.TRAINED_MODEL

    def problems(
        self, stimuli: TextStimuli, parameters: FineTuningParameters, lm: PretrainedTextTokenizer
    ) -> list[Problem]:
        found = []
        if not stimuli.pairs:
            message = "There are no training pairs, expected at least one."
            found.append(Problem("corpus", message, True))
        if len(stimuli.prompts) != 1:
            found.append(_prompt_problem(stimuli))
        if found:
            return found
        fitting = encode_examples(ExampleEncoder(lm), _examples(stimuli, parameters))
        if fitting.left_out:
            found.append(_left_out_problem(fitting))
        return found

    def estimate(
        self, stimuli: TextStimuli, parameters: FineTuningParameters, lm: PretrainedTextTokenizer
    ) -> Cost:
        fitting = encode_examples(ExampleEncoder(lm), _examples(stimuli, parameters))
        return Cost(
            shards=1,
            forward_passes=parameters.epochs * len(fitting.encoded),
            tokens=parameters.epochs * sum(one.tokens for one in fitting.encoded),
        )

    def plan(
        self, stimuli: TextStimuli, parameters: FineTuningParameters, seed: int = 0
    ) -> list[ShardPlan]:
        title = f"training on {len(stimuli.pairs)} pairs"
        return [ShardPlan(index=0, title=title, payload={"seed": seed})]

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: TextStimuli,
        parameters: FineTuningParameters,
        lm: Trainable,
    ) -> pd.DataFrame:
        if "seed" not in payload:
            raise StimuliError("The payload of a training holds its seed.")
        trained = lm.train(
            _examples(stimuli, parameters),
            held_out_share=parameters.held_out_share,
            settings=TrainingSettings(
                learning_rate=parameters.learning_rate,
                epochs=parameters.epochs,
                batch_size=parameters.batch_size,
                warmup_share=parameters.warmup_share,
                seed=payload["seed"],
                checkpoint_every=parameters.checkpoint_every,
            ),
        )
        row = {
            "folder": str(trained.folder),
            "name": lm.name,
            "steps": trained.steps,
            "loss": trained.loss,
            "held_out_loss": trained.held_out_loss,
            "n_train": trained.n_train,
            "n_held_out": trained.n_held_out,
            "left_out": "; ".join(f"{left.slug} ({left.reason})" for left in trained.left_out),
            "resumed_at": trained.resumed_at,
            "damaged": trained.damaged,
        }
        return pd.DataFrame([row], columns=[*_SUMMARY, *_ASIDE])

    def aggregate(
        self, stimuli: TextStimuli, parameters: FineTuningParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        return _only_row(shard_frames)[list(TRAINED_MODEL_COLUMNS)]

    def remarks(
        self, stimuli: TextStimuli, parameters: FineTuningParameters, shard_frames: Frames
    ) -> list[str]:
        row = _only_row(shard_frames).iloc[0]
        said = [
            f"Trained on {row['n_train']} examples of {len(stimuli.pairs)} pairs in "
            f"{row['steps']} steps; the last loss is {row['loss']:.4f} nats per token"
            + (
                f", on {row['n_held_out']} held-out examples {row['held_out_loss']:.4f}."
                if row["n_held_out"]
                else "."
            )
        ]
        if row["resumed_at"]:
            said.append(f"An earlier worker had done {row['resumed_at']} of the steps.")
        if row["damaged"]:
            said.append(f"{row['damaged']} damaged checkpoints were found and not used.")
        return said


def _examples(stimuli: TextStimuli, parameters: FineTuningParameters) -> list[RewritingExample]:
    """Return prompt and answer of every pair in every direction that is asked for.

    The prompts are those that counterpart generation fills.
    """
    wanted = directions(stimuli, parameters.directions)
    return [_example(pair, variety, stimuli) for pair in stimuli.pairs for variety in wanted]


def _example(pair: PairStimulus, variety: str, stimuli: TextStimuli) -> RewritingExample:
    text = text_of(pair, other_variety(variety, stimuli), stimuli)
    return RewritingExample(
        slug=f"{pair.slug} into {variety}",
        # Several texts may have the same counterpart: then they are held out together.
        group=" ".join(pair.target.body.split()),
        prompt=fill_prompt(stimuli.prompts[0], text.body, variety, stimuli, shots=False),
        answer=text_of(pair, variety, stimuli).body,
    )


def _prompt_problem(stimuli: TextStimuli) -> Problem:
    chosen = ", ".join(prompt.slug for prompt in stimuli.prompts) or "none"
    return Problem(
        "prompts",
        f"{len(stimuli.prompts)} prompts are chosen ({chosen}), expected one: the wording that the "
        "trained model will be asked with.",
        True,
    )


def _left_out_problem(fitting: EncodedExamples) -> Problem:
    named = [f"{left.slug} ({left.reason})" for left in fitting.left_out[:NAMED_EXAMPLES]]
    more = len(fitting.left_out) - len(named)
    number = len(fitting.left_out) + len(fitting.encoded)
    return Problem(
        "corpus",
        f"{len(fitting.left_out)} of {number} training examples do not fit the model and are left "
        f"out, nothing is cut: {', '.join(named)}{f' and {more} more' if more > 0 else ''}.",
        not fitting.encoded,
    )


def _only_row(shard_frames: Frames) -> pd.DataFrame:
    rows = [len(frame) for frame in shard_frames]
    if rows != [1]:
        raise ValueError(f"a training gives one row of one shard, but got {rows}")
    return shard_frames[0]
