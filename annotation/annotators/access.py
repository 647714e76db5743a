"""Which places an account has. The first line of every page of annotators asks here."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Model, QuerySet
from django.http import Http404

from annotation.models import Annotator, StudyKind, StudyStatus

Task = TypeVar("Task", bound=Model)

# The kinds of studies whose work is done by invited people with an account.
ANNOTATED_KINDS = (StudyKind.COUNTERPART_WRITING, StudyKind.COUNTERPART_JUDGMENT)


def places_of(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Annotator]:
    """Return the places that an account has in studies that were launched. One query.

    A removed annotator has no place any more, and a draft is nobody's work yet.
    """
    if not (user.is_authenticated and user.is_active):
        return Annotator.objects.none()
    return (
        Annotator.objects.filter(
            user=user.pk, removed_at__isnull=True, study__kind__in=ANNOTATED_KINDS
        )
        .exclude(study__status=StudyStatus.DRAFT)
        .select_related("study")
        .order_by("-study__created_at", "-pk")
    )


def current_annotator(
    user: AbstractBaseUser | AnonymousUser, study_public_id: str, *, kind: StudyKind
) -> Annotator:
    """Return the place of ``user`` in a study of a kind; raises `Http404` where there is none.

    Studies of others do not exist for this account. One query.
    """
    place = places_of(user).filter(study__public_id=study_public_id, study__kind=kind).first()
    if place is None:
        raise Http404("This account has no place in such a study.")
    return place


def find_task(tasks: QuerySet[Task], place: Annotator, position: int) -> Task:
    """Return the task at a position of an annotator's queue; raises `Http404` where none is."""
    task = tasks.filter(annotator=place, position=position).first()
    if task is None:
        raise Http404("There is no such task in this queue.")
    return task
