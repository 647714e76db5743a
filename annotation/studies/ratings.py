"""Accepted ratings as a table, the way analyses read them."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db.models import Count, Q

from annotation.common.lazy import np, npt, pd
from annotation.models import GroupAssignment, Missing, Rating, Study, TraitScale
from annotation.models.submission import accepted

COLUMNS = ("submission", "group", "scale", "value")
#: Rows that are fetched, or written out for the hash, at a time.
BATCH = 5000


def load_accepted_ratings(study: Study, *, arm: str = "") -> pd.DataFrame:
    """Return the ratings of accepted submissions that count, without repeated groups.

    arm : name of the one that they are limited to, empty for all

    Columns: ``submission`` is the pseudonymous id of a submission, ``group`` and ``scale`` are
    slugs, ``value`` is 0 to 100. Submissions and their groups stand in the order of the database.
    Three queries: of a million rows the database sends three numbers each, and every name once.
    """
    shown = GroupAssignment.objects.filter(
        accepted(of="submission__"),
        submission__study=study,
        is_repeat=False,
        **({"submission__arm": arm} if arm else {}),
    )
    assignments = list(
        shown.order_by("submission__pk", "position").values_list(
            "pk", "submission__public_id", "group__slug"
        )
    )
    rows = np.fromiter(
        Rating.objects.filter(assignment__in=shown)
        .values_list("assignment", "scale", "value")
        .iterator(chunk_size=BATCH),
        dtype=[("assignment", "i8"), ("scale", "i8"), ("value", "f8")],
    )
    asked = TraitScale.objects.filter(pk__in=np.unique(rows["scale"]).tolist())
    scales = list(asked.order_by("position", "pk").values_list("pk", "slug"))
    # Where each row's names stand; of a submission that was accepted just now there are none.
    assignment, scale = (
        pd.Index([pk for pk, *_names in named]).get_indexer(pd.Index(rows[column]))
        for column, named in (("assignment", assignments), ("scale", scales))
    )
    order = np.lexsort((scale, assignment))
    order = order[assignment[order] >= 0]

    def spell_out(places: npt.NDArray[np.intp], names: list[str]) -> pd.Series:
        return pd.Series(np.array(names, dtype=object)[places[order]], dtype=object)

    return pd.DataFrame(
        {
            "submission": spell_out(assignment, [public_id for _pk, public_id, _ in assignments]),
            "group": spell_out(assignment, [group for *_ids, group in assignments]),
            "scale": spell_out(scale, [slug for _pk, slug in scales]),
            "value": rows["value"][order],
        }
    )


def count_left_out(study: Study, *, arm: str = "") -> list[dict[str, Any]]:
    """Return how many people left out each group, the most first; none that nobody left out.

    Of accepted submissions, without repeated groups: ``asked`` people, of whom ``declined`` and
    ``unknown`` left out the whole group; ``lines`` that others left out one by one. One query.
    """
    rows: Any = (
        GroupAssignment.objects.filter(
            accepted(of="submission__"),
            submission__study=study,
            is_repeat=False,
            **({"submission__arm": arm} if arm else {}),
        )
        .order_by()
        .values("group__slug")
        .annotate(
            asked=Count("pk", distinct=True),
            **{kind: Count("pk", filter=Q(skipped=kind), distinct=True) for kind in Missing.values},
            lines=Count("missing_ratings", filter=Q(skipped="")),
        )
    )
    found = [
        {"group": row.pop("group__slug"), **row}
        for row in rows
        if row["declined"] or row["unknown"] or row["lines"]
    ]
    return sorted(
        found, key=lambda row: (-row["declined"] - row["unknown"], -row["lines"], row["group"])
    )


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
