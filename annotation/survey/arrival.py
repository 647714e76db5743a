"""Arrival: a person at a study's link becomes a participant with a submission, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from annotation.common.encryption import encrypt_by_all
from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.content import load_content
from annotation.instruments.languages.texts import list_offered
from annotation.instruments.versions import published_instrument
from annotation.models import (
    Instrument,
    Participant,
    ParticipantIdentity,
    Study,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
    UsedLink,
)
from annotation.studies.lifecycle import lock_study
from annotation.studies.pilot import has_pilot_place
from annotation.studies.quotas import count_quotas
from annotation.studies.target_quotas import is_full_by_margins
from annotation.survey.arm_assignment import offer
from annotation.survey.group_assignment import assign_groups
from annotation.survey.visits.errors import StartedElsewhere, StudyFull, StudyNotOpen

_STARTED = PreparedQuery(
    lambda study, panel, stored: Submission.objects.filter(
        study=study,
        participant__identities__study=study,
        participant__identities__panel=panel,
        participant__identities__external_id__stored=stored,
    ).order_by()
)


@dataclass(frozen=True)
class Arrival:
    """Who arrives: the panel's id of the person, and of their visit where the panel has one.

    signed_link : SHA-256 of the signature with which the panel vouched for it, "" without one
    keeps_cookie : the id is no panel's, but a secret that the browser keeps
    holder_key : a secret of this browser, by which it is known again
    """

    panel: str
    external_id: str
    session_id: str = ""
    signed_link: str = ""
    keeps_cookie: bool = False
    holder_key: str = ""

    def holds(self, submission: Submission) -> bool:
        """Whether this browser started ``submission``: panel ids are known to others, too."""
        return self.keeps_cookie or bool(
            self.holder_key and constant_time_compare(self.holder_key, submission.holder_key)
        )


def find_submission(study: Study, arrival: Arrival) -> Submission | None:
    """Return the submission of somebody who has started before. One query for each key of ids."""
    started = (
        _STARTED.first(study.pk, arrival.panel, stored)
        for stored in encrypt_by_all(arrival.external_id)
    )
    submission = next(filter(None, started), None)
    if submission is not None:
        submission.study = study
    return submission


def may_enter(submission: Submission, arrival: Arrival) -> bool:
    """Whether a browser may see that a submission is there. One query at most.

    It started the submission, or brings a signed link that no other browser has used.
    """
    if arrival.holds(submission) or not arrival.signed_link:
        return arrival.holds(submission)
    used = UsedLink.objects.filter(digest=arrival.signed_link).first()
    return used is None or _is_of(used, submission, arrival)


def has_open_group(study: Study, instrument: Instrument | None) -> bool:
    """Return whether somebody who starts now would get a group of the published ``instrument``.

    Five queries at most.
    """
    if instrument is None or not has_pilot_place(study) or is_full_by_margins(study):
        return False
    quotas, arms = count_quotas(study, instrument=instrument), load_content(instrument).arms
    return any(quota.open for arm in arms.values() or [None] for quota in offer(arm, quotas))


@transaction.atomic
def start_submission(*, study: Study, arrival: Arrival, language: str = "") -> Submission:
    """Return the person's submission, created with its groups if they have not started before.

    Whoever has started goes on, whatever has become of the study since. Raises `StartedElsewhere`
    for a browser that brings nothing but the panel's id of somebody who has started, which others
    know too, and otherwise `StudyNotOpen` or `StudyFull`, with nothing stored. The study's row is
    locked meanwhile, so that simultaneous starts see each other's groups and one person never gets
    two submissions. ``language`` is one of the instrument's; any other gives its main one.
    """
    study = lock_study(study)
    existing = find_submission(study, arrival)
    if existing is not None:
        if not _is_holder(existing, arrival):
            raise StartedElsewhere
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
    known = list_offered(load_content(instrument))
    now = timezone.now()
    submission = Submission.objects.create(
        study=study,
        instrument=instrument,
        participant=participant,
        origin=SubmissionOrigin.PILOT if is_pilot else SubmissionOrigin.LIVE,
        is_counted=not is_pilot,
        holder_key=arrival.holder_key,
        language=language if language in known else instrument.language,
        step_opened_at=now,
        reserved_until=now + timedelta(minutes=study.reservation_minutes),
    )
    assign_groups(submission=submission)
    _is_holder(submission, arrival)  # a signed link is used up
    return submission


def _is_holder(submission: Submission, arrival: Arrival) -> bool:
    """Whether the browser started the submission, or brings a signed link that is its own."""
    if not arrival.signed_link:
        return arrival.holds(submission)
    used, _is_first = UsedLink.objects.get_or_create(
        digest=arrival.signed_link,
        defaults={"submission": submission, "holder_key": arrival.holder_key},
    )
    return _is_of(used, submission, arrival) or arrival.holds(submission)


def _is_of(used: UsedLink, submission: Submission, arrival: Arrival) -> bool:
    return used.submission_id == submission.pk and used.holder_key == arrival.holder_key


def _keep_session(submission: Submission, arrival: Arrival) -> None:
    """A panel that lets a person in again gives the visit a new id, and pays for that one."""
    if arrival.session_id and submission.state == SubmissionState.IN_PROGRESS:
        submission.participant.identities.filter(
            study=submission.study, panel=arrival.panel
        ).update(session_id=arrival.session_id)
