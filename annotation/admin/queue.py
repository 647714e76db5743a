"""The review queue of a study, and the page that confirms decisions about several submissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.admin import wording
from annotation.admin.access import staff_user
from annotation.admin.strips import Strip, draw_strip
from annotation.models import (
    DataDecision,
    Origin,
    Study,
    Submission,
    SubmissionState,
)
from annotation.studies.access import can_change_study, visible_submissions, visible_surveys
from annotation.studies.deciding import DecisionPlan, carry_out, plan_decision
from annotation.studies.noticing import Noticed, Proposal
from annotation.studies.quality import Flag, FlagName, Severity, StudyAssessor
from annotation.studies.quality.loading import load_records
from annotation.studies.queue import (
    ANY_FLAG,
    NO_FLAG,
    SHOWN,
    QueuePage,
    QueueView,
    load_queue,
    read_view,
)

REASONS_SHOWN = 5
MOST_CHOSEN = 1_000

# A column's name in the address, its words, and whether it is a number.
HEADS = (
    ("finished", gettext_lazy("Finished"), False),
    ("time", gettext_lazy("Time"), True),
    ("checks", gettext_lazy("Checks"), True),
    ("agreement", gettext_lazy("Self-agreement"), True),
    ("flags", gettext_lazy("Flags"), False),
    ("proposal", gettext_lazy("Proposal"), False),
)


@dataclass(frozen=True)
class QueueRow:
    submission: Submission
    time: str
    checks: str
    agreement: str
    flags: Sequence[Flag]
    remarks: Sequence[str]
    badge: SafeString
    strip: Strip | None


@dataclass(frozen=True)
class Head:
    name: str
    label: str
    is_number: bool
    query: str
    sorted: str  # the value of aria-sort

    @property
    def reverse(self) -> str:
        return f"-{self.name}"


def queue_context(study: Study, view: QueueView, *, may_change: bool) -> dict[str, Any]:
    """Return what the queue shows. Some twenty-five queries, whatever the size of the study."""
    page = load_queue(study, view)
    return {
        "study": study,
        "view": view,
        "queue": page,
        "rows": _build_rows(study, page),
        "heads": [_build_head(view, *head) for head in HEADS],
        "shown": [(name, label) for name, (label, _q) in SHOWN.items()],
        "flag_choices": [
            (ANY_FLAG, _("Any flag")),
            (NO_FLAG, _("No flag")),
            *FlagName.choices,
        ],
        "proposal_choices": Proposal.choices,
        "sort_value": f"{'-' if view.descending else ''}{view.sort}",
        "back": _write_query(view, page=page.number),
        "previous": _write_query(view, page=page.number - 1) if page.number > 1 else "",
        "next": _write_query(view, page=page.number + 1) if page.number < page.n_pages else "",
        "may_change": may_change and study.origin != Origin.IMPORTED,
    }


def _build_rows(study: Study, page: QueuePage) -> list[QueueRow]:
    submissions = [noticed.submission for noticed in page.rows]
    records = load_records(study, submissions)
    usual = StudyAssessor(study).usual
    return [
        _build_row(study, noticed, draw_strip(records[noticed.submission.pk], usual))
        for noticed in page.rows
    ]


def _build_row(study: Study, noticed: Noticed, strip: Strip | None) -> QueueRow:
    submission = noticed.submission
    waits = (
        submission.state == SubmissionState.FINISHED
        and submission.data_decision == DataDecision.WAITING
    )
    whys = {flag.why for flag in noticed.assessment.flags}
    return QueueRow(
        submission=submission,
        time=wording.MISSING
        if study.origin == Origin.IMPORTED
        else wording.duration(noticed.seconds),
        checks=_("%(passed)d of %(asked)d") % {"passed": noticed.passed, "asked": noticed.asked}
        if noticed.asked
        else wording.MISSING,
        agreement=wording.agreement(submission.self_agreement, noticed.agreement_rule),
        flags=sorted(noticed.assessment.flags, key=lambda flag: flag.severity == Severity.NOTE),
        remarks=[remark for remark in noticed.remarks if remark not in whys],
        badge=wording.proposal_badge(noticed.proposal)
        if waits
        else wording.submission_badge(submission),
        strip=strip,
    )


def _build_head(view: QueueView, name: str, label: Any, is_number: bool) -> Head:
    is_sorted = view.sort == name
    order = f"-{name}" if is_sorted and not view.descending else name
    return Head(
        name=name,
        label=str(label),
        is_number=is_number,
        query=_write_query(view, sort=order, page=1),
        sorted=("descending" if view.descending else "ascending") if is_sorted else "none",
    )


def _write_query(view: QueueView, **changes: Any) -> str:
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


class QueuePages:
    """Two pages for the admin of submissions: `queue_view` and `decide_view`."""

    admin_site: Any
    study_tabs: Callable[[Study], list[tuple[str, str, str]]]

    def queue_pages(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path(
                "queue/<int:study_pk>/",
                guarded(self.queue_view),
                name="annotation_submission_queue",
            ),
            path("decide/", guarded(self.decide_view), name="annotation_submission_decide"),
        ]

    def queue_view(self, request: HttpRequest, study_pk: int) -> HttpResponse:
        study = get_object_or_404(visible_surveys(request.user), pk=study_pk)
        context = {
            **self.admin_site.each_context(request),
            **queue_context(
                study,
                read_view(request.GET),
                may_change=can_change_study(request.user, study),
            ),
            "title": _("Submissions"),
            "tab": "submissions",
            "study_tabs": self.study_tabs(study),
        }
        return TemplateResponse(request, "admin/annotation/submission/queue.html", context)

    def decide_view(self, request: HttpRequest) -> HttpResponse:
        """Say what a decision would do; do it once it is confirmed."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        keys = [key for key in request.POST.getlist("chosen") if key.isascii() and key.isdigit()]
        chosen = visible_submissions(request.user).filter(pk__in=keys[:MOST_CHOSEN])
        return self.confirm(request, chosen, request.POST.get("decision", ""))

    def confirm(self, request: HttpRequest, chosen: Any, decision: str) -> HttpResponse:
        """Return the page that asks, or carry the decision out where it was confirmed."""
        submissions = list(chosen.select_related("study").order_by("pk")[:MOST_CHOSEN])
        back = _find_way_back(request, submissions)
        if not submissions:
            messages.warning(request, _("No submission was chosen. Nothing was decided."))
            return redirect(back)
        user = staff_user(request)
        try:
            plan = plan_decision(submissions, decision=decision, user=user)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return redirect(back)
        problem = ""
        if request.POST.get("confirmed") == "yes":
            reason, ground = (
                request.POST.get("reason", "").strip(),
                request.POST.get("ground", ""),
            )
            problem = _find_problem(plan, reason, ground)
            if not problem:
                done = carry_out(plan, reviewer=user, reason=reason, on_ground=ground)
                _tell(request, done.done, done.refused)
                return redirect(back)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Confirm"),
            "plan": plan,
            "sums": [
                (found, wording.money(found.cents, found.study.currency)) for found in plan.sums
            ],
            "grounds": [(ground.value, ground.label) for ground in plan.grounds],
            "refused": plan.refused.most_common(REASONS_SHOWN),
            "n_refused": sum(plan.refused.values()),
            "problem": problem,
            "sent": request.POST,
            "back": back,
            "back_query": request.POST.get("back", ""),
        }
        return TemplateResponse(
            request,
            "admin/annotation/submission/confirm.html",
            context,
            status=422 if problem else 200,
        )


