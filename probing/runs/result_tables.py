"""Selectors: what a finished run found, as tables of scores, of spans and of counterparts."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from itertools import repeat

from django.db.models import Avg, Count, Q, QuerySet

from annotation.common.lazy import pd
from annotation.models import Counterpart, TextPair
from probing.measures.classification import ACCURACY, ALL_CLASSES, FALLBACK, FPR
from probing.measures.guise_parameters import MEANING_MATCHED, POOLED
from probing.measures.mention_surprisal import SURPRISAL
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.registry import MEASURES
from probing.measures.slot_measure import SlotMeasure
from probing.models import Run, Score, TextScore
from probing.runs.parameters import load_inputs, load_shard_frames

PAIR_SCORE = "pair_score"


@dataclass(frozen=True)
class ScoreColumn:
    """A trait pair as a column: positive scores lean to ``high``."""

    slug: str
    low: str
    high: str
    dimension: str


@dataclass(frozen=True)
class ScoreCell:
    """One score, or the reason why there is none; ``n`` values went in."""

    value: float | None
    reason: str
    n: int


@dataclass(frozen=True)
class ScoreRow:
    """A group with one cell for each column."""

    slug: str
    name: str
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True)
class ScoreTable:
    """Pair scores of all groups and traits, as means over the templates."""

    columns: tuple[ScoreColumn, ...]
    rows: tuple[ScoreRow, ...]


def load_score_table(run: Run) -> ScoreTable:
    """Return the mean pair scores of ``run`` in the order of its stimuli. Two queries at most."""
    stimuli = load_inputs(run).stimuli
    found = {
        (score.group, score.trait): ScoreCell(score.value, score.reason, score.n)
        for score in Score.objects.filter(run_id=run.pk, name=PAIR_SCORE, template="")
    }
    missing = ScoreCell(None, "not stored", 0)
    return ScoreTable(
        columns=tuple(
            ScoreColumn(trait.slug, trait.low, trait.high, trait.dimension)
            for trait in stimuli.traits
        ),
        rows=tuple(
            ScoreRow(
                slug=group.slug,
                name=group.plural,
                cells=tuple(
                    found.get((group.slug, trait.slug), missing) for trait in stimuli.traits
                ),
            )
            for group in stimuli.groups
        ),
    )


@dataclass(frozen=True)
class AssociationRow:
    """The mean over prompts of an attribute's association scores; ``n`` prompts went in.

    low, high : its bounds where a served model did not tell everything; None without
    """

    attribute: str
    value: float | None
    reason: str
    n: int
    low: float | None = None
    high: float | None = None


_NO_BOUNDS = repeat(AssociationRow("", None, "", 0))


def load_associations(run: Run) -> list[AssociationRow]:
    """Return the attributes of a run of matched guises, the highest first; ties by alphabet.

    Pair by pair where there are pairs, else pooled. One query.
    """
    rows = Score.objects.filter(run_id=run.pk, template="").order_by("name", "trait")
    by_name: dict[str, list[AssociationRow]] = {}
    for name, trait, value, reason, n in rows.values_list("name", "trait", "value", "reason", "n"):
        by_name.setdefault(name, []).append(AssociationRow(trait, value, reason, n))
    found = by_name.get(MEANING_MATCHED) or [
        replace(row, low=low.value, high=high.value)
        for row, low, high in zip(
            by_name.get(POOLED, []),
            by_name.get(f"{POOLED}_low", _NO_BOUNDS),
            by_name.get(f"{POOLED}_high", _NO_BOUNDS),
            strict=False,
        )
    ]
    return sorted(found, key=lambda row: (row.value is None, -(row.value or 0.0), row.attribute))


@dataclass(frozen=True)
class RateRow:
    """A group, or one of its words, with its rates by class; None where undefined.

    Attributes
    ----------
    filler : empty for the whole group.
    n : sentences, over all repeats.
    fallback : share of answers that named no class; None for runs without answers.
    """

    group: str
    filler: str
    rates: tuple[float | None, ...]
    accuracy: float | None
    n: int
    fallback: float | None = None


def load_rate_table(run: Run) -> tuple[tuple[str, ...], list[RateRow]]:
    """Return the classes, and every group with its words, in the run's order. Two queries."""
    stimuli: ProbeStimuli = load_inputs(run).stimuli
    found = {
        (score.group, score.template, score.name, score.trait): score
        for score in Score.objects.filter(run_id=run.pk)
    }
    rows = []
    for group in stimuli.groups:
        names = group.filler_names if len(group.fillers) > 1 else ()
        for filler in ("", *names):
            right = found.get((group.slug, filler, ACCURACY, ALL_CLASSES))
            if right is None:
                continue
            rates = [found.get((group.slug, filler, FPR, name)) for name in stimuli.classes]
            values = tuple(None if rate is None else rate.value for rate in rates)
            drawn = found.get((group.slug, filler, FALLBACK, ALL_CLASSES))
            share = None if drawn is None else drawn.value
            rows.append(RateRow(group.name, filler, values, right.value, right.n, share))
    return stimuli.classes, rows


