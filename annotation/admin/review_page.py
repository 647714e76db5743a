"""What the page shows on which one submission is reviewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.admin import wording
from annotation.admin.step_answers import describe_step_answers, name_options
from annotation.models import (
    AgreementRule,
    CheckKind,
    CheckResponse,
    DataDecision,
    GroupAssignment,
    Instrument,
    PageEvent,
    Rating,
    RejectionGround,
    Submission,
    SubmissionOrigin,
    SubmissionState,
    TraitScale,
)
from annotation.studies.grounds import rejection_grounds
from annotation.studies.noticing import notice_submissions
from annotation.studies.pace import find_fast_limit, load_durations
from annotation.survey.checks import measure_self_agreement
from annotation.survey.flow import StepKind

MISSING = wording.MISSING


@dataclass(frozen=True)
class CheckRow:
    """One check: what was answered, what was expected, in words."""

    label: str
    answer: str
    expected: str
    badge: str


@dataclass(frozen=True)
class Cell:
    """One rating; ``differs`` marks a repeated rating that does not match the first one."""

    text: str
    differs: bool


@dataclass(frozen=True)
class RatingTable:
    """Scales by groups in the order in which they were rated, with each page's time."""

    heads: Sequence[tuple[str, bool]]
    rows: Sequence[tuple[TraitScale, Sequence[Cell]]]
    times: Sequence[str]


def review_context(submission: Submission) -> dict[str, Any]:
    """Return the context of a submission's review page. Some twelve queries."""
    study, instrument = submission.study, submission.instrument
    fast_limit = find_fast_limit(load_durations(study))
    noticed = notice_submissions([submission], fast_limit=fast_limit)[0]
    scales = list(instrument.scales.all())
    checks = list(submission.checks.all())
    pages = list(submission.pages.all())
    return {
        "study": study,
        "submission": submission,
        "badge": wording.submission_badge(submission),
        "noticed": noticed,
        "proposal_badge": wording.proposal_badge(noticed.proposal),
        "is_finished": submission.state == SubmissionState.FINISHED,
        "can_be_decided": submission.state != SubmissionState.IN_PROGRESS,
        "time": wording.duration(noticed.seconds),
        "fast_limit": wording.duration(fast_limit) if fast_limit else "",
        "agreement": wording.agreement(submission.self_agreement, noticed.agreement_rule),
        "agreement_rule": instrument.agreement_rule,
        "flag_rows": noticed.assessment.flags,
        "unknown_flags": noticed.assessment.undefined,
        "device": describe_device(pages),
        "check_rows": [_describe_check(check, scales, instrument) for check in checks],
        "answer_rows": describe_step_answers(submission),
        "table": build_rating_table(submission, scales, pages),
        "reviews": list(submission.reviews.select_related("reviewer")),
        "grounds": RejectionGround.choices,
        "grounds_found": rejection_grounds(submission),
        "next_submission": find_next(submission),
        "n_waiting": waiting_submissions(submission).count(),
    }


def waiting_submissions(submission: Submission) -> Any:
    """Return the other submissions of the study that wait for review, the oldest first."""
    return (
        Submission.objects.exclude(origin=SubmissionOrigin.PREVIEW)
        .filter(
            study=submission.study,
            state=SubmissionState.FINISHED,
            data_decision=DataDecision.WAITING,
        )
        .exclude(pk=submission.pk)
        .order_by("finished_at", "pk")
    )


def find_next(submission: Submission) -> Submission | None:
    """Return the oldest other submission of the study that waits for review. One query."""
    return waiting_submissions(submission).first()


def describe_device(pages: Sequence[PageEvent]) -> str:
    """Return the kinds of device that the pages were answered on."""
    return ", ".join(
        dict.fromkeys(str(p.client["device"]) for p in pages if p.client.get("device"))
    )


def build_rating_table(
    submission: Submission, scales: Sequence[TraitScale], pages: Sequence[PageEvent]
) -> RatingTable | None:
    """Return the ratings with scales as rows, None where there are none. Two queries."""
    assignments = list(submission.assignments.select_related("group").order_by("position"))
    values: dict[int, dict[str, float]] = {}
    for assignment_id, slug, value in Rating.objects.filter(
        assignment__submission=submission
    ).values_list("assignment", "scale__slug", "value"):
        values.setdefault(assignment_id, {})[slug] = value
    rated = [assignment for assignment in assignments if assignment.pk in values]
    if not rated:
        return None
    first = {a.group_id: a for a in rated if not a.is_repeat}
    rows = []
    for scale in scales:
        cells = []
        for assignment in rated:
            rating = values[assignment.pk].get(scale.slug)
            differs = assignment.is_repeat and _differs(
                values.get(first[assignment.group_id].pk, {})
                if assignment.group_id in first
                else {},
                values[assignment.pk],
                scale.slug,
                submission.instrument,
            )
            cells.append(Cell(MISSING if rating is None else f"{rating:g}", differs))
        rows.append((scale, cells))
    return RatingTable(
        heads=[(assignment.group.plural, assignment.is_repeat) for assignment in rated],
        rows=rows,
        times=_list_times(rated, pages),
    )


