"""The participants' addresses: a study's link, the visit's own page, and the page to withdraw.

None of these views checks a CSRF token. They act for nobody who is logged in: whoever posts to a
visit must know its unguessable address, and each page adds a signed step token. A CSRF cookie would
add nothing, and would lock out everybody whose browser refuses cookies.
"""

from __future__ import annotations

import contextlib
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotation.common.limits import client_address, is_over_limit
from annotation.common.money import format_reward
from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.content import load_content
from annotation.instruments.languages.ui_translation import speak
from annotation.instruments.versions import published_instrument
from annotation.models import SURVEY_KINDS, Study, Submission, SubmissionState, Withdrawal
from annotation.steps.forms import AnswersRefused, FilledForm, PageRefused, read_single
from annotation.steps.instructions import Debrief
from annotation.survey import notices
from annotation.survey.arrival import (
    Arrival,
    find_submission,
    has_open_group,
    may_enter,
    start_submission,
)
from annotation.survey.completion_path import find_completion_path, find_way_to_return
from annotation.survey.identity import describe_arrival, read_arrival, remember_visitor
from annotation.survey.late_return import (
    count_minutes_left,
    is_lapsed,
    may_reconsider,
    reconsider,
    settle_return,
)
from annotation.survey.notices import Notice
from annotation.survey.own_answers import FILES, list_own_answers, list_own_behavior
from annotation.survey.page_language import (
    KEPT_FIELD,
    LANGUAGE_FIELD,
    describe_languages,
    speak_at_landing,
    speak_platform,
    speak_to,
    switch_language,
)
from annotation.survey.receipt import describe_erased, describe_moment, write_receipt
from annotation.survey.step_page import draw_step, measure_progress
from annotation.survey.step_submission import STEP_FIELD, submit_step
from annotation.survey.step_tokens import sign_step
from annotation.survey.visits.errors import (
    GroupTaken,
    StartedElsewhere,
    StudyFull,
    StudyNotOpen,
    StudyOver,
    WithdrawalClosed,
)
from annotation.survey.visits.promises import (
    describe_answers,
    describe_pay,
    describe_work,
    list_pay_grounds,
)
from annotation.survey.visits.target_screening import was_screened_out
from annotation.survey.visits.visit import Visit
from annotation.survey.withdrawal import is_withdrawal_open, withdraw_submission

# Sent by the page that greets somebody whose reservation has lapsed.
RETURN_FIELD = "return"
# Sent by the page that ends the visit of somebody who declined.
RECONSIDER_FIELD = "reconsider"

_STUDY = PreparedQuery(
    lambda public_id: (
        Study.objects.filter(public_id=public_id, kind__in=SURVEY_KINDS)
        .select_related("panel_settings")
        .order_by()
    )
)

survey_view = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what this is; participants come by their own links."""
    return render(request, "survey/home.html", speak_platform(request))


@never_cache
@csrf_exempt
@survey_view
def landing(request: HttpRequest, public_id: str = "") -> HttpResponse:
    """A study's link: what it asks and pays. Only the button starts a visit; looking is free."""
    # Studies of the other kinds have annotators, who come by their own links.
    study = _STUDY.first(public_id)
    if study is None:
        return _tell(request, notices.no_study(), speak_platform(request))
    published = published_instrument(study)
    language, spoken = speak_at_landing(request, study, published)
    try:
        arrival = read_arrival(request, study)
    except PageRefused as refusal:
        return _tell(request, notices.bad_link(study, str(refusal)), spoken)
    if request.method == "POST":
        return _start(request, study, arrival, language, spoken)
    started = find_submission(study, arrival)
    if started is not None and not may_enter(started, arrival):
        return _tell(request, notices.started_elsewhere(study), spoken)
    if started is not None and LANGUAGE_FIELD not in request.GET:
        language, spoken = speak_at_landing(
            request, study, published, visit_language=started.language
        )
    if started is None and not study.is_open:
        return _tell(request, notices.not_open(study), spoken)
    if started is None and not has_open_group(study, published):
        return _tell(request, notices.full(study), spoken)
    version = published
    if started is not None and (published is None or started.instrument_id != published.pk):
        version = started.instrument
    context = {
        **spoken,
        "study": study,
        "started": started,
        "holds_visit": started is not None and arrival.holds(started),
        "reward": format_reward(study.reward_cents, study.currency),
        "pay_grounds": list_pay_grounds(study, load_content(version)) if version else [],
        "work": describe_work(study, load_content(version)) if version else "",
        "hidden": {**describe_arrival(arrival, study), LANGUAGE_FIELD: language},
    }
    response = render(request, "survey/landing.html", context)
    if not arrival.keeps_cookie:
        # Before the button is pressed: its answer may be lost on the way, with the cookie.
        remember_visitor(response, arrival, study, path=request.path)
    return response


