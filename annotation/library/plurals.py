"""The plural of a group's name: proposed from the singular, and told apart from it.

Only the head noun changes: “person with a disability” becomes “people with a disability”. The
rules are rough on purpose; what they propose is for a person to look at.
"""

from __future__ import annotations

import re

IRREGULAR = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "wife": "wives",
    "housewife": "housewives",
    "midwife": "midwives",
    "elf": "elves",
    "foot": "feet",
    "tooth": "teeth",
    "mouse": "mice",
    "ox": "oxen",
    "thief": "thieves",
    "life": "lives",
    "alumnus": "alumni",
    "passer-by": "passers-by",
    "passerby": "passersby",
}
#: Words that end like their plural but are no plural of “man”.
NOT_MEN = frozenset({"german", "human", "roman", "ottoman", "shaman", "talisman", "norman"})
#: The same in singular and plural; so are peoples' names that end in -ese, -ois and -x.
INVARIANT = frozenset(
    {"swiss", "inuit", "maori", "māori", "roma", "sami", "sámi", "hmong", "lgbt", "lgbtq", "amish",
     "samurai", "navajo", "hopi", "zuni", "cherokee", "apache", "deaf", "blind"}
)  # fmt: skip
PEOPLE_WORDS = frozenset({"people", "persons", "folk", "folks", "men", "women", "children"})
#: What follows one of these belongs to the head noun before it.
AFTER_HEAD = frozenset(
    {"with", "without", "of", "in", "from", "on", "at", "for", "to", "by", "under", "over",
     "who", "that", "whose", "experiencing", "living", "having", "using", "seeking"}
)  # fmt: skip
SIBILANT_PLURAL = re.compile(r"(ss|x|zz|ch|sh)es$")
_S_ENDINGS = ("s", "x", "z", "ch", "sh")


def propose_plural(singular: str) -> str:
    """Return a likely plural of ``singular``, such as “people with a disability”."""
    before, head, after = split_head(singular)
    return f"{before}{_plural_noun(head)}{after}"


def propose_singular(plural: str) -> str:
    """Return a likely singular of ``plural``; the plural itself where no rule leads back."""
    before, noun, after = split_head(plural)
    irregular = {many: one for one, many in IRREGULAR.items()}
    stems = [noun[:-2], noun[:-1]] if SIBILANT_PLURAL.search(noun) else [noun[:-1], noun[:-2]]
    candidates = [irregular.get(noun, ""), f"{noun[:-2]}an", f"{noun[:-3]}y", *stems]
    found = (one for one in candidates if one and _plural_noun(one) == noun)
    return f"{before}{next(found, noun)}{after}"


def split_head(phrase: str) -> tuple[str, str, str]:
    """Return what stands before the head noun, the noun, and what stands after it."""
    words = phrase.split(" ")
    end = next(
        (place for place, word in enumerate(words) if place and word.lower() in AFTER_HEAD),
        len(words),
    )
    before = "".join(f"{word} " for word in words[: end - 1])
    after = "".join(f" {word}" for word in words[end:])
    return before, words[end - 1], after


def is_plural(phrase: str) -> bool | None:
    """Return whether a phrase's head noun is a plural, None where its form does not tell."""
    noun = _simple(split_head(phrase)[1])
    if noun in PEOPLE_WORDS or noun in IRREGULAR.values():
        return True
    if noun in IRREGULAR:
        return False
    if noun.endswith("men") and not noun.endswith(("omen", "amen", "ymen", "imen")):
        return True
    if noun.endswith("man") and noun not in NOT_MEN:
        return False
    return None


def same_noun(singular: str, plural: str) -> bool:
    """Return whether ``plural`` is, as far as rules can tell, the plural of ``singular``."""
    noun = split_head(singular)[1]
    one, many = _simple(noun), _simple(split_head(plural)[1])
    accepted = {_simple(_plural_noun(noun)), _plural_noun(one)}
    if one == "person":
        accepted |= {"persons", "folk", "folks"}
    if _is_invariant(one):
        accepted |= {one, f"{one}s"}
    return many in accepted


def _plural_noun(noun: str) -> str:
    plain = noun.lower()
    if plain in IRREGULAR:
        found = IRREGULAR[plain]
        return found.capitalize() if noun[:1].isupper() else found
    if _is_invariant(plain):
        return noun
    if plain.endswith("man") and plain not in NOT_MEN:
        return f"{noun[:-2]}en"
    if re.search(r"[^aeiou]y$", plain) and not noun[:1].isupper():
        return f"{noun[:-1]}ies"
    if plain.endswith(_S_ENDINGS):
        return f"{noun}es"
    if plain.endswith(("hero", "potato", "tomato", "echo", "negro")):
        return f"{noun}es"
    return f"{noun}s" if noun else noun


def _is_invariant(noun: str) -> bool:
    return noun in INVARIANT or noun.endswith(("ese", "ois"))


def _simple(noun: str) -> str:
    return noun.lower().rstrip("+*.,")
