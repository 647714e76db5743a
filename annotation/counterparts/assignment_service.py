"""Gives, moves and takes back writing tasks: loads, asks the plan, stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.annotators.invitations import invite_annotator, remove_annotator
from annotation.annotators.queue import give_tasks
from annotation.counterparts.adjudication import settle_text
from annotation.counterparts.assignment_plan import (
    AssignmentError,
    Changes,
    GivenText,
    HeldText,
    plan_assignment,
    plan_handover,
    plan_newcomer,
    plan_unassigned,
)
from annotation.counterparts.creation import draw_texts
from annotation.models import (
    Annotator,
    Overlap,
    Study,
    StudyStatus,
    TaskState,
    Text,
    WritingDesign,
    WritingTask,
)
from annotation.studies.lifecycle import lock_study


def find_unassigned(study: Study) -> list[Text]:
    """Return the study's texts that were given once and that nobody has now. One query."""
    return list(
        Text.objects.filter(writing_tasks__study=study)
        .exclude(pk__in=study.writing_tasks.held().values("text"))
        .distinct()
        .order_by("slug")
    )


@transaction.atomic
def assign_tasks(*, study: Study) -> int:
    """Draw the texts and give them out; returns the number of tasks. For a study without any.

    Raises `ValidationError` where the design cannot be carried out.
    """
    design = study.writing
    try:
        texts = {text.slug: text for text in draw_texts(design)}
        plan = plan_assignment(
            texts,
            [annotator.number for annotator in study.annotators.active()],
            common_texts=design.common_texts,
            shared_percent=design.shared_percent,
            seed=design.seed,
            sources={slug: text.source for slug, text in texts.items()}
            if design.per_source
            else None,
        )
    except (AssignmentError, ValueError) as error:
        raise ValidationError(str(error)) from None
    _give(study, plan, texts)
    return len(plan)


@transaction.atomic
def add_writer(*, study: Study, email: str = "") -> Annotator:
    """Invite somebody; in a study that was launched they get their texts at once."""
    study = lock_study(study)
    annotator = invite_annotator(study=study, email=email)
    if study.status == StudyStatus.DRAFT:
        return annotator
    design = WritingDesign.objects.get(study=study)
    unassigned = find_unassigned(study)
    held = _load_held(study)
    changes = plan_newcomer(
        held,
        annotator.number,
        unassigned=[text.slug for text in unassigned],
        shared_percent=design.shared_percent,
        seed=design.seed,
    )
    _carry_out(study, changes)
    return annotator


@transaction.atomic
def hand_over(*, giver: Annotator, receiver: Annotator | None = None) -> Changes:
    """Move the open tasks of ``giver`` to ``receiver``, or to all others. What is done stays.

    Raises `ValidationError` where nobody is there to take them.
    """
    study = lock_study(giver.study)
    if receiver is not None and (receiver.study_id != study.pk or receiver.removed_at):
        raise ValidationError(_("%(who)s has no place in this study.") % {"who": receiver})
    receivers = [receiver] if receiver else study.annotators.active()
    try:
        changes = plan_handover(
            _load_held(study), giver.number, [person.number for person in receivers]
        )
    except AssignmentError as error:
        raise ValidationError(str(error)) from None
    _carry_out(study, changes)
    return changes


@transaction.atomic
def remove_writer(*, annotator: Annotator) -> Annotator:
    """End a place and give its open texts to the others; without others nobody has them then."""
    study = lock_study(annotator.study)
    open_tasks = annotator.writing_tasks.open()
    if open_tasks.exists():
        if study.annotators.active().exclude(pk=annotator.pk).exists():
            hand_over(giver=annotator)
        open_tasks.withdraw()
    return remove_annotator(annotator=annotator)


@transaction.atomic
def assign_unassigned(*, study: Study) -> int:
    """Give texts that nobody has to those with the least open work; returns how many there were."""
    study = lock_study(study)
    texts = find_unassigned(study)
    people = [person.number for person in study.annotators.active()]
    try:
        changes = plan_unassigned(
            _load_held(study),
            [text.slug for text in texts],
            people,
            seed=WritingDesign.objects.get(study=study).seed,
        )
    except AssignmentError as error:
        raise ValidationError(str(error)) from None
    _carry_out(study, changes)
    return len(texts)


def _load_held(study: Study) -> list[HeldText]:
    tasks = study.writing_tasks.held().select_related("text", "annotator")
    return [
        HeldText(
            task.text.slug,
            task.annotator.number,
            Overlap(task.overlap),
            is_open=task.state == TaskState.OPEN,
            is_untouched=task.opened_at is None,
        )
        for task in tasks.order_by("annotator__number", "position")
    ]


def _carry_out(study: Study, changes: Changes) -> None:
    tasks = WritingTask.objects.filter(study=study)
    by_person: dict[int, list[str]] = {}
    for slug, number in changes.taken:
        by_person.setdefault(number, []).append(slug)
    for number, slugs in by_person.items():
        tasks.filter(annotator__number=number, text__slug__in=slugs).withdraw()
    for overlap in set(changes.relabeled.values()):
        slugs = [slug for slug, label in changes.relabeled.items() if label == overlap]
        tasks.filter(text__slug__in=slugs).update(overlap=overlap)
    touched = {task.text for task in changes.given} | {slug for slug, _number in changes.taken}
    texts = {
        text.slug: text
        for text in Text.objects.filter(writing_tasks__study=study, slug__in=touched).distinct()
    }
    _give(study, changes.given, texts)
    # Who has a text has changed: where its writers agree, so has what they agree on.
    for text in texts.values():
        settle_text(study=study, text=text)


def _give(study: Study, given: Iterable[GivenText], texts: dict[str, Text]) -> None:
    """Store tasks in the order given; whoever lost a text and gets it again gets its draft too."""
    people = {person.number: person for person in study.annotators.all()}
    tasks = [
        WritingTask(
            study=study,
            annotator=people[one.annotator],
            text=texts[one.text],
            overlap=one.overlap,
        )
        for one in given
    ]
    give_tasks(study, tasks, of="text", renewed=["overlap"])


def describe_changes(changes: Changes) -> tuple[int, Sequence[str]]:
    """Return how many texts moved, and those that were only taken: all receivers have them."""
    moved = {task.text for task in changes.given}
    return len(moved), [slug for slug, _number in changes.taken if slug not in moved]
