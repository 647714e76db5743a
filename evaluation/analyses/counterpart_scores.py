"""Counterparts scored text by text: overlap with the reference, similarity, toxicity.

Statistics of single texts come first and are aggregated afterwards, so that resamples and splits
need no second scoring (see `counterpart_metrics`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import pd
from evaluation.metrics.rouge import KINDS, NO_WORDS, Tokens, rouge_scores
from evaluation.metrics.toxicity import count_hits

REPEAT = "repeat"
HUMAN = "human"
BERTSCORE, BERTSCORE_REASON = "bertscore", "bertscore_reason"
TOXICITY_IN, TOXICITY_OUT = "toxicity_in", "toxicity_out"
COLUMNS = ("pair", "source", "variety", "producer", "input", "output", "reference", "reason")
NO_OUTPUT = "there is no counterpart"

#: Candidates and references to a value for each, 0 to 1, NaN = undefined, and reasons for NaN.
Similarity = Callable[[Sequence[str], Sequence[str]], tuple[NDArray[np.float64], Sequence[str]]]


@dataclass(frozen=True)
class ScoredCounterparts:
    """Scores of every counterpart.

    rows : columns pair, source, variety, producer, reason; rouge1, rouge2, rougeL and bertscore
        in percent; toxicity_in and toxicity_out in hits; toxic (of the pair's text in the source
        variety; None = no word list). NaN where a counterpart is missing or was not measured.
    metrics : coverage metrics that were computed
    """

    rows: pd.DataFrame
    metrics: tuple[str, ...]
    has_toxicity: bool


def score_counterparts(
    counterparts: pd.DataFrame,
    *,
    source_variety: str = "AAL",
    words: Collection[str] | None = None,
    stemming: bool = False,
    tokens: Tokens = "unicode",
    similarity: Similarity | None = None,
) -> ScoredCounterparts:
    """Return the scores of every counterpart, and of two rows to compare them with.

    counterparts : one row for each text and producer, with the columns
        pair, source : name of the pair, and where its text was drawn from
        variety : that was generated
        producer : who wrote it, such as name@revision
        input : the text that was given; output : what was made of it, "" or missing = nothing
        reference : the gold text of `variety`
        reason : why there is no output
    words : a word list for toxicity; None = not measured
    tokens : the words of Rouge, see `evaluation.metrics.rouge`
    similarity : scores candidates against references, such as BERTScore F; None = not measured

    Two producers are added. ``repeat`` gives the input back unchanged (Deas et al. 2023, Table 6):
    what a model that does nothing would score. ``human`` gives the reference, for toxicity alone,
    since its overlap with itself says nothing. Raises ValueError for missing columns, a producer
    of one of these names, and a pair that a producer rewrote twice in one direction.
    """
    _validate(counterparts)
    rows = pd.concat(
        [counterparts[list(COLUMNS)], *_compared_with(counterparts)], ignore_index=True
    )
    output = rows["output"].fillna("").astype(str)
    written = output.str.strip() != ""
    rows["reason"] = np.where(
        written, "", np.where(rows["reason"].fillna("") == "", NO_OUTPUT, rows["reason"])
    )
    covered = (written & (rows["producer"] != HUMAN)).to_numpy()
    candidates = output[covered].tolist()
    references = rows.loc[covered, "reference"].tolist()
    metrics = list(KINDS)
    for kind, scores in rouge_scores(
        candidates, references, stemming=stemming, tokens=tokens
    ).items():
        rows[kind] = _placed(100 * scores.f, covered)
        rows[f"{kind}_reason"] = np.where(covered & rows[kind].isna(), NO_WORDS, "")
    if similarity is not None:
        values, reasons = similarity(candidates, references)
        rows[BERTSCORE] = _placed(100 * np.asarray(values, dtype=float), covered)
        rows[BERTSCORE_REASON] = ""
        rows.loc[covered, BERTSCORE_REASON] = list(reasons)
        metrics.append(BERTSCORE)
    rows["toxic"] = None
    if words is not None:
        rows[TOXICITY_IN] = _placed(count_hits(rows.loc[written, "input"].tolist(), words), written)
        rows[TOXICITY_OUT] = _placed(count_hits(output[written].tolist(), words), written)
        # The text of the source variety is asked for where the source variety is generated.
        asked = np.where(rows["variety"] == source_variety, rows["reference"], rows["input"])
        rows["toxic"] = pd.Series(count_hits(asked.tolist(), words) > 0, dtype=object)
    kept = rows.drop(columns=["input", "output", "reference"])
    return ScoredCounterparts(kept, tuple(metrics), words is not None)


def _validate(counterparts: pd.DataFrame) -> None:
    absent = set(COLUMNS) - set(counterparts.columns)
    if absent:
        raise ValueError(f"the counterparts lack the columns {', '.join(sorted(absent))}")
    if counterparts.empty:
        raise ValueError("there are no counterparts to score")
    for name in (REPEAT, HUMAN):
        if (counterparts["producer"] == name).any():
            raise ValueError(f"'{name}' is added here and cannot be a producer's name")
    twice = counterparts.duplicated(["pair", "variety", "producer"])
    if twice.any():
        row = counterparts[twice].iloc[0]
        raise ValueError(
            f"'{row['producer']}' rewrote the pair '{row['pair']}' into {row['variety']} twice"
        )


def _compared_with(counterparts: pd.DataFrame) -> list[pd.DataFrame]:
    texts = counterparts.drop_duplicates(["pair", "variety"])[list(COLUMNS)].assign(reason="")
    return [
        texts.assign(producer=REPEAT, output=texts["input"]),
        texts.assign(producer=HUMAN, output=texts["reference"]),
    ]


def _placed(values: ArrayLike, where: ArrayLike) -> NDArray[np.float64]:
    places = np.asarray(where, dtype=bool)
    column = np.full(places.shape, np.nan)
    column[places] = values
    return column
