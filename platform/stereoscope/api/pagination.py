"""Pages of lists: `limit` and `offset`, both bounded."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request


class BoundedPagination(LimitOffsetPagination):
    """At most a thousand entries a page; an offset that no database can count to is the end.

    Answers 400 to a limit or an offset that is no whole number.
    """

    default_limit = 100
    max_limit = 1000
    FURTHEST = 2**31 - 1

    def get_limit(self, request: Request) -> int:
        return min(_read_number(request, "limit", least=1) or self.default_limit, self.max_limit)

    def get_offset(self, request: Request) -> int:
        return min(_read_number(request, "offset", least=0) or 0, self.FURTHEST)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        described: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter, least in zip(described, (1, 0), strict=True):
            parameter["schema"]["minimum"] = least
        return described

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        described["properties"]["count"]["minimum"] = 0
        return described


def _read_number(request: Request, name: str, *, least: int) -> int | None:
    """Return a whole number of the query, None where there is none."""
    text = request.query_params.get(name)
    if text is None:
        return None
    # Longer ones are beyond every limit, and slow to read.
    if not (text.isascii() and text.isdigit() and int(text[:12]) >= least):
        raise ValidationError({name: f"Expected a whole number, {least} or more."})
    return int(text[:12])
