"""The page that confirms a decision about several submissions, and carries it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Submission
from annotation.researcher.pages.page import ResearcherPage
from annotation.researcher.submissions.queue import write_query
from annotation.studies.queue import DecisionPlan, carry_out, plan_decision, read_view

REASONS_SHOWN = 5
MOST_CHOSEN = 1_000


class DecisionPage(ResearcherPage):
    """Says what a decision would do; does it once it is confirmed."""

    route = "decide/"
    name = "decide"
    http_method_names = ["post"]
    template_name = "admin/annotation/submission/confirm.html"

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        keys = [key for key in request.POST.getlist("chosen") if key.isascii() and key.isdigit()]
        chosen = Submission.objects.visible_to(request.user).filter(pk__in=keys[:MOST_CHOSEN])
        return self.decide(chosen, request.POST.get("decision", ""))

    def decide(self, chosen: QuerySet[Submission], decision: str) -> HttpResponse:
        """Return the page that asks, or carry the decision out where it was confirmed."""
        sent = self.request.POST
        submissions = list(chosen.select_related("study").order_by("pk")[:MOST_CHOSEN])
        back = _find_way_back(self.request, submissions)
        if not submissions:
            messages.warning(self.request, _("No submission was chosen. Nothing was decided."))
            return redirect(back)
        try:
            plan = plan_decision(submissions, decision=decision, user=self.user)
        except ValidationError as error:
            messages.error(self.request, " ".join(error.messages))
            return redirect(back)
        problem = ""
        if sent.get("confirmed") == "yes":
            reason, ground = sent.get("reason", "").strip(), sent.get("ground", "")
            problem = _find_problem(plan, reason, ground)
            if not problem:
                done = carry_out(plan, reviewer=self.user, reason=reason, on_ground=ground)
                _tell(self.request, done.done, done.refused)
                return redirect(back)
        return self.show(
            title=_("Confirm"),
            plan=plan,
            is_paid=any(submission.study.is_paid for submission in plan.possible),
            grounds=[(ground.value, ground.label) for ground in plan.grounds],
            refused=plan.refused.most_common(REASONS_SHOWN),
            n_refused=sum(plan.refused.values()),
            problem=problem,
            sent=sent,
            back=back,
            back_query=sent.get("back", ""),
            status=422 if problem else 200,
        )


def _find_problem(plan: DecisionPlan, reason: str, ground: str) -> str:
    """Return what a rejection lacks, "" for nothing."""
    if plan.decision != "reject":
        return ""
    if ground not in {found.value for found in plan.grounds}:
        return ngettext(
            "Choose the ground on which pay is rejected.",
            "Choose a ground that applies to all of them.",
            len(plan.possible),
        )
    return "" if reason else _("A rejection of pay needs a reason: the participant is told it.")


def _find_way_back(request: HttpRequest, submissions: Sequence[Submission]) -> str:
    """Return the address of the queue as it was seen; of the list where studies differ."""
    studies = {submission.study_id for submission in submissions}
    if len(studies) != 1:
        return reverse("admin:annotation_submission_changelist")
    query = write_query(read_view(QueryDict(request.POST.get("back", ""))))
    address = reverse("admin:annotation_submission_queue", args=[studies.pop()])
    return f"{address}?{query}" if query else address


def _tell(request: HttpRequest, done: int, refused: Counter[str]) -> None:
    if done:
        text = ngettext("%(n)d submission decided.", "%(n)d submissions decided.", done)
        messages.success(request, text % {"n": done})
    if refused:
        reasons = " ".join(reason for reason, _n in refused.most_common(REASONS_SHOWN))
        total = sum(refused.values())
        text = ngettext("%(n)d was refused.", "%(n)d were refused.", total) % {"n": total}
        messages.warning(request, f"{text} {reasons}")
