"""The contract between a measure and whatever runs it.

A measure cuts its work into shards (`plan`), computes any of them alone (`compute`) and puts the
pieces together (`aggregate`). It also says beforehand what will not work (`problems`) and what
the work costs (`estimate`), both from the tokenizer alone. Adding a measure is adding a class
and a line in the registry: forms, interface and documentation follow from its parameter schema.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict

from probing.lm.protocols import SlotModel, SlotTokenizer
from probing.measures.stimuli import Stimuli

#: Columns of what `aggregate` returns, in this order.
SCORE_COLUMNS = ("name", "group", "trait", "template", "value", "reason", "n")


class MeasureParameters(BaseModel):
    """Base of every parameter schema: unknown names are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    """What a run needs: shards, forward passes (sentences) and tokens read in them."""

    shards: int
    forward_passes: int
    tokens: int


@dataclass(frozen=True)
class ShardPlan:
    """One unit of work; `payload` is JSON and all that `compute` needs besides the stimuli."""

    index: int
    title: str
    payload: dict[str, Any]


class Measure(ABC, Generic[P]):
    """A way to turn a model and stimuli into scores."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]
    #: Abilities that the language model must have; see :mod:`probing.lm.protocols`.
    abilities: ClassVar[frozenset[str]]
    Parameters: ClassVar[type[MeasureParameters]]

    @abstractmethod
    def problems(self, stimuli: Stimuli, parameters: P, lm: SlotTokenizer) -> list[Problem]:
        """Return everything that will go wrong or deserves a remark; never raises for it."""

    @abstractmethod
    def estimate(self, stimuli: Stimuli, parameters: P, lm: SlotTokenizer) -> Cost:
        """Return what the run costs, counted exactly; raises where a problem is fatal."""

    @abstractmethod
    def plan(self, stimuli: Stimuli, parameters: P) -> list[ShardPlan]:
        """Return the shards, the same for the same arguments."""

    @abstractmethod
    def compute(
        self, payload: Mapping[str, Any], stimuli: Stimuli, parameters: P, lm: SlotModel
    ) -> pd.DataFrame:
        """Return a shard's long rows; the same rows whatever else the process has computed."""

    @abstractmethod
    def aggregate(
        self, stimuli: Stimuli, parameters: P, shard_frames: Sequence[pd.DataFrame]
    ) -> pd.DataFrame:
        """Return the scores, with the columns of :data:`SCORE_COLUMNS`.

        `value` is NaN exactly where `reason` says why; `n` counts the values that went in.
        Raises ValueError where rows are missing or doubled.
        """

    def remarks(
        self, stimuli: Stimuli, parameters: P, shard_frames: Sequence[pd.DataFrame]
    ) -> list[str]:
        """Return what a reader of the scores should know about how they came about."""
        return []
