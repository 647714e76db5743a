"""Contexts of a run's pages: the monitor, the results, and the counterparts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.common.lazy import pd
from annotation.models import Counterpart
from annotation.researcher.pages.word_diff import word_diff
from probing.admin import run_charts
from probing.admin.run_charts import LevelAxis, Tick, draw_rate, draw_shards, heat_table, nice_step
from probing.measures.base import ANSWER_COLUMNS, ResultKind
from probing.measures.ceat import P_VALUE
from probing.measures.guise_stimuli import GuiseStimuli
from probing.measures.labeled_texts import SPLITS, LabeledTexts
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import PromptedStimuli
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.registry import MEASURES
from probing.measures.sentence_stimuli import SentenceStimuli, group_key
from probing.measures.text_stimuli import TextStimuli
from probing.models import Run, RunStatus, TrainingPoint
from probing.runs.answers import READ, count_answers, keeps_answers, load_answers
from probing.runs.failure import last_line
from probing.runs.parameters import load_inputs
from probing.runs.prices import price_run, show_price
from probing.runs.progress import load_progress
from probing.runs.result_tables import (
    count_directions,
    load_associations,
    load_rate_table,
    load_score_table,
    load_span_table,
    load_surprisal_table,
    reference_of,
    run_counterparts,
    search_counterparts,
)
from probing.runs.trained_models import trained_model_of
from probing.runs.training_progress import load_training
from probing.runs.tuning_progress import TrainingRow, load_classified, load_trainings

# --- Charts of trainings, in the units of their view boxes; templates draw them as SVG ------------

#: The frame of a curve.
LEFT, RIGHT, TOP, BASE = 46.0, 472.0, 12.0, 172.0
MOST_EPOCH_TICKS = 8
#: Epochs are sums of steps.
ROUNDING = 1e-9
#: Factors of round steps.
STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class HeldOutMark:
    """The held-out loss after an epoch."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class LossChart:
    """The loss over the epochs: a line for training, marks for what was held out."""

    line: str
    held_out_line: str
    held_out: tuple[HeldOutMark, ...]
    levels: tuple[Tick, ...]
    epochs: tuple[Tick, ...]
    left: float = LEFT
    right: float = RIGHT


def draw_loss(points: Sequence[TrainingPoint], epochs: int) -> LossChart | None:
    """Draw the curve on an axis of all ``epochs``, from a loss of zero; None for too few points."""
    if len(points) < 2:
        return None
    losses = [loss for p in points for loss in (p.loss, p.held_out_loss) if loss is not None]
    highest = max(losses)
    step = nice_step(highest, STEPS) if highest > 0 else 1.0
    axis = LevelAxis(highest, step, top=TOP, base=BASE)

    x = _epoch_axis(epochs)

    held_out = tuple(
        HeldOutMark(x(point.epoch), axis.place(point.held_out_loss), f"{point.held_out_loss:.4f}")
        for point in points
        if point.held_out_loss is not None
    )
    return LossChart(
        line=" ".join(f"{x(point.epoch)},{axis.place(point.loss)}" for point in points),
        held_out_line=" ".join(f"{mark.x},{mark.y}" for mark in held_out),
        held_out=held_out,
        levels=axis.ticks(),
        epochs=_epoch_ticks(x, epochs),
    )


@dataclass(frozen=True)
class Curve:
    """One line of a training: on what it trains (``train``), or on validation texts."""

    line: str
    part: str
    title: str
    kept: bool


@dataclass(frozen=True)
class CurveChart:
    """The curves of all trainings of a run in one quantity."""

    curves: tuple[Curve, ...]
    levels: tuple[Tick, ...]
    epochs: tuple[Tick, ...]
    left: float = LEFT
    right: float = RIGHT


@dataclass(frozen=True)
class TrainingCharts:
    """Loss and accuracy; accuracy is None where none was counted."""

    loss: CurveChart
    accuracy: CurveChart | None


