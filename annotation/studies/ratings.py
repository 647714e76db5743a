"""Accepted ratings as a table, the way analyses read them."""

from __future__ import annotations

import hashlib

from annotation.common.lazy import np, pd
from annotation.models import Rating, Study
from annotation.models.submission import accepted

COLUMNS = ("submission", "group", "scale", "value")
#: Rows that are fetched, or written out for the hash, at a time.
BATCH = 5000


def load_accepted_ratings(study: Study, *, arm: str = "") -> pd.DataFrame:
    """Return the ratings of accepted submissions that count, without repeated groups. One query.

    arm : name of the one that they are limited to, empty for all

    Columns: ``submission`` is the pseudonymous id of a submission, ``group`` and ``scale`` are
    slugs, ``value`` is 0 to 100. Submissions and their groups stand in the order of the database.
    """
    rows = (
        Rating.objects.filter(
            accepted(of="assignment__submission__"),
            assignment__submission__study=study,
            assignment__is_repeat=False,
            **({"assignment__submission__arm": arm} if arm else {}),
        )
        .order_by("assignment__submission__pk", "assignment__position", "scale__position")
        .values_list(
            "assignment__submission__public_id", "assignment__group__slug", "scale__slug", "value"
        )
    )
    # A million rows name a few ids, groups and scales: numbers stand for them, which take 20 bytes
    # a row where a tuple takes 200.
    ids: dict[str, int] = {}
    groups: dict[str, int] = {}
    scales: dict[str, int] = {}
    coded = np.fromiter(
        (
            (
                ids.setdefault(submission, len(ids)),
                groups.setdefault(group, len(groups)),
                scales.setdefault(scale, len(scales)),
                value,
            )
            for submission, group, scale, value in rows.iterator(chunk_size=BATCH)
        ),
        dtype=list(zip(COLUMNS, ("i4", "i4", "i4", "f8"), strict=True)),
    )
    table = {
        name: pd.Series(np.array(list(names), dtype=object)[coded[name]], dtype=object)
        for name, names in (("submission", ids), ("group", groups), ("scale", scales))
    }
    return pd.DataFrame({**table, "value": coded["value"]})


def hash_ratings(ratings: pd.DataFrame) -> str:
    """Return the SHA-256 of the rows, independent of their order and of the database's keys."""
    digest = hashlib.sha256()
    ranks = (pd.factorize(ratings[name], sort=True)[0] for name in reversed(COLUMNS))
    order = np.lexsort(tuple(ranks))
    for start in range(0, len(order), BATCH):
        rows = ratings.take(order[start : start + BATCH])
        lines = [
            f"{submission}\t{group}\t{scale}\t{value!r}\n"
            for submission, group, scale, value in zip(
                *(rows[name].tolist() for name in COLUMNS), strict=True
            )
        ]
        digest.update("".join(lines).encode())
    return digest.hexdigest()
