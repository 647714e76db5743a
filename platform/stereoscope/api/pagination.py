"""Pages of lists: `limit` and `offset`, both bounded."""

from __future__ import annotations

from typing import Any

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request


class BoundedPagination(LimitOffsetPagination):
    """At most a thousand entries a page; an offset that no database can count to is the end."""

    default_limit = 100
    max_limit = 1000
    FURTHEST = 2**31 - 1

    def get_offset(self, request: Request) -> int:
        return min(super().get_offset(request), self.FURTHEST)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        described["properties"]["count"]["minimum"] = 0
        return described