def draw_trainings(rows: Sequence[TrainingRow]) -> TrainingCharts | None:
    """Draw all trainings on axes as long as the longest of them so far; None for too few points."""
    longest = max((point.epoch for row in rows for point in row.points), default=0.0)
    if max((len(row.points) for row in rows), default=0) < 2:
        return None
    epochs = max(1, math.ceil(longest - ROUNDING))
    loss = _draw(rows, epochs, ("loss", "held_out_loss"))
    accuracy = _draw(rows, epochs, ("accuracy", "held_out_accuracy"), highest=1.0)
    if loss is None:
        return None
    return TrainingCharts(loss, accuracy)


def _points_of(row: TrainingRow, name: str, *, by_epoch: bool) -> list[tuple[float, float]]:
    """Return epochs and values of a quantity, or its means over each epoch."""
    points = [(p.epoch, value) for p in row.points if (value := getattr(p, name)) is not None]
    if not by_epoch:
        return points
    whole = groupby(points, key=lambda point: math.ceil(point[0] - ROUNDING))
    return [
        (some[-1][0], fmean(value for _, value in some)) for some in (list(g) for _, g in whole)
    ]


def _draw(
    rows: Sequence[TrainingRow], epochs: int, names: tuple[str, str], highest: float | None = None
) -> CurveChart | None:
    x = _epoch_axis(epochs)
    trained, validated = names
    by_epoch = len(rows) > 1 and epochs > 1
    found = [
        curve
        for row in rows
        for curve in (
            (row, "train", _points_of(row, trained, by_epoch=by_epoch)),
            (row, "validation", _points_of(row, validated, by_epoch=False)),
        )
    ]
    values = [value for _, _, points in found for _, value in points]
    if not values:
        return None
    top = highest or max(values) or 1.0
    axis = LevelAxis(top, nice_step(top, STEPS), top=TOP, base=BASE)
    return CurveChart(
        curves=tuple(
            Curve(
                line=" ".join(f"{x(epoch)},{axis.place(value)}" for epoch, value in points),
                part=part,
                title=f"{row.number}, {part}",
                kept=row.model is not None,
            )
            for row, part, points in found
            if points
        ),
        levels=axis.ticks(),
        epochs=_epoch_ticks(x, epochs),
    )


def _epoch_axis(epochs: int) -> Callable[[float], float]:
    return lambda epoch: round(LEFT + (RIGHT - LEFT) * epoch / epochs, 1)


def _epoch_ticks(x: Callable[[float], float], epochs: int) -> tuple[Tick, ...]:
    apart = math.ceil(epochs / MOST_EPOCH_TICKS)
    return tuple(Tick(x(epoch), str(epoch)) for epoch in range(0, epochs + 1, apart))


#: Before a message of our own in a traceback; such a message is written for people.
OWN_ERROR = re.compile(r"^probing(\.\w+)+: ")
COUNTERPARTS_PER_PAGE = 25
ANSWERS_PER_PAGE = 50
#: How an answer ended, as `answer_reading.Outcome`.
OUTCOMES = {
    READ: _("Read"),
    "refused": _("Refused"),
    "unreadable": _("Unreadable"),
    "cut_off": _("Cut off"),
}
COUNTERPARTS_SHOWN_AT_ONCE = 3
QUANTITIES = {
    "perplexity": _("Perplexity"),
    "span_perplexity": _("Span perplexity"),
    "top5_entropy": _("Top-5 entropy, nats"),
}
CONDITIONS = {
    "random": _("Random spans"),
    "noun_phrase": _("Noun phrases"),
    "verb_phrase": _("Verb phrases"),
    "given": _("Given spans"),
}


def page_context(run: Run) -> dict[str, Any]:
    """Return the whole page. Queries of :func:`live_context` and one more at most."""
    stimuli = load_inputs(run).stimuli
    return {
        **live_context(run),
        "stimuli": stimuli,
        "supply": _supply(stimuli) if isinstance(stimuli, SentenceStimuli) else [],
        "text_counts": _text_counts(stimuli) if isinstance(stimuli, LabeledTexts) else [],
        "parameters": run_charts.parameter_labels(run),
        "keeps_answers": keeps_answers(run),
        "tokens_spent": f"{run.tokens_spent:,}",
        "batches": run.batches,
        "batches_read": sum("tokens" in one for one in run.batches.values()),
        "answers_reused": run.answers_reused,
        "money_spent": show_price(price_run(run), run.model.price_currency),
        "parameter_count": run_charts.parameter_count(run.model),
        "versions": sorted(run.library_versions.items()),
    }


