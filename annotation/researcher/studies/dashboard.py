"""The parts of a study's page on people who leave, devices, and cost, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import get_language_info, ngettext
from django.utils.translation import gettext as _

from annotation.models import Origin, Study
from annotation.researcher.pages import formatting
from annotation.researcher.pages.formatting import describe_low_pay
from annotation.steps.kind import KINDS
from annotation.studies.dashboard import Dashboard, PageLeft
from annotation.studies.flag_counts import recall_flags
from annotation.studies.ledger import Ledger
from annotation.studies.overview import Overview
from annotation.studies.quotas import GroupQuota

# --- Geometry of a study's drawings: horizontal places in percent, so that text keeps its size

SLOT_HEIGHT = 12
SLOTS_WIDTH = 100.0
MOST_SLOTS = 50  # a group's slots are drawn one by one up to here, then as three lengths

HISTOGRAM_TOP, HISTOGRAM_BASE = 30.0, 132.0
MOST_BINS = 26
# Wider bins in minutes, tried in this order until the times fit into the drawing.
BIN_WIDTHS = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240, 720, 1440)


@dataclass(frozen=True)
class Box:
    """A rectangle: ``css`` is its mark's class."""

    x: str
    width: str
    y: str
    height: str
    css: str


@dataclass(frozen=True)
class Histogram:
    """Bars of counts per bin with the median's line; ``rows`` are (from, to, count) in minutes.

    ``ticks`` are places and numbers on the axis.
    ``band_x`` and ``band_width`` hold the middle half of the times, None where it is not known.
    """

    boxes: tuple[Box, ...]
    ticks: tuple[tuple[str, str], ...]
    median_x: str
    median_css: str
    band_x: str | None
    band_width: str | None
    limit_x: str | None
    fast: int
    rows: tuple[tuple[float, float, int], ...]


def draw_slots(quota: GroupQuota) -> list[Box]:
    """Return a group's slots: accepted, in review, being rated or held, open, in this order."""
    accepted = min(quota.accepted, quota.wanted)
    reviewed = min(quota.waiting, quota.wanted - accepted)
    held = min(quota.in_progress, quota.wanted - accepted - reviewed)
    counts = {"mark-full": accepted, "mark-part": reviewed, "mark-outline": held}
    pitch = SLOTS_WIDTH / quota.wanted
    if quota.wanted > MOST_SLOTS:
        boxes, x = [_slot(0, SLOTS_WIDTH, "mark-open")], 0.0
        for css, count in counts.items():
            if count:
                boxes.append(_slot(x, max(2.0, pitch * count), css))
            x += pitch * count
        return boxes
    counts["mark-open"] = quota.wanted - accepted - reviewed - held
    width = max(1.0, pitch - min(1.2, pitch * 0.25))
    marks = [css for css, count in counts.items() for _place in range(count)]
    return [_slot(place * pitch, width, css) for place, css in enumerate(marks)]


def _slot(x: float, width: float, css: str) -> Box:
    inset = 0.6 if css == "mark-outline" else 0.0  # its border is drawn around its edge
    return Box(
        x=f"{x + inset:.2f}",
        width=f"{max(0.4, width - 2 * inset):.2f}",
        y=f"{inset:.1f}",
        height=f"{SLOT_HEIGHT - 2 * inset:.1f}",
        css=css,
    )


def draw_histogram(
    durations: Sequence[float],
    *,
    median: float,
    fast_limit: float | None,
    quartiles: tuple[float, float] | None = None,
) -> Histogram:
    """Return the drawing of times to finish. All values are seconds.

    Times under the limit are drawn as warnings. Raises `ValueError` without times.
    """
    if not durations:
        raise ValueError("There are no times to draw, expected at least one.")
    minutes = sorted(seconds / 60 for seconds in durations)
    bin_width = next(
        (
            width
            for width in BIN_WIDTHS
            if math.floor(minutes[-1] / width) - math.floor(minutes[0] / width) < MOST_BINS
        ),
        max(minutes[-1] / MOST_BINS, BIN_WIDTHS[-1]),
    )
    first = math.floor(minutes[0] / bin_width)
    last = math.floor(minutes[-1] / bin_width)
    # At least eight bins, so that a handful of times does not become one wide slab.
    while last - first < 7:
        last += 1
        first = max(0, first - 1)
    counts = dict.fromkeys(range(first, last + 1), 0)
    for value in minutes:
        counts[math.floor(value / bin_width)] += 1
    limit = None if fast_limit is None else fast_limit / 60
    most = max(counts.values())
    step = 100 / len(counts)
    boxes = tuple(
        Box(
            x=f"{(number - first) * step + 0.1 * step:.2f}%",
            width=f"{0.8 * step:.2f}%",
            y=f"{HISTOGRAM_BASE - _bar_height(count, most):.1f}",
            height=f"{_bar_height(count, most):.1f}",
            css="mark-warn"
            if limit is not None and (number + 1) * bin_width <= limit
            else "mark-part",
        )
        for number, count in counts.items()
        if count
    )

    def place(value: float) -> float:
        return (value / bin_width - first) * step

    every = max(1, round(len(counts) / 6))
    ticks = tuple(
        (f"{(number - first) * step:.2f}%", f"{number * bin_width:g}")
        for number in counts
        if number % every == 0 and number > first
    )
    middle = place(median / 60)
    low, high = (place(seconds / 60) for seconds in quartiles) if quartiles else (None, None)
    return Histogram(
        boxes=boxes,
        ticks=ticks,
        median_x=f"{middle:.2f}%",
        median_css="end" if middle > 50 else "",
        band_x=None if low is None else f"{low:.2f}%",
        band_width=None if low is None or high is None else f"{high - low:.2f}%",
        limit_x=f"{max(0.0, place(limit)):.2f}%" if limit is not None else None,
        fast=sum(value < limit for value in minutes) if limit is not None else 0,
        rows=tuple(
            (number * bin_width, (number + 1) * bin_width, count)
            for number, count in counts.items()
        ),
    )


