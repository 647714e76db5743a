"""What the platform noticed about a submission, and what it proposes. A person decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import AgreementRule, CheckKind, CheckResponse, Submission
from annotation.studies.quality import Assessment, assess_submissions

REPEATED = CheckKind.REPEATED_GROUP

PLAIN_REMARKS = {
    CheckKind.INSTRUCTED: gettext_lazy("Did not choose the answer that the text asked for"),
    CheckKind.NONSENSICAL: gettext_lazy("Affirmed a statement that is true of nobody"),
    CheckKind.COMPREHENSION: gettext_lazy("Misunderstood the instructions twice"),
}


class Proposal(TextChoices):
    ACCEPT = "accept", gettext_lazy("Accept")
    LOOK = "look", gettext_lazy("Look closer")
    EXCLUDE = "exclude", gettext_lazy("Exclude data")


@dataclass(frozen=True)
class Noticed:
    """``passed`` of ``asked`` checks; ``remarks`` are sentences without a full stop."""

    submission: Submission
    seconds: float | None
    passed: int
    asked: int
    remarks: tuple[str, ...]
    proposal: Proposal
    assessment: Assessment = field(default_factory=Assessment)
    agreement_rule: str = AgreementRule.SAME_SIDE.value


def notice_submissions(
    submissions: Sequence[Submission], *, fast_limit: float | None
) -> list[Noticed]:
    """Return what is worth knowing about submissions, with their flags.

    One query, and ten for each study. ``fast_limit`` is the study's, in seconds.
    """
    keys = [submission.pk for submission in submissions]
    checks: dict[int, list[CheckResponse]] = {key: [] for key in keys}
    for check in CheckResponse.objects.filter(submission__in=keys).order_by("step_index"):
        checks[check.submission_id].append(check)
    found = assess_submissions(submissions)
    return [
        _notice(submission, checks[submission.pk], found[submission.pk], fast_limit)
        for submission in submissions
    ]


def _notice(
    submission: Submission,
    checks: Sequence[CheckResponse],
    assessment: Assessment,
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
    remarks = [
        *([_("Exceptionally fast")] if is_fast else []),
        *(flag.why for flag in assessment.flags),
        *(explain_check(check) for check in checks if not check.passed),
    ]
    unusual = is_fast or assessment.has_warning or len(asked) < len(checks)
    return Noticed(
        submission=submission,
        seconds=seconds,
        passed=len(asked) - len(failed),
        asked=len(asked),
        remarks=tuple(remarks),
        proposal=_propose(failed, is_unusual=unusual or submission.checks_passed is None),
        assessment=assessment,
        agreement_rule=_find_agreement_rule(checks),
    )


def _find_agreement_rule(checks: Sequence[CheckResponse]) -> str:
    """Return the rule that gave the submission's self-agreement, as its check kept it."""
    rules = [check.expected.get("rule") for check in checks if check.kind == REPEATED]
    return rules[-1] if rules and rules[-1] else AgreementRule.SAME_SIDE.value


def explain_check(check: CheckResponse) -> str:
    """Return in words why a check was not passed."""
    if check.passed is None:
        return check.reason.rstrip(".") or _("A check could not be asked")
    if check.kind == CheckKind.GROUP_NAME:
        return _("Named the group “%(answer)s”") % {"answer": check.answer.get("text", "")}
    if check.kind == CheckKind.MARKED_TRAITS:
        if check.expected.get("typed"):
            return _("Typed “%(near)s” as high and “%(far)s” as low") % check.answer
        return _("Chose a word that was not marked so")
    if check.kind in PLAIN_REMARKS:
        return str(PLAIN_REMARKS[CheckKind(check.kind)])
    at_least = float(check.expected.get("at_least", 0))
    if check.expected.get("rule") == AgreementRule.KENDALL:
        return _("Self-agreement under %(tau)s (Kendall’s tau)") % {"tau": f"{at_least:.2f}"}
    return _("Self-agreement under %(percent)s %%") % {"percent": f"{100 * at_least:.0f}"}


def _propose(failed: Sequence[CheckResponse], *, is_unusual: bool) -> Proposal:
    """A typed word that was not recognized may still be right, so that a person looks at it."""
    kinds = {check.kind for check in failed}
    typed = [c.kind == CheckKind.GROUP_NAME or c.expected.get("typed", False) for c in failed]
    if is_unusual or (typed and all(typed)):
        return Proposal.LOOK
    return Proposal.EXCLUDE if kinds else Proposal.ACCEPT
