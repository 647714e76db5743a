"""The life of a study: draft → piloting → live → paused → closed → archived.

Launching freezes the instrument: from then on its content hash stands for what people saw.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.content_hash import hash_instrument
from annotation.instruments.versions import current_instrument
from annotation.models import Instrument, Study, StudyStatus
from annotation.studies.readiness import examine_study

_LOCKED_STUDY = PreparedQuery(
    lambda study: Study.objects.filter(pk=study).order_by().select_for_update()
)
TRANSITIONS: dict[StudyStatus, set[StudyStatus]] = {
    StudyStatus.DRAFT: {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.ARCHIVED},
    StudyStatus.PILOTING: {StudyStatus.LIVE, StudyStatus.DRAFT, StudyStatus.CLOSED},
    StudyStatus.LIVE: {StudyStatus.PAUSED, StudyStatus.CLOSED},
    StudyStatus.PAUSED: {StudyStatus.LIVE, StudyStatus.CLOSED},
    StudyStatus.CLOSED: {StudyStatus.LIVE, StudyStatus.ARCHIVED},
    # Only out again, to where it came from: `restore_study`.
    StudyStatus.ARCHIVED: set(),
}


def find_launch_problems(study: Study) -> list[str]:
    """Return what keeps a study from being launched, one sentence each; empty if nothing does."""
    instrument = current_instrument(study)
    if instrument is None:
        return [_("The study has no instrument.")]
    return [finding.text for finding in examine_study(study, instrument) if finding.blocks]


@transaction.atomic
def launch_study(*, study: Study) -> Study:
    """Freeze the instrument and open the study. Launching a live study changes nothing."""
    study = lock_study(study)
    if study.status == StudyStatus.LIVE:
        return study
    return open_study(study, StudyStatus.LIVE)


def open_study(study: Study, status: StudyStatus) -> Study:
    """Freeze the newest version of a locked study and let participants in under ``status``."""
    problems = find_launch_problems(study)
    if problems:
        raise ValidationError(problems)
    _freeze_newest(study)
    return change_status(study, status)


@transaction.atomic
def publish_version(*, study: Study) -> Instrument:
    """Freeze the newest version of a launched study's instrument: from now on people see it.

    Who has started goes on with the version that they saw. Raises `ValidationError` for a study
    that was never launched or is over, for a version with problems and where nothing is new.
    """
    study = lock_study(study)
    if study.status not in {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.PAUSED}:
        raise ValidationError(
            f"The study is {study.get_status_display().lower()}: launching it puts its newest "
            "version in force."
        )
    instrument = current_instrument(study)
    if instrument is not None and instrument.is_frozen:
        raise ValidationError(f"Version {instrument.version} is in force already.")
    problems = find_launch_problems(study)
    if problems:
        raise ValidationError(problems)
    return _freeze_newest(study)


def _freeze_newest(study: Study) -> Instrument:
    instrument = study.instruments.select_for_update().order_by("-version")[0]
    if not instrument.is_frozen:
        instrument.content_hash = hash_instrument(instrument)
        instrument.frozen_at = timezone.now()
        instrument.save(update_fields=["content_hash", "frozen_at"])
    return instrument


@transaction.atomic
def pause_study(*, study: Study) -> Study:
    """Let nobody new start; those who have started go on."""
    return change_status(lock_study(study), StudyStatus.PAUSED)


@transaction.atomic
def close_study(*, study: Study) -> Study:
    """End the collection; those who have started go on until their reservation lapses."""
    return change_status(lock_study(study), StudyStatus.CLOSED)


@transaction.atomic
def archive_study(*, study: Study) -> Study:
    """Put a draft or closed study away."""
    return change_status(lock_study(study), StudyStatus.ARCHIVED)


@transaction.atomic
def restore_study(*, study: Study) -> Study:
    """Take a study out of the archive: closed again if people could ever take part, else a draft.

    Raises `ValidationError` for a study that is not archived.
    """
    study = lock_study(study)
    if study.status != StudyStatus.ARCHIVED:
        raise ValidationError(
            f"The study is {study.get_status_display().lower()}, expected an archived one."
        )
    was_open = study.launched_at or study.pilot_started_at or study.closed_at
    return _set_status(study, StudyStatus.CLOSED if was_open else StudyStatus.DRAFT)


def lock_study(study: Study) -> Study:
    """Return the study with its row locked until the transaction ends. One query."""
    return _LOCKED_STUDY.get(study.pk)


def change_status(study: Study, status: StudyStatus) -> Study:
    """Move a locked study on; raises `ValidationError` where its life does not lead there."""
    if study.status == status:
        return study
    if status not in TRANSITIONS[StudyStatus(study.status)]:
        raise ValidationError(
            f"The study is {study.get_status_display().lower()} and cannot become "
            f"{status.label.lower()}."
        )
    return _set_status(study, status)


def _set_status(study: Study, status: StudyStatus) -> Study:
    study.status = status
    now = timezone.now()
    if status == StudyStatus.LIVE and study.launched_at is None:
        study.launched_at = now
    if status == StudyStatus.CLOSED:
        # Who comes back from the archive was closed before.
        study.closed_at = study.closed_at or now
    elif status != StudyStatus.ARCHIVED:
        study.closed_at = None
    study.save(update_fields=["status", "launched_at", "closed_at"])
    return study
