"""What annotators have to do, for each kind of study: one entry of `WORK` a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, Model, Q
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy

from annotation.annotators.access import places_of
from annotation.models import (
    Annotator,
    JudgmentTask,
    StudyKind,
    StudyStatus,
    TaskState,
    WritingTask,
)


@dataclass(frozen=True)
class WorkKind:
    """Where the tasks of a kind of study are, and which page does them (argument: public id)."""

    tasks: type[Model]
    url_name: str
    title: Any
    unit: Callable[[], str] | Any


WORK: dict[str, WorkKind] = {
    StudyKind.COUNTERPART_WRITING: WorkKind(
        WritingTask, "counterparts:queue", gettext_lazy("Writing"), gettext_lazy("texts")
    ),
    StudyKind.COUNTERPART_JUDGMENT: WorkKind(
        JudgmentTask, "judgments:queue", gettext_lazy("Judging"), gettext_lazy("counterparts")
    ),
}


@dataclass(frozen=True)
class Place:
    """One study of an annotator, with what is left to do in it."""

    annotator: Annotator
    kind: WorkKind
    done: int
    open: int
    link: str

    @property
    def total(self) -> int:
        return self.done + self.open

    @property
    def is_live(self) -> bool:
        return self.annotator.study.status == StudyStatus.LIVE

    @property
    def is_over(self) -> bool:
        return self.annotator.study.status in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


def load_places(user: AbstractBaseUser | AnonymousUser) -> list[Place]:
    """Return an account's places, newest study first. Three queries, however many there are."""
    places = list(places_of(user))
    counts: dict[tuple[str, int], tuple[int, int]] = {}
    for kind, work in WORK.items():
        counts |= {
            (kind, row["annotator"]): (row["done"], row["open"])
            for row in _count_tasks(work.tasks, [place.pk for place in places])
        }
    found = []
    for annotator in places:
        done, left = counts.get((annotator.study.kind, annotator.pk), (0, 0))
        work = WORK[annotator.study.kind]
        found.append(Place(annotator, work, done, left, _find_link(work, annotator)))
    return found


def _count_tasks(model: type[Model], annotators: Sequence[int]) -> Any:
    return (
        model._default_manager.filter(annotator__in=annotators)
        .values("annotator")
        .annotate(
            done=Count("pk", filter=Q(state=TaskState.DONE)),
            open=Count("pk", filter=Q(state=TaskState.OPEN)),
        )
        .order_by()
    )


def _find_link(work: WorkKind, annotator: Annotator) -> str:
    try:
        return reverse(work.url_name, args=[annotator.study.public_id])
    except NoReverseMatch:  # an installation without the pages of this kind
        return ""
