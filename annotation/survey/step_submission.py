"""Submitting a step: store the page's answers once, and lead on to the next step."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import QueryDict
from django.utils import timezone

from annotation.common.prepared_sql import PreparedInsert
from annotation.instruments.flow import Step
from annotation.instruments.languages.ui_translation import speaking
from annotation.models import PageEvent, ReturnResult
from annotation.steps.forms import read_single
from annotation.studies.lifecycle import lock_study
from annotation.survey.late_return import is_lapsed, settle_return
from annotation.survey.pages import RetryPage, find_page
from annotation.survey.progression import advance
from annotation.survey.step_tokens import describe_step, read_step_token
from annotation.survey.visit_end import end_submission
from annotation.survey.visits.client_record import read_client_record
from annotation.survey.visits.errors import GroupTaken, StudyOver
from annotation.survey.visits.target_screening import is_screening, settle_screening
from annotation.survey.visits.visit import Visit

STEP_FIELD = "step"
# A field that nobody sees, out of the tab order and of what screen readers read: programs that fill
# in forms fill it, people do not. It never costs anything by itself: a person looks.
HIDDEN_FIELD = "website"
_EVENTS = PreparedInsert(PageEvent)


def submit_step(*, token: str, sent: QueryDict) -> Visit:
    """Store one sent page and move its submission on; returns the visit at its new step.

    A page that was passed before (a double click, a reload, a second tab, the Back button) stores
    nothing. Raises `Submission.DoesNotExist`, `PageRefused` for a forged page or one of another
    submission, `AnswersRefused` for answers to mend, and `StudyOver`; nothing is stored then. The
    submission's row is locked meanwhile, so that two copies of a page cannot both be stored.

    Where the reservation has lapsed, the places are taken again first. Raises `GroupTaken` if the
    page's group went to somebody else: its answers are not stored, the visit has another group.
    """
    with transaction.atomic():
        visit = Visit.load(token, lock=True)
        step = _find_sent_step(visit, sent)
        if not _takes_place(visit, step):
            return _store(visit, step, sent)
    # A place is taken among people in the same queue as every start: the study's row is locked
    # first, as everywhere, since two orders of locking would block each other.
    result = settle_return(token=token) if is_lapsed(visit.submission) else None
    with transaction.atomic():
        lock_study(visit.study)
        visit = Visit.load(token, lock=True)
        step = _find_sent_step(visit, sent)
        if step is None and result == ReturnResult.CHANGED:
            raise GroupTaken
        return _store(visit, step, sent)


def _takes_place(visit: Visit, step: Step | None) -> bool:
    """Return whether storing the step takes a place that others may take at the same time."""
    if step is None or visit.is_cut_off:
        return False
    return is_lapsed(visit.submission) or is_screening(visit, step)


def _find_sent_step(visit: Visit, sent: QueryDict) -> Step | None:
    """Return the visit's step if it is the one that was sent, None for a page passed before."""
    with speaking(visit.submission.language, visit.wording):
        token = read_step_token(read_single(sent, STEP_FIELD), submission=visit.submission)
    step = visit.step
    return step if step is not None and describe_step(visit, step) == token else None


def _store(visit: Visit, step: Step | None, sent: QueryDict) -> Visit:
    """Store the page of a locked visit, and all that follows from it."""
    if step is None:
        return visit
    if visit.is_cut_off:
        raise StudyOver
    visit.client, kept = read_client_record(sent)
    # What is wrong is said in the participant's language.
    with speaking(visit.submission.language, visit.wording):
        outcome = find_page(step).store(visit, step, sent)
    if isinstance(outcome, RetryPage):
        return visit
    _EVENTS.insert(
        [
            {
                "submission_id": visit.submission.pk,
                "step_index": step.index,
                "step_kind": step.kind,
                "opened_at": visit.submission.step_opened_at,
                "submitted_at": timezone.now(),
                "language": visit.submission.language,
                "client": {**kept, **read_hidden_field(sent), **visit.left_out},
            }
        ]
    )
    if outcome is not None:
        end_submission(submission=visit.submission, outcome=outcome)
        if is_screening(visit, step):
            settle_screening(visit.submission)
    else:
        advance(visit, visit.list_following(step))
    return visit


def read_hidden_field(sent: QueryDict) -> dict[str, Any]:
    """Return what the page event keeps of the hidden field: that it was filled, never with what."""
    filled = any(text.strip() for text in sent.getlist(HIDDEN_FIELD))
    return {"hidden_field": True} if filled else {}
