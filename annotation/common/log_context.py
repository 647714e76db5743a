"""What log lines belong to: the request that is answered, the run that is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
run_id: ContextVar[str] = ContextVar("run_id", default="")


@contextmanager
def logging_as(variable: ContextVar[str], value: str) -> Iterator[None]:
    """Have lines that are logged meanwhile say what they belong to."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)
