"""Creates and launches studies whose work is done by annotators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import (
    JudgmentDesign,
    Study,
    StudyKind,
    StudyStatus,
    WritingDesign,
)
from annotation.studies.lifecycle import change_status, lock_study


def create_study(
    *,
    kind: StudyKind,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    **options: Any,
) -> Study:
    """Create a draft of a kind, without its design. Raises `ValidationError` for bad options."""
    study = Study(
        title=title,
        owner=owner,  # type: ignore[misc]
        contact_email=contact_email,
        kind=kind,
        **options,
    )
    study.full_clean()
    study.save()
    return study


def edit_design(design: WritingDesign | JudgmentDesign, values: dict[str, Any]) -> None:
    """Set fields of a draft's design, which the caller checks and saves in the same transaction.

    Raises `ValidationError` for a study that was launched.
    """
    study = Study.objects.select_for_update().get(pk=design.study_id)
    if study.status != StudyStatus.DRAFT:
        raise ValidationError(_("The study was launched: its design is frozen."))
    for name, value in values.items():
        setattr(design, name, value)


@transaction.atomic
def launch(
    study: Study,
    *,
    work: str,
    find_problems: Callable[[Study], list[str]],
    assign: Callable[..., int],
) -> Study:
    """Give the work out and open the study; resume it where it was launched before.

    ``work`` names the relation that is empty before the first launch. Launching a live study
    changes nothing. Raises `ValidationError` with every problem.
    """
    study = lock_study(study)
    if study.status == StudyStatus.LIVE:
        return study
    if not getattr(study, work).exists():
        if problems := find_problems(study):
            raise ValidationError(problems)
        assign(study=study)
    return change_status(study, StudyStatus.LIVE)