def live_context(run: Run) -> dict[str, Any]:
    """Return the part that changes while the run is open. Queries of the progress, plus scores."""
    progress = load_progress(run)
    run.refresh_from_db(fields=["status", "started_at", "finished_at", "error", "notices"])
    finished = run.status == RunStatus.FINISHED
    measure, stimuli = MEASURES[run.measure], load_inputs(run).stimuli
    until = timezone.now() if progress.is_open else run.finished_at or timezone.now()
    took = None
    if run.started_at and run.finished_at:
        took = run_charts.duration((run.finished_at - run.started_at).total_seconds())
    left = progress.seconds_left
    scores = finished and measure.result is ResultKind.SCORES
    n_templates = len(getattr(stimuli, "templates", ()))
    return {
        "run": run,
        "progress": progress,
        "badge": run_charts.BADGES[RunStatus(run.status)],
        "measure": measure,
        "contents": _contents(stimuli),
        "rate": run_charts.rate(progress.rate) if progress.rate else None,
        "left": None if left is None else run_charts.duration(left),
        "took": took,
        "drawing": draw_shards(progress.bins),
        "chart": draw_rate(progress.stored_times, until),
        "workers": [
            (worker, run_charts.rate(worker.rate) if worker.rate else "–")
            for worker in progress.workers
        ],
        "heat": heat_table(load_score_table(run), n_templates) if scores else None,
        "training": training_context(run),
        "trainings": trainings_context(run),
        "results": results_context(run) if finished else None,
        "template_count": n_templates,
        "sentences": _sentences(run, stimuli) if isinstance(stimuli, SentenceStimuli) else None,
        "last_error_line": OWN_ERROR.sub("", last_line(run.error)) if run.error.strip() else "",
    }


def _contents(stimuli: Any) -> str:
    """Return what the run covers, as in “25 groups, 16 trait pairs, 2 templates”."""
    if isinstance(stimuli, TextStimuli):
        numbers = {"pair of texts": len(stimuli.pairs), "prompt": len(stimuli.prompts)}
        return run_charts.numbers({noun: n for noun, n in numbers.items() if n})
    if isinstance(stimuli, GuiseStimuli):
        return run_charts.numbers(
            {
                "text": sum(map(len, stimuli.texts)),
                "prompt": len(stimuli.prompts),
                "attribute": len(stimuli.attributes),
            }
        )
    if isinstance(stimuli, ProbeStimuli):
        asked = {"prompt": len(stimuli.wordings)} if isinstance(stimuli, PromptedStimuli) else {}
        return run_charts.numbers(
            {
                "group": len(stimuli.groups),
                "template": len(stimuli.templates),
                "sentence": len(stimuli.sentences),
                **asked,
            }
        )
    if isinstance(stimuli, LabeledTexts):
        return run_charts.numbers({"labeled text": len(stimuli.texts)})
    numbers = {"group": len(stimuli.groups), "trait pair": len(stimuli.traits)}
    if isinstance(stimuli, RatingStimuli):
        return run_charts.numbers(numbers)
    if isinstance(stimuli, SentenceStimuli):
        return run_charts.numbers({**numbers, "sentence": stimuli.n_drawn})
    return run_charts.numbers({**numbers, "template": len(stimuli.templates)})


def _text_counts(stimuli: LabeledTexts) -> list[tuple[str, list[str]]]:
    """Return the numbers of texts of every split, class by class."""
    counts = stimuli.counts()
    return [
        (split, [f"{counts[split, name]:,} {name}" for name in stimuli.classes]) for split in SPLITS
    ]


