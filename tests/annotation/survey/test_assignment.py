"""Assignment: groups far from their quota first, and no hard quota ever exceeded."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import (
    DataDecision,
    Panel,
    QuotaRule,
    StudyGroup,
    Submission,
    SubmissionState,
)
from annotation.studies.quotas import GroupQuota, count_quotas
from annotation.survey.arrival import Arrival, start_submission
from annotation.survey.group_assignment import choose_groups
from annotation.survey.visits.errors import StudyFull
from annotation.survey.visits.repeated_group import choose_repeat


def quotas_of(*taken: int, wanted: int = 3) -> list[GroupQuota]:
    return [
        GroupQuota(StudyGroup(pk=number, slug=f"g{number}"), wanted, count, 0, 0)
        for number, count in enumerate(taken)
    ]


def slugs(groups: list[StudyGroup]) -> set[str]:
    return {group.slug for group in groups}


def test_groups_with_the_most_open_slots_come_first() -> None:
    quotas = quotas_of(2, 0, 1, 0)
    for seed in range(20):
        chosen = choose_groups(quotas, wanted=3, rule=QuotaRule.HARD, seed=seed)
        assert slugs(chosen) == {"g1", "g3", "g2"}


def test_ties_and_order_follow_the_seed() -> None:
    quotas = quotas_of(0, 0, 0, 0, 0)
    pages = [
        tuple(g.slug for g in choose_groups(quotas, wanted=2, rule=QuotaRule.HARD, seed=seed))
        for seed in range(2000)
    ]
    counts = Counter(pages)
    assert len(counts) == 20  # every ordered pair of five groups
    # Five standard deviations of 2,000 draws with probability 1/20.
    assert all(abs(count - 100) < 5 * (2000 * 0.05 * 0.95) ** 0.5 for count in counts.values())
    assert choose_groups(quotas, wanted=2, rule=QuotaRule.HARD, seed=3) == choose_groups(
        list(reversed(quotas)), wanted=2, rule=QuotaRule.HARD, seed=3
    )


def test_hard_quota_offers_only_open_groups() -> None:
    chosen = choose_groups(quotas_of(3, 3, 2), wanted=2, rule=QuotaRule.HARD, seed=1)
    assert slugs(chosen) == {"g2"}


def test_soft_quota_fills_up_with_the_least_overfilled() -> None:
    chosen = choose_groups(quotas_of(3, 5, 2, 4), wanted=3, rule=QuotaRule.SOFT, seed=1)
    assert slugs(chosen) == {"g2", "g0", "g3"}


def with_domains(quotas: list[GroupQuota], *domains: str) -> list[GroupQuota]:
    for quota, letters in zip(quotas, domains, strict=True):
        quota.group.domains = list(letters)
    return quotas


@pytest.mark.parametrize("rule", QuotaRule.values)
def test_one_per_domain_is_never_broken(rule) -> None:
    quotas = with_domains(quotas_of(0, 0, 1, 2), "a", "a", "b", "c")
    for seed in range(20):
        chosen = choose_groups(quotas, wanted=3, rule=rule, seed=seed, one_per_domain=True)
        assert [sorted(slugs(chosen) & pair) for pair in ({"g2"}, {"g3"})] == [["g2"], ["g3"]]
        assert len(slugs(chosen) & {"g0", "g1"}) == 1


def test_a_set_that_is_not_possible_is_smaller_under_both_rules() -> None:
    quotas = with_domains(quotas_of(0, 3, 3), "a", "a", "b")
    hard = choose_groups(quotas, wanted=2, rule=QuotaRule.HARD, seed=1, one_per_domain=True)
    soft = choose_groups(quotas, wanted=3, rule=QuotaRule.SOFT, seed=1, one_per_domain=True)
    assert slugs(hard) == {"g0"}
    assert slugs(soft) == {"g0", "g2"}


def test_groups_that_a_submission_has_already_are_not_offered_nor_their_domains() -> None:
    quotas = with_domains(quotas_of(0, 0, 0), "a", "a", "b")
    kept = [quotas[0].group]
    chosen = choose_groups(
        quotas, wanted=3, rule=QuotaRule.HARD, seed=1, one_per_domain=True, kept=kept
    )
    assert slugs(chosen) == {"g2"}


@pytest.mark.parametrize("rule", QuotaRule.values)
def test_no_open_group_means_none_under_both_rules(rule) -> None:
    assert choose_groups(quotas_of(3, 4), wanted=2, rule=rule, seed=1) == []


def test_repeated_group_is_any_but_the_last() -> None:
    groups = [StudyGroup(slug=f"g{number}") for number in range(4)]
    repeated = Counter(choose_repeat(groups, seed=seed).slug for seed in range(900))
    assert set(repeated) == {"g0", "g1", "g2"}
    assert all(
        abs(count - 300) < 5 * (900 * (1 / 3) * (2 / 3)) ** 0.5 for count in repeated.values()
    )


def test_only_group_is_repeated_itself() -> None:
    group = StudyGroup(slug="g")
    assert choose_repeat([group], seed=1) is group


EVENTS = st.lists(
    st.sampled_from(["arrive", "arrive", "pass", "fail", "lapse", "exclude", "withdraw"]),
    max_size=24,
)


@pytest.mark.django_db
@pytest.mark.services
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(events=EVENTS, picks=st.lists(st.integers(0, 99), min_size=24, max_size=24))
def test_no_order_of_events_exceeds_a_hard_quota(make_study, events, picks) -> None:
    """Arrivals, ends and lapses in any order; whoever lapsed does not come back here."""
    with transaction.atomic():
        study = make_study(
            quota_per_group=2,
            groups=("elderly", "teenager", "veteran", "blind", "immigrant"),
            flow=["rating", "rating", "repeat"],
        )
        instrument = study.instruments.get()
        running: list[Submission] = []
        finished: list[Submission] = []
        for number, (event, pick) in enumerate(zip(events, picks, strict=False)):
            if event == "arrive":
                _arrive(study, number, running)
            elif event in {"exclude", "withdraw"}:
                _take_away(finished, pick)
            elif running:
                _end(running.pop(pick % len(running)), event, finished)
            for quota in count_quotas(study, instrument=instrument):
                assert quota.taken <= quota.wanted
                assert quota.accepted <= quota.wanted
        transaction.set_rollback(True)


def _arrive(study, number: int, running: list[Submission]) -> None:
    open_before = sum(
        quota.open > 0 for quota in count_quotas(study, instrument=study.instruments.get())
    )
    before = Submission.objects.count()
    try:
        submission = start_submission(study=study, arrival=Arrival(Panel.LINK, f"p{number}"))
    except StudyFull:
        assert open_before == 0
        assert Submission.objects.count() == before
        return
    rated = submission.assignments.filter(is_repeat=False).count()
    assert rated == min(2, open_before)
    running.append(submission)


def _end(submission: Submission, event: str, finished: list[Submission]) -> None:
    if event == "lapse":
        submission.reserved_until = timezone.now() - timedelta(seconds=1)
    else:
        submission.state = SubmissionState.FINISHED
        submission.reserved_until = None
        submission.checks_passed = event == "pass"
        submission.data_decision = (
            DataDecision.ACCEPTED if event == "pass" else DataDecision.WAITING
        )
        finished.append(submission)
    submission.save()


def _take_away(finished: list[Submission], pick: int) -> None:
    if finished:
        submission = finished.pop(pick % len(finished))
        submission.data_decision = DataDecision.EXCLUDED
        submission.save()
