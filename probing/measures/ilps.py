"""ILPS, the increased log probability score of a word's first subword.

Cao et al. (2022), §3.1, after Kurita et al. (2019), who score the group given the attribute;
here the attribute is scored given the group:

    ILPS(g, t) = ln P(t | g) - ln P(t | prior)

P is the probability of the first subword of t at the first of its masks, all of them open.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probing.lm.protocols import SlotContext, SlotModel, SlotTokenizer
from probing.measures.base import Problem
from probing.measures.log_ratio import compare_logprobs
from probing.measures.slot_measure import SlotMeasure, SlotParameters, distinct_words
from probing.measures.stimuli import Stimuli


class IlpsParameters(SlotParameters):
    """Parameters of ILPS: the prior, and how the work is cut."""


class Ilps(SlotMeasure[IlpsParameters]):
    """How much a group raises the log probability of an adjective's first subword, in nats."""

    name = "ilps"
    title = "ILPS, increased log probability score of the first subword"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1; after Kurita et al. (2019)"
    )
    abilities = frozenset({"word_logprobs"})
    Parameters = IlpsParameters
    first_subword_only = True

    def evidence(
        self,
        lm: SlotModel,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        parameters: IlpsParameters,
    ) -> np.ndarray:
        """Return ln P(first subword | context), (n_contexts, n_words), in nats."""
        return lm.word_logprobs(contexts, words, first_only=True)

    def compare(
        self,
        group: np.ndarray,
        prior: np.ndarray,
        words: Sequence[str],
        parameters: IlpsParameters,
    ) -> pd.DataFrame:
        """Return value, reason, logprob_group and logprob_prior for each word."""
        return compare_logprobs(group, prior)

    def problems(
        self, stimuli: Stimuli, parameters: IlpsParameters, lm: SlotTokenizer
    ) -> list[Problem]:
        """Add a remark where adjectives share their first subword and cannot be told apart."""
        found = super().problems(stimuli, parameters, lm)
        if any(problem.fatal for problem in found):
            return found
        by_first: dict[int, list[str]] = {}
        for word in distinct_words(stimuli, parameters.adjectives):
            by_first.setdefault(lm.split(word).ids[0], []).append(word)
        for words in by_first.values():
            if len(words) > 1:
                message = (
                    f"{', '.join(words)} begin with the same subword, so ILPS gives them the same "
                    "score up to the number of masks. ILPS* tells them apart."
                )
                found.append(Problem("traits", message, False))
        return found
