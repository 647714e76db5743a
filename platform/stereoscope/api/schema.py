"""Completes the OpenAPI schema: every operation says which problems it may answer with."""

from __future__ import annotations

from typing import Any

PROBLEM = {
    "type": "object",
    "description": "A problem document (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "value", "message"],
                "properties": {
                    "field": {"type": "string", "description": "Path of the field, with dots."},
                    "value": {"description": "What was sent; null for anything but plain values."},
                    "message": {"type": "string", "description": "What is expected."},
                },
            },
        },
    },
}
ALWAYS = {
    "401": "No token, or not a valid one.",
    "403": "This account may not do that.",
    "429": "Too many requests; Retry-After says when to try again.",
}
METHODS = {"get", "post", "put", "patch", "delete"}


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the problem responses to every operation. A hook of drf-spectacular."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            if method not in METHODS:
                continue
            problems = dict(ALWAYS)
            if "{" in path:
                problems["404"] = "There is nothing here that this account may see."
            if method in {"post", "patch"}:
                problems["400"] = "Something in the request is not valid."
                problems["415"] = "The body is not JSON."
                if "{" in path:
                    problems["409"] = "The state of the object forbids it."
            elif operation.get("parameters"):
                problems["400"] = "A filter is not valid."
            for status, description in problems.items():
                operation["responses"].setdefault(status, _describe(description))
    return result


def _describe(description: str) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": reference}},
    }
