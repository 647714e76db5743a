"""A study once more: its settings and its newest instrument, without people, codes or money."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.instruments.versions import copy_instrument, current_instrument
from annotation.models import Origin, Study, StudyStatus
from annotation.models.study import new_completion_codes
from annotation.models.tokens import new_public_id

# What belongs to one collection of data and to nothing else.
OWN = frozenset(
    {
        "id",
        "public_id",
        "title",
        "status",
        "owner",
        "completion_codes",
        "pilot_started_at",
        "pilot_is_counted",
        "withdraw_until",
        "created_at",
        "launched_at",
        "closed_at",
    }
)


@transaction.atomic
def duplicate_study(*, study: Study, title: str, owner: AbstractBaseUser | None) -> Study:
    """Return a draft with the settings and the newest instrument of a study with participants.

    Panels that are connected, submissions and decisions stay with the study. Raises
    `ValidationError` for a study that was imported and for a bad title.
    """
    source = current_instrument(study)
    if source is None or study.origin == Origin.IMPORTED:
        raise ValidationError(_("The study has no instrument that could be copied."))
    settings = {
        field.attname: getattr(study, field.attname)
        for field in Study._meta.concrete_fields
        if field.name not in OWN
    }
    copy = Study(
        **settings,
        title=title,
        owner=owner,  # type: ignore[misc]
        public_id=new_public_id(),
        status=StudyStatus.DRAFT,
        completion_codes=new_completion_codes(),
    )
    copy.full_clean()
    copy.save()
    copy_instrument(source, study=copy, version=1)
    return copy
