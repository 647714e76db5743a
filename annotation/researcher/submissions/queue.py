"""The review queue of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import DataDecision, Origin, SubmissionState
from annotation.researcher.pages import formatting
from annotation.researcher.pages.study_page import StudyPage
from annotation.studies.quality import FlagName, Severity, StudyAssessor
from annotation.studies.quality.record import Record, Usual
from annotation.studies.quality.record_loader import load_records
from annotation.studies.queue import ANY_FLAG, NO_FLAG, SHOWN, QueueView, load_queue, read_view
from annotation.studies.submission_summary import Noticed, Proposal

# --- The small drawing of a submission in the queue ---

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
    times = [(page.seconds, usual.seconds_for(page)) for page in record.rated_pages]
    times += [(None, 0.0)] * (len(record.lines) - len(times))
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


# A column's name in the address, its words, and whether it is a number.
HEADS = (
    ("finished", gettext_lazy("Finished"), False),
    ("time", gettext_lazy("Time"), True),
    ("checks", gettext_lazy("Checks"), True),
    ("agreement", gettext_lazy("Self-agreement"), True),
    ("flags", gettext_lazy("Flags"), False),
    ("proposal", gettext_lazy("Proposal"), False),
)


class QueuePage(StudyPage):
    """The submissions of a study. Some twenty-five queries, whatever its size."""

    route = "queue/<int:pk>/"
    name = "queue"
    tab = "submissions"
    is_review = True
    folder = "submission"

    def get_context_data(self) -> dict[str, Any]:
        view = read_view(self.request.GET)
        page = load_queue(self.study, view)
        return {
            **super().get_context_data(),
            "title": _("Submissions"),
            "view": view,
            "queue": page,
            "rows": self.build_rows(page.rows),
            "heads": [_describe_head(view, *head) for head in HEADS],
            "shown": [(name, label) for name, (label, _q) in SHOWN.items()],
            "flag_choices": [
                (ANY_FLAG, _("Any flag")),
                (NO_FLAG, _("No flag")),
                *FlagName.choices,
            ],
            "proposal_choices": Proposal.choices,
            "sort_value": f"{'-' if view.descending else ''}{view.sort}",
            "back": write_query(view, page=page.number),
            "previous": write_query(view, page=page.number - 1) if page.number > 1 else "",
            "next": write_query(view, page=page.number + 1) if page.number < page.n_pages else "",
            "may_change": self.may_act and self.study.origin != Origin.IMPORTED,
        }

    def build_rows(self, found: Sequence[Noticed]) -> list[dict[str, Any]]:
        records = load_records(self.study, [noticed.submission for noticed in found])
        usual = StudyAssessor(self.study).usual
        rows = []
        for noticed in found:
            submission, flags = noticed.submission, noticed.assessment.flags
            whys = {flag.why for flag in flags}
            rows.append(
                {
                    "noticed": noticed,
                    "submission": submission,
                    "flags": sorted(flags, key=lambda flag: flag.severity == Severity.NOTE),
                    "remarks": [remark for remark in noticed.remarks if remark not in whys],
                    "waits": submission.state == SubmissionState.FINISHED
                    and submission.data_decision == DataDecision.WAITING,
                    "sparkline": draw_sparkline(records[submission.pk], usual),
                }
            )
        return rows


def _describe_head(view: QueueView, name: str, label: Any, is_number: bool) -> dict[str, Any]:
    """Return a column's head; its link sorts by it, downwards where it is sorted upwards."""
    direction = "descending" if view.descending else "ascending"
    is_sorted = view.sort == name
    order = f"-{name}" if is_sorted and not view.descending else name
    return {
        "name": name,
        "reverse": f"-{name}",
        "label": label,
        "is_number": is_number,
        "query": write_query(view, sort=order, page=1),
        "aria_sort": direction if is_sorted else "none",
    }


def write_query(view: QueueView, **changes: Any) -> str:
    """Return a view as the query of an address, what is usual left out."""
    values = {
        "show": view.show,
        "flag": view.flag,
        "proposal": view.proposal,
        "q": view.name,
        "sort": f"{'-' if view.descending else ''}{view.sort}",
        "page": view.page,
    } | changes
    usual = {"show": "waiting", "sort": "finished", "page": 1}
    kept = {name: value for name, value in values.items() if value and usual.get(name) != value}
    return urlencode(kept)
