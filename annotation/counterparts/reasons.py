"""Why a text has no counterpart: a code, and what the annotator adds to it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

LONGEST_DETAIL = 400


class Reason(models.TextChoices):
    UNKNOWN_WORD = "unknown word", _("A word or expression that I do not know")
    MEANING_UNCLEAR = "meaning unclear", _("What the text means is unclear")
    NO_COUNTERPART = "no counterpart", _("I understand it, but it has no counterpart")
    OTHER_VARIETY = "other variety", _("It is not in the variety that it should be in")
    OTHER = "other", _("Another reason")


def join_reason(code: str, detail: str) -> str:
    """Return what is stored of a reason."""
    return f"{code}: {detail}" if detail else code


def split_reason(reason: str) -> tuple[str, str]:
    """Return code and detail of a stored reason; an unknown code is all detail."""
    code, _colon, detail = reason.partition(": ")
    return (code, detail) if code in Reason.values else (Reason.OTHER.value, reason)
