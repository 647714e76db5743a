"""The platform's own instrument in other languages: what its default texts are called there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from annotation.common.language_codes import base_of
from annotation.steps.kind import StepKind

FOLDER = Path(__file__).parent / "known"


def list_known() -> list[str]:
    """Return the languages in which the platform brings its default texts along."""
    return sorted(file.stem for file in FOLDER.glob("*.json"))


@cache
def load_known(language: str) -> Mapping[str, str]:
    """Return translations by English text; empty for a language that nobody has brought along."""
    file = FOLDER / f"{base_of(language)}.json"
    if base_of(language) not in list_known():
        return {}
    return dict(json.loads(file.read_text(encoding="utf-8")))


def new_content(kind: type[StepKind], languages: Sequence[str]) -> dict[str, Any]:
    """Return what a step begins with in those of ``languages`` that the platform brings along."""
    return {name: _translate(part, languages) for name, part in kind.new.items()}


def _translate(value: Any, languages: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_translate(item, languages) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) != {"en"}:
        return {name: _translate(part, languages) for name, part in value.items()}
    text = value["en"]
    others = {code: load_known(code).get(text, "") for code in languages if code != "en"}
    return {"en": text, **{code: known for code, known in others.items() if known}}
