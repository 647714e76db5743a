"""The platform's own instrument in other languages: what its default texts are called there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from annotation.common.language_codes import base_of

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