def _sentences(run: Run, stimuli: SentenceStimuli) -> dict[str, Any]:
    """Return where the sentences come from, with numbers as the page prints them. One query."""
    return {
        "name": stimuli.source.name,
        "total": f"{stimuli.source.n_sentences:,}",
        "per_word": f"{stimuli.source.per_word:,}",
        "sha256": stimuli.source.sha256,
        "has_p_values": run.scores.filter(name=P_VALUE).exists(),
    }


def _supply(stimuli: SentenceStimuli) -> list[dict[str, str]]:
    """Return how many sentences were drawn and found for each group and adjective."""
    plurals = {group_key(group.slug): group.plural for group in stimuli.groups}
    return [
        {
            "word": plurals.get(key) or key.partition(":")[2],
            "drawn": f"{len(sample.drawn):,}",
            "found": f"{sample.n_found:,}",
        }
        for key, sample in stimuli.contexts.items()
    ]


def training_context(run: Run) -> dict[str, Any] | None:
    """Return what the page shows of a training; None for runs that train nothing. Three queries."""
    if MEASURES[run.measure].result is not ResultKind.TRAINED_MODEL:
        return None
    progress = load_training(run)
    left = progress.seconds_left
    return {
        "progress": progress,
        "chart": draw_loss(progress.points, progress.epochs),
        "left": None if left is None else run_charts.duration(left),
        "model": trained_model_of(run),
    }


def trainings_context(run: Run) -> dict[str, Any] | None:
    """Return what the page shows of several trainings; None for other runs. Five queries."""
    if MEASURES[run.measure].result is not ResultKind.TRAINED_CLASSIFIERS:
        return None
    rows = load_trainings(run)
    return {
        "rows": rows,
        "charts": draw_trainings(rows),
        "kept": sum(row.model is not None for row in rows),
        "classified": load_classified(run),
    }


def results_context(run: Run) -> dict[str, Any] | None:
    """Return the results of a finished run on texts; None for any other. Four queries at most."""
    kind = MEASURES[run.measure].result
    if kind is ResultKind.COUNTERPARTS:
        return {
            "template": "admin/probing/run/results_counterparts.html",
            "directions": count_directions(run),
            "lines": [_line(one) for one in run_counterparts(run)[:COUNTERPARTS_SHOWN_AT_ONCE]],
        }
    if kind is ResultKind.ASSOCIATIONS:
        return {
            "template": "admin/probing/run/results_associations.html",
            "lines": (lines := _association_lines(run)),
            "has_bounds": any(line["is_bounded"] for line in lines),
            "access": run.scores.values_list("access", flat=True).first(),
            "varieties": load_inputs(run).stimuli.varieties,
        }
    if kind is ResultKind.TEXT_SCORES:
        return {
            "template": "admin/probing/run/results_spans.html",
            "lines": _span_lines(run),
            "hidden": "conditions" in run.parameters,
            "renormalized": run.parameters.get("normalise", True),
        }
    if kind is ResultKind.SURPRISALS:
        return {
            "template": "admin/probing/run/results_surprisals.html",
            "lines": [(row, _rate(row.value)) for row in load_surprisal_table(run)],
        }
    if kind is ResultKind.PREDICTIONS:
        classes, rows = load_rate_table(run)
        return {
            "template": "admin/probing/run/results_rates.html",
            "classes": classes,
            "has_fallback": any(row.fallback is not None for row in rows),
            "lines": [
                (row, [_rate(value) for value in (*row.rates, row.accuracy)], _rate(row.fallback))
                for row in rows
            ],
        }
    return None


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def counterparts_context(run: Run, query: QueryDict) -> dict[str, Any]:
    """Return a page of the counterparts of ``run``; ``query`` is the address's. Five queries."""
    words = query.get("q", "").replace("\x00", "").strip()
    stimuli = load_inputs(run).stimuli
    varieties = (stimuli.target_variety, stimuli.source_variety)
    variety = query.get("variety", "")
    found = search_counterparts(run_counterparts(run), words)
    if variety in varieties:
        found = found.filter(variety=variety)
    remarked = query.get("show", "") == "remarked"
    if remarked:
        found = found.exclude(reason="")
    page = Paginator(found, COUNTERPARTS_PER_PAGE).get_page(query.get("page"))
    kept = query.copy()
    kept.pop("page", None)
    return {
        "run": run,
        "page": page,
        "lines": [_line(one) for one in page],
        "words": words,
        "variety": variety if variety in varieties else "",
        "varieties": varieties,
        "only_remarked": remarked,
        "is_filtered": bool(words or remarked or variety in varieties),
        "address": kept.urlencode(),
        "measure": MEASURES[run.measure],
    }


