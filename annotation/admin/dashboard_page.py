"""The parts of a study's page that say where people leave, what they used, what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import get_language_info, ngettext
from django.utils.translation import gettext as _

from annotation.admin import wording
from annotation.admin.money_page import describe_low_pay
from annotation.models import Origin, Study
from annotation.panels.books import Books
from annotation.studies.dashboard import Dashboard, PageLeft
from annotation.studies.flag_counts import recall_flags
from annotation.studies.overview import Overview

LEFT_AXIS = 0.25  # the bars of shares who left reach over at least this share


@dataclass(frozen=True)
class PageRow:
    label: str
    came: int
    left: int
    ended: int
    share: str
    width: str


@dataclass(frozen=True)
class ShareRow:
    label: str
    count: int
    share: str


@dataclass(frozen=True)
class EventRow:
    at: datetime
    text: str


@dataclass(frozen=True)
class MoneyLine:
    """One sentence each about what was paid and what is to come; ``warning`` is "" for none."""

    paid: str
    to_go: str
    warning: str


def dashboard_context(overview: Overview, dashboard: Dashboard) -> dict[str, Any]:
    """Return what the templates of these parts need. Two queries."""
    return {
        "page_rows": build_page_rows(dashboard.pages),
        "left_total": sum(page.left for page in dashboard.pages),
        "device_rows": _share_rows(
            [(_device_label(device), count) for device, count in dashboard.devices]
        ),
        "language_rows": _share_rows(
            [(_language_label(code), count) for code, count in dashboard.languages]
        )
        if len(dashboard.languages) > 1
        else [],
        "event_rows": [EventRow(event.at, str(event.kind.label)) for event in dashboard.events],
        "money_line": _build_money_line(overview),
        "live_news": _build_news(overview),
    }


def flags_context(study: Study) -> dict[str, Any]:
    """Return how many finished submissions have which flags, those that nobody has left out."""
    counts = recall_flags(study)
    return {
        "study": study,
        "flag_counts": counts,
        "flag_rows": [
            ShareRow(str(name.label), n, wording.percent(n / counts.finished, digits=1))
            for name, n in counts.by_name.items()
            if n
        ],
    }


def build_page_rows(pages: tuple[PageLeft, ...]) -> list[PageRow]:
    """Return the pages at which somebody left, in the order of the flow."""
    left = [page for page in pages if page.left]
    axis = max([LEFT_AXIS, *(page.left / page.came for page in left)])
    return [
        PageRow(
            label=label_page(page),
            came=page.came,
            left=page.left,
            ended=page.ended,
            share=wording.percent(page.left / page.came, digits=1),
            width=f"{100 * page.left / page.came / axis:.2f}%",
        )
        for page in left
    ]


def label_page(page: PageLeft) -> str:
    """Return the name of a page: its kind, with a number where there are several."""
    label = str(page.kind.label)
    if page.is_only:
        return label
    return _("%(page)s %(number)d") % {"page": label, "number": page.number}


def _share_rows(counts: list[tuple[str, int]]) -> list[ShareRow]:
    total = sum(count for _label, count in counts)
    return [ShareRow(label, count, wording.percent(count / total)) for label, count in counts]


def _device_label(device: str) -> str:
    labels = {"phone": _("Phone"), "tablet": _("Tablet"), "desktop": _("Computer")}
    return labels.get(device, _("Not known"))


def _language_label(code: str) -> str:
    try:
        return str(get_language_info(code)["name_translated"])
    except KeyError:
        return code


def _build_money_line(overview: Overview) -> MoneyLine | None:
    """None for an imported study, which was paid elsewhere. Two queries."""
    study = overview.study
    if study.origin == Origin.IMPORTED:
        return None
    books = Books(study, durations=overview.durations)
    paid = _("%(paid)s paid by the panel, %(under_way)s under way.") % {
        "paid": wording.money(books.paid_minor, study.currency),
        "under_way": wording.money(books.under_way_minor, study.currency),
    }
    people = overview.people_to_go
    to_go = ngettext(
        "About %(money)s to go: %(n)s more person at the present share of accepted data.",
        "About %(money)s to go: %(n)s more people at the present share of accepted data.",
        people,
    ) % {"n": f"{people:,}", "money": wording.money(people * study.reward_cents, study.currency)}
    return MoneyLine(paid, to_go, describe_low_pay(books))


def _build_news(overview: Overview) -> str:
    """Return what a screen reader says when it changes: a count, and nothing more."""
    n = overview.ratings_accepted
    return _("%(n)s of %(wanted)s ratings accepted.") % {
        "n": f"{n:,}",
        "wanted": f"{overview.ratings_wanted:,}",
    }
