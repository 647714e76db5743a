"""Arrival: a person at a study's link becomes a participant with a submission, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import (
    Instrument,
    Participant,
    ParticipantIdentity,
    Study,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.studies.lifecycle import published_instrument
from annotation.studies.margin_counts import is_full_by_margins
from annotation.studies.piloting import has_pilot_place
from annotation.studies.quotas import count_quotas
from annotation.survey.assignment import assign_groups
from annotation.survey.content import load_content
from annotation.survey.errors import StudyFull, StudyNotOpen


@dataclass(frozen=True)
class Arrival:
    """Who arrives: the panel's id of the person, and of their visit where the panel has one.

    ``verified`` says that the panel signed for it; with ``keeps_cookie`` the id is no panel's, but
    one that the browser keeps.
    """

    panel: str
    external_id: str
    session_id: str = ""
    verified: bool = False
    keeps_cookie: bool = False


def find_submission(study: Study, arrival: Arrival) -> Submission | None:
    """Return the submission of somebody who has started before. One query."""
    return Submission.objects.filter(
        study=study,
        participant__identities__study=study,
        participant__identities__panel=arrival.panel,
        participant__identities__external_id=arrival.external_id,
    ).first()


def has_open_group(study: Study) -> bool:
    """Return whether somebody who starts now would get a group. Six queries at most."""
    instrument = published_instrument(study)
    if instrument is None or not has_pilot_place(study) or is_full_by_margins(study):
        return False
    return any(quota.open for quota in count_quotas(study, instrument_id=instrument.pk))


@transaction.atomic
def start_submission(*, study: Study, arrival: Arrival, language: str = "") -> Submission:
    """Return the person's submission, created with its groups if they have not started before.

    Whoever has started goes on, whatever has become of the study since. Raises `StudyNotOpen` or
    `StudyFull` otherwise, with nothing stored. The study's row is locked meanwhile, so that
    simultaneous starts see each other's groups and one person never gets two submissions.
    ``language`` is one of the instrument's; any other gives its main one.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    existing = find_submission(study, arrival)
    if existing is not None:
        _keep_session(existing, arrival)
        return existing
    instrument = published_instrument(study)
    if not study.is_open or instrument is None:
        raise StudyNotOpen(study.status)
    if not has_pilot_place(study) or is_full_by_margins(study):
        raise StudyFull
    is_pilot = study.status == StudyStatus.PILOTING
    participant = Participant.objects.create()
    ParticipantIdentity.objects.create(
        participant=participant,
        study=study,
        panel=arrival.panel,
        external_id=arrival.external_id,
        session_id=arrival.session_id,
    )
    now = timezone.now()
    submission = Submission.objects.create(
        study=study,
        instrument=instrument,
        participant=participant,
        origin=SubmissionOrigin.PILOT if is_pilot else SubmissionOrigin.LIVE,
        is_counted=not is_pilot,
        language=_choose_language(instrument, language),
        step_opened_at=now,
        reserved_until=now + timedelta(minutes=study.reservation_minutes),
    )
    assign_groups(submission=submission)
    return submission


def _choose_language(instrument: Instrument, language: str) -> str:
    return language if language in load_content(instrument).languages else instrument.language


def _keep_session(submission: Submission, arrival: Arrival) -> None:
    """A panel that lets a person in again gives the visit a new id, and pays for that one."""
    if arrival.session_id and submission.state == SubmissionState.IN_PROGRESS:
        submission.participant.identities.filter(
            study=submission.study, panel=arrival.panel
        ).update(session_id=arrival.session_id)
