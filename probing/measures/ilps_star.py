"""ILPS*, the increased log probability score over all subwords of a word.

Cao et al. (2022), §3.1-3.2, after Kurita et al. (2019):

    ILPS*(g, t) = ln P(t | g) - ln P(t | prior)

with P by the chain rule over the subwords of t, masks filled from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from probing.lm.protocols import SlotContext, SlotModel, SlotTokenizer
from probing.measures.base import Problem
from probing.measures.log_ratio import compare_logprobs
from probing.measures.slot_measure import SlotMeasure, SlotParameters
from probing.measures.stimuli import Stimuli


class IlpsStarParameters(SlotParameters):
    """Parameters of ILPS*."""

    renorm: Literal["class", "released"] | None = Field(
        None,
        title="Renormalisation",
        description=(
            "What each factor of a word's probability is divided by: nothing (the published chain "
            "rule), the probability mass of its own class of tokens, word-initial or "
            "continuation (class), or the word-initial mass for the first subword and the "
            "continuation mass for all later ones (released), which is not a probability for "
            "hyphenated words under WordPiece."
        ),
    )


class IlpsStar(SlotMeasure[IlpsStarParameters]):
    """How much a group raises the log probability of an adjective, in nats."""

    name = "ilps_star"
    title = "ILPS*, increased log probability score"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1-3.2; after Kurita et al. (2019)"
    )
    abilities = frozenset({"word_logprobs"})
    Parameters = IlpsStarParameters

    def evidence_key(self, parameters: IlpsStarParameters) -> tuple[Any, ...]:
        """Log probabilities depend on the renormalisation."""
        return (parameters.renorm,)

    def evidence(
        self,
        lm: SlotModel,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        parameters: IlpsStarParameters,
    ) -> np.ndarray:
        """Return ln P(word | context), (n_contexts, n_words), in nats."""
        return lm.word_logprobs(contexts, words, renorm=parameters.renorm)

    def compare(
        self,
        group: np.ndarray,
        prior: np.ndarray,
        words: Sequence[str],
        parameters: IlpsStarParameters,
    ) -> pd.DataFrame:
        """Return value, reason, logprob_group and logprob_prior for each word."""
        return compare_logprobs(group, prior)

    def problems(
        self, stimuli: Stimuli, parameters: IlpsStarParameters, lm: SlotTokenizer
    ) -> list[Problem]:
        """Add a remark where the released renormalisation leaves the realm of probabilities."""
        found = super().problems(stimuli, parameters, lm)
        if parameters.renorm == "released" and lm.hyphens_start_words:
            words = [word for t in stimuli.traits for word in (t.low, t.high) if "-" in word]
            if words:
                message = (
                    "With the released renormalisation and a WordPiece tokenizer the factors of "
                    f"hyphenated words are not probabilities and may exceed 1: {', '.join(words)}."
                    " Use class, or none."
                )
                found.append(Problem("parameter renorm", message, False))
        return found
