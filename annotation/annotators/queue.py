"""The work of annotators: tasks given to them, their places in studies, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, Max, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotation.models import (
    Annotator,
    JudgmentTask,
    Study,
    StudyKind,
    StudyStatus,
    TaskState,
    WritingTask,
)

# --- Puts tasks into the queues of annotators

BATCH = 500


def give_tasks(
    study: Study,
    tasks: Sequence[WritingTask] | Sequence[JudgmentTask],
    *,
    of: str,
    renewed: Sequence[str] = (),
) -> None:
    """Store new tasks at the end of their annotators' queues, in the order given. Four queries.

    Nobody gets a task of the same ``of`` (its text or item) twice: who had one and lost it gets it
    back in its old position, with its draft; of the new one it takes the fields ``renewed``. A
    position is never given to another task, so that a page that was left open stores nothing in a
    wrong place.
    """
    if not tasks:
        return
    model: Any = type(tasks[0])
    stored = model.objects.filter(study=study)
    last = dict(stored.order_by().values_list("annotator").annotate(last=Max("position")))
    before = {
        (task.annotator_id, getattr(task, f"{of}_id")): task
        for task in stored.filter(state=TaskState.WITHDRAWN)
    }
    new, back = [], []
    for task in tasks:
        if old := before.get((task.annotator_id, getattr(task, f"{of}_id"))):
            old.state = TaskState.OPEN
            for name in renewed:
                setattr(old, name, getattr(task, name))
            back.append(old)
        else:
            task.position = last[task.annotator_id] = last.get(task.annotator_id, 0) + 1
            new.append(task)
    model.objects.bulk_create(new, batch_size=BATCH)
    model.objects.bulk_update(back, ["state", *renewed], batch_size=BATCH)


# --- The places of an account in studies, the work in each, and the first check of every page

Task = TypeVar("Task", WritingTask, JudgmentTask)


@dataclass(frozen=True)
class WorkKind:
    """Where the tasks of a kind of study are, and which page lists them (argument: public id)."""

    tasks: type[WritingTask] | type[JudgmentTask]
    url_name: str
    title: Any
    unit: Any


#: The kinds of studies whose work is done by invited people with an account.
WORK: dict[str, WorkKind] = {
    StudyKind.COUNTERPART_WRITING: WorkKind(
        WritingTask, "counterparts:queue", gettext_lazy("Writing"), gettext_lazy("texts")
    ),
    StudyKind.COUNTERPART_JUDGMENT: WorkKind(
        JudgmentTask, "judgments:queue", gettext_lazy("Judging"), gettext_lazy("counterparts")
    ),
}


@dataclass(frozen=True)
class StudyPlace:
    """One study of an annotator, with what is left to do in it."""

    annotator: Annotator
    kind: WorkKind
    done: int
    open: int

    @property
    def total(self) -> int:
        return self.done + self.open

    @property
    def link(self) -> str:
        return reverse(self.kind.url_name, args=[self.annotator.study.public_id])

    @property
    def has_begun(self) -> bool:
        return self.annotator.study.status != StudyStatus.DRAFT

    @property
    def is_live(self) -> bool:
        return self.annotator.study.status == StudyStatus.LIVE

    @property
    def is_over(self) -> bool:
        return self.annotator.study.status in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


def load_places(user: AbstractBaseUser | AnonymousUser) -> list[StudyPlace]:
    """Return an account's places, newest study first, those that have not begun among them.

    Three queries, however many there are.
    """
    places = list(Annotator.objects.held_by(user).filter(study__kind__in=WORK))
    counts: dict[tuple[str, int, str], int] = {}
    for kind, work in WORK.items():
        rows = work.tasks.objects.filter(annotator__in=places).order_by()
        for annotator, state, n in rows.values_list("annotator", "state").annotate(n=Count("pk")):
            counts[kind, annotator, state] = n
    return [
        StudyPlace(
            place,
            WORK[place.study.kind],
            done=counts.get((place.study.kind, place.pk, TaskState.DONE), 0),
            open=counts.get((place.study.kind, place.pk, TaskState.OPEN), 0),
        )
        for place in places
    ]


def current_annotator(
    user: AbstractBaseUser | AnonymousUser, study_public_id: str, *, kind: StudyKind
) -> Annotator:
    """Return the place of ``user`` in a study of a kind; raises `Http404` where there is none.

    Studies of others do not exist for this account. One query.
    """
    places = Annotator.objects.of_account(user)
    place = places.filter(study__public_id=study_public_id, study__kind=kind).first()
    if place is None:
        raise Http404("This account has no place in such a study.")
    return place


def find_task(tasks: QuerySet[Task], place: Annotator, position: int) -> Task:
    """Return the task at a position of an annotator's queue; raises `Http404` where none is."""
    task = tasks.filter(annotator=place, position=position).first()
    if task is None:
        raise Http404("There is no such task in this queue.")
    return task


# --- The order of tasks


@dataclass(frozen=True)
class Entry:
    """One task of a queue; ``rank`` counts from 1 without gaps, ``position`` is its address."""

    rank: int
    position: int
    state: str

    @property
    def is_done(self) -> bool:
        return self.state == TaskState.DONE


@dataclass(frozen=True)
class Queue:
    """An annotator's tasks in their order, those taken away left out."""

    entries: Sequence[Entry]

    @property
    def total(self) -> int:
        return len(self.entries)

    @property
    def done(self) -> int:
        return sum(entry.is_done for entry in self.entries)

    @property
    def open(self) -> int:
        return self.total - self.done

    def find(self, position: int) -> Entry | None:
        return next((entry for entry in self.entries if entry.position == position), None)

    def before(self, entry: Entry) -> Entry | None:
        return self.entries[entry.rank - 2] if entry.rank > 1 else None

    def after(self, entry: Entry) -> Entry | None:
        return self.entries[entry.rank] if entry.rank < self.total else None

    def next_open(self, rank: int = 0) -> Entry | None:
        """Return the next open task after ``rank``, else the first one before it."""
        later = [entry for entry in self.entries[rank:] if not entry.is_done]
        earlier = [entry for entry in self.entries[: max(rank - 1, 0)] if not entry.is_done]
        return next(iter(later + earlier), None)

    def skipped(self, entry: Entry) -> int:
        """Return how many open tasks come before ``entry``."""
        return sum(not other.is_done for other in self.entries[: entry.rank - 1])


def load_queue(
    annotator: Annotator, tasks: QuerySet[WritingTask] | QuerySet[JudgmentTask]
) -> Queue:
    """Return the annotator's queue among ``tasks``. One query."""
    held = tasks.filter(annotator=annotator).exclude(state=TaskState.WITHDRAWN)
    rows = held.order_by("position").values_list("position", "state")
    return Queue([Entry(rank, *row) for rank, row in enumerate(rows, start=1)])
