"""The words of `docs/glossary.md`, the single place where they are explained."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from stereoscope.documentation.paths import DOCS

HEADING = re.compile(r"^## (.+)$")
ROW = re.compile(r"^\| (?P<words>[^|]+) \| (?P<meaning>[^|]+) \| (?P<instead>[^|]*)\|$")


@dataclass(frozen=True)
class Term:
    """A word as the glossary explains it; ``anchor`` is the part of the page that holds it."""

    word: str
    meaning: str
    anchor: str


@cache
def read_glossary() -> dict[str, Term]:
    """Return every word with its meaning; words of one row share theirs."""
    terms: dict[str, Term] = {}
    anchor = ""
    for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            anchor = heading[1].lower().replace(" ", "-")
        elif (row := ROW.match(line)) and anchor and row["words"].strip() not in {"word", "---"}:
            meaning = row["meaning"].replace("`", "").strip()
            for word in row["words"].split(","):
                terms[word.strip()] = Term(word.strip(), meaning, anchor)
    return terms
