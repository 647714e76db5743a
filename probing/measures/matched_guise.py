"""Matched guise probing: what a model associates with the speakers of two varieties.

Hofmann et al. (2024), Methods, Probing. A model reads a text in either variety within a prompt that
speaks of its author, and is asked for an attribute. The association score compares the probability
of the attribute between the guises; neither race nor dialect is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from probing.lm.errors import ContextTooLongError, MaskCountError, TokenizerError
from probing.lm.text_protocols import EndWordModel, EndWordTokenizer
from probing.measures.base import (
    SCORE_COLUMNS,
    Cost,
    Frames,
    Measure,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
)
from probing.measures.guise_stimuli import Base, GuisePrompt, GuiseStimuli
from probing.measures.text_measure import length_problem, shorten

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

MEANING_MATCHED, POOLED = "meaning_matched", "pooled"
_NAMED = 8


class MatchedGuiseParameters(MeasureParameters):
    """Parameters of matched guise probing."""

    matching: Literal["paired", "pooled"] = Field(
        "paired",
        title="Matching",
        description="Which texts are compared: pairs that say the same (paired), or all texts of "
        "the corpus in either variety, with or without a counterpart (pooled).",
    )
    attribute_tokens: Literal["one", "chain"] = Field(
        "one",
        title="Attributes of several tokens",
        description="Refuses attributes that are more than one token for the model, as in the "
        "paper (one), or multiplies the probabilities of their tokens (chain, ours).",
    )
    base: Base = Field(
        "10",
        title="Base of the logarithm",
        description="The printed numbers of the paper are base 10; e gives nats.",
    )
    first_guise: Literal["texts", "noise"] = Field(
        "texts",
        title="First guise",
        description="What the model reads as the first guise: its texts, or as a control the "
        "texts of the second variety with noise (characters dropped, added and replaced).",
    )
    noise_rate: float = Field(
        0.1,
        gt=0,
        le=1,
        title="Rate of noise",
        description="Share of letters that noise changes; without noise it changes nothing.",
    )
    pairs_per_shard: int = Field(
        100,
        ge=1,
        le=5000,
        title="Pairs per shard",
        description="How the work is cut into parts, for all prompts at once.",
    )


class MatchedGuise(Measure[GuiseStimuli, MatchedGuiseParameters]):
    """How much more likely an attribute is after a text in one variety than in the other."""

    name = "matched_guise"
    title = "Matched guise probing"
    citation = (
        "Hofmann, Kalluri, Jurafsky and King (2024), AI generates covertly racist decisions about "
        "people based on their dialect, Methods"
    )
    abilities = frozenset({"end_word"})
    Parameters = MatchedGuiseParameters
    stimuli_type = GuiseStimuli
    result = ResultKind.ASSOCIATIONS

    def plan(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return shards of texts of both varieties; the first also reads prompts without a text."""
        size = parameters.pairs_per_shard
        n = max(map(len, stimuli.texts))
        return [
            ShardPlan(
                index=index,
                title=f"Texts {start + 1} to {min(start + size, n)}",
                payload={"start": start, "stop": min(start + size, n)},
            )
            for index, start in enumerate(range(0, n, size))
        ]

    def problems(
        self,
        stimuli: GuiseStimuli,
        parameters: MatchedGuiseParameters,
        lm: EndWordTokenizer,
    ) -> list[Problem]:
        """Look for missing texts, prompts or attributes, several tokens, and texts too long."""
        found = [
            Problem(where, message, True)
            for where, message, missing in (
                ("corpus", _no_texts(stimuli), not all(stimuli.texts)),
                ("prompts", "No prompt is chosen. Choose at least one.", not stimuli.prompts),
                ("attributes", "The list of attributes is empty.", not stimuli.attributes),
            )
            if missing
        ]
        if found:
            return found
        found += _attribute_problems(stimuli, parameters, lm)
        found += _prompt_problems(stimuli)
        return [*found, *_text_problems(stimuli, lm)]

    def estimate(
        self,
        stimuli: GuiseStimuli,
        parameters: MatchedGuiseParameters,
        lm: EndWordTokenizer,
    ) -> Cost:
        """Count a pass for every text in every prompt, as often as the attributes need it."""
        from probing.lm.end_words import plan_words

        pieces = [lm.split_end(word) for word in stimuli.attributes]
        times = len(plan_words(pieces, masks=lm.kind == "masked"))
        bodies = [text.body for texts in stimuli.texts for text in texts] + [""]
        rows = (_encode(lm, prompt, body) for prompt in stimuli.prompts for body in bodies)
        lengths = [len(row) for row in rows if not isinstance(row, str)]
        return Cost(
            shards=len(self.plan(stimuli, parameters)),
            forward_passes=times * len(lengths),
            tokens=times * sum(lengths),
        )

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: GuiseStimuli,
        parameters: MatchedGuiseParameters,
        lm: EndWordModel,
    ) -> pd.DataFrame:
        """Return a row for every prompt and text; see :mod:`probing.measures.guise_logprobs`."""
        import numpy as np

        from probing.measures.guise_logprobs import NO_TEXT, to_frame

        texts = [
            (variety, text.slug, text.body)
            for variety, some in zip(stimuli.varieties, stimuli.texts, strict=True)
            for text in some[payload["start"] : payload["stop"]]
        ]
        if payload["start"] == 0:
            texts.append((NO_TEXT, NO_TEXT, ""))
        entries: list[tuple[str, str, str]] = []
        reasons: list[str] = []
        values = []
        for prompt in stimuli.prompts:
            read = [_encode(lm, prompt, body) for _, _, body in texts]
            found = np.full((len(read), len(stimuli.attributes)), np.nan)
            there = [place for place, row in enumerate(read) if not isinstance(row, str)]
            rows = [row for row in read if not isinstance(row, str)]
            found[there] = lm.end_logprobs(rows, stimuli.attributes)
            values.append(found)
            entries += [(prompt.slug, variety, slug) for variety, slug, _ in texts]
            reasons += [row if isinstance(row, str) else "" for row in read]
        return to_frame(entries, reasons, np.concatenate(values))

    def aggregate(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return q of every attribute in every prompt, and its mean over prompts (template "").

        Meaning-matched (pairs alone) and pooled; the group is the first variety. Attributes that
        do not agree with a prompt's article have no row there. n: pairs, or texts of the smaller
        side; for the mean, prompts.
        """
        import pandas as pd

        from probing.measures.association import paired_association, pooled_association
        from probing.measures.guise_logprobs import read_logprobs

        read = read_logprobs(stimuli, shard_frames)
        forms = {POOLED: pooled_association}
        if stimuli.paired:
            forms = {MEANING_MATCHED: paired_association, **forms}
        tables = []
        for name, form in forms.items():
            q, n = form(read.first, read.second, base=parameters.base)
            table = _table(stimuli, q, n)[read.agrees.ravel()]
            mean = table.groupby("trait", sort=False)["value"].agg(["mean", "count"])
            overall = pd.DataFrame(
                {"trait": mean.index, "template": "", "value": mean["mean"], "n": mean["count"]}
            )
            tables.append(pd.concat([table, overall], ignore_index=True).assign(name=name))
        rows = pd.concat(tables, ignore_index=True).assign(group=stimuli.first_variety)
        rows["reason"] = ["" if there else "no text fits" for there in rows["value"].notna()]
        return rows[list(SCORE_COLUMNS)]

    def remarks(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, shard_frames: Frames
    ) -> list[str]:
        """Say how the scores were obtained, and why texts are missing."""
        from probing.measures.guise_logprobs import read_logprobs

        found = ["Access: full. Every probability is a softmax over the model's whole vocabulary."]
        reasons = read_logprobs(stimuli, shard_frames).reasons
        return found + [f"{n} readings are missing: {why}." for why, n in reasons.items()]


def _table(
    stimuli: GuiseStimuli, q: npt.NDArray[np.float64], n: npt.NDArray[np.int64]
) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    prompts = [prompt.slug for prompt in stimuli.prompts]
    return pd.DataFrame(
        {
            "trait": np.tile(np.array(stimuli.attributes, dtype=object), len(prompts)),
            "template": np.repeat(np.array(prompts, dtype=object), len(stimuli.attributes)),
            "value": q.ravel(),
            "n": n.ravel(),
        }
    )


def _encode(lm: EndWordTokenizer, prompt: GuisePrompt, body: str) -> tuple[int, ...] | str:
    """Return the ids of a prompt with a text, or why there are none."""
    try:
        return lm.encode_end(prompt.fill(body))
    except (ContextTooLongError, MaskCountError) as error:
        return shorten(str(error))


def _no_texts(stimuli: GuiseStimuli) -> str:
    empty = [
        variety
        for variety, texts in zip(stimuli.varieties, stimuli.texts, strict=True)
        if not texts
    ]
    return f"There is no text in {' and none in '.join(empty)}. Choose texts in two varieties."


def _attribute_problems(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, lm: EndWordTokenizer
) -> list[Problem]:
    found, longer = [], []
    for attribute in stimuli.attributes:
        try:
            if len(lm.split_end(attribute)) > 1:
                longer.append(attribute)
        except TokenizerError as error:
            found.append(Problem("attributes", str(error), True))
    if not longer:
        return found
    named = ", ".join(longer[:_NAMED]) + (" …" if len(longer) > _NAMED else "")
    counted = f"{len(longer)} of {len(stimuli.attributes)} attributes are several tokens: {named}."
    if parameters.attribute_tokens == "one":
        message = (
            f"{counted} Choose another list, or set “attribute_tokens” to “chain”, which "
            "multiplies the probabilities of their tokens."
        )
        return [*found, Problem("attributes", message, True)]
    message = (
        f"{counted} Their scores rest on several factors; do not rank them among attributes of one "
        "token."
    )
    return [*found, Problem("attributes", message, False)]


def _prompt_problems(stimuli: GuiseStimuli) -> list[Problem]:
    return [
        Problem(
            "prompts",
            f"No attribute follows the article of “{prompt.text}”: the prompt counts for none.",
            False,
        )
        for prompt in stimuli.prompts
        if not any(map(prompt.agrees_with, stimuli.attributes))
    ]


def _text_problems(stimuli: GuiseStimuli, lm: EndWordTokenizer) -> list[Problem]:
    """Return remarks on pairs without a difference, and on texts that do not fit the prompts."""
    found = []
    same = [
        first.slug
        for first, second in zip(stimuli.first, stimuli.second, strict=False)
        if stimuli.paired and first.body == second.body
    ]
    if same:
        message = (
            f"{len(same)} pairs say the same in both varieties, such as '{same[0]}'; they draw the "
            "scores towards 0."
        )
        found.append(Problem("corpus", message, False))
    longest = max(stimuli.prompts, key=lambda prompt: lm.count_tokens(prompt.text))
    texts = [text for some in stimuli.texts for text in some]
    unread = [text.slug for text in texts if isinstance(_encode(lm, longest, text.body), str)]
    return [*found, *length_problem(unread, len(texts), "score")]
