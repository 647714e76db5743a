"""Draws the counterparts of a study and gives them to judges: loads, asks the plan, stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotation.annotators.invitations import remove_annotator
from annotation.annotators.queue import give_tasks
from annotation.judgments.assignment_plan import HeldItem, JudgingPlan, plan_judging
from annotation.judgments.questions import Draw, draw_items, find_writers, plan_items
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


def joined(judges: Iterable[Annotator]) -> list[Annotator]:
    """Return those whose account is known: of nobody else is it known what they wrote."""
    return [judge for judge in judges if judge.user_id is not None]


@dataclass(frozen=True)
class GivenAgain:
    """What came of giving open work out anew.

    Attributes
    ----------
    moved : tasks that are new to their judge.
    open : tasks that somebody has still to do.
    joined : judges who can be given work.
    unjudgeable : counterparts that nobody of them may judge.
    missing_overlap : second judgments that the design asks for and that nobody may give.
    idle : the judges who wrote or decided counterparts of all texts.
    """

    moved: int
    open: int
    joined: int
    unjudgeable: int
    missing_overlap: int
    idle: tuple[Annotator, ...]


@dataclass(frozen=True)
class Preview:
    """What launching a study would do now: everybody with a place, joined or only invited."""

    draw: Draw
    judges: Sequence[Annotator]
    writers: Mapping[int, set[int]]
    plan: JudgingPlan


def preview_assignment(study: Study) -> Preview:
    """Return what would be drawn and who would judge it; stores nothing. Seven queries."""
    design = JudgmentDesign.objects.select_related("corpus").get(study=study)
    draw = draw_items(design)
    judges = list(study.annotators.active())
    writers = find_writers(draw.pairs)
    return Preview(draw, judges, writers, _plan(design, draw.items, writers, joined(judges)))


def _plan(
    design: JudgmentDesign,
    items: Sequence[JudgmentItem],
    writers: Mapping[int, set[int]],
    judges: Sequence[Annotator],
    **stored: Any,
) -> JudgingPlan:
    return plan_judging(
        plan_items(items, writers, judges),
        [judge.number for judge in judges],
        overlap_percent=design.overlap_percent,
        seed=design.seed,
        **stored,
    )


@transaction.atomic
def assign_tasks(*, study: Study) -> int:
    """Draw the counterparts, keep them as they are now, give them out; returns how many tasks.

    For a study without any, whose launch was found possible.
    """
    design = JudgmentDesign.objects.select_for_update().get(study=study)
    preview = preview_assignment(study)
    items, plan = preview.draw.items, preview.plan
    for place, item in enumerate(items):
        item.judges_wanted = 2 if place in plan.twice else 1
    JudgmentItem.objects.bulk_create(items, batch_size=500)
    _note_writers(items, preview.writers)
    _give(study, {judge: [items[place] for place in queue] for judge, queue in plan.queues.items()})
    design.left_out = [{"reason": one.reason, "n": one.n} for one in preview.draw.left_out]
    design.save(update_fields=["left_out"])
    return sum(len(queue) for queue in plan.queues.values())


@transaction.atomic
def give_out_again(*, study: Study) -> GivenAgain:
    """Give open work out anew: to judges who came later, and what nobody has or may judge any more.

    Everything that is done stays, and so does open work where loads are even. Second judgments that
    the design asks for and that nobody could give before are drawn now.
    """
    study = lock_study(study)
    if study.status not in {StudyStatus.LIVE, StudyStatus.PAUSED}:
        raise ValidationError(
            _("The study is %(status)s: work is given out while it is live or paused.")
            % {"status": study.get_status_display().lower()}
        )
    return _give_again(study)


def _give_again(study: Study) -> GivenAgain:
    items = list(
        study.judgment_items.select_related("text", "pair__source_text", "pair__target_text")
    )
    by_key = {item.pk: item for item in items}
    writers = find_writers({item.pair_id: item.pair for item in items}.values())
    _note_writers(items, writers)
    # What stands last in a queue moves first.
    tasks = list(study.judgment_tasks.held().select_related("annotator").order_by("-position"))
    judges = joined(study.annotators.active())
    plan = _plan(
        JudgmentDesign.objects.get(study=study),
        items,
        writers,
        judges,
        held=[
            HeldItem(task.item_id, task.annotator.number, task.state == TaskState.DONE)
            for task in tasks
        ],
        twice=frozenset(item.pk for item in items if item.judges_wanted > 1),
    )
    drawn = [item for item in items if item.pk in plan.twice and item.judges_wanted < 2]
    for item in drawn:
        item.judges_wanted = 2
    JudgmentItem.objects.bulk_update(drawn, ["judges_wanted"], batch_size=500)
    there = {
        (task.annotator.number, task.item_id): task.pk
        for task in tasks
        if task.state == TaskState.OPEN
    }
    planned = {(judge, key) for judge, queue in plan.queues.items() for key in queue}
    study.judgment_tasks.filter(pk__in=[there[one] for one in there.keys() - planned]).withdraw()
    new = {
        judge: [by_key[key] for key in queue if (judge, key) not in there]
        for judge, queue in plan.queues.items()
    }
    _give(study, new)
    return GivenAgain(
        moved=sum(map(len, new.values())),
        open=len(planned),
        joined=len(judges),
        unjudgeable=len(plan.unjudgeable),
        missing_overlap=plan.missing_overlap,
        idle=tuple(judge for judge in judges if judge.number in plan.idle),
    )


@transaction.atomic
def remove_judge(*, annotator: Annotator) -> Annotator:
    """End a place and give its open counterparts to the others. What was judged stays.

    Where no other judge may have one, nobody has it until somebody joins.
    """
    study = lock_study(annotator.study)
    annotator = remove_annotator(annotator=annotator)
    if study.judgment_items.exists() and study.status in {StudyStatus.LIVE, StudyStatus.PAUSED}:
        _give_again(study)
    annotator.judgment_tasks.withdraw()
    return annotator


def check_nobody_has_their_own(study: Study) -> None:
    """Ask the database that no open task is with somebody who wrote a counterpart of its texts.

    Called at the end of the transaction that gave tasks: raising undoes all of it. One query.
    """
    own = study.judgment_tasks.open().filter(item__writers=F("annotator__user")).count()
    if own:
        raise ValidationError(
            _("%(n)d counterparts would have gone to people who wrote one of the same text.")
            % {"n": own}
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
    """Store tasks, judge by judge, and make sure that nobody has their own."""
    people = {person.number: person for person in study.annotators.all()}
    tasks = [
        JudgmentTask(study=study, annotator=people[judge], item=item)
        for judge, items in queues.items()
        for item in items
    ]
    give_tasks(study, tasks, of="item")
    check_nobody_has_their_own(study)
