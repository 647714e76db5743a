"""The stored cases of perplexities, continuations and hidden spans."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

from probing.lm import SpanContext, load_text_model


def load_expected(shared_dir: Path, name: str) -> dict[str, Any]:
    """Return the golden file of that name."""
    file = shared_dir / "golden" / "expected" / f"{name}.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def load_pairs(shared_dir: Path) -> tuple[list[str], list[str]]:
    """Return the 40 texts in the first and in the second variety."""
    file = shared_dir / "golden" / "data" / "dialect_pairs.tsv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))
    return [row[0] for row in rows], [row[1] for row in rows]


@cache
def load_lm(shared_dir: Path, name: str) -> Any:
    # One thread: the suite runs several processes side by side.
    return load_text_model(shared_dir / "golden" / "models" / name, threads=1)


def span_context(case: dict[str, Any]) -> SpanContext:
    """Return a case's text with the words of its span hidden."""
    words = case["text"].split(" ")
    start, end = case["span_start_word"], case["span_start_word"] + case["span_length"]
    before = " ".join(words[:start]) + (" " if start else "")
    span = " ".join(words[start:end])
    return SpanContext(before, span, case["text"][len(before) + len(span) :])
