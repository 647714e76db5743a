"""“a” or “an”: chosen by the sound that follows, not by its letter.

The rules are for American English. Where speakers differ (“a herb”, “an herb”) or a spelling does
not tell (an abbreviation that may be a word or letters), nothing is claimed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

#: Letters whose names begin with a vowel: “an F”, “an X-ray”; but “a U-turn”.
VOWEL_LETTERS = frozenset("AEFHILMNORSX")
#: Abbreviations that are read as words though their letters would ask for the other article.
SPOKEN_AS_WORDS = frozenset(
    ("FEMA", "LASIK", "MAGA", "MENSA", "NAFTA", "NASA", "NASCAR", "NASDAQ", "NATO", "RAM", "ROM",
     "SCOTUS", "SEAL", "SIM", "STEM", "SWAT")
)  # fmt: skip
#: The longest abbreviation with vowels that is taken to be spelled out: “an NBA player”.
SPELLED_LENGTH = 3

CONSONANT_STARTS = (
    # “you”: European, eulogy, ewe, and long u.
    "eu", "ewe", "ubiq", "ufo", "ugand", "ukr", "uku", "unanim", "uni", "ura", "ure", "uri",
    "uro", "uru", "usa", "use", "usi", "usu", "uta", "ute", "uti", "uto", "uv",
    # “w”: one.
    "one-", "oneself", "once", "ouija",
)  # fmt: skip
VOWEL_STARTS = (
    # Silent h.
    "heir", "honest", "honor", "honour", "hour",
    # The prefix “un” before i.
    "unid", "unill", "unim", "unin", "unir",
    # Letters that begin otherwise than they look.
    "usher", "yttri", "yves",
)  # fmt: skip
#: Speakers differ.
OPEN_STARTS = ("herb", "histor", "homage", "oaxac", "uigh", "uygh")
CONSONANT_WORDS = frozenset({"one", "ones"})

_ARTICLE = re.compile(r"(?:(?<=^)|(?<=[\s(“\"‘]))(a|an|A|An|AN)\s+(?=\S)")
_LEADING = re.compile(r"^[^\w]+")
_WORD = re.compile(r"[^\W\d_]+")


def vowel_sound(phrase: str) -> bool | None:
    """Return whether ``phrase`` begins with a vowel's sound, None where that cannot be told."""
    words = _LEADING.sub("", phrase).split()
    if not words:
        return None
    first = unicodedata.normalize("NFKD", words[0])
    first = "".join(char for char in first if not unicodedata.combining(char))
    if first[0].isdigit():
        return _number_sound(first)
    letters = _WORD.match(first)
    if letters is None or not letters.group().isascii():
        return None
    start = letters.group()
    if len(start) == 1 and first[1:2] in ("-", ".", "") and start not in ("a", "I"):
        return start.upper() in VOWEL_LETTERS
    if start.isupper() and len(start) > 1:
        return _abbreviation_sound(start)
    return _word_sound(first.lower())


def indefinite(phrase: str) -> str:
    """Return “a” or “an” for ``phrase``; “a” where its sound cannot be told."""
    return "an" if vowel_sound(phrase) else "a"


def wrong_articles(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield each wrong article with the word behind it, and the article that belongs there.

    Capital “A” counts as an article at the beginning of a sentence only: elsewhere it may be a
    letter.
    """
    for match in _ARTICLE.finditer(sentence):
        written = match.group(1)
        before = sentence[: match.start()].rstrip(" (“\"‘'")
        if written[0] == "A" and before and before[-1] not in ".?!:…":
            continue
        following = sentence[match.end() :]
        sound = vowel_sound(following)
        if sound is None or sound == (len(written) == 2):
            continue
        expected = "an" if sound else "a"
        if written[0] == "A":
            expected = expected.capitalize()
        word = following.split()[0].strip('.,;:!?…”"’)')
        yield f"{written} {word}", expected


def _number_sound(text: str) -> bool | None:
    """Return the sound of a number: eight, eleven, eighteen and eighty begin with vowels."""
    digits = re.match(r"[\d,]+", text)
    number = digits.group().replace(",", "") if digits else ""
    if number.startswith("8"):
        return True
    if number.startswith(("11", "18")):
        # 18 and 18,000 are eighteen; 180 is one hundred and eighty; 1800 may be said both ways.
        places = len(number) % 3
        return None if len(number) == 4 else places == 2
    return False


def _abbreviation_sound(letters: str) -> bool | None:
    """Return the sound of an abbreviation, spelled out or read as a word."""
    if letters in SPOKEN_AS_WORDS:
        return False
    spelled = letters[0] in VOWEL_LETTERS
    if len(letters) <= SPELLED_LENGTH or not set(letters) & set("AEIOUY"):
        return spelled
    spoken = _word_sound(letters.lower())
    return spelled if spelled == spoken else None


def _word_sound(word: str) -> bool | None:
    if word.startswith(OPEN_STARTS):
        return None
    if word.startswith(VOWEL_STARTS):
        return True
    plain = _WORD.match(word)
    if word.startswith(CONSONANT_STARTS) or (plain and plain.group() in CONSONANT_WORDS):
        return False
    return word[0] in "aeiou"
