"""The parts of a study's page that say where people leave, what they used, what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import get_language_info, ngettext
from django.utils.translation import gettext as _

from annotation.models import Origin, Study
from annotation.researcher.pages import formatting
from annotation.researcher.pages.formatting import describe_low_pay
from annotation.steps.kind import KINDS
from annotation.studies.dashboard import Dashboard, PageLeft
from annotation.studies.flag_counts import recall_flags
from annotation.studies.ledger import Books
from annotation.studies.overview import Overview

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
    books = Books(study, pace=overview.pace)
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
            "paid": formatting.money(books.paid_minor, study.currency),
            "under_way": formatting.money(books.under_way_minor, study.currency),
        },
        "to_go": to_go
        % {
            "n": f"{people:,}",
            "money": formatting.money(people * study.reward_cents, study.currency),
        },
        "warning": describe_low_pay(books),
    }
