"""Finds the rows in a JSON document, whichever tool wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: How Label Studio calls what one annotator did, today and before.
ANNOTATIONS = ("annotations", "completions")
#: Under what a document keeps its rows, beside what it says of them all.
ROWS = ("data", "rows", "items", "examples", "records", "instances", "pairs", "texts", "results")


def list_entries(document: Any) -> list[Any]:
    """Return the rows of a document, each an object or a list of cells.

    They are the entries of a list, or of one called as `ROWS` in an object; what its columns hold
    by row, as in {"text": ["a", "b"]} or {"text": {"0": "a", "1": "b"}}; or the object itself.
    """
    if isinstance(document, list):
        return document
    if not isinstance(document, dict) or not document:
        return [document]
    values = list(document.values())
    if all(isinstance(value, dict) for value in values) and len({*map(tuple, values)}) == 1:
        columns = [list(value.values()) for value in values]
    elif all(isinstance(value, list) for value in values) and len({*map(len, values)}) == 1:
        columns = values
    else:
        return next((document[name] for name in ROWS if _is_table(document.get(name))), [document])
    if len(columns) == 1 and _is_table(columns[0]):
        return list(columns[0])
    return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def unfold(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one entry: its own values, and those that a tool keeps one level below.

    The texts of a data hub's “translation” stand beside its other values, those of a chat as input
    and output. A task of Label Studio becomes a row for each annotation that was not canceled.
    """
    if _is_table(entry.get("messages")):
        said = {str(one.get("role")): one.get("content") for one in entry.pop("messages")}
        yield {"input": said.get("user"), "output": said.get("assistant"), **entry}
        return
    if isinstance(entry.get("translation"), dict):
        yield {**entry.pop("translation"), **entry}
        return
    done = next((entry[name] for name in ANNOTATIONS if _is_table(entry.get(name))), None)
    if done is None or not isinstance(entry.get("data"), dict):
        yield entry
        return
    for annotation in done:
        if not annotation.get("was_cancelled"):
            yield {**entry["data"], **_read_annotation(annotation)}


def _read_annotation(annotation: dict[str, Any]) -> dict[str, Any]:
    """Return what was entered, by the name of its control; one choice or text of a list alone."""
    found: dict[str, Any] = {}
    results: Any = annotation.get("result")
    for one in results if _is_table(results) else []:
        value = one.get("value")
        if isinstance(value, dict) and "from_name" in one:
            entered = value.get(str(one.get("type")), value.get("text"))
            found[str(one["from_name"])] = _only(entered)
    return {**found, "annotator": _only(annotation.get("completed_by"))}


def _only(value: Any) -> Any:
    if isinstance(value, dict):
        return value.get("id")
    return value[0] if isinstance(value, list) and len(value) == 1 else value
