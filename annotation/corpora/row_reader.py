"""Reads one row of a corpus's file and says everything that is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.common.table_file import Record, text_fault
from annotation.common.text_shortening import shorten
from annotation.corpora.corpus_rows import (
    COMMON_COLUMNS,
    PAIR_COLUMNS,
    TEXT_COLUMNS,
    Layout,
    Row,
    Side,
    Varieties,
)

LONGEST_TEXT = 10_000
LONGEST_CONTEXT = 20_000
LONGEST_SOURCE = 120
LONGEST_NAME = 100
LONGEST_KIND = 40
SPLITS = ("evaluation", "training")
NAME = re.compile(r"[-a-zA-Z0-9_]+")


@dataclass
class RowReader:
    """Reads one record and notes everything that is wrong with it.

    names : what each column holds; others are not read
    """

    record: Record
    layout: Layout
    varieties: Varieties
    names: Mapping[str, str]
    faults: list[str] = field(default_factory=list)

    def read(self) -> Row | None:
        if self.record.fault:
            self.faults.append(self.record.fault)
            return None
        values = self._name_values()
        sides = PAIR_COLUMNS if self.layout == Layout.PAIRS else ("text",)
        bodies = {side: self._text(values, side) for side in sides}
        self._check_presence(bodies)
        spans = self._spans(values.get("spans"), sides)
        row = Row(
            line=self.record.line,
            name=self._name(values),
            variety=self._variety(values),
            text=self._side(bodies, spans, sides[0]),
            target=self._side(bodies, spans, sides[1]) if len(sides) > 1 else None,
            source=self._text(values, "source", LONGEST_SOURCE).strip(),
            context=self._text(values, "context", LONGEST_CONTEXT).strip(),
            split=self._split(values),
        )
        return None if self.faults else row

    def _name_values(self) -> dict[str, Any]:
        own = PAIR_COLUMNS if self.layout == Layout.PAIRS else TEXT_COLUMNS
        values: dict[str, Any] = {}
        for column, value in self.record.values.items():
            name = self.names.get(column)
            if name is None:
                continue
            if name not in (*COMMON_COLUMNS, *own) or name in values:
                # Only JSON comes here: a table's heading holds for all of its rows.
                self.faults.append(f"“{shorten(column)}” is not expected here.")
            else:
                values[name] = value
        return values

    def _label(self, name: str) -> str:
        labels = {"source_text": self.varieties.source, "target_text": self.varieties.target}
        return labels.get(name, name)

    def _text(self, values: Mapping[str, Any], name: str, longest: int = LONGEST_TEXT) -> str:
        value = values.get(name)
        if value is None:
            return ""
        label = self._label(name)
        if not isinstance(value, str):
            self.faults.append(f"“{label}” is {_describe(value)}, expected a text.")
            return ""
        if fault := text_fault(value):
            self.faults.append(f"“{label}” {fault}")
        elif len(value.strip()) > longest:
            self.faults.append(
                f"“{label}” has {len(value.strip()):,} characters, expected {longest:,} at most."
            )
        return value

    def _check_presence(self, bodies: Mapping[str, str]) -> None:
        if self.faults:
            return
        empty = [name for name, body in bodies.items() if not body.strip()]
        if len(empty) == len(bodies):
            self.faults.append(
                "has no text, expected one."
                if len(bodies) == 1
                else "has no text, expected one in each variety."
            )
        elif empty:
            self.faults.append(
                f"“{self._label(empty[0])}” is empty, so that the text is unpaired; expected a "
                "text in each variety."
            )

    def _name(self, values: Mapping[str, Any]) -> str:
        value = values.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None:
            return ""
        if not isinstance(value, str) or (value.strip() and not NAME.fullmatch(value.strip())):
            self.faults.append(
                f"“id” is {_describe(value)}, expected letters, digits, hyphens and underscores."
            )
            return ""
        if len(value.strip()) > LONGEST_NAME:
            self.faults.append(f"“id” is longer than {LONGEST_NAME} characters.")
        return value.strip()

    def _variety(self, values: Mapping[str, Any]) -> str:
        given = self._text(values, "variety").strip()
        if not given:
            return self.varieties.source
        variety = self.varieties.find(given)
        if variety is None:
            source, *rest = (
                f"“{name}”"
                for name in (self.varieties.source, *self.varieties.others, self.varieties.target)
            )
            expected = f"{', '.join([source, *rest[:-1]])} or {rest[-1]}"
            self.faults.append(f"“variety” is “{shorten(given)}”, expected {expected}.")
        return variety or ""

    def _split(self, values: Mapping[str, Any]) -> str:
        given = self._text(values, "split").strip()
        split = given.casefold() or SPLITS[0]
        if split not in SPLITS:
            self.faults.append(
                f"“split” is “{shorten(given)}”, expected evaluation, training or nothing, which "
                "means evaluation."
            )
        return split

    def _spans(self, value: Any, sides: tuple[str, ...]) -> dict[str, list[Any]]:
        """Return the list of spans of each side, not yet checked one by one."""
        if value is None:
            return {}
        if self.layout == Layout.TEXTS:
            if isinstance(value, list):
                return {"text": value}
            self.faults.append("“spans” is no list, expected one of start, end and kind.")
            return {}
        if not isinstance(value, dict) or not all(
            self.varieties.find_column(name) in sides and isinstance(spans, list)
            for name, spans in value.items()
        ):
            self.faults.append(
                f"“spans” is not as expected: an object with a list under “{self.varieties.source}”"
                f" and “{self.varieties.target}”."
            )
            return {}
        return {str(self.varieties.find_column(name)): spans for name, spans in value.items()}

    def _side(self, bodies: Mapping[str, str], spans: Mapping[str, list[Any]], name: str) -> Side:
        raw = bodies[name]
        body = raw.strip()
        lead = len(raw) - len(raw.lstrip())
        checked = []
        for span in spans.get(name, ()):
            fault = _span_fault(span, raw, body, lead)
            if fault:
                self.faults.append(f"A span of “{self._label(name)}” {fault}")
                continue
            checked.append(
                {"start": span["start"] - lead, "end": span["end"] - lead, "kind": span["kind"]}
            )
        return Side(body, tuple(checked))


def _span_fault(span: Any, raw: str, body: str, lead: int) -> str:
    if not isinstance(span, dict) or set(span) != {"start", "end", "kind"}:
        return "is not as expected: an object with start, end and kind."
    start, end, kind = span["start"], span["end"], span["kind"]
    if not all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end)):
        return "has a start or end that is no whole number."
    if not isinstance(kind, str) or not kind.strip() or len(kind) > LONGEST_KIND:
        return f"has the kind {_describe(kind)}, expected a word of up to {LONGEST_KIND} letters."
    if not 0 <= start < end <= len(raw) or start < lead or end > lead + len(body):
        return (
            f"goes from {start} to {end}, outside the text of {len(raw)} characters without white "
            "space at its ends."
        )
    return ""


def _describe(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, str):
        return f"“{shorten(value)}”"
    return shorten(json.dumps(value))
