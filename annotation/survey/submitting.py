"""Submitting a step: store the page's answers once, and lead on to the next step."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.http import QueryDict
from django.utils import timezone

from annotation.models import PageEvent
from annotation.survey.client_record import read_client_record
from annotation.survey.errors import StudyOver
from annotation.survey.finishing import end_submission, finish_submission
from annotation.survey.pages import PAGES
from annotation.survey.posted import read_single
from annotation.survey.step_tokens import read_step_token
from annotation.survey.visit import Visit

STEP_FIELD = "step"


@transaction.atomic
def submit_step(*, token: str, sent: QueryDict) -> Visit:
    """Store one sent page and move its submission on; returns the visit at its new step.

    A page that was passed before (a double click, a reload, a second tab, the Back button) stores
    nothing. Raises `Submission.DoesNotExist`, `PageRefused` for a forged page or one of another
    submission, `AnswersRefused` for answers to mend, and `StudyOver`; nothing is stored then. The
    submission's row is locked meanwhile, so that two copies of a page cannot both be stored.
    """
    visit = Visit.load(token, lock=True)
    step_token = read_step_token(read_single(sent, STEP_FIELD), submission=visit.submission)
    step = visit.step
    if step is None or (step.index, step.kind) != (step_token.index, step_token.kind):
        return visit
    if visit.is_cut_off:
        raise StudyOver
    client, kept = read_client_record(sent)
    outcome = PAGES[step.kind].store(visit, step, sent=sent, client=client)
    now = timezone.now()
    PageEvent.objects.create(
        submission=visit.submission,
        step_index=step.index,
        step_kind=step.kind,
        opened_at=visit.submission.step_opened_at,
        submitted_at=now,
        client=kept,
    )
    if outcome is not None:
        end_submission(submission=visit.submission, outcome=outcome)
    else:
        _move_on(visit)
    return visit


def _move_on(visit: Visit) -> None:
    """Lead to the next page that can be asked, or finish. Each page renews the reservation."""
    submission, now = visit.submission, timezone.now()
    following = visit.steps[submission.step_index + 1 :]
    submission.step_opened_at = now
    submission.reserved_until = now + timedelta(minutes=visit.study.reservation_minutes)
    for step in following:
        if PAGES[step.kind].open(visit, step):
            submission.step_index = step.index
            submission.save(
                update_fields=[
                    "step_index",
                    "step_opened_at",
                    "reserved_until",
                    "consented_at",
                    "self_agreement",
                ]
            )
            return
    submission.step_index = len(visit.steps)
    finish_submission(submission=submission)