def _find_problem(plan: DecisionPlan, reason: str, ground: str) -> str:
    """Return what a rejection lacks, "" for nothing."""
    if plan.decision != "reject":
        return ""
    if ground not in {found.value for found in plan.grounds}:
        return _("Choose a ground that holds for all of them.")
    return "" if reason else _("A rejection of pay needs a reason: the participant is told it.")


def _find_way_back(request: HttpRequest, submissions: Sequence[Submission]) -> str:
    """Return the address of the queue as it was seen; of the list where studies differ."""
    studies = {submission.study_id for submission in submissions}
    if len(studies) != 1:
        return reverse("admin:annotation_submission_changelist")
    view = read_view(QueryDict(request.POST.get("back", "")))
    query = _write_query(view)
    address = reverse("admin:annotation_submission_queue", args=[studies.pop()])
    return f"{address}?{query}" if query else address


def _tell(request: HttpRequest, done: int, refused: Counter[str]) -> None:
    if done:
        messages.success(
            request,
            ngettext("%(n)d submission decided.", "%(n)d submissions decided.", done) % {"n": done},
        )
    if refused:
        reasons = " ".join(reason for reason, _n in refused.most_common(REASONS_SHOWN))
        total = sum(refused.values())
        messages.warning(
            request,
            ngettext("%(n)d was refused.", "%(n)d were refused.", total) % {"n": total}
            + f" {reasons}",
        )
