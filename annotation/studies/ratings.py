"""Accepted ratings as a table, the way analyses read them."""

from __future__ import annotations

import hashlib

from annotation.common.lazy import np, pd
from annotation.models import GroupAssignment, Rating, Study, TraitScale
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
    asked = TraitScale.objects.filter(instrument__study=study)
    scales = list(asked.order_by("position", "pk").values_list("pk", "slug"))
    rows = np.fromiter(
        Rating.objects.filter(assignment__in=shown)
        .values_list("assignment", "scale", "value")
        .iterator(chunk_size=BATCH),
        dtype=[("assignment", "i8"), ("scale", "i8"), ("value", "f8")],
    )
    # Where each row's assignment and scale stand; a submission may just have been accepted.
    assignment = pd.Index([pk for pk, *_names in assignments]).get_indexer(rows["assignment"])
    scale = pd.Index([pk for pk, _slug in scales]).get_indexer(rows["scale"])
    order = np.lexsort((scale, assignment))
    order = order[(assignment[order] >= 0) & (scale[order] >= 0)]
    names = {
        "submission": [public_id for _pk, public_id, _group in assignments],
        "group": [group for *_ids, group in assignments],
        "scale": [slug for _pk, slug in scales],
    }
    places = {"submission": assignment, "group": assignment, "scale": scale}
    columns = {
        name: pd.Series(np.array(names[name], dtype=object)[places[name][order]], dtype=object)
        for name in names
    }
    return pd.DataFrame({**columns, "value": rows["value"][order]})


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
