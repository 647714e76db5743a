"""The small drawing of a submission in the queue: places of its lines, and each page's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.researcher.pages import formatting
from annotation.studies.quality.record import Record, Usual

PAGE_WIDTH, PAGE_GAP = 26.0, 4.0
LINE_HEIGHT, MOST_HEIGHT = 2.0, 40.0
TICK = 4.0  # how wide a line's mark is drawn
BAR_GAP, BAR_HEIGHT = 3.0, 4.0
LONGEST = 2.0  # a time bar is full at twice the usual time


@dataclass(frozen=True)
class SparklinePage:
    """One page: its left end, its marks as a path, its time bar."""

    x: str
    marks: str
    bar: str
    css: str


@dataclass(frozen=True)
class Sparkline:
    """A submission's pages side by side; ``text`` says in words what they show."""

    pages: Sequence[SparklinePage]
    width: str
    page_width: str
    height: str
    bar_y: str
    total_height: str
    text: str


def draw_sparkline(record: Record, usual: Usual) -> Sparkline | None:
    """Return the drawing of a submission's rated pages, None where it rated none."""
    if not record.lines:
        return None
    most = max(len(lines) for lines in record.lines)
    pitch = min(LINE_HEIGHT, MOST_HEIGHT / most)
    height = pitch * most
    times = [
        (page.seconds, usual.page_medians.get(page.key)) for page in record.pages if page.is_rating
    ]
    times += [(None, None)] * (len(record.lines) - len(times))
    longest = max((seconds for seconds, _median in times if seconds is not None), default=0.0)
    pages = []
    for number, (lines, (seconds, median)) in enumerate(zip(record.lines, times, strict=False)):
        left = number * (PAGE_WIDTH + PAGE_GAP)
        full = LONGEST * median if median else longest
        share = 0.0 if seconds is None or not full else min(1.0, max(0.0, seconds / full))
        is_fast = bool(median and seconds is not None and seconds * LONGEST < median)
        pages.append(
            SparklinePage(
                x=f"{left:g}",
                marks="".join(
                    f"M{left + line.place / 100 * (PAGE_WIDTH - TICK):.1f} "
                    f"{(row + 0.5) * pitch:.1f}h{TICK:g}"
                    for row, line in enumerate(lines)
                ),
                bar=f"{share * PAGE_WIDTH:.1f}",
                css="mark-warn" if is_fast else "mark-part",
            )
        )
    return Sparkline(
        pages=pages,
        width=f"{len(pages) * (PAGE_WIDTH + PAGE_GAP) - PAGE_GAP:g}",
        page_width=f"{PAGE_WIDTH:g}",
        height=f"{height:g}",
        bar_y=f"{height + BAR_GAP:g}",
        total_height=f"{height + BAR_GAP + BAR_HEIGHT:g}",
        text=_describe(record, [seconds for seconds, _median in times]),
    )


def _describe(record: Record, times: Sequence[float | None]) -> str:
    """Return in words what the drawing shows."""
    n = len(record.lines)
    shown = ", ".join(formatting.duration(seconds) for seconds in times[:n])
    text = ngettext("Places of the lines on %(n)d page.", "Places of the lines on %(n)d pages.", n)
    return f"{text % {'n': n}} {_('Times: %(times)s.') % {'times': shown}}"
