"""Changing the key under which ids of people and secrets of their links are stored."""

from __future__ import annotations

from django.db import models, transaction
from django.db.models.functions import Cast

from annotation.common.encryption import is_current
from annotation.models import Annotator, PanelAction, ParticipantIdentity, Submission, UsedLink

#: Tables with encrypted fields, and which these are.
ENCRYPTED: dict[type[models.Model], tuple[str, ...]] = {
    ParticipantIdentity: ("external_id", "session_id"),
    PanelAction: ("reference",),
    Submission: ("token", "holder_key"),
    UsedLink: ("holder_key",),
    Annotator: ("invitation_token",),
}
BATCH = 500


def rotate_identity_key() -> int:
    """Store all that is encrypted under the first key; return how many rows were not.

    Safe while people arrive: rows are locked in batches. Running it twice changes nothing more.
    """
    return sum(_rotate(model, names) for model, names in ENCRYPTED.items())


def _rotate(model: type[models.Model], names: tuple[str, ...]) -> int:
    stored = {f"stored_{name}": Cast(name, models.TextField()) for name in names}
    rows = model._default_manager.annotate(**stored).values_list("pk", *stored).order_by("pk")
    old = [pk for pk, *texts in rows.iterator() if not all(map(is_current, texts))]
    for start in range(0, len(old), BATCH):
        with transaction.atomic():
            keys = old[start : start + BATCH]
            found = model._default_manager.select_for_update().filter(pk__in=keys)
            model._default_manager.bulk_update(found, names)
    return len(old)
