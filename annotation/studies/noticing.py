"""What the platform noticed about a submission, and what it proposes. A person decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import CheckKind, CheckResponse, Rating, Submission

# From this share of a page's lines on, one and the same place is worth a look.
STRAIGHT_SHARE = 0.75
FEWEST_LINES = 4


class Proposal(TextChoices):
    ACCEPT = "accept", gettext_lazy("Accept")
    LOOK = "look", gettext_lazy("Look closer")
    EXCLUDE = "exclude", gettext_lazy("Exclude data, pay")


@dataclass(frozen=True)
class StraightPage:
    """``lines`` of a page's ``n_lines`` were put at one place."""

    lines: int
    n_lines: int


@dataclass(frozen=True)
class Noticed:
    """``passed`` of ``asked`` checks; ``remarks`` are sentences without a full stop."""

    submission: Submission
    seconds: float | None
    passed: int
    asked: int
    remarks: tuple[str, ...]
    proposal: Proposal


def notice_submissions(
    submissions: Sequence[Submission], *, fast_limit: float | None
) -> list[Noticed]:
    """Return what is worth knowing about finished submissions. Two queries.

    ``fast_limit`` is the study's, in seconds.
    """
    keys = [submission.pk for submission in submissions]
    checks: dict[int, list[CheckResponse]] = {key: [] for key in keys}
    for check in CheckResponse.objects.filter(submission__in=keys).order_by("step_index"):
        checks[check.submission_id].append(check)
    straight = find_straight_pages(keys)
    return [
        _notice(submission, checks[submission.pk], straight.get(submission.pk), fast_limit)
        for submission in submissions
    ]


def find_straight_pages(submission_ids: Iterable[int]) -> dict[int, StraightPage]:
    """Return the straightest page of each submission that has one at all. One query."""
    pages: dict[tuple[int, int], list[float]] = {}
    for submission, assignment, value in Rating.objects.filter(
        assignment__submission__in=list(submission_ids)
    ).values_list("assignment__submission", "assignment", "value"):
        pages.setdefault((submission, assignment), []).append(value)
    found: dict[int, StraightPage] = {}
    for (submission, _assignment), values in pages.items():
        most = Counter(values).most_common(1)[0][1]
        if len(values) < FEWEST_LINES or most / len(values) < STRAIGHT_SHARE:
            continue
        best = found.get(submission)
        if best is None or most / len(values) > best.lines / best.n_lines:
            found[submission] = StraightPage(most, len(values))
    return found


def _notice(
    submission: Submission,
    checks: Sequence[CheckResponse],
    straight: StraightPage | None,
    fast_limit: float | None,
) -> Noticed:
    seconds = (
        (submission.finished_at - submission.started_at).total_seconds()
        if submission.finished_at
        else None
    )
    asked = [check for check in checks if check.passed is not None]
    failed = [check for check in asked if not check.passed]
    is_fast = fast_limit is not None and seconds is not None and seconds < fast_limit
    remarks: list[str] = []
    if is_fast:
        remarks.append(_("Exceptionally fast"))
    if straight is not None:
        remarks.append(
            _("%(lines)s of %(n)s lines at one place")
            % {"lines": straight.lines, "n": straight.n_lines}
        )
    remarks.extend(explain_check(check) for check in checks if not check.passed)
    unusual = is_fast or straight is not None or len(asked) < len(checks)
    return Noticed(
        submission=submission,
        seconds=seconds,
        passed=len(asked) - len(failed),
        asked=len(asked),
        remarks=tuple(remarks),
        proposal=_propose(failed, is_unusual=unusual or submission.checks_passed is None),
    )


def explain_check(check: CheckResponse) -> str:
    """Return in words why a check was not passed."""
    if check.passed is None:
        return check.reason.rstrip(".") or _("A check could not be asked")
    if check.kind == CheckKind.GROUP_NAME:
        return _("Named the group “%(answer)s”") % {"answer": check.answer.get("text", "")}
    if check.kind == CheckKind.MARKED_TRAITS:
        return _("Chose a word that was not marked so")
    return _("Self-agreement under %(percent)s %%") % {
        "percent": f"{100 * float(check.expected.get('at_least', 0)):.0f}"
    }


def _propose(failed: Sequence[CheckResponse], *, is_unusual: bool) -> Proposal:
    """A typed name that was not recognised may still be right, so that a person looks at it."""
    kinds = {check.kind for check in failed}
    if is_unusual or kinds == {CheckKind.GROUP_NAME}:
        return Proposal.LOOK
    return Proposal.EXCLUDE if kinds else Proposal.ACCEPT
