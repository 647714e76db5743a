"""Texts of a step in several languages: ``{"en": "…", "es": "…"}``, always by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from annotation.common.language_codes import LANGUAGE

MAX_CHARACTERS = 5_000


def text_in(texts: Mapping[str, str] | None, language: str, *, fallback: str = "en") -> str:
    """Return the text in ``language``, "" only if there is none at all.

    Where it is missing, the same language of another region stands in (“es” for “es-MX”), then
    ``fallback``, then the first language by its code, so that a page never stays empty.
    """
    texts = texts or {}
    wanted = [language, language.partition("-")[0], fallback, fallback.partition("-")[0]]
    for code in [*wanted, *sorted(texts)]:
        if texts.get(code, "").strip():
            return texts[code]
    return ""


def check_storable(text: str) -> str:
    """Return ``text``. Raises `ValueError` for what a database cannot store as text."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("It holds a character that cannot be stored.")
    return text


def check_language(code: str) -> str:
    """Return ``code``. Raises `ValueError` for what is none."""
    if not LANGUAGE.fullmatch(code):
        raise ValueError(f"“{code[:20]}” is no language code, expected one such as “en”.")
    return code


def check_characters(text: str) -> str:
    """Return ``text``. Raises `ValueError` for what cannot be stored and what is too long."""
    check_storable(text)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"It has {len(text)} characters, expected at most {MAX_CHARACTERS}.")
    return text


def _check_texts(texts: dict[str, str]) -> dict[str, str]:
    for code, text in texts.items():
        check_language(code)
        check_characters(text)
    if not any(text.strip() for text in texts.values()):
        raise ValueError("The text is empty.")
    return texts


Texts = Annotated[dict[str, str], AfterValidator(_check_texts)]