def answers_context(run: Run, query: QueryDict) -> dict[str, Any]:
    """Return a page of the answers of ``run``, and how all of them ended. Reads all shards."""
    counts = count_answers(run)
    outcomes = list(dict.fromkeys(outcome for outcome, _why, _n in counts))
    outcome = query.get("outcome", "")
    everything = query.get("show") == "all"
    frames = list(load_answers(run, unread=not everything, outcome=outcome))
    rows = pd.concat(frames) if frames else pd.DataFrame(columns=list(ANSWER_COLUMNS))
    page = Paginator(range(len(rows)), ANSWERS_PER_PAGE).get_page(query.get("page"))
    shown = rows.iloc[page.start_index() - 1 if len(rows) else 0 : page.end_index()]
    kept = query.copy()
    kept.pop("page", None)
    total = sum(n for _outcome, _why, n in counts)
    return {
        "run": run,
        "counts": [
            (OUTCOMES[ended], _also(why, ended), n, f"{n / total:.1%}") for ended, why, n in counts
        ],
        "total": total,
        "unread": sum(n for ended, _why, n in counts if ended != READ),
        "reasoned": any((one["reasoning_tokens"] > 0).any() for one in frames),
        "lines": [
            {**line, "ended": OUTCOMES[line["outcome"]], "why": _also(line["why"], line["outcome"])}
            for line in shown.to_dict(orient="records")
        ],
        "page": page,
        "outcomes": [(one, OUTCOMES[one]) for one in outcomes],
        "outcome": outcome if outcome in outcomes else "",
        "everything": everything,
        "address": kept.urlencode(),
        "measure": MEASURES[run.measure],
    }


def _also(why: str, outcome: str) -> str:
    """Return what a reason says beyond the outcome itself."""
    return why.removeprefix(outcome.replace("_", " ")).lstrip(" ,")


def _line(counterpart: Counterpart) -> dict[str, Any]:
    """Return a counterpart as the page shows it; ``changes`` lead from the original to it."""
    original = counterpart.text.body
    pair, reference = reference_of(counterpart)
    return {
        "pair": pair or counterpart.text.slug,
        "variety": counterpart.variety,
        "original": original,
        "changes": word_diff(original, counterpart.body) if counterpart.body else [],
        "body": counterpart.body,
        "reference": reference,
        "reason": counterpart.reason,
    }


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")


def _association_lines(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "rank": rank,
            "attribute": row.attribute,
            "value": _score(row.value),
            "bounds": " … ".join(map(_score, (row.low, row.high))),
            "is_bounded": row.low is not None or row.high is not None,
            "reason": row.reason,
            "n": row.n,
        }
        for rank, row in enumerate(load_associations(run), start=1)
    ]


def _span_lines(run: Run) -> list[dict[str, Any]]:
    """Return the rows of the table; ``begins`` marks the first row of each quantity."""
    rows = load_span_table(run)
    return [
        {
            "name": QUANTITIES.get(row.name, row.name),
            "condition": CONDITIONS.get(row.condition, row.condition),
            "variety": row.variety,
            "mean": "–" if row.mean is None else f"{row.mean:,.3f}",
            "sd": "–" if row.sd is None else f"{row.sd:,.3f}",
            "trials": row.trials,
            "n": row.n,
            "missing": row.missing,
            "begins": before is None or before.name != row.name,
        }
        for before, row in zip([None, *rows], rows, strict=False)
    ]
