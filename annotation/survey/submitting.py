"""Submitting a step: store the page's answers once, and lead on to the next step."""

from __future__ import annotations

from django.db import transaction
from django.http import QueryDict
from django.utils import timezone

from annotation.languages.chrome import speaking
from annotation.models import PageEvent, ReturnResult, Submission
from annotation.studies.lifecycle import lock_study
from annotation.survey.advancing import advance
from annotation.survey.client_record import read_client_record
from annotation.survey.errors import GroupTaken, PlacesContended, ReservationLapsed, StudyOver
from annotation.survey.finishing import end_submission
from annotation.survey.hidden_field import read_hidden_field
from annotation.survey.pages import PAGES, Again
from annotation.survey.posted import read_single
from annotation.survey.returning import is_lapsed, settle_return
from annotation.survey.screening import is_screening, settle_screening
from annotation.survey.step_tokens import StepToken, describe_step, read_step_token
from annotation.survey.visit import Visit

STEP_FIELD = "step"


def submit_step(*, token: str, sent: QueryDict) -> Visit:
    """Store one sent page and move its submission on; returns the visit at its new step.

    A page that was passed before (a double click, a reload, a second tab, the Back button) stores
    nothing. Raises `Submission.DoesNotExist`, `PageRefused` for a forged page or one of another
    submission, `AnswersRefused` for answers to mend, and `StudyOver`; nothing is stored then. The
    submission's row is locked meanwhile, so that two copies of a page cannot both be stored.

    Where the reservation has lapsed, the places are taken again first. Raises `GroupTaken` if the
    page's group went to somebody else: its answers are not stored, the visit has another group.
    """
    try:
        return _store(token, sent)
    except ReservationLapsed:
        result = settle_return(token=token)
    visit = Visit.load(token)
    step_token = _read_token(visit, sent)
    is_current = visit.step is not None and describe_step(visit, visit.step) == step_token
    if result == ReturnResult.CHANGED and not is_current:
        raise GroupTaken
    return _store(token, sent)


def _store(token: str, sent: QueryDict) -> Visit:
    """Store the page; one that takes a place among people in the same queue as every start."""
    try:
        return _store_step(token, sent)
    except PlacesContended:
        with transaction.atomic():
            # The study's row first, as everywhere: two orders of locking would block each other.
            lock_study(Submission.objects.select_related("study").get(token=token).study)
            return _store_step(token, sent, holds_study=True)


@transaction.atomic
def _store_step(token: str, sent: QueryDict, *, holds_study: bool = False) -> Visit:
    visit = Visit.load(token, lock=True)
    step_token = _read_token(visit, sent)
    step = visit.step
    if step is None or describe_step(visit, step) != step_token:
        return visit
    if visit.is_cut_off:
        raise StudyOver
    if is_lapsed(visit.submission):
        raise ReservationLapsed
    chooses = is_screening(visit, step)
    if chooses and not holds_study:
        raise PlacesContended
    client, kept = read_client_record(sent)
    # What is wrong is said in the participant's language.
    with speaking(visit.submission.language, visit.wording):
        outcome = PAGES[step.kind].store(visit, step, sent=sent, client=client)
    if isinstance(outcome, Again):
        return visit
    now = timezone.now()
    PageEvent.objects.create(
        submission=visit.submission,
        step_index=step.index,
        step_kind=step.kind,
        opened_at=visit.submission.step_opened_at,
        submitted_at=now,
        language=visit.submission.language,
        client=kept | read_hidden_field(sent),
    )
    if outcome is not None:
        end_submission(submission=visit.submission, outcome=outcome)
        if chooses:
            settle_screening(visit.submission)
    else:
        advance(visit, to=step.index + 1)
    return visit


def _read_token(visit: Visit, sent: QueryDict) -> StepToken:
    with speaking(visit.submission.language, visit.wording):
        return read_step_token(read_single(sent, STEP_FIELD), submission=visit.submission)
