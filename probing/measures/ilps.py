"""ILPS and ILPS*: how much a group raises the log probability of an adjective.

Cao et al. (2022), §3.1-3.2, after Kurita et al. (2019), who score the group given the attribute;
here the attribute is scored given the group:

    ILPS(g, t) = ILPS*(g, t) = ln P(t | g) - ln P(t | prior)

For ILPS, P is the probability of the first subword of t at the first of its masks, all of them
open; or, as an option, of the last one at the last: Cao et al. say of earlier implementations that
they take “the first or the last sub-token” (§3.2). Their own released code takes the first. For
ILPS*, P follows the chain rule over the subwords of t, masks filled from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.protocols import SlotContext, SlotModel, SlotTokenizer, WordPart
from probing.measures.base import Problem, in_words
from probing.measures.slot_measure import SlotMeasure, SlotParameters, distinct_words, group_context
from probing.measures.stimuli import Stimuli

S = TypeVar("S", bound=SlotParameters)


class LogRatioMeasure(SlotMeasure[S]):
    """A measure that is the difference of two log probabilities, in nats."""

    abilities = frozenset({"word_logprobs"})

    def compare(
        self, group: np.ndarray, prior: np.ndarray, words: Sequence[str], parameters: S
    ) -> pd.DataFrame:
        """Return value, reason, logprob_group and logprob_prior for each word."""
        defined = np.isfinite(group) & np.isfinite(prior)
        with np.errstate(invalid="ignore"):  # -inf minus -inf, which is not defined
            difference = group - prior
        return pd.DataFrame(
            {
                "value": np.where(defined, difference, np.nan),
                "reason": np.where(defined, "", "the model gives no finite probability"),
                "logprob_group": group,
                "logprob_prior": prior,
            }
        )


class IlpsParameters(SlotParameters):
    """Parameters of ILPS."""

    subword: Literal["first", "last"] = Field(
        "first",
        description="Which subword stands for an adjective, read at its own mask while all masks "
        "of the adjective are open: the first (as in the released code) or the last. A causal "
        "model reads the subwords before the last one.",
        json_schema_extra=in_words({"first": "the first subword", "last": "the last subword"}),
    )


class Ilps(LogRatioMeasure[IlpsParameters]):
    """How much a group raises the log probability of one of an adjective's subwords, in nats."""

    name = "ilps"
    title = "ILPS, increased log probability score of one subword"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1; after Kurita et al. (2019)"
    )
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
        listed = distinct_words(stimuli, parameters.adjectives)
        first = group_context(stimuli.templates[0], stimuli.groups[0], parameters.slot)
        for word, pieces in zip(listed, lm.open([first], listed)[0].pieces, strict=True):
            alike.setdefault(pieces[place], []).append(word)
        for words in alike.values():
            if len(words) > 1:
                message = (
                    f"{', '.join(words)} {verb} with the same subword, so ILPS gives them the same "
                    "score up to the number of masks. ILPS* tells them apart."
                )
                found.append(Problem("traits", message, False))
        return found


class IlpsStarParameters(SlotParameters):
    """Parameters of ILPS*."""

    renorm: Literal["class", "released"] | None = Field(
        None,
        title="Renormalization",
        description="What each factor of a word's probability is divided by: nothing (the "
        "published chain rule), the probability mass of its own class of tokens, word-initial or "
        "continuation (class), or the word-initial mass for the first subword and the "
        "continuation mass for all later ones (released), which is not a probability for "
        "hyphenated words under WordPiece.",
        json_schema_extra=in_words(
            {"class": "by the class of the token", "released": "as released"}
        ),
    )


class IlpsStar(LogRatioMeasure[IlpsStarParameters]):
    """How much a group raises the log probability of a whole adjective, in nats."""

    name = "ilps_star"
    title = "ILPS*, increased log probability score"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1-3.2; after Kurita et al. (2019)"
    )
    Parameters = IlpsStarParameters

    def evidence_key(self, parameters: IlpsStarParameters) -> tuple[Any, ...]:
        """Log probabilities depend on the renormalization."""
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

    def problems(
        self, stimuli: Stimuli, parameters: IlpsStarParameters, lm: SlotTokenizer
    ) -> list[Problem]:
        """Add a remark where the released renormalization gives no probabilities."""
        found = super().problems(stimuli, parameters, lm)
        if parameters.renorm == "released" and lm.hyphens_start_words:
            words = [word for t in stimuli.traits for word in (t.low, t.high) if "-" in word]
            if words:
                message = (
                    "With the released renormalization and a WordPiece tokenizer the factors of "
                    f"hyphenated words are not probabilities and may exceed 1: {', '.join(words)}."
                    " Use class, or none."
                )
                found.append(Problem("parameter renorm", message, False))
        return found
