"""ILPS, the increased log probability score of one subword of a word.

Cao et al. (2022), §3.1, after Kurita et al. (2019), who score the group given the attribute;
here the attribute is scored given the group:

    ILPS(g, t) = ln P(t | g) - ln P(t | prior)

P is the probability of the first subword of t at the first of its masks, all of them open; or, as
an option, of the last one at the last: of earlier implementations Cao et al. say that they take
“the first or the last sub-token” (§3.2). Their own released code takes the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from probing.lm.protocols import SlotContext, SlotModel, SlotTokenizer, WordPart
from probing.measures.base import Problem
from probing.measures.log_ratio import compare_logprobs
from probing.measures.slot_measure import SlotMeasure, SlotParameters, distinct_words
from probing.measures.stimuli import Stimuli


class IlpsParameters(SlotParameters):
    """Parameters of ILPS."""

    subword: Literal["first", "last"] = Field(
        "first",
        title="Subword",
        description=(
            "Which subword stands for an adjective, read at its own mask while all masks of the "
            "adjective are open: the first (as in the released code) or the last. A causal model "
            "reads the subwords before the last one."
        ),
    )


class Ilps(SlotMeasure[IlpsParameters]):
    """How much a group raises the log probability of one of an adjective's subwords, in nats."""

    name = "ilps"
    title = "ILPS, increased log probability score of one subword"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1; after Kurita et al. (2019)"
    )
    abilities = frozenset({"word_logprobs"})
    Parameters = IlpsParameters

    def part(self, parameters: IlpsParameters) -> WordPart:
        """The first or the last subword."""
        return parameters.subword

    def evidence_key(self, parameters: IlpsParameters) -> tuple[Any, ...]:
        """Log probabilities depend on the subword."""
        return (parameters.subword,)

    def evidence(
        self,
        lm: SlotModel,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        parameters: IlpsParameters,
    ) -> np.ndarray:
        """Return ln P(subword | context), (n_contexts, n_words), in nats."""
        return lm.word_logprobs(contexts, words, part=parameters.subword)

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
        """Add a remark where adjectives share the subword and cannot be told apart."""
        found = super().problems(stimuli, parameters, lm)
        if any(problem.fatal for problem in found):
            return found
        if parameters.subword == "last" and lm.mask_token is None:
            return found  # what a causal model reads before the last subword tells them apart
        place, verb = (0, "begin") if parameters.subword == "first" else (-1, "end")
        alike: dict[int, list[str]] = {}
        for word in distinct_words(stimuli, parameters.adjectives):
            alike.setdefault(lm.split(word).ids[place], []).append(word)
        for words in alike.values():
            if len(words) > 1:
                message = (
                    f"{', '.join(words)} {verb} with the same subword, so ILPS gives them the same "
                    "score up to the number of masks. ILPS* tells them apart."
                )
                found.append(Problem("traits", message, False))
        return found
