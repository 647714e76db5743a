"""Who may see and who may change a study. The one home of this rule for admin, API and exports."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from annotation.models import MembershipRole, Study, StudyKind, Submission

# Needed besides access to the study, because a payment export names people's panel ids.
PAYMENT_PERMISSION = "annotation.export_payments"


def visible_studies(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Study]:
    """Return the studies that ``user`` may see.

    Superusers see all; other staff see what they own or are members of; nobody else sees any.
    """
    if not _is_active_staff(user):
        return Study.objects.none()
    if getattr(user, "is_superuser", False):
        return Study.objects.all()
    return Study.objects.filter(
        Q(owner=user.pk) | Q(pk__in=Study.objects.filter(memberships__user=user.pk).values("pk"))
    )


def visible_surveys(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Study]:
    """Return the studies with participants that ``user`` may see."""
    return visible_studies(user).filter(kind=StudyKind.ABC_SURVEY)


def changeable_studies(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Study]:
    """Return the studies that ``user`` may manage: owned, or as a member with the role editor."""
    if not _is_active_staff(user):
        return Study.objects.none()
    if getattr(user, "is_superuser", False):
        return Study.objects.all()
    edited = Study.objects.filter(
        memberships__user=user.pk, memberships__role=MembershipRole.EDITOR
    )
    return Study.objects.filter(Q(owner=user.pk) | Q(pk__in=edited.values("pk")))


def can_see_study(user: AbstractBaseUser | AnonymousUser, study: Study) -> bool:
    """One query."""
    return visible_studies(user).filter(pk=study.pk).exists()


def can_change_study(user: AbstractBaseUser | AnonymousUser, study: Study) -> bool:
    """One query."""
    return changeable_studies(user).filter(pk=study.pk).exists()


def visible_submissions(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Submission]:
    """Return the submissions of the studies that ``user`` may see."""
    return Submission.objects.filter(study__in=visible_studies(user))


def _is_active_staff(user: AbstractBaseUser | AnonymousUser) -> bool:
    return bool(user.is_active and getattr(user, "is_staff", False))
