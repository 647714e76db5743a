"""Which groups or texts a submission rates: the farthest from their quota, work in hand counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from annotation.common.seeded import shuffle
from annotation.instruments.content import load_content
from annotation.instruments.domains import choose_disjoint
from annotation.instruments.flow import Step
from annotation.models import (
    GroupAssignment,
    Instrument,
    QuotaRule,
    StudyGroup,
    Submission,
    SubmissionOrigin,
)
from annotation.steps.rating import RatingStep, Repeat
from annotation.studies.quotas import GroupQuota, count_quotas
from annotation.survey.arm_assignment import choose_arm, count_arms, offer
from annotation.survey.visits.errors import StudyFull
from annotation.survey.visits.repeated_group import choose_repeat


def choose_groups(
    quotas: Sequence[GroupQuota],
    *,
    wanted: int,
    rule: str,
    seed: int,
    one_per_domain: bool = False,
    kept: Sequence[StudyGroup] = (),
) -> list[StudyGroup]:
    """Return up to ``wanted`` groups in the order in which they are rated; empty if none is open.

    Groups with the most open slots come first, ties are broken by ``seed``. Under
    `QuotaRule.HARD` only groups with an open slot are offered, so that a late submission may get
    fewer; under `QuotaRule.SOFT` the least overfilled groups fill up, as long as one slot is open.
    With ``one_per_domain`` no two of them share a domain under either rule, and a group steps back
    only where more of them fit without it. ``kept`` are groups that the submission has already.
    """
    if not any(quota.open for quota in quotas):
        return []
    has_already = {group.slug for group in kept}
    offered = [
        quota
        for quota in quotas
        if (quota.open or rule == QuotaRule.SOFT) and quota.group.slug not in has_already
    ]
    drawn = shuffle(offered, name=_slug, seed=seed, purpose="ties")
    # Sorting is stable, so the drawn order decides between equals.
    neediest = sorted(drawn, key=lambda quota: quota.taken - quota.wanted)
    if one_per_domain:
        neediest = choose_disjoint(
            neediest,
            wanted=wanted,
            domains_of=lambda quota: quota.group.domains,
            used=[domain for group in kept for domain in group.domains],
        )
    order = shuffle(neediest[:wanted], name=_slug, seed=seed, purpose="groups")
    return [quota.group for quota in order]


def choose_guises(
    quotas: Sequence[GroupQuota],
    *,
    wanted: int,
    rule: str,
    seed: int,
    kept: Sequence[StudyGroup] = (),
    met: Collection[str] = (),
) -> list[StudyGroup]:
    """Return up to ``wanted`` texts in the order in which they are rated; empty if none is open.

    No two of them, of ``kept`` and of the items in ``met`` are guises of one item. The varieties
    take turns: first the one that the submission has least of, then the one with the most open
    slots. Within a variety comes the text with the most open slots, then the one whose other guises
    have fewer. ``seed`` breaks ties. A variety steps back only where it has no text to offer, so
    that as many texts are given as there are items with one. ``rule`` is as in `choose_groups`;
    ``kept`` are texts that the submission has already.
    """
    if not any(quota.open for quota in quotas):
        return []
    spent = {*met, *(text.item for text in kept)}
    needs: dict[str, list[int]] = {}
    open_slots = Counter[str]()
    for quota in quotas:
        needs.setdefault(quota.group.item, []).append(quota.wanted - quota.taken)
        open_slots[quota.group.variety] += quota.open

    def rank(quota: GroupQuota) -> tuple[int, int]:
        need = quota.wanted - quota.taken
        return -need, sum(needs[quota.group.item]) - need

    # Sorting is stable, so the drawn order decides between equals.
    offered = [
        quota
        for quota in sorted(shuffle(quotas, name=_slug, seed=seed, purpose="ties"), key=rank)
        if (quota.open or rule == QuotaRule.SOFT) and quota.group.item not in spent
    ]
    varieties = shuffle(open_slots, name=str, seed=seed, purpose="varieties")
    given = Counter(text.variety for text in kept)
    chosen: list[GroupQuota] = []
    while offered and len(chosen) < wanted:
        there = {quota.group.variety for quota in offered}
        variety = min(
            (name for name in varieties if name in there),
            key=lambda name: (given[name], -open_slots[name]),
        )
        quota = next(quota for quota in offered if quota.group.variety == variety)
        chosen.append(quota)
        given[variety] += 1
        open_slots[variety] -= 1
        offered = [other for other in offered if other.group.item != quota.group.item]
    return [quota.group for quota in shuffle(chosen, name=_slug, seed=seed, purpose="groups")]


def choose_for(
    submission: Submission,
    quotas: Sequence[GroupQuota],
    *,
    wanted: int,
    rule: str,
    kept: Sequence[StudyGroup] = (),
    met: Collection[str] = (),
) -> list[StudyGroup]:
    """Return what a submission of either kind of study rates, as its kind chooses it."""
    if submission.study.rates_texts:
        return choose_guises(
            quotas, wanted=wanted, rule=rule, seed=submission.seed, kept=kept, met=met
        )
    return choose_groups(
        quotas,
        wanted=wanted,
        rule=rule,
        seed=submission.seed,
        one_per_domain=submission.instrument.one_per_domain,
        kept=kept,
    )


def assign_groups(*, submission: Submission) -> list[GroupAssignment]:
    """Store the groups of a new submission. Raises `StudyFull` if none is open, nothing stored.

    The caller holds the study's row locked in a transaction, so that two starts never count the
    same slot as open.
    """
    steps = load_content(submission.instrument).steps
    planned = plan_groups(submission, steps)
    if submission.arm:
        submission.save(update_fields=["arm"])
    return GroupAssignment.objects.bulk_create(planned)


def plan_groups(submission: Submission, steps: Sequence[Step]) -> list[GroupAssignment]:
    """Return the groups of a new submission and choose its arm, both not stored.

    Raises `StudyFull` if none is open.
    """
    instrument, seed = submission.instrument, submission.seed
    is_preview = submission.origin == SubmissionOrigin.PREVIEW
    quotas = (
        _preview_quotas(instrument)
        if is_preview
        else count_quotas(submission.study, instrument=instrument)
    )
    if arms := load_content(instrument).arms:
        taken = {} if is_preview else count_arms(submission.study)
        arm = choose_arm(arms.values(), taken, quotas, seed=seed)
        if arm is None:
            raise StudyFull
        submission.arm = arm.name
        quotas = offer(arm, quotas)
    groups = choose_for(
        submission,
        quotas,
        wanted=sum(step.kind == RatingStep.name for step in steps),
        rule=submission.study.quota_rule,
    )
    if not groups:
        raise StudyFull
    assignments = [
        GroupAssignment(submission=submission, group=group, position=position, item=group.item)
        for position, group in enumerate(groups, start=1)
    ]
    for step in steps:
        if step.kind == Repeat.name:
            repeated = choose_repeat(groups, seed=seed)
            assignments.append(
                GroupAssignment(
                    submission=submission,
                    group=repeated,
                    position=step.position,
                    is_repeat=True,
                    item=repeated.item,
                )
            )
    return assignments


def _preview_quotas(instrument: Instrument) -> list[GroupQuota]:
    """Return every group with one open place: a preview shows any, whatever is full."""
    return [
        GroupQuota(group=group, wanted=1, accepted=0, in_review=0, in_progress=0)
        for group in instrument.groups.all()
    ]


def _slug(quota: GroupQuota) -> str:
    return quota.group.slug
