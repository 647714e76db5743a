"""How a run's page prints states and numbers, and draws charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from annotation.common.lazy import np
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, ModelKind, Run, RunStatus
from probing.runs.creation import DryRun
from probing.runs.model_compatibility import either
from probing.runs.prices import show_price
from probing.runs.progress import ShardBin
from probing.runs.result_tables import ScoreCell, ScoreTable

# --- Charts of a run's page, in the units of their view boxes; templates draw them as SVG
#
# They are drawn anew with every look at an open run, in a few milliseconds and without a library:
# see “Libraries considered” in docs/architecture.md.

#: Widths of the rate chart's bins in seconds: the first that gives at most forty of them.
BIN_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
MOST_BINS = 40
#: Steps of color on either side of zero, and the percentile of |score| at which they end.
COLOR_STEPS = 5
COLOR_PERCENTILE = 98
#: Marks a mean that rests on fewer templates than others.
FEWER_TEMPLATES = "*"


@dataclass(frozen=True)
class Tick:
    """A grid line or a mark of an axis."""

    place: float
    label: str


def nice_step(highest: float, factors: Sequence[float]) -> float:
    """Return a round step that gives about four grid lines."""
    raw = highest / 4
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in factors if factor * power >= raw)


class LevelAxis:
    """An upright axis from zero at ``base`` to a round number at ``top``."""

    def __init__(self, highest: float, step: float, *, top: float, base: float) -> None:
        self._step, self._top, self._base = step, top, base
        self._highest = step * max(1, math.ceil(highest / step))

    def place(self, value: float) -> float:
        return round(self._base - (self._base - self._top) * value / self._highest, 1)

    def ticks(self) -> tuple[Tick, ...]:
        values = [self._step * n for n in range(round(self._highest / self._step) + 1)]
        return tuple(Tick(self.place(value), f"{value:g}") for value in values)


@dataclass(frozen=True)
class ShardMark:
    """One shard, or a bin of them, with the corner of its place."""

    x: float
    y: float
    state: str


@dataclass(frozen=True)
class ShardDrawing:
    """All shards in rows; ``binned`` tells how many one mark stands for."""

    width: int
    height: float
    mark_width: float
    mark_height: float
    marks: tuple[ShardMark, ...]
    binned: int


def draw_shards(bins: Sequence[ShardBin]) -> ShardDrawing:
    """Lay the shards out, fewer and larger in a row where there are few."""
    columns = 100 if len(bins) > 150 else 50
    pitch, line = 1000 / columns, 14 if columns == 100 else 22
    return ShardDrawing(
        width=1000,
        height=math.ceil(len(bins) / columns) * line,
        mark_width=pitch - 2,
        mark_height=line - 3,
        marks=tuple(
            ShardMark(round(number % columns * pitch, 2), number // columns * line, found.state)
            for number, found in enumerate(bins)
        ),
        binned=max((found.count for found in bins), default=1),
    )


@dataclass(frozen=True)
class RateBin:
    """Shards stored between two moments, and the rate that this makes."""

    begin: datetime
    end: datetime
    stored: int
    per_minute: float


@dataclass(frozen=True)
class RateChart:
    """The rate over time as a line, with grid and table."""

    points: str
    ticks: tuple[Tick, ...]
    bins: tuple[RateBin, ...]
    left: float = 40.0
    right: float = 476.0


def draw_rate(times: Sequence[datetime], until: datetime) -> RateChart | None:
    """Draw shards a minute from ``times`` of storing up to ``until``; None for too few."""
    bins = _rate_bins(times, until)
    if len(bins) < 2:
        return None
    highest = max(entry.per_minute for entry in bins)
    axis = LevelAxis(highest, nice_step(max(highest, 1), (1, 2, 5, 10)), top=10.0, base=104.0)
    left, width = RateChart.left, RateChart.right - RateChart.left
    points = " ".join(
        f"{left + width * number / (len(bins) - 1):.1f},{axis.place(entry.per_minute)}"
        for number, entry in enumerate(bins)
    )
    return RateChart(points, axis.ticks(), bins)


def _rate_bins(times: Sequence[datetime], until: datetime) -> tuple[RateBin, ...]:
    """Count the times in equal bins; a bin that is not over yet is left out."""
    if len(times) < 2:
        return ()
    begin = times[0]
    span = (max(until, times[-1]) - begin).total_seconds()
    width = next((w for w in BIN_SECONDS if span / w <= MOST_BINS), BIN_SECONDS[-1])
    counts = [0] * int(span // width)
    for time in times:
        place = int((time - begin).total_seconds() // width)
        if place < len(counts):
            counts[place] += 1
    return tuple(
        RateBin(
            begin=begin + timedelta(seconds=width * number),
            end=begin + timedelta(seconds=width * (number + 1)),
            stored=count,
            per_minute=60 * count / width,
        )
        for number, count in enumerate(counts)
    )


def heat_table(table: ScoreTable, templates: int = 0) -> dict[str, Any]:
    """Return the score table with the class of each cell's color, for its template.

    A mean over fewer than all `templates` is marked; 0 = the scores are no means over templates.
    Colors are symmetric around zero and end at ``limit``, the 98th percentile of |score|.
    """
    values = [cell.value for row in table.rows for cell in row.cells if cell.value is not None]
    limit = float(np.percentile(np.abs(values), COLOR_PERCENTILE)) if values else 0.0
    return {
        "columns": table.columns,
        "dimensions": [
            {"name": name, "span": len(list(columns))}
            for name, columns in groupby(table.columns, key=lambda column: column.dimension)
        ],
        "rows": [
            {
                "name": row.name,
                "cells": [_heat_cell(cell, limit, templates) for cell in row.cells],
            }
            for row in table.rows
        ],
        "limit": f"{limit:.2f}" if values else None,
        "missing": sum(cell.value is None for row in table.rows for cell in row.cells),
        "fewer": sum(0 < cell.n < templates for row in table.rows for cell in row.cells),
    }


def _heat_cell(cell: ScoreCell, limit: float, templates: int) -> dict[str, str]:
    value = cell.value
    if value is None:
        return {"text": "–", "step": "none", "reason": cell.reason}
    step = round(min(1.0, abs(value) / limit) * COLOR_STEPS) if limit else 0
    side = "high" if value > 0 else "low"
    fewer = 0 < cell.n < templates
    return {
        "text": f"{signed(value)}{FEWER_TEMPLATES if fewer else ''}",
        "step": f"{side}-{step}" if step else "center",
        "reason": _("mean over {n} of {all} templates").format(n=cell.n, all=templates)
        if fewer
        else "",
    }


# --- States and numbers

BADGES = {
    RunStatus.WAITING: "mark-clock",
    RunStatus.RUNNING: "info mark-play",
    RunStatus.FINISHED: "good mark-tick",
    RunStatus.FAILED: "bad mark-cross",
    RunStatus.CANCELED: "mark-ring",
}


def run_badge(run: Run) -> SafeString:
    """Return the status of a run as a badge: a mark and a word. Imported runs say so."""
    if run.is_imported:
        return format_html('<span class="badge info">{}</span>', run.get_origin_display())
    mark = BADGES[RunStatus(run.status)]
    return format_html('<span class="badge {}">{}</span>', mark, run.get_status_display())


def duration(seconds: float) -> tuple[str, str]:
    """Return a span of time as a number and its unit, for example ``("44", "min")``."""
    if seconds < 90:
        return str(max(1, round(seconds))), _("s")
    minutes = round(seconds / 60)
    if minutes < 90:
        return str(minutes), _("min")
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d}", _("min")


def cost(tried: DryRun) -> dict[str, Any] | None:
    """Return the cost of a dry run as the page prints it; None where it is not known."""
    if tried.cost is None:
        return None
    return {
        "shards": f"{tried.cost.shards:,}",
        "passes": f"{tried.cost.forward_passes:,}",
        "tokens": f"{tried.cost.tokens:,}",
        "money": show_price(tried.money, tried.currency) if tried.served else "",
        "time": None if tried.seconds is None else duration(tried.seconds),
    }


def rate(per_minute: float) -> str:
    """Return shards a minute with as many digits as help."""
    return f"{per_minute:,.0f}" if per_minute >= 20 else f"{per_minute:.1f}"


def parameter_count(model: LanguageModel) -> str:
    """Return how large a model is, as in “355 million”, empty where that is not known."""
    count = model.parameter_count
    if count is None:
        return ""
    return _("%(n)d million") % {"n": round(count / 1e6)} if count >= 1e7 else f"{count:,}"


def signed(value: float) -> str:
    """Return a score with its sign, two decimals and a true minus."""
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")


#: What a run may cover, one and several of it.
_COUNTED = {
    "group": ngettext_lazy("%(n)s group", "%(n)s groups", "number"),
    "trait pair": ngettext_lazy("%(n)s trait pair", "%(n)s trait pairs", "number"),
    "template": ngettext_lazy("%(n)s template", "%(n)s templates", "number"),
    "sentence": ngettext_lazy("%(n)s sentence", "%(n)s sentences", "number"),
    "pair of texts": ngettext_lazy("%(n)s pair of texts", "%(n)s pairs of texts", "number"),
    "text": ngettext_lazy("%(n)s text", "%(n)s texts", "number"),
    "labeled text": ngettext_lazy("%(n)s labeled text", "%(n)s labeled texts", "number"),
    "attribute": ngettext_lazy("%(n)s attribute", "%(n)s attributes", "number"),
    "prompt": ngettext_lazy("%(n)s prompt", "%(n)s prompts", "number"),
}


#: Counted by the thousand.
_MANY = ("sentence", "labeled text")


def numbers(counts: Mapping[str, int]) -> str:
    """Return counted things in words, as in “25 groups, 16 trait pairs, 812 sentences”."""
    return ", ".join(
        str(_COUNTED[noun] % {"number": n, "n": f"{n:,}" if noun in _MANY else n})
        for noun, n in counts.items()
    )


#: Of models that are not offered, so many are named.
MODELS_NAMED = 8


def kinds(names: Sequence[str]) -> str:
    """Return kinds of models in words, as in “masked, causal, or chat”."""
    return either([str(ModelKind(name).label).lower() for name in names])


def unfitting(models: Sequence[LanguageModel], names: Sequence[str]) -> str:
    """Return why registered models are not offered, with the names of some."""
    shown = [f"“{one.name}” ({one.get_kind_display().lower()})" for one in models[:MODELS_NAMED]]
    if left := len(models) - len(shown):
        shown.append(_("%(n)d more") % {"n": left})
    return _("Not offered: %(models)s. This measure needs a model of the kind: %(kinds)s.") % {
        "models": ", ".join(shown),
        "kinds": kinds(names),
    }


def value_label(value: str, described: Mapping[str, Any]) -> str:
    """Return a value in the words that the schema of its parameter has for it."""
    return str(described.get("labels", {}).get(value, value.replace("_", " ")))


def parameter_labels(run: Run) -> list[tuple[str, str]]:
    """Return the parameters of a run as its form names them, with their values in words."""
    measure = MEASURES.get(run.measure)
    known = measure.Parameters.model_json_schema()["properties"] if measure else {}
    return [
        (str(known.get(name, {}).get("title", name)), _parameter_value(value, known.get(name, {})))
        for name, value in sorted(run.parameters.items())
    ]


def _parameter_value(value: Any, shape: Mapping[str, Any]) -> str:
    if value is None or value == "":
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(_parameter_value(one, shape) for one in value) or _("none")
    # Only names that the measure chooses among are words; a text of one's own stays as it is.
    is_name = any(word in repr(shape) for word in ("'enum'", "'const'"))
    return value_label(value, shape) if isinstance(value, str) and is_name else str(value)


def source_label(name: str, *, pairs: int | None = None, texts: int = 0) -> str:
    """Return a source with how many pairs, or texts, were drawn from it."""
    number = (
        ngettext("%(n)d text", "%(n)d texts", texts) % {"n": texts}
        if pairs is None
        else ngettext("%(n)d pair", "%(n)d pairs", pairs) % {"n": pairs}
    )
    return f"{name or _('no source named')} ({number})"
