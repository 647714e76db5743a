"""Who may see and who may change a corpus. The one home of this rule for admin, API and exports."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from annotation.models import Corpus, JudgmentDesign, Study, StudyGroup, WritingDesign
from annotation.models.study import is_active_staff


def visible_corpora(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Corpus]:
    """Return the corpora that ``user`` may see.

    Superusers see all; other staff see what they own, what is shared, and what a study that they
    may see works on; nobody else sees any.
    """
    if not is_active_staff(user):
        return Corpus.objects.none()
    if getattr(user, "is_superuser", False):
        return Corpus.objects.all()
    studies = Study.objects.visible_to(user).values("pk")
    return Corpus.objects.filter(
        Q(owner=user.pk)
        | Q(is_shared=True)
        | Q(pk__in=WritingDesign.objects.filter(study__in=studies).values("corpus"))
        | Q(pk__in=JudgmentDesign.objects.filter(study__in=studies).values("corpus"))
        | Q(
            pk__in=StudyGroup.objects.filter(
                instrument__study__in=studies, text__isnull=False
            ).values("text__corpus")
        )
    )


def changeable_corpora(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Corpus]:
    """Return the corpora that ``user`` may describe, extend and delete: their own."""
    if not is_active_staff(user):
        return Corpus.objects.none()
    if getattr(user, "is_superuser", False):
        return Corpus.objects.all()
    return Corpus.objects.filter(owner=user.pk)


def can_see_corpus(user: AbstractBaseUser | AnonymousUser, corpus: Corpus) -> bool:
    """One query."""
    return visible_corpora(user).filter(pk=corpus.pk).exists()


def can_change_corpus(user: AbstractBaseUser | AnonymousUser, corpus: Corpus) -> bool:
    """One query."""
    return changeable_corpora(user).filter(pk=corpus.pk).exists()
