"""Where a study stands against its target margins: who is in which cell, and what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from annotation.common.small_cells import UNANSWERED, Answers
from annotation.common.target_margins import Margin, Margins, count_places
from annotation.models import (
    DataDecision,
    DemographicAnswer,
    DemographicQuestion,
    QuestionKind,
    Study,
    Submission,
    SubmissionState,
)
from annotation.models.submission import in_review, in_scope
from annotation.studies.participant_answers import read_answers


@dataclass(frozen=True)
class MarginPlaces:
    """Cells of one question: ``room`` for people, and ``taken`` of it."""

    room: Mapping[str, int]
    taken: Mapping[str, int]

    def is_full(self, cell: str) -> bool:
        return self.taken.get(cell, 0) >= self.room[cell]

    @property
    def full(self) -> tuple[str, ...]:
        return tuple(cell for cell in self.room if self.is_full(cell))


def decided_or_waiting(of: str = "") -> Q:
    """Return the condition “accepted, or finished and in review”, as quotas count it."""
    accepted = Q(**{f"{of}data_decision": DataDecision.ACCEPTED})
    return accepted | (in_review(of=of) & ~Q(**{f"{of}checks_passed": False}))


def takes_place(of: str = "") -> Q:
    """Return the condition “takes a place”: as above, or on the way with a reservation."""
    on_the_way = Q(
        **{
            f"{of}state": SubmissionState.IN_PROGRESS,
            f"{of}reserved_until__gt": timezone.now(),
        }
    )
    return decided_or_waiting(of) | on_the_way


def count_people(
    study: Study, bands: Mapping[str, tuple[int, ...]], *, who: Q, without: int | None = None
) -> dict[str, dict[Answers, int]]:
    """Return, by question of ``bands``, what one person answered → how many answered just that.

    who : condition on answers by their submission; without : a submission that is left out
    bands : question → starts of its bands, () for a choice

    Who left a question out is not counted. One query, whose rows are the different answers.
    """
    rows = DemographicAnswer.objects.filter(
        in_scope(study, of="submission__"),
        who,
        # Of this study alone: databases would else begin with the questions of all studies.
        question__instrument__study=study,
        question__slug__in=list(bands),
    )
    if without is not None:
        rows = rows.exclude(submission=without)
    found: dict[str, Counter[Answers]] = {slug: Counter() for slug in bands}
    kinds = rows.values_list("question__slug", "value", "declined").annotate(n=Count("pk"))
    for slug, value, declined, n in kinds.order_by():
        found[slug][read_answers(value, declined, bands[slug] or None)] += n
    return {slug: dict(people) for slug, people in found.items()}


def load_places(study: Study, *, without: int | None = None) -> dict[str, MarginPlaces]:
    """Return the places of a study that chooses people by their answers. Two queries.

    ``without`` is a submission whose own place is not counted. Places are exact while the study's
    row is locked.
    """
    margins = study.margins
    bands = {slug: margin.starts for slug, margin in margins.items()}
    taken = count_people(study, bands, who=takes_place("submission__"), without=without)
    several = find_several(study, margins)
    return {
        slug: MarginPlaces(
            room=count_places(margin, study.planned_people or 0, several=slug in several),
            taken=count_cells(margin, taken[slug]),
        )
        for slug, margin in margins.items()
    }


def count_cells(margin: Margin, people: Mapping[Answers, int]) -> dict[str, int]:
    """Return how many people are in each cell; who gave several answers is in several."""
    counts: Counter[str] = Counter()
    for answers, n in people.items():
        for cell in margin.cells_of(answers):
            counts[cell] += n
    return dict(counts)


def find_several(study: Study, margins: Margins) -> set[str]:
    """Return the questions of targets that take several answers. One query."""
    return set(
        DemographicQuestion.objects.filter(
            instrument__study=study, slug__in=list(margins), kind=QuestionKind.CHOICES
        ).values_list("slug", flat=True)
    )


def is_full_by_margins(study: Study) -> bool:
    """Return whether nobody who answers could be let in: every cell of a question is full.

    False for a study that does not choose people. Two queries.
    """
    if not study.samples_by_margins:
        return False
    return any(len(places.full) == len(places.room) for places in load_places(study).values())


def add_unanswered(people: Mapping[Answers, int], total: int) -> dict[Answers, int]:
    """Return the counts with those of ``total`` people who left the question out."""
    left_out = total - sum(people.values())
    return {**people, **({frozenset({UNANSWERED}): left_out} if left_out > 0 else {})}


def count_observed(study: Study) -> int:
    """Return the accepted submissions and those in review. One query."""
    return Submission.objects.in_scope(study).filter(decided_or_waiting()).count()
