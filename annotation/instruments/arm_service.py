"""Storing the arms of a draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.instruments.arms import read_arms
from annotation.instruments.versions import lock_draft
from annotation.models import Instrument


@transaction.atomic
def store_arms(*, instrument: Instrument, arms: Sequence[Mapping[str, Any]]) -> None:
    """Put ``arms``, as `read_arms` takes them, in the place of those of a draft.

    Raises `ValidationError` for a version that is frozen by now, and for arms that cannot be read;
    nothing is stored then.
    """
    locked = lock_draft(instrument)
    try:
        read_arms(arms)
    except ValueError as error:
        raise ValidationError(str(error)) from None
    locked.arms = list(arms)
    locked.save(update_fields=["arms"])
