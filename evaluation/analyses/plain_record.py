"""Frozen dataclasses to plain values for storage as JSON, and back."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, core_schema, to_json

T = TypeVar("T")


def to_plain(record: Any) -> Any:
    """Return dictionaries, lists, numbers and texts; NaN becomes None.

    The reason for a missing number is a field beside it. Raises ValueError for infinities and for
    anything that JSON cannot hold.
    """
    plain = _adapter(cast(Any, type(record))).dump_python(record, warnings=False)
    return json.loads(to_json(plain, inf_nan_mode="constants"), parse_constant=_read_constant)


def from_plain(kind: type[T], data: Any) -> T:
    """Return the record of that kind from what `to_plain` gave; None becomes NaN for floats.

    Unknown keys raise ValueError, so that a result of another version is not read as this one.
    """
    try:
        return cast(T, _validator(cast(Any, kind)).validate_python(data))
    except ValidationError as error:
        unknown = [e["loc"] for e in error.errors() if e["type"] == "unexpected_keyword_argument"]
        if not unknown:
            raise
        names = ", ".join(".".join(map(str, place)) for place in unknown)
        raise ValueError(f"{kind.__name__} has no field {names}") from error


def _read_constant(name: str) -> None:
    if name != "NaN":
        raise ValueError("an infinite number cannot be stored")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def _validator(kind: Any) -> SchemaValidator:
    return SchemaValidator(_as_stored(_adapter(kind).core_schema))


def _as_stored(schema: Any) -> Any:
    """Return a schema with NaN where null is stored for a float, and unknown keys refused."""
    if isinstance(schema, list | tuple):
        return [_as_stored(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "float":
        return core_schema.no_info_before_validator_function(_nan_for_null, schema)
    found = {name: _as_stored(part) for name, part in schema.items()}
    return found | {"extra_behavior": "forbid"} if found.get("type") == "dataclass-args" else found


def _nan_for_null(value: Any) -> Any:
    return math.nan if value is None else value
