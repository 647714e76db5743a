"""How much somebody has answered, as the last page says it."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Rating, Submission


@dataclass(frozen=True)
class AnswerCounts:
    groups: int
    lines: int


def count_answers(submission: Submission) -> AnswerCounts:
    """Return the rating pages and the lines answered on them. Two queries."""
    ratings = Rating.objects.filter(assignment__submission=submission)
    return AnswerCounts(
        groups=ratings.values("assignment__group").distinct().count(), lines=ratings.count()
    )
