"""Perplexity of texts in two varieties: how familiar a model is with either.

Hofmann et al. (2024), Methods, Scaling analysis; methods.md §13. Causal models have perplexity;
masked and encoder–decoder ones pseudo-perplexity, where each token in turn is hidden. Values are
comparable only within one of these, and one tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.text_protocols import TextScorer, TextTokenizer
from probing.measures.aggregation import complete_rows
from probing.measures.base import (
    TEXT_SCORE_COLUMNS,
    Cost,
    Frames,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
    in_words,
)
from probing.measures.text_measure import (
    TextMeasure,
    one_by_one_where_too_long,
    plan_pairs,
    shard_pairs,
    text_lengths,
    text_of,
    text_problems,
    unread_texts,
    varieties,
)
from probing.measures.text_stimuli import TextStimuli

PERPLEXITY = "perplexity"
WHOLE = "whole text"
UNSCORED = "no token of the text is scored: it is one, and the model has none to begin with"


class PerplexityParameters(MeasureParameters):
    """Parameters of perplexity."""

    unit: Literal["token", "word"] = Field(
        "token",
        title="Normalized by",
        description="The number of tokens, as usual, or of words, to set models with different "
        "tokenizers side by side (ours).",
        json_schema_extra=in_words({"token": "number of tokens", "word": "number of words"}),
    )
    pairs_per_shard: int = Field(50, ge=1, le=5000, description="How the work is cut into parts.")


class Perplexity(TextMeasure[PerplexityParameters]):
    """exp of minus the mean log probability of a text's tokens, or of its words."""

    name = "perplexity"
    title = "Perplexity"
    citation = (
        "Hofmann, Kalluri, Jurafsky and King (2024), AI generates covertly racist decisions about "
        "people based on their dialect, Methods, Scaling analysis; Salazar, Liang, Nguyen and "
        "Kirchhoff (2020), Masked language model scoring"
    )
    abilities = frozenset({"text_logprob"})
    Parameters = PerplexityParameters
    result = ResultKind.TEXT_SCORES
    uses_prompts = False

    def plan(
        self, stimuli: TextStimuli, parameters: PerplexityParameters, seed: int = 0
    ) -> list[ShardPlan]:
        return plan_pairs(stimuli, parameters.pairs_per_shard, "Texts")

    def problems(
        self, stimuli: TextStimuli, parameters: PerplexityParameters, lm: TextTokenizer
    ) -> list[Problem]:
        """Look for texts that do not fit."""
        return [*text_problems(stimuli), *unread_texts(stimuli, lm)]

    def estimate(
        self, stimuli: TextStimuli, parameters: PerplexityParameters, lm: TextTokenizer
    ) -> Cost:
        """Count a pass for each text, or for each of its tokens where these are hidden in turn."""
        lengths = text_lengths(stimuli, lm)
        in_turn = lm.kind != "causal"
        return Cost(
            shards=len(self.plan(stimuli, parameters)),
            forward_passes=sum(lengths) if in_turn else len(lengths),
            tokens=sum(n * n for n in lengths) if in_turn else sum(lengths),
        )

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: TextStimuli,
        parameters: PerplexityParameters,
        lm: TextScorer,
    ) -> pd.DataFrame:
        """Return one row for each pair and variety; n = tokens, or words, that were scored."""
        cells = [
            (pair.slug, variety, text_of(pair, variety, stimuli).body)
            for pair in shard_pairs(payload, stimuli)
            for variety in varieties(stimuli)
        ]
        scored = one_by_one_where_too_long(lm.token_logprobs, [body for *_, body in cells])
        rows = []
        for (slug, variety, body), logs in zip(cells, scored, strict=True):
            value, n, reason = float("nan"), 0, logs if isinstance(logs, str) else UNSCORED
            if not isinstance(logs, str) and len(logs):
                n = len(logs) if parameters.unit == "token" else len(body.split())
                with np.errstate(over="ignore"):
                    value, reason = float(np.exp(-np.sum(logs) / n)), ""
            if np.isinf(value):
                value, reason = float("nan"), "the model gives no finite probability"
            rows.append(
                {
                    "name": PERPLEXITY,
                    "pair": slug,
                    "variety": variety,
                    "condition": WHOLE,
                    "trial": 0,
                    "value": value,
                    "reason": reason,
                    "n": n,
                    "kind": lm.kind,
                }
            )
        return pd.DataFrame(rows)

    def aggregate(
        self, stimuli: TextStimuli, parameters: PerplexityParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return every row, in the order of the stimuli."""
        slugs = [pair.slug for pair in stimuli.pairs]
        cells = product([PERPLEXITY], [WHOLE], varieties(stimuli), [0], slugs)
        keys = ["name", "condition", "variety", "trial", "pair"]
        rows = complete_rows(shard_frames, keys, cells)
        return rows.reset_index()[list(TEXT_SCORE_COLUMNS)]

    def remarks(
        self, stimuli: TextStimuli, parameters: PerplexityParameters, shard_frames: Frames
    ) -> list[str]:
        """Say which perplexity it is, and how many texts have none."""
        rows = pd.concat(shard_frames, ignore_index=True)
        causal = set(rows["kind"]) == {"causal"}
        found = [
            "Perplexity: each token is read after those before it."
            if causal
            else "Pseudo-perplexity: each token in turn is hidden. It is not comparable with the "
            "perplexity of causal models."
        ]
        why = rows.loc[rows["reason"] != "", "reason"].value_counts()
        return found + [f"{n} texts have no perplexity: {reason}." for reason, n in why.items()]