def _bar_height(count: int, most: int) -> float:
    return (HISTOGRAM_BASE - HISTOGRAM_TOP) * count / most


# --- The parts of the page

LEFT_AXIS = 0.25  # the bars of shares who left reach over at least this share


def describe_dashboard(overview: Overview, dashboard: Dashboard) -> dict[str, Any]:
    """Return what the templates of these parts need. Two queries."""
    left = [page for page in dashboard.pages if page.left]
    languages = dashboard.languages if len(dashboard.languages) > 1 else ()
    return {
        # In the order of the flow, where somebody left.
        "page_rows": [(label_page(page), page, page.left / page.came) for page in left],
        "left_axis": max([LEFT_AXIS, *(page.left / page.came for page in left)]),
        "left_total": sum(page.left for page in left),
        "device_rows": _with_shares((_device_label(name), n) for name, n in dashboard.devices),
        "language_rows": _with_shares((_language_label(code), n) for code, n in languages),
        "events": dashboard.events,
        "money_line": _describe_money(overview),
        # What a screen reader says when it changes: a count, and nothing more.
        "live_news": _("%(n)s of %(wanted)s ratings accepted.")
        % {"n": f"{overview.ratings_accepted:,}", "wanted": f"{overview.ratings_wanted:,}"},
    }


def describe_flags(study: Study) -> dict[str, Any]:
    """Return how many finished submissions have which flags, those that nobody has left out.

    ``flag_counts`` is None while a worker counts those of a large study.
    """
    counts = recall_flags(study)
    if counts is None:
        return {"flag_counts": None}
    return {
        "flag_counts": counts,
        "flag_rows": [
            (name.label, n, n / counts.finished) for name, n in counts.by_name.items() if n
        ],
    }


def label_page(page: PageLeft) -> str:
    """Return the name of a page: its kind, with a number where there are several."""
    label = str(KINDS[page.kind].label)
    if page.is_only:
        return label
    return _("%(page)s %(number)d") % {"page": label, "number": page.number}


def _with_shares(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int, float]]:
    rows = list(counts)
    total = sum(count for _label, count in rows)
    return [(label, count, count / total) for label, count in rows]


def _device_label(device: str) -> str:
    labels = {"phone": _("Phone"), "tablet": _("Tablet"), "desktop": _("Computer")}
    return labels.get(device, _("Not known"))


def _language_label(code: str) -> str:
    try:
        return str(get_language_info(code)["name_translated"])
    except KeyError:
        return code


def _describe_money(overview: Overview) -> dict[str, str] | None:
    """Return sentences about what was paid and what is to come; ``warning`` is "" for none.

    None for an imported study, which was paid elsewhere. Two queries.
    """
    study = overview.study
    if study.origin == Origin.IMPORTED:
        return None
    ledger = Ledger(study, pace=overview.pace)
    people = overview.people_to_go
    to_go = (
        ngettext(
            "About %(money)s to go: %(n)s more person at the present share of accepted data.",
            "About %(money)s to go: %(n)s more people at the present share of accepted data.",
            people,
        )
        if overview.accepted_share
        else ngettext(
            "About %(money)s to go: %(n)s more person if everyone’s data are accepted.",
            "About %(money)s to go: %(n)s more people if everyone’s data are accepted.",
            people,
        )
    )
    return {
        "paid": _("%(paid)s paid by the panel, %(under_way)s under way.")
        % {
            "paid": formatting.money(ledger.paid_minor, study.currency),
            "under_way": formatting.money(ledger.under_way_minor, study.currency),
        },
        "to_go": to_go
        % {
            "n": f"{people:,}",
            "money": formatting.money(people * study.reward_cents, study.currency),
        },
        "warning": describe_low_pay(ledger),
    }
