"""Draws the counterparts of a study and gives them to judges: loads, asks the plan, stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max
from django.utils.translation import gettext as _

from annotation.annotators.inviting import remove_annotator
from annotation.judgments.assignment import Held, Plan, plan_judging
from annotation.judgments.items import (
    Candidate,
    Draw,
    draw_candidates,
    find_writers,
    plan_items,
    plan_stored_items,
)
from annotation.models import (
    Annotator,
    JudgmentDesign,
    JudgmentItem,
    JudgmentTask,
    Study,
    StudyStatus,
    TaskState,
)
from annotation.studies.lifecycle import lock_study


def active_judges(study: Study) -> list[Annotator]:
    """Return everybody with a place, joined or only invited, by number. One query."""
    return list(study.annotators.filter(removed_at__isnull=True).order_by("number"))


def joined(judges: Sequence[Annotator]) -> list[Annotator]:
    """Return those whose account is known: only of them is known what they wrote."""
    return [judge for judge in judges if judge.user_id is not None]


@dataclass(frozen=True)
class Preview:
    """What launching a study would do now."""

    draw: Draw
    judges: Sequence[Annotator]
    plan: Plan


def preview_assignment(study: Study) -> Preview:
    """Return what would be drawn and who would judge it; stores nothing. Seven queries."""
    design = JudgmentDesign.objects.select_related("corpus").get(study=study)
    draw = draw_candidates(design)
    judges = active_judges(study)
    return Preview(draw, judges, _plan(design, draw, find_writers(draw.pairs), joined(judges)))


def _plan(
    design: JudgmentDesign,
    draw: Draw,
    writers: Mapping[int, set[int]],
    judges: Sequence[Annotator],
) -> Plan:
    return plan_judging(
        plan_items(draw.candidates, writers, judges),
        [judge.number for judge in judges],
        overlap_percent=design.overlap_percent,
        seed=design.seed,
    )


@transaction.atomic
def assign_tasks(*, study: Study) -> int:
    """Draw the counterparts, keep them as they are now, give them out; returns how many tasks.

    For a study without any, whose launch was found possible.
    """
    design = JudgmentDesign.objects.select_for_update().get(study=study)
    draw = draw_candidates(design)
    judges = joined(active_judges(study))
    writers = find_writers(draw.pairs)
    plan = _plan(design, draw, writers, judges)
    items = JudgmentItem.objects.bulk_create(
        [
            _build_item(study, candidate, wanted=2 if place in plan.twice else 1)
            for place, candidate in enumerate(draw.candidates)
        ],
        batch_size=500,
    )
    _note_writers(items, writers)
    _give(study, {judge: [items[key] for key in queue] for judge, queue in plan.queues.items()})
    design.left_out = [{"reason": one.reason, "n": one.n} for one in draw.left_out]
    design.save(update_fields=["left_out"])
    return sum(len(queue) for queue in plan.queues.values())


@transaction.atomic
def give_out_again(*, study: Study) -> int:
    """Give open work out anew: to judges who came later, and what nobody has or may judge any more.

    Everything that is done stays, and so does open work where loads are even. Second judgments that
    the design asks for and that nobody could give before are drawn now. Returns how many tasks are
    new to their judge.
    """
    study = lock_study(study)
    if study.status not in {StudyStatus.LIVE, StudyStatus.PAUSED}:
        raise ValidationError(
            _("The study is %(status)s: work is given out while it is live or paused.")
            % {"status": study.get_status_display().lower()}
        )
    return _give_again(study)


def _give_again(study: Study) -> int:
    design = JudgmentDesign.objects.get(study=study)
    items = list(
        study.judgment_items.select_related("text", "pair__source_text", "pair__target_text")
    )
    writers = find_writers({item.pair_id: item.pair for item in items}.values())
    _note_writers(items, writers)
    judges = joined(active_judges(study))
    by_key = {item.pk: item for item in items}
    tasks = list(
        JudgmentTask.objects.filter(study=study)
        .exclude(state=TaskState.WITHDRAWN)
        .select_related("annotator")
        # What stands last in a queue moves first.
        .order_by("-position")
    )
    plan = plan_judging(
        plan_stored_items(items, writers, judges),
        [judge.number for judge in judges],
        overlap_percent=design.overlap_percent,
        seed=design.seed,
        held=[
            Held(task.item_id, task.annotator.number, task.state == TaskState.DONE)
            for task in tasks
        ],
        twice=frozenset(item.pk for item in items if item.judges_wanted > 1),
    )
    drawn = [item for item in items if item.pk in plan.twice and item.judges_wanted < 2]
    for item in drawn:
        item.judges_wanted = 2
    JudgmentItem.objects.bulk_update(drawn, ["judges_wanted"], batch_size=500)
    kept = {
        (task.annotator.number, task.item_id)
        for task in tasks
        if task.state == TaskState.OPEN
        and task.item_id in plan.queues.get(task.annotator.number, ())
    }
    gone = [
        task.pk
        for task in tasks
        if task.state == TaskState.OPEN and (task.annotator.number, task.item_id) not in kept
    ]
    JudgmentTask.objects.filter(pk__in=gone).update(state=TaskState.WITHDRAWN)
    new = {
        judge: [by_key[key] for key in queue if (judge, key) not in kept]
        for judge, queue in plan.queues.items()
    }
    _give(study, new)
    return sum(len(queue) for queue in new.values())


@transaction.atomic
def remove_judge(*, annotator: Annotator) -> Annotator:
    """End a place and give its open counterparts to the others. What was judged stays.

    Where no other judge may have one, nobody has it until somebody joins.
    """
    study = lock_study(annotator.study)
    annotator = remove_annotator(annotator=annotator)
    if study.judgment_items.exists() and study.status in {StudyStatus.LIVE, StudyStatus.PAUSED}:
        _give_again(study)
    annotator.judgment_tasks.filter(state=TaskState.OPEN).update(state=TaskState.WITHDRAWN)
    return annotator


def check_nobody_has_their_own(study: Study) -> None:
    """Ask the database that no open task is with somebody who wrote a counterpart of its texts.

    Called at the end of the transaction that gave tasks: raising undoes all of it. One query.
    """
    own = JudgmentTask.objects.filter(
        study=study, state=TaskState.OPEN, item__writers=F("annotator__user")
    ).count()
    if own:
        raise ValidationError(
            _("%(n)d counterparts would have gone to people who wrote one of the same text.")
            % {"n": own}
        )


def _build_item(study: Study, candidate: Candidate, *, wanted: int) -> JudgmentItem:
    return JudgmentItem(
        study=study,
        pair=candidate.pair,
        text=candidate.text,
        variety=candidate.variety,
        body=candidate.body,
        producer=candidate.producer,
        run=candidate.run,
        counterpart_id=candidate.counterpart,
        judges_wanted=wanted,
    )


def _note_writers(items: Sequence[JudgmentItem], writers: Mapping[int, set[int]]) -> None:
    through = JudgmentItem.writers.through
    through._default_manager.bulk_create(
        [
            through(judgmentitem_id=item.pk, user_id=user)
            for item in items
            for user in sorted(writers[item.pair_id])
        ],
        batch_size=500,
        ignore_conflicts=True,
    )


def _give(study: Study, queues: Mapping[int, Sequence[JudgmentItem]]) -> None:
    """Store tasks at the end of their judges' queues. Four queries.

    A position is never given to another counterpart, so that a page that was left open stores
    nothing in a wrong place; whoever had a counterpart before gets the old task back.
    """
    people = {person.number: person for person in study.annotators.all()}
    last = dict(
        JudgmentTask.objects.filter(study=study)
        .values_list("annotator__number")
        .annotate(last=Max("position"))
        .order_by()
    )
    before = {
        (task.annotator_id, task.item_id): task
        for task in JudgmentTask.objects.filter(study=study, state=TaskState.WITHDRAWN)
    }
    new, back = [], []
    for judge, items in queues.items():
        for item in items:
            if task := before.get((people[judge].pk, item.pk)):
                back.append(task.pk)
                continue
            last[judge] = last.get(judge, 0) + 1
            new.append(
                JudgmentTask(study=study, annotator=people[judge], item=item, position=last[judge])
            )
    JudgmentTask.objects.bulk_create(new, batch_size=500)
    JudgmentTask.objects.filter(pk__in=back).update(state=TaskState.OPEN)
    check_nobody_has_their_own(study)
