"""Versions of an instrument: a frozen one is never edited, it is copied."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext as _

from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.previews import clear_previews
from annotation.models import Instrument, Origin, Study, StudyStatus

#: Fields of an instrument that its author decides on, beside its flow and its content.
SETTINGS = (
    "scale_order",
    "pole_sides",
    "show_ticks",
    "one_per_domain",
    "skipping",
    "high_from",
    "low_to",
    "agreement_rule",
    "agreement_within",
    "agreement_at_least",
    "agreement_tau",
)
CONTENT = ("groups", "scales", "questions", "wordings")
_PUBLISHED = PreparedQuery(
    lambda study: Instrument.objects.filter(study=study, frozen_at__isnull=False).order_by(
        "-version"
    )[:1]
)


def current_instrument(study: Study) -> Instrument | None:
    """Return the newest version of the study's instrument, a draft included. One query."""
    return study.instruments.order_by("-version").first()


def published_instrument(study: Study) -> Instrument | None:
    """Return the newest frozen version: the one that people see. One query."""
    instrument = _PUBLISHED.first(study.pk)
    if instrument is not None:
        instrument.study = study
    return instrument


@transaction.atomic
def create_version(*, study: Study) -> Instrument:
    """Copy the newest frozen instrument into a draft of the next version, open to edits.

    Submissions keep the version that they saw. Raises `ValidationError` where a draft exists
    already and for studies that are imported or over.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    source = current_instrument(study)
    if source is None or study.origin == Origin.IMPORTED:
        raise ValidationError("The study has no instrument that could get a new version.")
    if study.status == StudyStatus.ARCHIVED:
        raise ValidationError("The study is archived: nobody will see a new version.")
    if not source.is_frozen:
        raise ValidationError(f"Version {source.version} is a draft already, edit that one.")
    return copy_instrument(source, study=study, version=source.version + 1)


def copy_instrument(source: Instrument, *, study: Study, version: int) -> Instrument:
    """Store a draft with the content of ``source`` as a version of ``study``."""
    copy: Instrument = _unsaved_copy(
        source, study=study, version=version, frozen_at=None, content_hash=""
    )
    copy.save()
    for part in CONTENT:
        rows = getattr(source, part).all()
        getattr(copy, part).bulk_create([_unsaved_copy(row, instrument=copy) for row in rows])
    return copy


def lock_draft(instrument: Instrument) -> Instrument:
    """Return a draft with its row locked. Raises `ValidationError` for a frozen version."""
    locked = (
        Instrument.objects.select_for_update(of=("self",))
        .select_related("study")
        .get(pk=instrument.pk)
    )
    if locked.is_frozen:
        raise ValidationError(
            _("Version %(n)d is frozen. Edits make a new version.") % {"n": locked.version}
        )
    return locked


@transaction.atomic
def discard_version(*, instrument: Instrument) -> None:
    """Delete a draft of a later version. Raises `ValidationError` for a frozen or the only one."""
    locked = Instrument.objects.select_for_update().get(pk=instrument.pk)
    if locked.is_frozen:
        raise ValidationError(f"“{locked}” is frozen and stays.")
    if not locked.study.instruments.exclude(pk=locked.pk).exists():
        raise ValidationError(f"“{locked}” is the study's only version and stays.")
    clear_previews(study=locked.study, instrument=locked)
    locked.delete()


def _unsaved_copy(row: Any, **changes: Any) -> Any:
    """Return a new instance with the row's values, its key left out."""
    values = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not field.primary_key and not isinstance(field, models.DateTimeField)
    }
    copy = type(row)(**values)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy
