"""The review queue of a study: which submissions it shows, in which order, page by page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import DurationField, ExpressionWrapper, F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models import (
    DataDecision,
    PayDecision,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.models.submission import in_review
from annotation.studies.pace import load_pace
from annotation.studies.quality import FlagName
from annotation.studies.submission_summary import Noticed, Proposal, notice_submissions

ROWS = 25
WAITING, PREVIEWS = "waiting", "previews"
ANY_FLAG, NO_FLAG = "any", "none"

#: What the queue can show: a name, its words, a condition on submissions.
SHOWN: dict[str, tuple[Any, Q]] = {
    WAITING: (_("Waiting for review"), in_review()),
    "unpaid": (
        _("Waiting for a decision about pay"),
        Q(pay_decision=PayDecision.WAITING) & ~Q(state=SubmissionState.IN_PROGRESS),
    ),
    "accepted": (_("Accepted"), Q(data_decision=DataDecision.ACCEPTED)),
    "excluded": (
        _("Excluded"),
        Q(state=SubmissionState.FINISHED, data_decision=DataDecision.EXCLUDED),
    ),
    "in-progress": (_("In progress"), Q(state=SubmissionState.IN_PROGRESS)),
    "ended": (
        _("Ended early or withdrawn"),
        Q(state__in=[SubmissionState.ENDED, SubmissionState.WITHDRAWN]),
    ),
    "all": (_("All"), Q()),
    "pilot": (_("Pilot"), Q(origin=SubmissionOrigin.PILOT)),
    PREVIEWS: (_("Previews"), Q(origin=SubmissionOrigin.PREVIEW)),
}

#: Columns that the database sorts by.
STORED_ORDER = {"finished": "finished_at", "time": "took", "agreement": "self_agreement"}
PROPOSALS = [Proposal.EXCLUDE, Proposal.LOOK, Proposal.ACCEPT]


def _count_warnings(noticed: Noticed) -> float:
    return len(noticed.assessment.flags) + noticed.assessment.has_warning


#: Columns whose value is computed for each submission.
COMPUTED_ORDER: dict[str, Callable[[Noticed], float]] = {
    "checks": lambda noticed: noticed.passed / noticed.asked if noticed.asked else math.inf,
    "flags": _count_warnings,
    "proposal": lambda noticed: PROPOSALS.index(noticed.proposal),
}
COLUMNS = (*STORED_ORDER, *COMPUTED_ORDER)


@dataclass(frozen=True)
class QueueView:
    """What somebody wants to see. ``flag`` is a flag's name, “any”, “none” or "" for all."""

    show: str = WAITING
    flag: str = ""
    proposal: str = ""
    name: str = ""
    sort: str = "finished"
    descending: bool = False
    page: int = 1

    @property
    def needs_all(self) -> bool:
        """Whether every submission has to be looked at to know which ones are on a page."""
        return bool(self.flag or self.proposal or self.sort in COMPUTED_ORDER)


@dataclass(frozen=True)
class QueuePage:
    """``rows`` of page ``number`` of ``n_pages``; ``total`` submissions answer to the view."""

    rows: Sequence[Noticed]
    number: int
    n_pages: int
    total: int


def read_view(sent: Any) -> QueueView:
    """Return the view that an address names; what it does not know is as if left out."""

    def pick(name: str, known: Sequence[str], otherwise: str) -> str:
        return value if (value := sent.get(name, "")) in known else otherwise

    sort = sent.get("sort", "")
    page = sent.get("page", "")
    return QueueView(
        show=pick("show", list(SHOWN), WAITING),
        flag=pick("flag", [*FlagName.values, ANY_FLAG, NO_FLAG], ""),
        proposal=pick("proposal", Proposal.values, ""),
        name=sent.get("q", "").strip().lower().removeprefix("s-")[:12],
        sort=sort.removeprefix("-") if sort.removeprefix("-") in COLUMNS else "finished",
        descending=sort.startswith("-") and sort[1:] in COLUMNS,
        page=int(page) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
    )


def load_queue(study: Study, view: QueueView) -> QueuePage:
    """Return one page of the queue. Some fifteen queries, whatever the size of the study.

    Where flags or proposals choose or order, every submission that is shown is looked at.
    """
    submissions = _select(study, view)
    limit = load_pace(study).fast_limit
    if view.needs_all:
        found = [
            noticed
            for noticed in notice_submissions(list(submissions), fast_limit=limit)
            if _is_wanted(noticed, view)
        ]
        if view.sort in COMPUTED_ORDER:
            found.sort(key=COMPUTED_ORDER[view.sort], reverse=view.descending)
        total = len(found)
        number, n_pages = _clamp(view.page, total)
        return QueuePage(found[ROWS * (number - 1) : ROWS * number], number, n_pages, total)
    total = submissions.count()
    number, n_pages = _clamp(view.page, total)
    chosen = list(submissions[ROWS * (number - 1) : ROWS * number])
    return QueuePage(notice_submissions(chosen, fast_limit=limit), number, n_pages, total)


def _select(study: Study, view: QueueView) -> QuerySet[Submission]:
    _label, condition = SHOWN[view.show]
    if view.show != PREVIEWS:
        condition &= ~Q(origin=SubmissionOrigin.PREVIEW)
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    field = F(STORED_ORDER.get(view.sort, "finished_at"))
    order = (
        field.desc(nulls_last=True)
        if view.descending and view.sort in STORED_ORDER
        else field.asc(nulls_last=True)
    )
    return (
        Submission.objects.filter(condition, study=study, public_id__startswith=view.name)
        .select_related("study")
        .annotate(took=took)
        .order_by(order, "pk")
    )


def _is_wanted(noticed: Noticed, view: QueueView) -> bool:
    flags = noticed.assessment
    if view.proposal and noticed.proposal != view.proposal:
        return False
    if view.flag == ANY_FLAG:
        return bool(flags.flags)
    if view.flag == NO_FLAG:
        return not flags.flags
    return not view.flag or flags.find(FlagName(view.flag)) is not None


def _clamp(page: int, total: int) -> tuple[int, int]:
    n_pages = max(1, math.ceil(total / ROWS))
    return min(max(1, page), n_pages), n_pages
