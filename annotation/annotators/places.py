"""The places of an account in studies, the work in each, and the first check of every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext_lazy

from annotation.models import (
    Annotator,
    JudgmentTask,
    StudyKind,
    StudyStatus,
    TaskState,
    WritingTask,
)

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
    def is_live(self) -> bool:
        return self.annotator.study.status == StudyStatus.LIVE

    @property
    def is_over(self) -> bool:
        return self.annotator.study.status in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


def load_places(user: AbstractBaseUser | AnonymousUser) -> list[StudyPlace]:
    """Return an account's places, newest study first. Three queries, however many there are."""
    places = list(Annotator.objects.of_account(user).filter(study__kind__in=WORK))
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
