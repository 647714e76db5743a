"""The participants' addresses: a study's link, the visit's own page, and the page to withdraw.

None of these views checks a CSRF token. They act for nobody who is logged in: whoever posts to a
visit must know its unguessable address, and each page adds a signed step token. A CSRF cookie would
add nothing, and would lock out everybody whose browser refuses cookies.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import Study, StudyKind, Submission, SubmissionState
from annotation.survey import notices
from annotation.survey.arriving import Arrival, find_submission, has_open_group, start_submission
from annotation.survey.completion import find_completion_path
from annotation.survey.counts import count_answers
from annotation.survey.errors import (
    AnswersRefused,
    PageRefused,
    StudyFull,
    StudyNotOpen,
    StudyOver,
    WithdrawalClosed,
)
from annotation.survey.identity import describe_arrival, read_arrival, remember_visitor
from annotation.survey.money import format_reward
from annotation.survey.notices import Notice
from annotation.survey.pages import PAGES
from annotation.survey.posted import read_single
from annotation.survey.progress import measure_progress
from annotation.survey.step_tokens import sign_step
from annotation.survey.submitting import submit_step
from annotation.survey.visit import Visit
from annotation.survey.withdrawing import is_withdrawal_open, withdraw_submission

survey_view = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what this is; participants come by their own links."""
    return render(request, "survey/home.html")


@never_cache
@csrf_exempt
@survey_view
def landing(request: HttpRequest, public_id: str = "") -> HttpResponse:
    """A study's link: what it asks and pays. Only the button starts a visit; looking is free."""
    # Studies of the other kinds have annotators, who come by their own links.
    study = Study.objects.filter(public_id=public_id, kind=StudyKind.ABC_SURVEY).first()
    if study is None:
        return _tell(request, notices.no_study())
    try:
        arrival = read_arrival(request, study)
    except PageRefused as refusal:
        return _tell(request, notices.bad_link(study, str(refusal)))
    if request.method == "POST":
        return _start(request, study, arrival)
    started = find_submission(study, arrival)
    if started is None and not study.is_open:
        return _tell(request, notices.not_open(study))
    if started is None and not has_open_group(study):
        return _tell(request, notices.full(study))
    context = {
        "study": study,
        "started": started,
        "reward": format_reward(study.reward_cents, study.currency),
        "hidden": describe_arrival(arrival, study),
    }
    return render(request, "survey/landing.html", context)


@never_cache
@csrf_exempt
@survey_view
def page(request: HttpRequest, token: str) -> HttpResponse:
    """A visit's current page, whatever it is; a sent page leads to the next one."""
    try:
        if request.method == "POST":
            submit_step(token=token, sent=request.POST)
            return redirect("survey:page", token=token)
        return _show_visit(request, Visit.load(token))
    except Submission.DoesNotExist:
        return _tell(request, notices.no_visit())
    except PageRefused as refusal:
        return _tell(request, notices.page_refused(Visit.load(token).submission, str(refusal)))
    except StudyOver:
        return _tell(request, notices.cut_off(Visit.load(token).study))
    except AnswersRefused as refusal:
        return _show_visit(request, Visit.load(token), problems=refusal.problems)


@never_cache
@csrf_exempt
@survey_view
def own(request: HttpRequest, token: str) -> HttpResponse:
    """The participant's own page: where the visit stands, and how to have the answers erased."""
    submission = Submission.objects.select_related("study").filter(token=token).first()
    if submission is None:
        return _tell(request, notices.no_visit())
    problem = ""
    if request.method == "POST":
        if read_single(request.POST, "confirm") == "yes":
            try:
                withdraw_submission(submission=submission)
            except WithdrawalClosed:
                return _tell(request, notices.withdrawal_closed(submission))
            return redirect("survey:own", token=token)
        problem = _("Tick the box to confirm. Nothing has been erased.")
    context = {
        "study": submission.study,
        "submission": submission,
        "is_open": is_withdrawal_open(submission),
        "completion": find_completion_path(submission.study, submission.outcome),
        "problem": problem,
    }
    return render(request, "survey/own.html", context, status=422 if problem else 200)


def _start(request: HttpRequest, study: Study, arrival: Arrival) -> HttpResponse:
    try:
        submission = start_submission(study=study, arrival=arrival)
    except StudyNotOpen:
        return _tell(request, notices.not_open(study))
    except StudyFull:
        return _tell(request, notices.full(study))
    response = redirect("survey:page", token=submission.token)
    remember_visitor(response, arrival, study, path=request.path)
    return response


def _show_visit(
    request: HttpRequest, visit: Visit, *, problems: dict[str, str] | None = None
) -> HttpResponse:
    """Render the visit's current page, with refused answers kept where there are any."""
    submission, step = visit.submission, visit.step
    if submission.state == SubmissionState.WITHDRAWN:
        return redirect("survey:own", token=submission.token)
    context: dict[str, Any] = {"study": visit.study, "submission": submission}
    if step is not None or submission.state == SubmissionState.FINISHED:
        context["progress"] = measure_progress(visit, step)
    if step is None:
        own_link = request.build_absolute_uri(reverse("survey:own", args=[submission.token]))
        context |= {
            "completion": find_completion_path(visit.study, submission.outcome),
            "counts": count_answers(submission),
            "wording": visit.wording,
            "own_link": own_link,
            "own_link_text": own_link.partition("://")[2],
            "is_withdrawal_open": is_withdrawal_open(submission),
        }
        finished = submission.state == SubmissionState.FINISHED
        return render(request, f"survey/{'completion' if finished else 'ended'}.html", context)
    if visit.is_cut_off:
        return _tell(request, notices.cut_off(visit.study))
    survey_page = PAGES[step.kind]
    sent = request.POST if problems else None
    context |= survey_page.show(visit, step, sent=sent, problems=problems or {})
    context |= {
        "step": step,
        "problems": problems or {},
        "step_token": sign_step(submission, step),
        "draft": f"{submission.public_id}/{step.index}",
    }
    return render(request, survey_page.template, context, status=422 if problems else 200)


def _tell(request: HttpRequest, notice: Notice) -> HttpResponse:
    return render(request, "survey/notice.html", {"notice": notice}, status=notice.status)
