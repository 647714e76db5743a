"""Accepted ratings of the speakers of texts as plain rows, the way analyses read them."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from annotation.instruments.versions import current_instrument, published_instrument
from annotation.models import Rating, Study, StudyGroup
from annotation.models.submission import accepted


class GuiseRow(NamedTuple):
    """One number by one person about the speaker of one text.

    submission : pseudonymous id; text, item, scale : slugs; value : 0 (low pole) to 100
    """

    submission: str
    text: str
    item: str
    variety: str
    scale: str
    value: float


def load_guise_ratings(study: Study, *, arm: str = "") -> list[GuiseRow]:
    """Return the ratings of accepted submissions that count, without repeated texts. One query.

    arm : name of the one that they are limited to, empty for all
    """
    rows = (
        Rating.objects.filter(
            accepted(of="assignment__submission__"),
            assignment__submission__study=study,
            assignment__is_repeat=False,
            assignment__group__text__isnull=False,
            **({"assignment__submission__arm": arm} if arm else {}),
        )
        .order_by("assignment__submission__pk", "assignment__position", "scale__position")
        .values_list(
            "assignment__submission__public_id",
            "assignment__group__slug",
            "assignment__item",
            "assignment__group__variety",
            "scale__slug",
            "value",
        )
    )
    return [GuiseRow(*row) for row in rows.iterator(chunk_size=5000)]


def list_varieties(study: Study) -> list[str]:
    """Return the varieties of a study's texts, the corpus's source variety first. Two queries."""
    instrument = published_instrument(study) or current_instrument(study)
    texts = StudyGroup.objects.filter(instrument=instrument, text__isnull=False)
    found = texts.order_by("position").values_list("variety", "text__corpus__source_variety")
    ordered = sorted(dict(found).items(), key=lambda pair: pair[0] != pair[1])
    return [variety for variety, _source in ordered]


def hash_guise_ratings(rows: list[GuiseRow]) -> str:
    """Return the SHA-256 of the rows, independent of their order and of the database's keys."""
    digest = hashlib.sha256()
    for row in sorted(rows):
        digest.update("\t".join([*row[:-1], repr(row.value), "\n"]).encode())
    return digest.hexdigest()
