"""Erasing answers: at a withdrawal, and when a study's period of retention is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.audit.record import record
from annotation.common.database_files import overwrite_erased
from annotation.models import (
    AuditAction,
    MissingRating,
    Origin,
    PanelAction,
    ParticipantIdentity,
    Rating,
    Study,
    Submission,
)
from annotation.panels.identity_erasure import erase_ids
from annotation.panels.reconciliation import OPEN
from annotation.studies.quality.record_loader import forget_visit

# So many submissions are erased, and that logged, in one transaction.
BATCH = 50


def erase_answers(submission: Submission, *, why: str) -> dict[str, int]:
    """Erase what a submission holds of answers, also in reviews and in this process's memory.

    ``why`` stands in place of what reviewers wrote, in English as all reasons are. Returns how many
    rows were erased, by kind. Part of the caller's transaction.
    """
    kinds = {
        "ratings": Rating.objects.filter(assignment__submission=submission),
        "left_out": MissingRating.objects.filter(assignment__submission=submission),
        "checks": submission.checks.all(),
        "about_yourself": submission.answers.all(),
        "other_answers": submission.step_answers.all(),
        "page_times": submission.pages.all(),
    }
    erased = {name: rows.delete()[0] for name, rows in kinds.items()}
    submission.assignments.update(skipped="")
    # What the flags of earlier decisions said was read from the answers; people quote them.
    submission.reviews.update(flags=[])
    submission.reviews.exclude(reviewer=None).exclude(reason="").update(reason=f"Erased: {why}.")
    transaction.on_commit(lambda: forget_visit(submission))
    transaction.on_commit(overwrite_erased)
    return erased


def erase_expired(*, now: datetime | None = None) -> int:
    """Erase ids and answers of studies whose periods of retention are over; return how many rows.

    Each study is logged with what was erased. Ids wait for payments that are on their way. Called
    twice it does nothing more. Two queries where nothing is due, plus some for each submission.
    """
    moment = now or timezone.now()
    closed = Study.objects.filter(origin=Origin.COLLECTED, closed_at__isnull=False)
    erased = 0
    for study in closed.exclude(identity_days=None):
        if study.closed_at and study.closed_at + timedelta(days=study.identity_days or 0) <= moment:
            erased += _erase_ids_of(study)
    for study in closed.exclude(answer_days=None):
        if study.closed_at and study.closed_at + timedelta(days=study.answer_days or 0) <= moment:
            erased += _erase_answers_of(study)
    return erased


def _erase_ids_of(study: Study) -> int:
    on_their_way = PanelAction.objects.filter(submission=OuterRef("pk"), state__in=OPEN)
    identities = ParticipantIdentity.objects.filter(
        study=study, participant=OuterRef("participant")
    )
    due = study.submissions.filter(Exists(identities)).exclude(Exists(on_their_way))
    number = 0
    for batch in _batches(due):
        with transaction.atomic():
            erased = sum(erase_ids(submission) for submission in batch)
            if erased:
                detail = f"{erased} after their period"
                record(AuditAction.ERASED, "panel ids", study=study, detail=detail)
        number += erased
    return number


def _erase_answers_of(study: Study) -> int:
    number = 0
    for batch in _batches(_with_answers(study)):
        counts: Counter[str] = Counter()
        with transaction.atomic():
            for submission in batch:
                counts.update(erase_answers(submission, why="the period of retention is over"))
            detail = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items())
            record(AuditAction.ERASED, "answers", study=study, detail=detail)
        number += counts.total()
    return number


def _batches(submissions: QuerySet[Submission]) -> Iterator[list[Submission]]:
    found = list(submissions)
    for start in range(0, len(found), BATCH):
        yield found[start : start + BATCH]


def _with_answers(study: Study) -> QuerySet[Submission]:
    """Return submissions that still hold a page; each page that was sent left one."""
    return study.submissions.filter(pages__isnull=False).distinct()
