"""Capitals: at the beginning of a sentence, and in proper names such as “Asian”."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotation.library.proper_names import EITHER_WAY, OFTEN_PROPER, PROPER

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def capitalize(text: str) -> str:
    """Return ``text`` with a capital first letter, the rest as it was."""
    return text[:1].upper() + text[1:]


def lower_case_names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word without its capital, and whether it certainly needs one."""
    for match in _WORD.finditer(text):
        word = match.group()
        if word != word.lower():
            continue
        stem = _stem(word)
        if stem in PROPER:
            yield word, True
        elif stem in OFTEN_PROPER:
            yield word, False


def needless_capital(text: str) -> str:
    """Return a first word whose capital may be needless within a sentence, empty if there is none.

    Names and abbreviations keep theirs.
    """
    match = _WORD.match(text)
    if match is None:
        return ""
    word = match.group()
    rest = word[1:]
    if not word[0].isupper() or not rest or rest != rest.lower():
        return ""
    stem = _stem(word.lower())
    known = stem in PROPER or stem in OFTEN_PROPER or stem in EITHER_WAY
    return "" if known else word


def _stem(word: str) -> str:
    """Return a word without the ending of its plural or its genitive, if the list knows that."""
    plain = re.sub(r"['’]s?$|['’]s$", "", word)
    for ending in ("es", "s"):
        short = plain.removesuffix(ending)
        if short != plain and (short in PROPER or short in OFTEN_PROPER or short in EITHER_WAY):
            return short
    return plain
