"""The numbers of a study's main page, each from the database and none of them guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from annotation.common.proportions import Proportion, estimate_proportion
from annotation.instruments.flow import FlowError, count_groups, parse_flow
from annotation.models import (
    CheckKind,
    CheckResponse,
    DataDecision,
    Instrument,
    PayDecision,
    Study,
    Submission,
    SubmissionState,
)
from annotation.models.submission import in_scope
from annotation.steps.rating import RatingStep
from annotation.studies.ledger import estimate_people
from annotation.studies.pace import Pace, load_pace
from annotation.studies.quality.crowd import CrowdKey, KeptOfCrowd, keeps_answers, name_crowd
from annotation.studies.quotas import GroupQuota, count_quotas, find_slow


@dataclass(frozen=True)
class Stage:
    """One stage of the way from start to accepted data; ``share`` is of the stage before."""

    key: str
    count: int
    share: float | None


@dataclass(frozen=True)
class CheckResult:
    """Failures of one kind of check among those who were asked; None is “any of them”.

    ``not_asked`` counts those whom it could not be asked in any place of the flow.
    """

    kind: CheckKind | None
    failed: Proportion
    not_asked: int


@dataclass(frozen=True)
class Counts:
    """Submissions of a study by what became of them."""

    started: int
    consented: int
    rated: int
    finished: int
    reviewed: int
    accepted: int
    waiting: int
    excluded: int
    rating_now: int
    withdrawn: int
    pay_approved: int
    pay_waiting: int
    pay_rejected: int
    judged: int
    failed_any: int


@dataclass(frozen=True)
class Overview:
    """Everything that the main page of a study shows, but for the rows that wait for review."""

    study: Study
    instruments: tuple[Instrument, ...]
    counts: Counts
    stages: tuple[Stage, ...]
    quotas: tuple[GroupQuota, ...]
    checks: tuple[CheckResult, ...]
    pace: Pace
    crowd: CrowdKey

    @property
    def instrument(self) -> Instrument | None:
        """The newest version."""
        return self.instruments[0] if self.instruments else None

    @property
    def people_to_go(self) -> int:
        """How many more must finish if the same share is accepted as so far."""
        if self.instrument is None:
            return 0
        try:
            groups = count_groups(self.instrument.flow)
        except FlowError:
            return 0
        return estimate_people(self.ratings_missing, groups, self.accepted_share)

    @property
    def accepted_share(self) -> float | None:
        """Of those who were decided about; None before anybody was."""
        decided = self.counts.reviewed
        return self.counts.accepted / decided if decided else None

    @property
    def ratings_wanted(self) -> int:
        """Ratings of a group, one for each participant and group."""
        return sum(quota.wanted for quota in self.quotas)

    @property
    def ratings_accepted(self) -> int:
        return sum(quota.accepted for quota in self.quotas)

    @property
    def ratings_missing(self) -> int:
        return sum(max(0, quota.wanted - quota.accepted) for quota in self.quotas)

    @property
    def places_held(self) -> int:
        return sum(quota.in_progress for quota in self.quotas)

    @property
    def cents_approved(self) -> int:
        return self.counts.pay_approved * self.study.reward_cents

    @property
    def cents_waiting(self) -> int:
        """Rewards of those who finished and wait for a decision about their pay."""
        return self.counts.pay_waiting * self.study.reward_cents

    @property
    def cents_an_hour(self) -> float | None:
        seconds = self.pace.median_seconds
        if not seconds or not self.study.reward_cents:
            return None
        return self.study.reward_cents * 3600 / seconds

    @property
    def slow_groups(self) -> tuple[GroupQuota, ...]:
        """Up to five groups that lag behind the others."""
        return find_slow(self.quotas)


def load_overview(study: Study) -> Overview:
    """Return the overview of a study, of whatever size.

    Four queries; two more where others are finished than this process has seen, and two more for
    an instrument that was not met before or is not frozen.
    """
    instruments = tuple(study.instruments.order_by("-version"))
    instrument = instruments[0] if instruments else None
    counts = count_submissions(study, instruments)
    crowd = name_crowd(study)
    quotas = tuple(count_quotas(study, instrument=instrument)) if instrument else ()
    return Overview(
        study=study,
        instruments=instruments,
        counts=counts,
        stages=build_stages(counts),
        quotas=quotas,
        checks=count_failed_checks(study, counts, crowd),
        pace=load_pace(study, crowd),
        crowd=crowd,
    )


def count_submissions(study: Study, instruments: Sequence[Instrument]) -> Counts:
    """Return how many submissions are where. One query."""
    state, data, pay = SubmissionState, DataDecision, PayDecision
    finished = Q(state=state.FINISHED)
    row = Submission.objects.in_scope(study).aggregate(
        started=Count("pk"),
        consented=Count("pk", filter=Q(consented_at__isnull=False)),
        rated=Count("pk", filter=_has_rated(instruments)),
        # A submission that was withdrawn after its end did finish.
        finished=Count("pk", filter=finished | Q(finished_at__isnull=False)),
        reviewed=Count("pk", filter=finished & ~Q(data_decision=data.WAITING)),
        accepted=Count("pk", filter=Q(data_decision=data.ACCEPTED)),
        waiting=Count("pk", filter=finished & Q(data_decision=data.WAITING)),
        excluded=Count("pk", filter=finished & Q(data_decision=data.EXCLUDED)),
        rating_now=Count(
            "pk", filter=Q(state=state.IN_PROGRESS, reserved_until__gt=timezone.now())
        ),
        withdrawn=Count("pk", filter=Q(state=state.WITHDRAWN)),
        pay_approved=Count("pk", filter=Q(pay_decision=pay.APPROVED)),
        pay_waiting=Count("pk", filter=finished & Q(pay_decision=pay.WAITING)),
        pay_rejected=Count("pk", filter=Q(pay_decision=pay.REJECTED)),
        judged=Count("pk", filter=finished & Q(checks_passed__isnull=False)),
        failed_any=Count("pk", filter=finished & Q(checks_passed=False)),
    )
    return Counts(**row)


def build_stages(counts: Counts) -> tuple[Stage, ...]:
    """Return the stages from start to accepted data."""
    stages: list[Stage] = []
    for key in ("started", "consented", "rated", "finished", "reviewed", "accepted"):
        count = getattr(counts, key)
        before = stages[-1].count if stages else 0
        stages.append(Stage(key, count, count / before if before else None))
    return tuple(stages)


def count_failed_checks(study: Study, counts: Counts, crowd: CrowdKey) -> tuple[CheckResult, ...]:
    """Return the failures of each kind of check that came up, then of any.

    A submission that was asked twice and failed once has failed; checks that could not be asked
    count neither way, but for those who could not be asked any of that kind. One query, none where
    this process knows the checks of the finished submissions ``crowd``.
    """
    asked = _asked.get(study, crowd) if keeps_answers(study) else _count_asked(study)
    results = [
        CheckResult(
            kind, estimate_proportion(row["failed"], row["n"]), not_asked=row["met"] - row["n"]
        )
        for kind in CheckKind
        if (row := asked.get(kind))
    ]
    if results:
        results.append(
            CheckResult(
                None,
                estimate_proportion(counts.failed_any, counts.judged),
                not_asked=counts.reviewed + counts.waiting - counts.judged,
            )
        )
    return tuple(results)


def _count_asked(study: Study) -> Mapping[str, Mapping[str, Any]]:
    """Return by kind of check how many finished: all who met it, who were asked, who failed."""
    rows = (
        CheckResponse.objects.filter(
            in_scope(study, of="submission__"), submission__state=SubmissionState.FINISHED
        )
        .values("kind")
        .annotate(
            met=Count("submission", distinct=True),
            n=Count("submission", filter=Q(passed__isnull=False), distinct=True),
            failed=Count("submission", filter=Q(passed=False), distinct=True),
        )
        .order_by()
    )
    return {row["kind"]: row for row in rows}


_asked = KeptOfCrowd(64, _count_asked)


def _has_rated(instruments: Sequence[Instrument]) -> Q:
    """Return the condition “has passed the first rating page of its own instrument”.

    The step is kept when a participant withdraws and the ratings are erased.
    """
    condition = Q(pk__in=[])
    for instrument in instruments:
        try:
            steps = parse_flow(instrument.flow)
        except FlowError:  # a draft that is being edited; nobody has taken it
            continue
        first = next(step.index for step in steps if step.kind == RatingStep.name)
        condition |= Q(instrument=instrument, step_index__gt=first)
    return condition
