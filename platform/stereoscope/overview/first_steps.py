"""The first steps of a newcomer: what is done is read from what there is, never ticked by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.models import (
    AuditAction,
    AuditEntry,
    Origin,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from evaluation.models import Report
from probing.models import LanguageModel, Run
from stereoscope.demo.names import MODEL_REPORT, PEOPLE_ID, STUDIES, SURVEY_ID

COOKIE = "first_steps"
HIDDEN = "hidden"
A_YEAR = 365 * 24 * 3600
PILOT_PEOPLE = 5


@dataclass(frozen=True)
class Step:
    """``is_next`` for the first one that is not done."""

    title: str
    address: str
    is_done: bool
    is_next: bool = False


def describe_first_steps(request: HttpRequest, user: User) -> dict[str, Any]:
    """Return the steps that the user may take; none once all are done or they are hidden.

    Nine queries at most, whatever the size of the installation.
    """
    if request.COOKIES.get(COOKIE) == HIDDEN:
        return {"first_steps": [], "are_steps_hidden": True}
    steps = list(_list_steps(user))
    done = sum(step.is_done for step in steps)
    if done == len(steps):
        return {"first_steps": []}
    following = next(index for index, step in enumerate(steps) if not step.is_done)
    shown = [
        Step(step.title, step.address, step.is_done, is_next=index == following)
        for index, step in enumerate(steps)
    ]
    return {"first_steps": shown, "n_steps_done": done}


def _list_steps(user: User) -> Iterator[Step]:
    demo = Study.objects.visible_to(user).filter(public_id=SURVEY_ID).first()
    if demo is not None:
        answered = demo.submissions.filter(state=SubmissionState.FINISHED)
        yield Step(_("Answer the demo study yourself"), demo.get_absolute_url(), answered.exists())
    own = Study.objects.filter(owner=user, origin=Origin.COLLECTED)
    own = own.exclude(public_id__in=STUDIES)
    newest = own.order_by("-pk").first()
    if user.has_perm("annotation.add_study"):
        yield Step(_("Make a study"), reverse("admin:annotation_study_add"), newest is not None)
        yield Step(
            _("Pilot it with %(n)d people") % {"n": PILOT_PEOPLE},
            _study_address(newest),
            _has_been_tried(own),
        )
    if user.has_perm("probing.add_languagemodel"):
        yield Step(
            _("Add a language model"),
            reverse("admin:probing_languagemodel_add"),
            LanguageModel.history.filter(
                history_type="+", history_user=user, is_demo=False
            ).exists(),
        )
    if user.has_perm("probing.add_run"):
        of_demo = Run.objects.filter(
            reports__study__public_id=PEOPLE_ID, reports__title__startswith=MODEL_REPORT
        )
        runs = Run.objects.filter(created_by=user, model__is_demo=False)
        yield Step(
            _("Start a run"),
            reverse("admin:probing_run_add"),
            runs.exclude(pk__in=of_demo.values("pk")).exists(),
        )
    if user.has_perm("evaluation.add_report"):
        reports = Report.objects.filter(created_by=user)
        reports = reports.exclude(study__public_id__in=STUDIES)
        report = reports.first()
        yield Step(
            _("Build a report of your own"),
            reverse("admin:evaluation_report_add"),
            report is not None,
        )
        yield Step(
            _("Download its figures or tables"),
            reverse("reports:page", args=[report.public_id])
            if report
            else reverse("admin:evaluation_report_changelist"),
            AuditEntry.objects.filter(
                actor=user.get_username(),
                action=AuditAction.EXPORTED,
                target__in=[
                    f"report {name}" for name in reports.values_list("public_id", flat=True)
                ],
            ).exists(),
        )


def _study_address(study: Study | None) -> str:
    if study is None:
        return reverse("admin:annotation_study_changelist")
    return reverse("admin:annotation_study_overview", args=[study.pk])


def _has_been_tried(studies: Any) -> bool:
    """Return whether so many people have finished one of the studies, in a pilot or later."""
    return (
        Submission.objects.filter(study__in=studies, state=SubmissionState.FINISHED)
        .exclude(origin=SubmissionOrigin.PREVIEW)
        .order_by()
        .values("study")
        .annotate(n=Count("pk"))
        .filter(n__gte=PILOT_PEOPLE)
        .exists()
    )


@require_POST
def turn_first_steps(request: HttpRequest) -> HttpResponse:
    """Hide the first steps in this browser, or show them again."""
    answer = redirect("admin:index")
    if request.POST.get("do") == "hide":
        answer.set_cookie(
            COOKIE,
            HIDDEN,
            max_age=A_YEAR,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
        )
    else:
        answer.delete_cookie(COOKIE, samesite="Lax")
    return answer
