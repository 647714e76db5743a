"""Finds the rows in a JSON document, whichever tool wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

#: How Label Studio calls what one annotator did, today and before.
ANNOTATIONS = ("annotations", "completions")
#: Under what a document keeps its rows, beside what it says of them all.
ROWS = (
    *("data", "rows", "items", "examples", "records", "instances", "samples", "pairs", "texts"),
    "results",
)
#: What tells the texts of a list apart, and what holds them.
LABELS = ("variety", "dialect", "gold_label", "role", "lang", "language", "label", "type", "name")
TEXTS = ("text", "sentence", "content", "body")
#: How a chat calls what was asked and what was answered.
TURNS = {"user": "input", "assistant": "output"}
#: How the lists of a document are called that are its splits.
SPLITS = {"train", "training", "test", "dev", "validation", "val", "eval", "evaluation"}
#: A key that numbers rows.
NUMBER = re.compile(r"\w{0,3}[-_.]?\d+")


def list_entries(document: Any) -> list[Any]:
    """Return the rows of a document, each an object or a list of cells.

    They are the entries of a list, or of one called as `ROWS` in an object; the lists of an object
    that holds nothing else, one after the other; what its columns hold by row, as in {"text":
    ["a", "b"]} or {"text": {"0": "a", "1": "b"}}; its values where its keys number them; each
    sentence with its value where they are its keys; or the object itself.
    """
    if isinstance(document, list):
        return [[one] if isinstance(one, str) else one for one in document]
    if not isinstance(document, dict) or not document:
        return [document]
    values = list(document.values())
    if isinstance(document.get("columns"), list) and isinstance(document.get("data"), list):
        return [dict(zip(document["columns"], row, strict=False)) for row in document["data"]]
    if all(map(_is_table, values)) and not set(document) & set(ROWS):
        part = "split" if set(document) <= SPLITS else "part"
        return [{part: name, **row} for name, rows in document.items() for row in rows]
    if _holds_sentences(document):
        return [
            [text, one]
            for text, value in document.items()
            for one in (value if isinstance(value, list) else [value])
        ]
    is_numbered = all(map(NUMBER.fullmatch, document))
    if all(isinstance(value, dict) for value in values) and len({*map(tuple, values)}) == 1:
        if is_numbered and not all(map(NUMBER.fullmatch, values[0])):
            return [{"id": number, **value} for number, value in document.items()]
        columns = [list(value.values()) for value in values]
    elif all(isinstance(value, list) for value in values) and len({*map(len, values)}) == 1:
        if is_numbered and len(values) > len(values[0]):
            return values
        columns = values
    else:
        return next(
            (list_entries(document[name]) for name in ROWS if _has_rows(document.get(name))),
            [document],
        )
    if len(columns) == 1 and _is_table(columns[0]):
        return list(columns[0])
    return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _has_rows(value: Any) -> bool:
    is_nested = isinstance(value, dict) and bool(value) and all(map(_is_table, value.values()))
    return is_nested or _is_table(value)


def _holds_sentences(document: Mapping[str, Any]) -> bool:
    """Whether an object's keys are texts, each with another text or a list of them."""

    def is_text(value: Any) -> bool:
        several = value if isinstance(value, list) else [value]
        return bool(several) and all(isinstance(one, str) for one in several)

    spaced = sum(" " in key.strip() for key in document)
    return 2 * spaced > len(document) and all(map(is_text, document.values()))


def unfold(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one entry: its own values, and those that a tool keeps one level below.

    The texts of a data hub's “translation” stand beside its other values; so do texts of a list
    whose labels tell them apart, those of a chat as input and output; and what a model answered. A
    task of Label Studio becomes a row for each annotation that was not canceled. Values of other
    objects are called as in “object.value”.
    """
    if isinstance(entry.get("translation"), dict):
        yield {**entry.pop("translation"), **_flatten(entry)}
        return
    done = next((entry[name] for name in ANNOTATIONS if _is_table(entry.get(name))), None)
    if done is None or not isinstance(entry.get("data"), dict):
        yield _flatten(entry)
        return
    for annotation in done:
        if not annotation.get("was_cancelled"):
            yield _flatten({**entry["data"], **_read_annotation(annotation)})


def _flatten(entry: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return an entry's values, those of objects in it by both names with a point."""
    found: dict[str, Any] = {}
    for name, value in entry.items():
        if name == "output" and isinstance(value, dict) and _is_table(value.get("choices")):
            message = value["choices"][0].get("message")
            found["output"] = message.get("content") if isinstance(message, dict) else None
            found["model"] = value.get("model")
        elif texts := _read_labeled(value):
            found |= {label: text for label, text in texts.items() if label not in entry}
        elif isinstance(value, dict) and not all(isinstance(v, list) for v in value.values()):
            found |= _flatten(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found


def _read_labeled(value: Any) -> dict[str, str]:
    """Return the texts of a list by their labels; empty for another list."""
    if not _is_table(value) or len(value) < 2:
        return {}
    label = next((name for name in LABELS if all(name in one for one in value)), "")
    text = next((name for name in TEXTS if all(name in one for one in value)), "")
    if not label or not text or not all(isinstance(one[label], str) for one in value):
        return {}
    asked = [one for one in value if (label, one[label]) != ("role", "system")]
    found = {TURNS.get(one[label], one[label]): one[text] for one in asked}
    is_clear = len(found) == len(asked) and all(isinstance(one, str) for one in found.values())
    return found if is_clear else {}


def _read_annotation(annotation: dict[str, Any]) -> dict[str, Any]:
    """Return what was entered, by the name of its control; one choice or text of a list alone, and
    every marked passage."""
    found: dict[str, Any] = {}
    results: Any = annotation.get("result")
    for one in results if _is_table(results) else []:
        value = one.get("value")
        if isinstance(value, dict) and "from_name" in one:
            name, entered = (
                str(one["from_name"]),
                value.get(str(one.get("type")), value.get("text")),
            )
            if {"start", "end"} <= value.keys():
                found.setdefault(name, []).append(value)
            else:
                found[name] = only(entered)
    by = annotation.get("completed_by")
    return {**found, "annotator": by.get("id") if isinstance(by, dict) else only(by)}


def only(value: Any) -> Any:
    """Return the one entry of a list, also of a list in it; any other value as it is."""
    while isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict):
        (value,) = value
    return value