@dataclass(frozen=True)
class SurprisalRow:
    """A group, or one of its words, with the mean surprisal of its mention in nats.

    Attributes
    ----------
    filler : empty for the whole group.
    n : templates, for a group words.
    """

    group: str
    filler: str
    value: float | None
    reason: str
    n: int


def load_surprisal_table(run: Run) -> list[SurprisalRow]:
    """Return every group with its words, in the run's order. Two queries."""
    stimuli: ProbeStimuli = load_inputs(run).stimuli
    found = {
        (score.group, score.template): score
        for score in Score.objects.filter(run_id=run.pk, name=SURPRISAL)
    }
    rows = []
    for group in stimuli.groups:
        names = group.filler_names if len(group.fillers) > 1 else ()
        for filler in ("", *names):
            score = found.get((group.slug, filler))
            if score is not None:
                rows.append(SurprisalRow(group.name, filler, score.value, score.reason, score.n))
    return rows


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
    order = [inputs.stimuli.source_variety, inputs.stimuli.target_variety]
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


@dataclass(frozen=True)
class DirectionCount:
    """How many counterparts there are in one variety.

    Attributes
    ----------
    written : those with a text; `remarked` of them were cut.
    missing : those without, each with its reason.
    """

    variety: str
    written: int
    remarked: int
    missing: int


def run_counterparts(run: Run) -> QuerySet[Counterpart]:
    """Return the counterparts of ``run`` with their texts and pairs, in the corpus's order.

    One query, and two more for each side of the pairs of the rows that are read.
    """
    return (
        Counterpart.objects.filter(run=run.public_id)
        .select_related("text")
        .prefetch_related(
            "text__pairs_as_source__target_text", "text__pairs_as_target__source_text"
        )
        .order_by("text__pk", "variety")
    )


def search_counterparts(found: QuerySet[Counterpart], words: str) -> QuerySet[Counterpart]:
    """Keep the counterparts with ``words`` in the original, in the result or in the reason."""
    if not words:
        return found
    in_pairs = TextPair.objects.filter(slug__icontains=words).values("source_text")
    return found.filter(
        Q(text__body__icontains=words)
        | Q(body__icontains=words)
        | Q(reason__icontains=words)
        | Q(text__slug__icontains=words)
        | Q(text__in=in_pairs)
    )


def count_directions(run: Run) -> list[DirectionCount]:
    """Return the numbers of each variety that ``run`` wrote. One query."""
    written = ~Q(body="")
    rows = (
        Counterpart.objects.filter(run=run.public_id)
        .order_by()
        .values("variety")
        .annotate(
            written=Count("pk", filter=written),
            remarked=Count("pk", filter=written & ~Q(reason="")),
            missing=Count("pk", filter=Q(body="")),
        )
        .order_by("variety")
    )
    return [DirectionCount(**row) for row in rows]


def reference_of(counterpart: Counterpart) -> tuple[str, str]:
    """Return slug and gold text of the pair that a counterpart belongs to; empty without one.

    Of a text in several pairs the first one in the corpus is taken. No query after
    :func:`run_counterparts`.
    """
    text = counterpart.text
    pairs = [(pair.pk, pair.slug, pair.target_text.body) for pair in text.pairs_as_source.all()]
    pairs = pairs or [
        (pair.pk, pair.slug, pair.source_text.body) for pair in text.pairs_as_target.all()
    ]
    _, slug, gold = min(pairs, default=(0, "", ""))
    return slug, gold


def load_pole_scores(run: Run) -> pd.DataFrame | None:
    """Return the columns group, trait, pole, value, n of a finished run, from its shards.

    None for a measure that scores pairs alone, and for a run without the rows of its shards.
    Two queries.
    """
    measure = MEASURES.get(run.measure)
    if not isinstance(measure, SlotMeasure):
        return None
    frames = load_shard_frames(run)
    if not frames:
        return None
    inputs = load_inputs(run)
    return measure.poles(inputs.stimuli, inputs.parameters, frames)
