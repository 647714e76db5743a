"""Rows in an order that all databases share."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, TypeVar

Row = TypeVar("Row", bound=tuple[Any, ...])


def order_rows(rows: Iterable[Row], *columns: int) -> list[Row]:
    """Return rows ordered by ``columns``, texts among them by their code points.

    PostgreSQL may sort texts by the rules of a language. Hashes and draws that follow the order of
    rows would then differ from those of another installation.
    """
    return sorted(rows, key=itemgetter(*columns))
