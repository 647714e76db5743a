"""The page on which one submission is reviewed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from annotation.instruments.checks import measure_self_agreement
from annotation.instruments.flow import Step, read_flow
from annotation.models import (
    AgreementRule,
    CheckKind,
    CheckResponse,
    DataDecision,
    GroupAssignment,
    Instrument,
    Missing,
    MissingRating,
    PageEvent,
    PayDecision,
    Rating,
    RejectionGround,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
    TraitScale,
)
from annotation.models.submission import in_review
from annotation.researcher.pages import formatting
from annotation.researcher.pages.formatting import MISSING
from annotation.researcher.pages.study_page import StudyPage
from annotation.steps.question import OptionsQuestion, Question, read_answer
from annotation.steps.rating import RatingStep, Repeat
from annotation.steps.texts import text_in
from annotation.studies.pace import load_pace
from annotation.studies.queue import DECISIONS
from annotation.studies.rejection_grounds import rejection_grounds
from annotation.studies.review_service import has_failed_memory_check, review_submission
from annotation.studies.submission_summary import notice_submissions

# --- Answers to checks and to the questions of a flow, in the words of their pages ----------------


def describe_check(
    check: CheckResponse, scales: Sequence[TraitScale], instrument: Instrument
) -> dict[str, Any]:
    """Return a check's label, what was answered, what was expected, and a badge of its result."""
    kind = CheckKind(check.kind)
    if kind in _ANSWERS:
        answer, expected = _ANSWERS[kind](check, scales)
    else:
        answer, expected = _describe_options(check, instrument)
    if check.passed is None:
        said = (
            _("Not defined")
            if kind == CheckKind.REPEATED_GROUP and check.answer
            else _("Not asked")
        )
        badge, answer = formatting.badge("mark-ring", said), check.reason or MISSING
        expected = expected if check.expected else MISSING
    elif check.passed:
        badge = formatting.badge("good mark-tick", _("Passed"))
    else:
        badge = formatting.badge("bad mark-cross", _("Failed"))
    label = formatting.check_label(kind)
    return {"label": label, "answer": answer, "expected": expected, "badge": badge}


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
            % {"tau": formatting.agreement(check.answer.get("tau"), AgreementRule.KENDALL), "n": n},
            _("at least %(tau)s") % {"tau": formatting.agreement(at_least, AgreementRule.KENDALL)},
        )
    return (
        _("%(matching)s of %(n)s lines match") % {"matching": matching, "n": n},
        _("at least %(share)s")
        % {"share": formatting.percent(float(at_least) if at_least is not None else None)},
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


def describe_step_answers(submission: Submission) -> list[tuple[str, str]]:
    """Return questions and answers in the order of the flow. One query."""
    instrument = submission.instrument
    rows = []
    for answer in submission.step_answers.order_by("step_index"):
        step = _find_step(instrument, answer.step_index)
        content = step.content if step else None
        question = answer.key
        if isinstance(content, Question):
            question = text_in(content.question, instrument.language)
        for line in read_answer(
            content, answer.value, partial(text_in, language=instrument.language)
        ):
            words = [f"“{word}”" for word in line.words] if line.is_chosen else line.words
            asked = f"{question} – {line.label}" if line.label else question
            rows.append((asked, "; ".join(words)))
    return rows


def name_options(instrument: Instrument, step_index: int, values: Iterable[str]) -> list[str]:
    """Return the texts of answers to choose from, their names where the step knows none."""
    step = _find_step(instrument, step_index)
    content = step.content if step else None
    texts = (
        {option.value: text_in(option.text, instrument.language) for option in content.options}
        if isinstance(content, OptionsQuestion)
        else {}
    )
    return [f"“{texts[value]}”" if value in texts else str(value) for value in values]


def _find_step(instrument: Instrument, index: int) -> Step | None:
    steps, _problems = read_flow(instrument.flow)
    return next((step for step in steps if step.index == index), None)


class ReviewPage(StudyPage):
    """One submission with everything that is known of it. Some twenty queries."""

    is_review = True
    route = "<int:pk>/review/"
    name = "review"
    tab = "submissions"
    folder = "submission"
    submission: Submission

    def find_study(self) -> Study:
        found = Submission.objects.visible_to(self.request.user).select_related(
            "study", "instrument", "participant"
        )
        self.submission = get_object_or_404(found, pk=self.kwargs["pk"])
        return self.submission.study

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if problems := self.review():
            return self.show(problems=problems, status=422)
        self.tell()
        following = list_waiting(self.submission).first()
        if following is None:
            return self.go_to("overview")
        return redirect("admin:annotation_submission_review", following.pk)

    def review(self) -> list[str]:
        """Store the decision that was sent; return what was wrong with it."""
        sent = self.request.POST
        decision = sent.get("decision", "")
        if decision not in DECISIONS:
            return [_("Choose one of the decisions.")]
        data_decision, pay_decision = DECISIONS[decision]
        rejected = decision == "reject"
        try:
            review_submission(
                submission=self.submission,
                reviewer=self.user,
                data_decision=data_decision,
                pay_decision=pay_decision,
                reason=sent.get("rejection_reason" if rejected else "reason", ""),
                on_ground=sent.get("ground", "") if rejected else "",
            )
        except ValidationError as error:
            return error.messages
        return []

    def tell(self) -> None:
        is_accepted = self.submission.data_decision == DataDecision.ACCEPTED
        if self.submission.pay_decision == PayDecision.REJECTED:
            said = _("%(submission)s: data excluded, pay rejected.")
        elif not self.study.is_paid and is_accepted:
            said = _("%(submission)s: data accepted.")
        elif not self.study.is_paid:
            said = _("%(submission)s: data excluded.")
        elif is_accepted:
            said = _("%(submission)s: data accepted, pay approved.")
        else:
            said = _("%(submission)s: data excluded, pay approved.")
        messages.success(self.request, said % {"submission": self.submission})

    def get_context_data(self) -> dict[str, Any]:
        submission, instrument = self.submission, self.submission.instrument
        fast_limit = load_pace(self.study).fast_limit
        scales = list(instrument.scales.all())
        pages = list(submission.pages.all())
        left_out = submission.assignments.exclude(skipped="").select_related("group")
        waiting = list_waiting(submission)
        return {
            **super().get_context_data(),
            "title": str(submission),
            "may_change": self.may_act,
            "sent": self.request.POST,
            "submission": submission,
            "badge": formatting.submission_badge(submission),
            "noticed": notice_submissions([submission], fast_limit=fast_limit)[0],
            "is_finished": submission.state == SubmissionState.FINISHED,
            "can_be_decided": submission.state != SubmissionState.IN_PROGRESS,
            "fast_limit": formatting.duration(fast_limit) if fast_limit else "",
            "agreement_rule": instrument.agreement_rule,
            "device": describe_device(pages),
            "check_rows": [
                describe_check(check, scales, instrument) for check in submission.checks.all()
            ],
            "answer_rows": describe_step_answers(submission),
            "left_out": [(one.group.plural, one.get_skipped_display()) for one in left_out],
            "table": build_rating_table(submission, scales, pages),
            "reviews": list(submission.reviews.select_related("reviewer")),
            "grounds": RejectionGround.choices,
            "grounds_found": rejection_grounds(submission),
            "has_failed_memory_check": has_failed_memory_check(submission),
            "next_submission": waiting.first(),
        }


def list_waiting(submission: Submission) -> QuerySet[Submission]:
    """Return the other submissions of the study that wait for review, the oldest first."""
    return (
        Submission.objects.exclude(origin=SubmissionOrigin.PREVIEW)
        .filter(in_review(), study=submission.study)
        .exclude(pk=submission.pk)
        .order_by("finished_at", "pk")
    )


def describe_device(pages: Sequence[PageEvent]) -> str:
    """Return the kinds of device that the pages were answered on."""
    return ", ".join(
        dict.fromkeys(str(p.client["device"]) for p in pages if p.client.get("device"))
    )


def build_rating_table(
    submission: Submission, scales: Sequence[TraitScale], pages: Sequence[PageEvent]
) -> dict[str, Any] | None:
    """Return the ratings with scales as rows, None where there are none. Three queries.

    ``heads`` are groups in the order in which they were rated, and whether again; a cell of
    ``rows`` is a rating, and whether it repeats one that it does not match; ``times`` are those of
    the pages.
    """
    values: dict[int, dict[str, float]] = {}
    for assignment_id, slug, value in Rating.objects.filter(
        assignment__submission=submission
    ).values_list("assignment", "scale__slug", "value"):
        values.setdefault(assignment_id, {})[slug] = value
    left_out = {
        (assignment, slug): str(Missing(kind).label)
        for assignment, slug, kind in MissingRating.objects.filter(
            assignment__submission=submission
        ).values_list("assignment", "scale__slug", "kind")
    }
    rated = [
        assignment
        for assignment in submission.assignments.select_related("group").order_by("position")
        if assignment.pk in values or assignment.skipped
    ]
    if not rated:
        return None
    first = {a.group_id: values.get(a.pk, {}) for a in rated if not a.is_repeat}

    def cell(assignment: GroupAssignment, scale: str) -> tuple[str, bool]:
        own, before = values.get(assignment.pk, {}), first.get(assignment.group_id, {})
        differs = assignment.is_repeat and _differs(before, own, scale, submission.instrument)
        if scale in own:
            return f"{own[scale]:g}", differs
        return left_out.get((assignment.pk, scale), MISSING), differs

    return {
        "heads": [(assignment.group.plural, assignment.is_repeat) for assignment in rated],
        "rows": [(scale, [cell(one, scale.slug) for one in rated]) for scale in scales],
        "times": _list_times(len(rated), pages),
    }


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


def _list_times(n_rated: int, pages: Sequence[PageEvent]) -> list[str]:
    """Return each rating page's time between opening and sending, in the order of the pages."""
    times = [
        formatting.duration((page.submitted_at - page.opened_at).total_seconds())
        if page.opened_at
        else MISSING
        for page in sorted(pages, key=lambda page: page.step_index)
        if page.step_kind in {RatingStep.name, Repeat.name}
    ]
    return (times + [MISSING] * n_rated)[:n_rated]