def _differs(
    first: Mapping[str, float], second: Mapping[str, float], scale: str, instrument: Instrument
) -> bool:
    """Whether a repeated rating does not match, by the rule of the self-agreement check.

    Kendall's tau looks at the order of all lines: no single one matches or not.
    """
    is_order = instrument.agreement_rule == AgreementRule.KENDALL
    if is_order or scale not in first or scale not in second:
        return False
    one = measure_self_agreement(
        {scale: first[scale]},
        {scale: second[scale]},
        within=instrument.agreement_within,
        rule=instrument.agreement_rule,
    )
    return one.matching == 0


def _list_times(rated: Sequence[GroupAssignment], pages: Sequence[PageEvent]) -> list[str]:
    """Return each rating page's time between opening and sending, in the order of the pages."""
    rating_pages = [
        page
        for page in sorted(pages, key=lambda page: page.step_index)
        if page.step_kind in {StepKind.RATING, StepKind.REPEAT}
    ]
    times = [
        wording.duration((page.submitted_at - page.opened_at).total_seconds())
        if page.opened_at
        else MISSING
        for page in rating_pages
    ]
    return (times + [MISSING] * len(rated))[: len(rated)]


def _describe_check(
    check: CheckResponse, scales: Sequence[TraitScale], instrument: Instrument
) -> CheckRow:
    kind = CheckKind(check.kind)
    if kind in _ANSWERS:
        answer, expected = _ANSWERS[kind](check, scales)
    else:
        answer, expected = _describe_options(check, instrument)
    if check.passed is None:
        said = _("Not defined") if kind == CheckKind.REPEATED_GROUP else _("Not asked")
        badge, answer = wording.badge("mark-ring", said), check.reason or MISSING
    elif check.passed:
        badge = wording.badge("good mark-tick", _("Passed"))
    else:
        badge = wording.badge("bad mark-cross", _("Failed"))
    return CheckRow(wording.check_label(kind), answer, expected, badge)


def _describe_group_name(check: CheckResponse, scales: Sequence[TraitScale]) -> tuple[str, str]:
    return f"“{check.answer.get('text', '')}”", f"“{check.expected.get('plural', '')}”"


def _describe_traits(check: CheckResponse, scales: Sequence[TraitScale]) -> tuple[str, str]:
    words = {
        f"{scale.slug}:{pole}": getattr(scale, pole) for scale in scales for pole in ("low", "high")
    }

    def name(keys: object) -> str:
        chosen = keys if isinstance(keys, list) else [keys]
        return " / ".join(f"“{words.get(str(key), key)}”" for key in chosen)

    pattern = _("near: %(near)s, far: %(far)s")
    return (
        pattern % {"near": name(check.answer.get("near")), "far": name(check.answer.get("far"))},
        pattern
        % {"near": name(check.expected.get("near")), "far": name(check.expected.get("far"))},
    )


def _describe_repeat(check: CheckResponse, scales: Sequence[TraitScale]) -> tuple[str, str]:
    matching, n = check.answer.get("matching"), check.answer.get("scales")
    at_least = check.expected.get("at_least")
    if check.expected.get("rule") == AgreementRule.KENDALL:
        return (
            _("%(tau)s over %(n)s lines")
            % {"tau": wording.agreement(check.answer.get("tau"), AgreementRule.KENDALL), "n": n},
            _("at least %(tau)s") % {"tau": wording.agreement(at_least, AgreementRule.KENDALL)},
        )
    return (
        _("%(matching)s of %(n)s lines match") % {"matching": matching, "n": n},
        _("at least %(share)s")
        % {"share": wording.percent(float(at_least) if at_least is not None else None)},
    )


def _describe_options(check: CheckResponse, instrument: Instrument) -> tuple[str, str]:
    """Return what was chosen, try by try, and what passes, in the words of the page."""
    chosen = check.answer.get("tries") or [check.answer.get("chosen", "")]
    return (
        _(", then ").join(name_options(instrument, check.step_index, chosen)),
        " / ".join(name_options(instrument, check.step_index, check.expected.get("any_of", []))),
    )


_ANSWERS = {
    CheckKind.GROUP_NAME: _describe_group_name,
    CheckKind.MARKED_TRAITS: _describe_traits,
    CheckKind.REPEATED_GROUP: _describe_repeat,
}
