"""The page on which one submission is reviewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from annotation.instruments.checks import measure_self_agreement
from annotation.models import (
    AgreementRule,
    DataDecision,
    GroupAssignment,
    Instrument,
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
from annotation.researcher.submissions.answers import describe_check, describe_step_answers
from annotation.steps.rating import RatingStep, Repeat
from annotation.studies.bulk_review import DECISIONS
from annotation.studies.pace import load_pace
from annotation.studies.rejection_grounds import rejection_grounds
from annotation.studies.review_service import has_failed_memory_check, review_submission
from annotation.studies.submission_summary import notice_submissions


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
        if self.submission.pay_decision == PayDecision.REJECTED:
            said = _("%(submission)s: data excluded, pay rejected.")
        elif self.submission.data_decision == DataDecision.ACCEPTED:
            said = _("%(submission)s: data accepted, pay approved.")
        else:
            said = _("%(submission)s: data excluded, pay approved.")
        messages.success(self.request, said % {"submission": self.submission})

    def get_context_data(self) -> dict[str, Any]:
        submission, instrument = self.submission, self.submission.instrument
        fast_limit = load_pace(self.study).fast_limit
        scales = list(instrument.scales.all())
        pages = list(submission.pages.all())
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
    """Return the ratings with scales as rows, None where there are none. Two queries.

    ``heads`` are groups in the order in which they were rated, and whether again; a cell of
    ``rows`` is a rating, and whether it repeats one that it does not match; ``times`` are those of
    the pages.
    """
    values: dict[int, dict[str, float]] = {}
    for assignment_id, slug, value in Rating.objects.filter(
        assignment__submission=submission
    ).values_list("assignment", "scale__slug", "value"):
        values.setdefault(assignment_id, {})[slug] = value
    rated = [
        assignment
        for assignment in submission.assignments.select_related("group").order_by("position")
        if assignment.pk in values
    ]
    if not rated:
        return None
    first = {a.group_id: values[a.pk] for a in rated if not a.is_repeat}

    def cell(assignment: GroupAssignment, scale: str) -> tuple[str, bool]:
        own, before = values[assignment.pk], first.get(assignment.group_id, {})
        differs = assignment.is_repeat and _differs(before, own, scale, submission.instrument)
        return (f"{own[scale]:g}" if scale in own else MISSING), differs

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
