"""Previews: a researcher goes through any version as a participant would. Nothing of it counts."""

from __future__ import annotations

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.instruments.default_wording import default_wording
from annotation.instruments.flow import FlowError, parse_flow
from annotation.models import (
    Instrument,
    Participant,
    Submission,
    SubmissionOrigin,
)
from annotation.survey.group_assignment import assign_groups
from annotation.survey.visits.errors import StudyFull

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
    if missing := sorted(set(default_wording(instrument.study.kind)) - set(written)):
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
        nothing = (
            _("There is no text to show, expected at least one.")
            if instrument.study.rates_texts
            else _("There is no group to show, expected at least one.")
        )
        raise ValidationError(nothing) from None
    return submission
