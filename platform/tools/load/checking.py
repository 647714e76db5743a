"""What the database holds, compared with what participants were told it had taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import (
    CheckKind,
    CheckResponse,
    DemographicAnswer,
    GroupAssignment,
    PageEvent,
    Rating,
    Study,
    Submission,
    SubmissionState,
)
from annotation.studies.place_counts import find_wrong_counts
from tools.load.people import Place, Visit

# Whose answer it is (by the token of the visit), and what it belongs to.
Key = tuple[str, Place]


@dataclass(frozen=True)
class Findings:
    """Counts of answers: ``misplaced`` are stored where nobody gave one, or with another value.

    ``strange`` are visits whose state, or number of pages, is not what their participant saw, and
    kept numbers of places that are not those of the submissions.
    """

    stored: int
    lost: int
    doubled: int
    misplaced: int
    strange: int

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.misplaced or self.strange)


def check_study(study: Study, visits: list[Visit]) -> Findings:
    """Compare every answer stored for ``study`` with those of its visits. Seven queries."""
    expected: dict[Key, str] = {
        (visit.token, place): value for visit in visits for place, value in visit.answers.items()
    }
    rows = list(_list_stored(study))
    counts = Counter(key for key, _ in rows)
    return Findings(
        stored=len(rows),
        lost=sum(key not in counts for key in expected),
        doubled=sum(count - 1 for count in counts.values()),
        misplaced=sum(expected.get(key) != value for key, value in rows),
        strange=_count_strange(study, visits) + len(find_wrong_counts()),
    )


def _list_stored(study: Study) -> Iterator[tuple[Key, str]]:
    """Yield every stored answer as its participant gave it."""
    of_ratings = Rating.objects.filter(assignment__submission__study=study).values_list(
        "assignment__submission__token",
        "assignment__position",
        "assignment__group__plural",
        "scale__slug",
        "value",
    )
    for token, position, group, scale, rating in of_ratings:
        yield (token, (position, group, scale)), f"{rating:g}"
    groups = {
        (token, position): plural
        for token, position, plural in GroupAssignment.objects.filter(
            submission__study=study
        ).values_list("submission__token", "position", "group__plural")
    }
    of_checks = CheckResponse.objects.filter(submission__study=study).select_related("submission")
    for check in of_checks.order_by("submission_id", "step_index"):
        yield from _list_check(check, groups)
    of_questions = DemographicAnswer.objects.filter(submission__study=study).values_list(
        "submission__token", "question__slug", "value"
    )
    for token, question, value in of_questions:
        yield (token, (0, "", question)), str(value)


def _list_check(
    check: CheckResponse, groups: dict[tuple[str, int], str]
) -> Iterator[tuple[Key, str]]:
    token = check.submission.token
    # In the default flow the first group is followed by its name, the second by the words.
    if check.kind == CheckKind.GROUP_NAME:
        yield (token, (1, groups[token, 1], "group-name")), check.answer["text"]
    elif check.kind == CheckKind.MARKED_TRAITS:
        for field in ("near", "far"):
            yield (token, (2, groups[token, 2], field)), check.answer[field]


def _count_strange(study: Study, visits: list[Visit]) -> int:
    """Count visits that are not as their participant saw them, and those that nobody made."""
    pages = Counter(
        PageEvent.objects.filter(submission__study=study).values_list(
            "submission__token", flat=True
        )
    )
    states = dict(Submission.objects.filter(study=study).values_list("token", "state"))
    seen_otherwise = sum(
        pages[visit.token] != visit.pages
        or (states.get(visit.token) == SubmissionState.FINISHED) != visit.is_complete
        for visit in visits
    )
    return seen_otherwise + len(states.keys() - {visit.token for visit in visits})
