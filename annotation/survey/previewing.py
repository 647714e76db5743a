"""Previews: a researcher goes through any version as a participant would. Nothing of it counts."""

from __future__ import annotations

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import (
    Instrument,
    Participant,
    Rating,
    Study,
    Submission,
    SubmissionOrigin,
)
from annotation.survey.assignment import assign_groups
from annotation.survey.errors import StudyFull
from annotation.survey.flow import FlowError, parse_flow
from annotation.survey.wording import DEFAULT_WORDING

HOURS_OPEN = 24


@transaction.atomic
def start_preview(*, instrument: Instrument) -> Submission:
    """Return a new preview of a version, draft or frozen, at its first page.

    Quotas and the study's status do not matter. Raises `ValidationError` for a draft whose pages
    cannot be shown yet.
    """
    try:
        parse_flow(instrument.flow)
    except FlowError as error:
        raise ValidationError(str(error)) from error
    written = instrument.wordings.filter(language=instrument.language).values_list("key", flat=True)
    if missing := sorted(set(DEFAULT_WORDING) - set(written)):
        raise ValidationError(
            _("These texts are missing: %(keys)s.") % {"keys": ", ".join(missing)}
        )
    if not instrument.scales.exists():
        raise ValidationError(_("There is no trait scale to show, expected at least one."))
    now = timezone.now()
    submission = Submission.objects.create(
        study=instrument.study,
        instrument=instrument,
        participant=Participant.objects.create(),
        origin=SubmissionOrigin.PREVIEW,
        is_counted=False,
        language=instrument.language,
        step_opened_at=now,
        reserved_until=now + timedelta(hours=HOURS_OPEN),
    )
    try:
        assign_groups(submission=submission)
    except StudyFull:
        raise ValidationError(_("There is no group to show, expected at least one.")) from None
    return submission


@transaction.atomic
def clear_previews(*, study: Study, instrument: Instrument | None = None) -> int:
    """Erase the previews of a study, or of one version only; return how many there were."""
    previews = list_previews(study)
    if instrument is not None:
        previews = previews.filter(instrument=instrument)
    keys = list(previews.values_list("pk", flat=True))
    people = list(previews.values_list("participant", flat=True))
    Rating.objects.filter(assignment__submission__in=keys).delete()
    Submission.objects.filter(pk__in=keys).delete()
    Participant.objects.filter(pk__in=people).delete()
    return len(keys)


def list_previews(study: Study) -> QuerySet[Submission]:
    return Submission.objects.filter(study=study, origin=SubmissionOrigin.PREVIEW)
