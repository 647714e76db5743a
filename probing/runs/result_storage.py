"""Stores results: one function for every :class:`ResultKind`.

Each is called once, with the run's row locked, in the transaction that finishes the run, so that
results and state appear together or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from annotation.models import Counterpart, TextPair
from probing.measures.base import ResultKind
from probing.models import Run, Score, TextScore
from probing.runs.trained_models import store_trained_classifiers, store_trained_model

Row = dict[str, Any]
BATCH = 500
# Below the smallest number of variables that a database allows in one query.
SLUGS_PER_QUERY = 400
REASON_LENGTH = 200
COUNTERPART_REASON_LENGTH = 500


def store_scores(run: Run, rows: Sequence[Row]) -> str:
    """Store groups × traits × templates, or a guise × attributes × prompts; return how many."""
    Score.objects.bulk_create(
        [
            Score(
                run=run,
                name=row["name"],
                group=row["group"],
                trait=row["trait"],
                template=row["template"],
                access=row.get("access", ""),
                **_value(row),
            )
            for row in rows
        ],
        batch_size=BATCH,
    )
    return f"{len(rows)} scores stored"


def store_text_scores(run: Run, rows: Sequence[Row]) -> str:
    """Store one row per text, condition and trial; return what was stored, for the log."""
    TextScore.objects.bulk_create(
        [
            TextScore(
                run=run,
                name=row["name"],
                pair=row["pair"],
                variety=row["variety"],
                condition=row["condition"],
                trial=int(row["trial"]),
                **_value(row),
            )
            for row in rows
        ],
        batch_size=BATCH,
    )
    return f"{len(rows)} scores stored"


def store_counterparts(run: Run, rows: Sequence[Row]) -> str:
    """Store rewritings with the model as their producer; return what was stored, for the log.

    A row names its pair; what was rewritten is the pair's text in the other variety. Raises
    LookupError where a pair has left the corpus since the run was created.
    """
    corpus = run.corpus
    if corpus is None:
        raise LookupError("The run names no corpus, so its counterparts belong to no texts.")
    pairs = _pairs(corpus.pk, [row["pair"] for row in rows])
    producer = f"{run.model.name}@{run.model_revision}" if run.model_revision else run.model.name
    counterparts = []
    for row in rows:
        if row["pair"] not in pairs:
            raise LookupError(
                f"The corpus “{corpus.name}” has no pair “{row['pair']}” any longer. "
                "Create a new run from the corpus as it is."
            )
        source, target = pairs[row["pair"]]
        counterparts.append(
            Counterpart(
                text_id=source if row["variety"] == corpus.target_variety else target,
                variety=row["variety"],
                body=row["body"],
                reason=row["reason"][:COUNTERPART_REASON_LENGTH],
                model=producer,
                run=run.public_id,
            )
        )
    Counterpart.objects.bulk_create(counterparts, batch_size=BATCH)
    return f"{len(rows)} counterparts stored"


#: A measure of another kind of result needs a line here.
STORE: dict[ResultKind, Callable[[Run, Sequence[Row]], str]] = {
    ResultKind.SCORES: store_scores,
    ResultKind.ASSOCIATIONS: store_scores,
    ResultKind.TEXT_SCORES: store_text_scores,
    ResultKind.COUNTERPARTS: store_counterparts,
    ResultKind.PREDICTIONS: store_scores,
    ResultKind.SURPRISALS: store_scores,
    ResultKind.TRAINED_MODEL: store_trained_model,
    ResultKind.TRAINED_CLASSIFIERS: store_trained_classifiers,
}


def _value(row: Row) -> dict[str, Any]:
    value = float(row["value"])
    defined = math.isfinite(value)
    return {
        "value": value if defined else None,
        "reason": "" if defined else (row["reason"] or "not a finite number")[:REASON_LENGTH],
        "n": int(row["n"]),
    }


def _pairs(corpus: int, slugs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the ids of each pair's two texts."""
    unique = sorted(set(slugs))
    found: dict[str, tuple[int, int]] = {}
    for begin in range(0, len(unique), SLUGS_PER_QUERY):
        rows = TextPair.objects.filter(
            corpus=corpus, slug__in=unique[begin : begin + SLUGS_PER_QUERY]
        ).values_list("slug", "source_text", "target_text")
        found |= {slug: (source, target) for slug, source, target in rows}
    return found
