"""Frozen dataclasses to plain values for storage as JSON, and back."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


def to_plain(record: object) -> Any:
    """Return dictionaries, lists, numbers and texts; NaN becomes None.

    The reason for a missing number is a field beside it. Raises ValueError for infinities and
    TypeError for anything that JSON cannot hold.
    """
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return {f.name: to_plain(getattr(record, f.name)) for f in dataclasses.fields(record)}
    if isinstance(record, tuple | list):
        return [to_plain(item) for item in record]
    if record is None or isinstance(record, bool):
        return record
    if isinstance(record, str):
        return str(record)
    if isinstance(record, int):
        return int(record)
    if isinstance(record, float):
        if math.isinf(record):
            raise ValueError("an infinite number cannot be stored")
        return None if math.isnan(record) else float(record)
    raise TypeError(f"{type(record).__name__} cannot be stored as plain JSON")


def from_plain(kind: type[T], data: Any) -> T:
    """Return the record of that kind from what `to_plain` gave; None becomes NaN for floats.

    Unknown keys raise ValueError, so that a result of another version is not read as this one.
    """
    return typing.cast(T, _read(kind, data))


def _read(kind: Any, data: Any) -> Any:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(data, dict):
            raise ValueError(f"{kind.__name__} is stored as an object, got {type(data).__name__}")
        hints = typing.get_type_hints(kind)
        unknown = set(data) - set(hints)
        if unknown:
            raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
        try:
            return kind(**{name: _read(hints[name], value) for name, value in data.items()})
        except TypeError as error:
            raise ValueError(f"{kind.__name__} cannot be read: {error}") from error
    if typing.get_origin(kind) is tuple:
        return tuple(_read(typing.get_args(kind)[0], item) for item in data)
    if typing.get_origin(kind) is types.UnionType:
        inner = next(arg for arg in typing.get_args(kind) if arg is not type(None))
        return None if data is None else _read(inner, data)
    if typing.get_origin(kind) is typing.Literal:
        if data not in typing.get_args(kind):
            allowed = ", ".join(map(repr, typing.get_args(kind)))
            raise ValueError(f"{data!r} is stored where one of {allowed} is expected")
        return data
    if kind is float:
        return math.nan if data is None else float(data)
    return kind(data)