@never_cache
@csrf_exempt
@survey_view
def page(request: HttpRequest, token: str) -> HttpResponse:
    """A visit's current page, whatever it is; a sent page leads to the next one."""
    try:
        if request.method == "POST":
            if LANGUAGE_FIELD in request.POST:
                return _switch(request, token)
            if RETURN_FIELD in request.POST:
                settle_return(token=token)
            elif RECONSIDER_FIELD in request.POST:
                reconsider(token=token)
            else:
                submit_step(token=token, sent=request.POST)
            return HttpResponseRedirect(request.path)
        return _show_visit(request, Visit.load(token))
    except Submission.DoesNotExist:
        return _tell(request, notices.no_visit(), speak_platform(request))
    except AnswersRefused as refusal:
        visit = Visit.load(token)
        return _show_visit(request, visit, FilledForm(request.POST, refusal.problems))
    except (PageRefused, GroupTaken, StudyOver) as refusal:
        return _refuse(request, token, refusal)


@never_cache
@csrf_exempt
@survey_view
def own(request: HttpRequest, token: str) -> HttpResponse:
    """The participant's own page: where the visit stands, the answers, and how to erase them."""
    submission = _find_own(token)
    if submission is None:
        return _tell(request, notices.no_visit(), speak_platform(request))
    spoken = speak_to(submission)
    problem = ""
    if request.method == "POST":
        if LANGUAGE_FIELD in request.POST:
            try:
                switch_language(submission=submission, language=request.POST[LANGUAGE_FIELD])
            except PageRefused as refusal:
                return _tell(request, notices.page_refused(submission, str(refusal)), spoken)
            return redirect("survey:own", token=token)
        if read_single(request.POST, "confirm") == "yes":
            try:
                withdraw_submission(submission=submission)
            except WithdrawalClosed:
                return _tell(request, notices.withdrawal_closed(submission), spoken)
            return redirect("survey:own", token=token)
        problem = _("Tick the box to confirm. Nothing has been erased.")
    context = {
        **spoken,
        "switch_action": request.path,
        "study": submission.study,
        "submission": submission,
        "is_open": is_withdrawal_open(submission),
        "completion": find_completion_path(submission.study, submission.outcome, submission),
        "give_back": find_way_to_return(submission),
        "problem": problem,
        "answers": list_own_answers(submission),
        "behavior": list_own_behavior(submission),
        "reward": format_reward(submission.study.reward_cents, submission.study.currency),
        "minutes_left": count_minutes_left(submission),
        "file_kinds": list(FILES),
    }
    if withdrawal := Withdrawal.objects.filter(submission=submission).first():
        context |= {
            "withdrawal": withdrawal,
            "erased": describe_erased(withdrawal),
            "erased_at": describe_moment(withdrawal),
        }
    return render(request, "survey/own.html", context, status=422 if problem else 200)


