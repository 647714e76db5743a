"""A pilot: a few real participants before the study goes live, kept apart from its data.

draft → piloting → live, or back to draft with a new version. Pilot submissions count with the live
ones only if a researcher decides so at the moment of going live; the decision is kept in the
study's history.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.instruments.versions import create_version, current_instrument
from annotation.models import Study, StudyStatus, Submission, SubmissionOrigin, SubmissionState
from annotation.studies.lifecycle import change_status, launch_study, lock_study, open_study


@dataclass(frozen=True)
class PilotCounts:
    """``taken`` of ``places`` in the present pilot; the others count all pilots of the study."""

    places: int
    taken: int
    finished: int
    total: int

    @property
    def open(self) -> int:
        return max(0, self.places - self.taken)


@transaction.atomic
def start_pilot(*, study: Study) -> Study:
    """Freeze the instrument and open the study to `Study.pilot_places` participants.

    Starting a running pilot changes nothing. Raises `ValidationError` where launching would.
    """
    study = lock_study(study)
    if study.status == StudyStatus.PILOTING:
        return study
    study.pilot_started_at = timezone.now()
    study.save(update_fields=["pilot_started_at"])
    return open_study(study, StudyStatus.PILOTING)


@transaction.atomic
def end_pilot(*, study: Study) -> Study:
    """Go back to a draft, with a new version of the instrument open to edits.

    Nobody new can start; who has started goes on. Raises `ValidationError` without a pilot.
    """
    study = lock_study(study)
    if study.status != StudyStatus.PILOTING:
        raise ValidationError(_("The study is not piloting: there is no pilot to end."))
    study = change_status(study, StudyStatus.DRAFT)
    instrument = current_instrument(study)
    if instrument is not None and instrument.is_frozen:
        create_version(study=study)
    return study


@transaction.atomic
def launch_with_pilot(*, study: Study) -> Study:
    """Launch the study and count its pilot submissions with the live ones from now on."""
    return _launch(study, count_pilot=True)


@transaction.atomic
def launch_without_pilot(*, study: Study) -> Study:
    """Launch the study; pilot submissions stay apart from the live ones."""
    return _launch(study, count_pilot=False)


def _launch(study: Study, *, count_pilot: bool) -> Study:
    study = lock_study(study)
    pilots = Submission.objects.filter(study=study, origin=SubmissionOrigin.PILOT)
    undecided = study.status in {StudyStatus.DRAFT, StudyStatus.PILOTING} and pilots.exists()
    if undecided:
        study.pilot_is_counted = count_pilot
        study._change_reason = (  # type: ignore[attr-defined]  # simple_history reads it
            "Went live; the pilot’s submissions count with the live ones."
            if count_pilot
            else "Went live; the pilot’s submissions stay apart."
        )
        study.save(update_fields=["pilot_is_counted"])
        pilots.update(is_counted=count_pilot)
    elif count_pilot:
        raise ValidationError(_("There is no pilot to decide about."))
    return launch_study(study=study)


def count_pilot(study: Study) -> PilotCounts:
    """Return how many took part in the study's pilots. One query."""
    since = Q(pk__in=[])
    if study.pilot_started_at is not None:
        since = Q(started_at__gte=study.pilot_started_at)
    row = Submission.objects.filter(study=study, origin=SubmissionOrigin.PILOT).aggregate(
        taken=Count("pk", filter=since & holds_place()),
        finished=Count("pk", filter=Q(finished_at__isnull=False)),
        total=Count("pk"),
    )
    return PilotCounts(places=study.pilot_places, **row)


def has_pilot_place(study: Study) -> bool:
    """Return whether a pilot has a place left; always for a study that is not piloting."""
    return study.status != StudyStatus.PILOTING or count_pilot(study).open > 0


def holds_place() -> Q:
    """Return the condition “has finished, or is rating and its reservation has not lapsed”."""
    return Q(finished_at__isnull=False) | Q(
        state=SubmissionState.IN_PROGRESS, reserved_until__gt=timezone.now()
    )
