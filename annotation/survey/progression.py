"""Leads a visit to its next page, or to its end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.common.prepared_sql import PreparedUpdate
from annotation.instruments.flow import Step
from annotation.models import Study, Submission
from annotation.survey.pages import open_page
from annotation.survey.visit_end import finish_submission
from annotation.survey.visits.visit import Visit

_PROGRESS = PreparedUpdate(
    Submission, "step_index", "step_opened_at", "reserved_until", "consented_at", "self_agreement"
)


def reservation_end(study: Study) -> datetime:
    """Return until when the places of somebody who does something now are held."""
    return timezone.now() + timedelta(minutes=study.reservation_minutes)


def advance(visit: Visit, steps: Iterable[Step]) -> None:
    """Lead to the first of ``steps`` that can be asked, or finish the submission.

    Renews the reservation. The caller holds the submission's row locked in a transaction.
    """
    submission = visit.submission
    submission.step_opened_at = timezone.now()
    submission.reserved_until = reservation_end(visit.study)
    for step in steps:
        if open_page(visit, step):
            submission.step_index = step.index
            _PROGRESS.save(submission)
            return
    submission.step_index = len(visit.steps)
    finish_submission(submission=submission)