@never_cache
@require_safe
def own_file(request: HttpRequest, token: str, kind: str) -> HttpResponse:
    """The participant's answers as a file; its name and content say nothing of who they are."""
    submission = _find_own(token)
    if submission is None or kind not in FILES:
        return _tell(request, notices.no_visit(), speak_platform(request))
    speak_to(submission)
    content_type, write = FILES[kind]
    response = HttpResponse(write(submission), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="my-answers.{kind}"'
    return response


@never_cache
@require_safe
def receipt(request: HttpRequest, token: str) -> HttpResponse:
    """The receipt of a withdrawal as a file; it says nothing of who withdrew."""
    submission = _find_own(token)
    withdrawal = Withdrawal.objects.filter(submission=submission).first()
    if submission is None or withdrawal is None:
        return _tell(request, notices.no_visit(), speak_platform(request))
    speak_to(submission)
    text = write_receipt(submission, withdrawal)
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="receipt.txt"'
    return response


def _find_own(token: str) -> Submission | None:
    submissions = Submission.objects.select_related("study", "instrument")
    return submissions.filter(token=token).first()


def _start(
    request: HttpRequest, study: Study, arrival: Arrival, language: str, spoken: dict[str, Any]
) -> HttpResponse:
    if find_submission(study, arrival) is None and is_over_limit(
        "arrivals",
        f"{study.pk}\n{client_address(request)}",
        most=settings.ARRIVALS_PER_HOUR,
        seconds=60 * 60,
    ):
        return _tell(request, notices.too_many_arrivals(study), spoken)
    try:
        submission = start_submission(study=study, arrival=arrival, language=language)
    except StartedElsewhere:
        return _tell(request, notices.started_elsewhere(study), spoken)
    except StudyNotOpen:
        return _tell(request, notices.not_open(study), spoken)
    except StudyFull:
        return _tell(request, notices.full(study), spoken)
    if LANGUAGE_FIELD in request.POST:
        # Who comes back may choose another one; their version may not have it.
        with contextlib.suppress(PageRefused):
            switch_language(submission=submission, language=language)
    if is_lapsed(submission):
        settle_return(token=submission.token)
    response = redirect("survey:page", token=submission.token)
    remember_visitor(response, arrival, study, path=request.path)
    return response


def _switch(request: HttpRequest, token: str) -> HttpResponse:
    """Change the language of a visit; the page comes again with what was answered on it.

    Where a script has kept the answers on the device, the page is simply loaded again.
    """
    visit = Visit.load(token)
    speak_to(visit.submission)
    switch_language(submission=visit.submission, language=request.POST[LANGUAGE_FIELD])
    sent_step, here = request.POST.get(STEP_FIELD, ""), visit.step
    is_here = here is not None and sent_step == sign_step(visit, here)
    if request.POST.get(KEPT_FIELD) == "1" or not is_here:
        return redirect("survey:page", token=token)
    return _show_visit(request, Visit.load(token), FilledForm(request.POST))


def _refuse(request: HttpRequest, token: str, refusal: Exception) -> HttpResponse:
    submission = Visit.load(token).submission
    spoken = speak_to(submission)
    if isinstance(refusal, GroupTaken):
        return _tell(request, notices.group_taken(submission), spoken)
    if isinstance(refusal, StudyOver):
        return _tell(request, notices.cut_off(submission), spoken)
    return _tell(request, notices.page_refused(submission, str(refusal)), spoken)


def _show_visit(
    request: HttpRequest, visit: Visit, filled: FilledForm | None = None
) -> HttpResponse:
    """Render the visit's current page with answers to keep and what is wrong with them."""
    filled = filled or FilledForm()
    submission, step = visit.submission, visit.step
    if submission.state == SubmissionState.WITHDRAWN:
        return redirect("survey:own", token=submission.token)
    speak(submission.language, visit.wording)
    if step is not None and not visit.is_cut_off and not is_lapsed(submission):
        drawn = draw_step(visit, step, filled)
        return HttpResponse(drawn, status=422 if filled.problems else 200)
    context: dict[str, Any] = {
        **describe_languages(visit.content, submission.language),
        "study": visit.study,
        "submission": submission,
        "switch_action": reverse("survey:page", args=[submission.token]),
    }
    if step is not None or submission.state == SubmissionState.FINISHED:
        context["progress"] = measure_progress(visit, step)
    if step is None:
        own_link = request.build_absolute_uri(reverse("survey:own", args=[submission.token]))
        context |= {
            "completion": find_completion_path(visit.study, submission.outcome, submission),
            "give_back": find_way_to_return(submission),
            "counts": visit.count_answers(),
            "wording": visit.wording,
            "reconsider_field": RECONSIDER_FIELD if may_reconsider(submission) else "",
            "pay": describe_pay(submission),
            "pay_grounds": list_pay_grounds(visit.study, visit.content),
            "has_debrief": any(step.kind == Debrief.name for step in visit.steps),
            "own_link": own_link,
            "was_screened_out": was_screened_out(visit),
            "own_link_text": own_link.partition("://")[2],
            "is_withdrawal_open": is_withdrawal_open(submission),
        }
        if submission.state == SubmissionState.FINISHED:
            return render(request, "survey/completion.html", context)
        context["answers"] = describe_answers(submission, may_erase=context["is_withdrawal_open"])
        return render(request, "survey/ended.html", context)
    if visit.is_cut_off:
        return _tell(request, notices.cut_off(submission), context)
    return render(request, "survey/returning.html", context | {"return_field": RETURN_FIELD})


def _tell(request: HttpRequest, notice: Notice, spoken: dict[str, Any]) -> HttpResponse:
    """Render a notice. It can be read in another language where asking for it again shows it."""
    context = {**spoken, "notice": notice}
    if request.method == "POST":
        context["languages"] = []
    return render(request, "survey/notice.html", context, status=notice.status)
