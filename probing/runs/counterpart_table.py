"""Selector: what a model wrote, beside what it was given and what people wrote."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.models import Counterpart
from probing.models import Run


@dataclass(frozen=True)
class DirectionCount:
    """How many counterparts there are in one variety.

    Attributes
    ----------
    written : those with a text; `remarked` of them were cut.
    missing : those without, each with its reason.
    """

    variety: str
    written: int
    remarked: int
    missing: int


def run_counterparts(run: Run) -> QuerySet[Counterpart]:
    """Return the counterparts of ``run`` with their texts and pairs, in the corpus's order.

    One query, and one more for the pairs of the rows that are read.
    """
    return (
        Counterpart.objects.filter(run=run.public_id)
        .select_related("text", "text__pair__target_text")
        .prefetch_related("text__pairs_as_target__source_text")
        .order_by("text__pk", "variety")
    )


def search_counterparts(found: QuerySet[Counterpart], words: str) -> QuerySet[Counterpart]:
    """Keep the counterparts with ``words`` in the original, in the result or in the reason."""
    if not words:
        return found
    return found.filter(
        Q(text__body__icontains=words)
        | Q(body__icontains=words)
        | Q(reason__icontains=words)
        | Q(text__slug__icontains=words)
        | Q(text__pair__slug__icontains=words)
    )


def count_directions(run: Run) -> list[DirectionCount]:
    """Return the numbers of each variety that ``run`` wrote. One query."""
    written = ~Q(body="")
    rows = (
        Counterpart.objects.filter(run=run.public_id)
        .order_by()
        .values("variety")
        .annotate(
            written=Count("pk", filter=written),
            remarked=Count("pk", filter=written & ~Q(reason="")),
            missing=Count("pk", filter=Q(body="")),
        )
        .order_by("variety")
    )
    return [DirectionCount(**row) for row in rows]


def reference_of(counterpart: Counterpart) -> tuple[str, str]:
    """Return slug and gold text of the pair that a counterpart belongs to; empty without one.

    A text of the source variety has one pair. A text of the target variety may have several; the
    first one in the corpus is taken. No query after :func:`run_counterparts`.
    """
    text = counterpart.text
    pair = getattr(text, "pair", None)
    if pair is not None:
        return pair.slug, pair.target_text.body
    pairs = sorted(text.pairs_as_target.all(), key=lambda found: found.pk)
    return (pairs[0].slug, pairs[0].source_text.body) if pairs else ("", "")
