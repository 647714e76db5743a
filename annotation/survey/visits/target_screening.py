"""Choosing people by their answers: who belongs to a cell that is full is thanked and goes.

A place is taken by the page with the demographic questions and held as the places of groups are:
while the reservation lasts, and for good once the submission is finished and not excluded. The
study's row is locked meanwhile, so that simultaneous answers see each other's places.
"""

from __future__ import annotations

from collections.abc import Iterable

from annotation.instruments.flow import Step
from annotation.models import (
    DataDecision,
    DemographicAnswer,
    Outcome,
    PayDecision,
    ScreenOutPay,
    Submission,
    SubmissionOrigin,
)
from annotation.panels.study_settings import load_panel_settings
from annotation.steps.demographics import Demographics
from annotation.studies.participant_answers import read_answers
from annotation.studies.review_service import review_submission
from annotation.studies.target_quotas import load_places
from annotation.survey.visits.visit import Visit


def is_screening(visit: Visit, step: Step) -> bool:
    """Return whether the answers of this page decide who goes on."""
    return (
        step.kind == Demographics.name
        and visit.study.samples_by_margins
        and visit.submission.origin != SubmissionOrigin.PREVIEW
    )


def has_place(submission: Submission, answers: Iterable[DemographicAnswer]) -> bool:
    """Return whether every cell that the answers belong to is open, without one's own place.

    Who declined or left out a question belongs to no cell of it. The caller holds the study's row
    locked. Two queries.
    """
    margins = submission.study.margins
    places = load_places(submission.study, without=submission.pk)
    for answer in answers:
        slug = answer.question.slug
        if slug in margins:
            given = read_answers(answer.value, answer.declined, margins[slug].starts or None)
            if any(places[slug].is_full(cell) for cell in margins[slug].cells_of(given)):
                return False
    return True


def keeps_place(submission: Submission) -> bool:
    """Return whether somebody who comes back late still has a place. Three queries at most."""
    if not submission.study.samples_by_margins:
        return True
    return has_place(submission, list(submission.answers.select_related("question")))


def settle_screening(submission: Submission) -> None:
    """Approve the pay of somebody who was screened out, where the study pays for that."""
    if load_panel_settings(submission.study).screen_out_pay == ScreenOutPay.NOTHING:
        return
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.APPROVED,
        reason="Screened out: there were enough people with these answers.",
    )


def was_screened_out(visit: Visit) -> bool:
    """Return whether a visit was ended because there were enough people with its answers."""
    if visit.submission.outcome != Outcome.SCREENED_OUT:
        return False
    if visit.study.samples_by_margins and visit.submission.answers.exists():
        # After a late return it stands at a later page.
        return True
    index = visit.submission.step_index
    return index < len(visit.steps) and visit.steps[index].kind == Demographics.name
