"""A study’s ledger: what it has cost, what is under way, what it will cost, and what an hour pays.

All amounts are whole numbers of the currency's smallest unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.functional import cached_property

from annotation.common.money import round_minor, take_percent
from annotation.instruments.flow import FlowError, count_groups
from annotation.instruments.versions import current_instrument
from annotation.models import (
    ActionKind,
    ActionState,
    PanelAction,
    PanelRecord,
    PanelSettings,
    PayDecision,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.models.submission import in_scope
from annotation.panels.action_plan import (
    PlanTotals,
    ask_for_rejections,
    ask_for_returns,
    ask_for_rewards,
    total_plan,
)
from annotation.panels.study_settings import load_panel_settings
from annotation.studies.pace import Pace, load_pace
from annotation.studies.quotas import count_quotas


@dataclass(frozen=True)
class LedgerLine:
    """Actions of one kind: how many and how much in each state; amounts without the fee."""

    kind: ActionKind
    counts: dict[str, int]
    amounts: dict[str, int]

    @property
    def people(self) -> int:
        return sum(self.counts.values())

    @property
    def amount_minor(self) -> int:
        return sum(self.amounts.values())


@dataclass(frozen=True)
class Hourly:
    """What an hour pays; ``median`` None before anybody has finished."""

    expected: int | None
    median: int | None
    n: int
    minimum: int

    @property
    def is_too_low(self) -> bool:
        rate = self.expected if self.median is None else self.median
        return rate is not None and self.minimum > 0 and rate < self.minimum


@dataclass(frozen=True)
class ToGo:
    """What is still missing: people who must finish if as many are accepted as so far."""

    people: int
    amount_minor: int
    accepted_share: float | None


class Ledger:
    """The money of one study. Every part is a few queries, whatever the size of the study."""

    def __init__(self, study: Study, *, pace: Pace | None = None) -> None:
        """``pace`` spares queries where it is known."""
        self.study = study
        self._pace = pace
        self.settings: PanelSettings = load_panel_settings(study)

    @cached_property
    def lines(self) -> list[LedgerLine]:
        """One query."""
        found: dict[str, LedgerLine] = {kind.value: LedgerLine(kind, {}, {}) for kind in ActionKind}
        rows = (
            PanelAction.objects.filter(study=self.study)
            .values("kind", "state")
            .annotate(n=Count("pk"), total=Sum("amount_minor"))
            .order_by()
        )
        for row in rows:
            line = found[row["kind"]]
            line.counts[row["state"]], line.amounts[row["state"]] = row["n"], row["total"] or 0
        return [line for line in found.values() if line.counts]

    @property
    def paid_minor(self) -> int:
        """Confirmed by the panel, without its fee."""
        return self._sum({ActionState.CONFIRMED})

    @property
    def under_way_minor(self) -> int:
        """Planned, sent or unclear, without the fee."""
        return self._sum({ActionState.PLANNED, ActionState.SENT, ActionState.UNCLEAR})

    def fee_of(self, minor: int) -> int:
        return take_percent(minor, self.settings.fee_percent)

    def with_fee(self, minor: int) -> int:
        return minor + self.fee_of(minor)

    @cached_property
    def rewards(self) -> PlanTotals:
        return total_plan(*ask_for_rewards(self.study))

    @cached_property
    def rejections(self) -> PlanTotals:
        return total_plan(*ask_for_rejections(self.study))

    @cached_property
    def returns(self) -> PlanTotals:
        return total_plan(*ask_for_returns(self.study))

    @cached_property
    def undecided(self) -> int:
        """People who finished and wait for a decision about their pay. One query."""
        return (
            Submission.objects.filter(
                study=self.study,
                state=SubmissionState.FINISHED,
                pay_decision=PayDecision.WAITING,
            )
            .exclude(origin=SubmissionOrigin.PREVIEW)
            .count()
        )

    @cached_property
    def hourly(self) -> Hourly:
        """Two queries at most, none with a known pace."""
        pace = self._pace or load_pace(self.study)
        return Hourly(
            expected=per_hour(self.study.reward_cents, self.study.estimated_minutes * 60),
            median=per_hour(self.study.reward_cents, pace.median_seconds),
            n=len(pace.durations),
            minimum=self.settings.minimum_hourly_minor,
        )

    @cached_property
    def to_go(self) -> ToGo:
        """What the missing ratings will cost. Five queries."""
        instrument = current_instrument(self.study)
        if instrument is None:
            return ToGo(0, 0, None)
        try:
            groups = count_groups(instrument.flow)
        except FlowError:
            return ToGo(0, 0, None)
        quotas = count_quotas(self.study, instrument=instrument)
        missing = sum(max(0, quota.wanted - quota.accepted) for quota in quotas)
        decided = Submission.objects.filter(
            in_scope(self.study), study=self.study, state=SubmissionState.FINISHED
        ).aggregate(
            accepted=Count("pk", filter=Q(data_decision="accepted")),
            decided=Count("pk", filter=~Q(data_decision="waiting")),
        )
        share = decided["accepted"] / decided["decided"] if decided["decided"] else None
        people = estimate_people(missing, groups, share)
        return ToGo(people, people * self.study.reward_cents, share)

    @cached_property
    def unclear(self) -> QuerySet[PanelAction]:
        return self._troubled(ActionState.UNCLEAR)

    @cached_property
    def refused(self) -> QuerySet[PanelAction]:
        return self._troubled(ActionState.FAILED)

    @cached_property
    def waiting_problem(self) -> str:
        """Why planned actions wait, where there is a reason. One query."""
        waiting = PanelAction.objects.filter(study=self.study, state=ActionState.PLANNED)
        return waiting.exclude(problem="").values_list("problem", flat=True).first() or ""

    @cached_property
    def panel_counts(self) -> Sequence[tuple[str, int]]:
        """Submissions by what the panel said of them last. One query."""
        rows = PanelRecord.objects.filter(submission__study=self.study).values("status")
        return list(
            rows.annotate(n=Count("pk")).order_by("-n", "status").values_list("status", "n")
        )

    def _troubled(self, state: ActionState) -> QuerySet[PanelAction]:
        actions = PanelAction.objects.filter(study=self.study, state=state)
        return actions.select_related("submission").order_by("pk")

    def _sum(self, states: set[ActionState]) -> int:
        return sum(
            amount
            for line in self.lines
            for state, amount in line.amounts.items()
            if state in states
        )


def per_hour(minor: int, seconds: float | None) -> int | None:
    """Return what an hour pays in whole smallest units; None without a reward or a time."""
    if not minor or not seconds or seconds <= 0:
        return None
    return round_minor(Decimal(minor) * 3600 / Decimal(str(seconds)))


def estimate_people(missing: int, groups: int, accepted_share: float | None) -> int:
    """Return how many must finish for ``missing`` ratings of groups, ``groups`` by each person.

    ``accepted_share`` of those who finish are accepted, everyone where nothing is decided yet; with
    nobody accepted so far, everyone is assumed too.
    """
    if missing <= 0 or groups <= 0:
        return 0
    share = accepted_share or 1.0
    return math.ceil(round(missing / groups / share, 9))
