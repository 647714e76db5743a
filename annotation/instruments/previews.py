"""The previews of a study: submissions that nothing is made of."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import (
    Instrument,
    MissingRating,
    Participant,
    Rating,
    Study,
    Submission,
    SubmissionOrigin,
)


@transaction.atomic
def clear_previews(*, study: Study, instrument: Instrument | None = None) -> int:
    """Erase the previews of a study, or of one version only; return how many there were."""
    previews = list_previews(study)
    if instrument is not None:
        previews = previews.filter(instrument=instrument)
    keys = list(previews.values_list("pk", flat=True))
    people = list(previews.values_list("participant", flat=True))
    for model in (Rating, MissingRating):
        model.objects.filter(assignment__submission__in=keys).delete()
    Submission.objects.filter(pk__in=keys).delete()
    Participant.objects.filter(pk__in=people).delete()
    return len(keys)


def list_previews(study: Study) -> QuerySet[Submission]:
    return Submission.objects.filter(study=study, origin=SubmissionOrigin.PREVIEW)
