"""Templates of sentences in which only the mention of a group changes.

A template holds one or more placeholders with any name in braces, as in “The {identity_adj} person
earned money.” A capital, as in {Identity_adj}, asks for the filler with a capital. The article
before a placeholder follows the filler. An empty filler leaves the mention out, where the sentence
can do without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from annotation.library.english_forms import indefinite, vowel_sound

#: Fills every placeholder that has no column of its own in a lexicon.
ANY = "*"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ARTICLE = re.compile(r"\b([Aa])n?(\s+)$")
# Without its adjective, “is {adj} and …” or “being {adj}.” is no sentence any more.
_NO_HEAD = re.compile(r"\s*(?:$|[^\w\s]|(?:and|or|but)\b)")


class ProbeTemplateError(ValueError):
    """A template that cannot be filled; the message says what to write instead."""


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names of a template's placeholders in lower case, each once.

    Raises :class:`ProbeTemplateError` for a template without any, or with one that has no name.
    """
    names = _PLACEHOLDER.findall(text)
    if not names:
        raise ProbeTemplateError(
            "There is no placeholder in braces. Write one where the group is mentioned, such as "
            "“The {identity_adj} person”."
        )
    bad = next((name for name in names if not _NAME.fullmatch(name)), None)
    if bad is not None:
        raise ProbeTemplateError(
            f"The placeholder is “{{{bad}}}”. Give it a name of letters, digits and underscores, "
            "such as {identity_adj}."
        )
    if re.search(r"[{}]", _PLACEHOLDER.sub("", text)):
        raise ProbeTemplateError("A brace is open. Write every placeholder as {name}.")
    return tuple(dict.fromkeys(name.lower() for name in names))


def missing_placeholders(text: str, names: Iterable[str]) -> list[str]:
    """Return a template's placeholders that `names` of a lexicon do not fill."""
    known = {name.lower() for name in names}
    return [] if ANY in known else [name for name in placeholders(text) if name not in known]


class Located(NamedTuple):
    """A filled sentence, and where its first mention stands; an empty stretch without one."""

    sentence: str
    start: int
    stop: int


def fill(text: str, filler: Mapping[str, str]) -> str | None:
    """Return the sentence with a filler in every placeholder, None where it needs a mention.

    filler : text by placeholder, in lower case; :data:`ANY` for those that are not named
    """
    located = locate(text, filler)
    return None if located is None else located.sentence


def locate(text: str, filler: Mapping[str, str]) -> Located | None:
    """Return what `fill` does, with the place of the first mention."""
    sentence, rest, start, stop = "", text, 0, 0
    while match := _PLACEHOLDER.search(rest):
        name = match.group(1)
        word = filler.get(name.lower(), filler.get(ANY, ""))
        is_mention = bool(word)
        sentence, rest = sentence + rest[: match.start()], rest[match.end() :]
        if not word:
            # A placeholder without a capital that begins a sentence stands for a name.
            if _NO_HEAD.match(rest) or not (sentence.strip() or name[0].isupper()):
                return None
            rest = rest.lstrip()
            word, rest = rest[:1], rest[1:]
        if name[0].isupper():
            word = word[:1].upper() + word[1:]
        sentence = _agree(sentence, word + rest)
        if is_mention and start == stop:
            start, stop = len(sentence), len(sentence) + len(word)
        sentence += word
    return Located(sentence + rest, start, stop)


def mention_templates(text: str, fillers: Iterable[str], name: str) -> list[tuple[str, str]]:
    """Return what may be the template behind a filled sentence, with the filler.

    fillers : as the lexicon spells them; name : of the placeholder

    First those where a filler stands for the group wherever it occurs, then those where only one
    of its places does: in “The white person has white hair” the other one may be a color.
    """
    found, single = [], []
    for filler in fillers:
        places = list(re.finditer(rf"\b{re.escape(filler)}\b", text, re.IGNORECASE))
        if not filler or not places:
            continue
        found.append((_cut(text, places, filler, name), filler))
        if len(places) > 1:
            single += [(_cut(text, [place], filler, name), filler) for place in places]
    return found + single


def _cut(text: str, places: Iterable[re.Match[str]], filler: str, name: str) -> str:
    """Return the text with a placeholder in each of the places, and “a” before it for “an”."""
    pieces, end = [], 0
    for place in places:
        capital = place.group()[0].isupper() and not filler[0].isupper()
        before = re.sub(r"\b([Aa])n(\s+)$", r"\1\2", text[end : place.start()])
        pieces += [before, f"{{{name.capitalize() if capital else name}}}"]
        end = place.end()
    return "".join([*pieces, text[end:]])


def _agree(before: str, following: str) -> str:
    """Return what stands before a filler, with the article that its sound asks for."""
    match = _ARTICLE.search(before)
    if match is None or vowel_sound(following) is None:
        return before
    article = indefinite(following)
    return before[: match.start()] + match.group(1) + article[1:] + match.group(2)
