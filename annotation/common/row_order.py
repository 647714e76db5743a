"""Rows in an order that all databases share."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, TypeVar

from django.db.models import QuerySet

Row = TypeVar("Row", bound=tuple[Any, ...])


def order_rows(rows: QuerySet[Any, Row], *columns: int) -> list[Row]:
    """Return rows ordered by the columns at these places, texts by their code points. One query.

    PostgreSQL may sort texts by the rules of a language. Hashes and draws that follow the order of
    rows would then differ from those of another installation.
    """
    return sorted(rows.order_by(), key=itemgetter(*columns))
