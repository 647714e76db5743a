"""Selector: what a run found in each condition and variety, as means over trials."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from django.db.models import Avg, Count

from probing.models import Run, TextScore
from probing.runs.inputs import load_inputs


@dataclass(frozen=True)
class SpanRow:
    """One quantity in one condition and variety.

    Attributes
    ----------
    mean : mean over trials of the mean over texts; None where no text has a value.
    sd : standard deviation of the trials' means, None for fewer than two.
    trials : trials with a value.
    n, missing : values that went in over all trials, and those that there are not.
    """

    name: str
    condition: str
    variety: str
    mean: float | None
    sd: float | None
    trials: int
    n: int
    missing: int


def load_span_table(run: Run) -> list[SpanRow]:
    """Return a row for each name, condition and variety, in the run's order. Two queries at most.

    Deas et al. (2023), Table 11: the value of a trial is its mean over texts, and the reported one
    the mean over trials.
    """
    inputs = load_inputs(run)
    rows = (
        TextScore.objects.filter(run_id=run.pk)
        .order_by()
        .values("name", "condition", "variety", "trial")
        .annotate(mean=Avg("value"), number=Count("value"), total=Count("pk"))
    )
    trials: dict[tuple[str, str, str], list[tuple[float | None, int, int]]] = {}
    for row in rows.order_by("name", "condition", "variety", "trial"):
        key = (row["name"], row["condition"], row["variety"])
        trials.setdefault(key, []).append((row["mean"], row["number"], row["total"]))
    order = [
        inputs.stimuli.source_variety,
        inputs.stimuli.target_variety,
    ]
    conditions = list(getattr(inputs.parameters, "conditions", ()))
    ordered = sorted(
        trials,
        key=lambda key: (
            key[0] != "span_perplexity",
            key[0],
            conditions.index(key[1]) if key[1] in conditions else len(conditions),
            order.index(key[2]) if key[2] in order else len(order),
        ),
    )
    return [_row(key, trials[key]) for key in ordered]


def _row(key: tuple[str, str, str], trials: list[tuple[float | None, int, int]]) -> SpanRow:
    means = [mean for mean, _, _ in trials if mean is not None]
    counted = sum(number for _, number, _ in trials)
    name, condition, variety = key
    return SpanRow(
        name=name,
        condition=condition,
        variety=variety,
        mean=statistics.fmean(means) if means else None,
        sd=statistics.stdev(means) if len(means) > 1 else None,
        trials=len(means),
        n=counted,
        missing=sum(total for _, _, total in trials) - counted,
    )
