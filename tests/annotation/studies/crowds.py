"""Many submissions at once, as rows that the survey writes, with as few queries as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.instruments.versions import current_instrument
from annotation.models import (
    CheckKind,
    CheckResponse,
    DemographicAnswer,
    GroupAssignment,
    PageEvent,
    Participant,
    Study,
    Submission,
)

CHECKS = (CheckKind.GROUP_NAME, CheckKind.MARKED_TRAITS, CheckKind.REPEATED_GROUP)


def add_crowd(
    study: Study,
    n: int,
    *,
    answers: Callable[[int], Mapping[str, Any]] = lambda number: {},
    ratings_of: int = 4,
    **values: Any,
) -> list[Submission]:
    """Store ``n`` finished submissions with their checks and pages, ten minutes each.

    ``answers(number)`` are demographic answers by slug of the question, None for declined.
    ``values`` are fields of the submissions.
    """
    instrument = current_instrument(study)
    assert instrument is not None
    now = timezone.now()
    people = Participant.objects.bulk_create(Participant() for _ in range(n))
    finished = {
        "state": "finished",
        "outcome": "completed",
        "checks_passed": True,
        "step_index": len(instrument.flow),
        "consented_at": now - timedelta(minutes=10),
        "finished_at": now,
    }
    submissions = Submission.objects.bulk_create(
        Submission(study=study, instrument=instrument, participant=person, **(finished | values))
        for person in people
    )
    Submission.objects.filter(pk__in=[row.pk for row in submissions]).update(
        started_at=now - timedelta(minutes=10)
    )
    groups = list(instrument.groups.all())
    GroupAssignment.objects.bulk_create(
        GroupAssignment(
            submission=row,
            group=groups[(number + place) % len(groups)],
            position=place + 1,
        )
        for number, row in enumerate(submissions)
        for place in range(ratings_of)
    )
    CheckResponse.objects.bulk_create(
        CheckResponse(submission=row, kind=kind, step_index=index, passed=True)
        for row in submissions
        for index, kind in enumerate(CHECKS)
    )
    PageEvent.objects.bulk_create(
        PageEvent(
            submission=row,
            step_index=index,
            step_kind=kind,
            opened_at=now,
            submitted_at=now,
            client={"device": "phone"},
        )
        for row in submissions
        for index, kind in enumerate(instrument.flow)
    )
    questions = {question.slug: question for question in instrument.questions.all()}
    DemographicAnswer.objects.bulk_create(
        DemographicAnswer(
            submission=row, question=questions[slug], value=value, declined=value is None
        )
        for number, row in enumerate(submissions)
        for slug, value in answers(number).items()
    )
    return submissions
