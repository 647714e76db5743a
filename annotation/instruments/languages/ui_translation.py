"""The platform's own texts in the language of an instrument.

Django speaks the languages that the platform is translated into. For any other, the instrument has
brought the texts along in its language file, and they stand in for the platform's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.utils import translation
from django.utils.translation import trans_real

from annotation.common.language_codes import platform_language

FILE = Path(__file__).parent / "ui_translation.json"
# Django has one place for the catalog in use, and no public way to put another one there.
_in_use = trans_real._active  # type: ignore[attr-defined]
# How gettext writes a text with a context.
SEPARATOR = "\x04"
ONE, OTHER = "one", "other"


@dataclass(frozen=True)
class ChromeText:
    """A text of the platform; one with a ``plural`` has two keys, one for each form."""

    key: str
    text: str
    plural: str = ""
    context: str = ""

    @property
    def keys(self) -> dict[str, str]:
        """Return the English text by key."""
        if not self.plural:
            return {self.key: self.text}
        return {f"{self.key}.{ONE}": self.text, f"{self.key}.{OTHER}": self.plural}

    @property
    def looked_up_as(self) -> str:
        return f"{self.context}{SEPARATOR}{self.text}" if self.context else self.text


@lru_cache(maxsize=1)
def load_chrome() -> tuple[ChromeText, ...]:
    """Return the texts of the pages that participants of a study see."""
    return tuple(ChromeText(**item) for item in json.loads(FILE.read_text(encoding="utf-8")))


class BroughtTranslation:
    """Answers as Django's own catalog of a language does, with an instrument's texts first."""

    def __init__(self, language: str, words: Mapping[str, str]) -> None:
        self._base = trans_real.translation(language.lower())
        self._texts: dict[str, str] = {}
        self._plurals: dict[str, tuple[str, str]] = {}
        for entry in load_chrome():
            forms = [words.get(key, "") for key in entry.keys]
            if not all(forms):
                continue
            if entry.plural:
                self._plurals[entry.looked_up_as] = (forms[0], forms[1])
            else:
                self._texts[entry.looked_up_as] = forms[0]

    def gettext(self, message: str) -> str:
        return self._texts.get(message) or str(self._base.gettext(message))

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        if singular in self._plurals:
            return self._plurals[singular][0 if number == 1 else 1]
        return str(self._base.ngettext(singular, plural, number))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


@contextmanager
def speaking(language: str, words: Mapping[str, str]) -> Iterator[None]:
    """Speak a language for a while, and what was spoken before again afterwards."""
    before = getattr(_in_use, "value", None)
    speak(language, words)
    try:
        yield
    finally:
        if before is None:
            translation.deactivate()
        else:
            _in_use.value = before


def speak(language: str, words: Mapping[str, str]) -> None:
    """Say the platform's texts in ``language`` until the response is made.

    ``words`` are the texts of the instrument by key. The middleware goes back to its own language
    after each request.
    """
    known = platform_language(language)
    if known:
        translation.activate(known)
        return
    _in_use.value = BroughtTranslation(language, words)
