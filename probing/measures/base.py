"""The contract of a measure with the engine that runs it.

A measure cuts its work into shards (`plan`), computes any of them alone (`compute`) and puts the
pieces together (`aggregate`). It also says beforehand what will not work (`problems`) and what
the work costs (`estimate`), both from the tokenizer alone. Adding a measure is adding a class
and a line in the registry: forms, interface and documentation follow from its parameter schema.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from annotation.common.lazy import pd

#: Long rows of the shards of a run.
Frames = Sequence["pd.DataFrame"]

#: Columns of what `aggregate` returns for each kind of result, in this order.
SCORE_COLUMNS = ("name", "group", "trait", "template", "value", "reason", "n")
TEXT_SCORE_COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason", "n")
COUNTERPART_COLUMNS = ("pair", "variety", "body", "reason")
#: What a model said: about whom and what it was asked, in which words, how often; how the answer
#: ended (`answered`, `refused`, `unreadable`, `cut_off`), why nothing was read, the text, and the
#: reasoning before it, which is no part of the answer.
ANSWER_COLUMNS = (
    *("group", "item", "prompt", "repeat", "outcome", "why", "answer"),
    *("reasoning_tokens", "reasoning"),
)
TRAINED_MODEL_COLUMNS = ("folder", "name")
TRAINED_CLASSIFIER_COLUMNS = ("folder", "name", "kept", "number", "score", "value", "n")


class ResultKind(Enum):
    """What a run of a measure leaves behind; the engine stores each kind in its own table."""

    SCORES = "scores"  # groups × traits × templates, as SCORE_COLUMNS
    ASSOCIATIONS = "associations"  # attributes × prompts, as SCORE_COLUMNS; group = the guise
    TEXT_SCORES = "text_scores"  # one row per text, as TEXT_SCORE_COLUMNS
    COUNTERPARTS = "counterparts"  # rewritings of texts, as COUNTERPART_COLUMNS
    SURPRISALS = "surprisals"  # words of groups, as SCORE_COLUMNS; template = the word
    PREDICTIONS = "predictions"  # predictions stay with the shards; rates as SCORE_COLUMNS
    TRAINED_MODEL = "trained_model"  # one row: a folder of weights, as TRAINED_MODEL_COLUMNS
    TRAINED_CLASSIFIERS = "trained_classifiers"  # trainings × scores, TRAINED_CLASSIFIER_COLUMNS


class StimuliValue(Protocol):
    """What every kind of stimuli can do: be stored with a run and told apart by its content."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for a JSON column."""

    def content_hash(self) -> str:
        """Return 64 hexadecimal digits, the same for equal stimuli."""

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the stimuli that :meth:`to_dict` described."""


class MeasureParameters(BaseModel):
    """Base of every parameter schema: unknown names are errors, values never change.

    The title of a parameter is its name in words, where it does not say otherwise.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        field_title_generator=lambda name, field: name.replace("_", " ").capitalize(),
    )


def in_words(words: dict[str, str]) -> dict[str, Any]:
    """Return the ``json_schema_extra`` of a parameter whose values forms show in these words."""
    return {"labels": words}


M = TypeVar("M", bound=StimuliValue)
P = TypeVar("P", bound=MeasureParameters)


@dataclass(frozen=True)
class Problem:
    """Something that will go wrong, or that a reader of the scores should know.

    `where` names the stimulus or parameter. A run with a fatal problem cannot start.
    """

    where: str
    message: str
    fatal: bool


@dataclass(frozen=True)
class Cost:
    """What a run needs: shards, forward passes (sentences), and tokens, some of them written."""

    shards: int
    forward_passes: int
    tokens: int
    written: int = 0


@dataclass(frozen=True)
class ShardPlan:
    """One unit of work; `payload` is JSON and all that `compute` needs besides the stimuli."""

    index: int
    title: str
    payload: dict[str, Any]


def plan_stretches(total: int, size: int, noun: str) -> list[ShardPlan]:
    """Return a shard for every `size` of `total` entries in their order: its start and stop."""
    return [
        ShardPlan(
            index,
            f"{noun} {start + 1:,} to {min(start + size, total):,}",
            {"start": start, "stop": min(start + size, total)},
        )
        for index, start in enumerate(range(0, total, size))
    ]


class Measure(ABC, Generic[M, P]):
    """A way to turn a model and stimuli into results.

    `lm` is what the measure's abilities ask for: a tokenizer's facts before the run, the model in
    :meth:`compute`; a measure narrows its type to the protocol it needs.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]
    #: Abilities that the language model must have; see :mod:`probing.lm.protocols`.
    abilities: ClassVar[frozenset[str]]
    Parameters: ClassVar[type[MeasureParameters]]
    stimuli_type: ClassVar[type[StimuliValue]]
    result: ClassVar[ResultKind] = ResultKind.SCORES
    #: Parameters that runs have which were stored before these were there.
    before: ClassVar[Mapping[str, Any]] = {}

    @abstractmethod
    def problems(self, stimuli: M, parameters: P, lm: Any) -> list[Problem]:
        """Return everything that will go wrong or deserves a remark; never raises for it."""

    def complete(self, parameters: P, lm: Any) -> P:
        """Return the parameters with what was left to the model, as the run keeps them."""
        return parameters

    @abstractmethod
    def estimate(self, stimuli: M, parameters: P, lm: Any) -> Cost:
        """Return what the run costs, counted exactly; raises where a problem is fatal."""

    @abstractmethod
    def plan(self, stimuli: M, parameters: P, seed: int = 0) -> list[ShardPlan]:
        """Return the shards, the same for the same arguments.

        Whatever is random derives from `seed` and goes into the payloads, so that a shard gives
        the same rows whoever computes it.
        """

    @abstractmethod
    def compute(
        self, payload: Mapping[str, Any], stimuli: M, parameters: P, lm: Any
    ) -> pd.DataFrame:
        """Return a shard's long rows; the same rows whatever else the process has computed."""

    @abstractmethod
    def aggregate(self, stimuli: M, parameters: P, shard_frames: Frames) -> pd.DataFrame:
        """Return the results, with the columns of the measure's kind of result.

        Where there are values, `value` is NaN exactly where `reason` says why; `n` counts the
        values that went in.
        Raises ValueError where rows are missing or doubled.
        """

    def said(self, stimuli: M, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return the answers in a shard's rows, as `ANSWER_COLUMNS`; None if none are kept."""
        return None

    def remarks(self, stimuli: M, parameters: P, shard_frames: Frames) -> list[str]:
        """Return what a reader of the scores should know about how they came about."""
        return []


AnyMeasure = Measure[Any, Any]
