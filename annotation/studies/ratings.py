"""Accepted ratings as plain rows, the way analyses read them."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from annotation.models import DataDecision, Rating, Study


class RatingRow(NamedTuple):
    """``submission`` is the pseudonymous id of a submission, ``group`` and ``scale`` are slugs."""

    submission: str
    group: str
    scale: str
    value: float


def load_accepted_ratings(study: Study, *, arm: str = "") -> list[RatingRow]:
    """Return the ratings of accepted submissions that count, without repeated groups. One query.

    arm : name of the one that they are limited to, empty for all
    """
    rows = (
        Rating.objects.filter(
            assignment__submission__study=study,
            assignment__submission__data_decision=DataDecision.ACCEPTED,
            assignment__submission__is_counted=True,
            assignment__is_repeat=False,
            **({"assignment__submission__arm": arm} if arm else {}),
        )
        .order_by("assignment__submission__pk", "assignment__position", "scale__position")
        .values_list(
            "assignment__submission__public_id", "assignment__group__slug", "scale__slug", "value"
        )
    )
    # A million rows name a few ids, groups and scales: each is kept once, not once a row.
    kept: dict[Any, Any] = {}
    return [
        RatingRow._make(kept.setdefault(value, value) for value in row)
        for row in rows.iterator(chunk_size=5000)
    ]


def hash_ratings(rows: list[RatingRow]) -> str:
    """Return the SHA-256 of the rows, independent of their order and of the database's keys."""
    digest = hashlib.sha256()
    for row in sorted(rows):
        digest.update(f"{row.submission}\t{row.group}\t{row.scale}\t{row.value!r}\n".encode())
    return digest.hexdigest()
