"""Features of African American Language in a text, found by patterns.

Deas et al. (2023), Appendix B: five regular expressions (Table 5) and four rules of grammar. The
patterns find candidates for sampling and for a first look; they are no description of the variety
and no judgment of a text. They over- and undershoot: as printed, “didn’t notice” is negative
concord but “don’t know nothing” is not, and “a uniform” is determiner leveling.

Where this differs from print. The print lost the backslashes of its patterns; they stand here as
they must have been. Both apostrophes match, and any blanks between words. Patterns begin at a word
(“maintain” holds no “ain’t”, “data entry” no determiner). The dropped copula needs no word after
the verb, which the printed blank asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.corpora.clauses import Tagger, read_clauses
from annotation.corpora.words import split_words

BLANK = r"[^\S\n]+"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ", BLANK), re.IGNORECASE)


# Deas et al. (2023) Table 5, in its order.
PATTERNS: dict[str, re.Pattern[str]] = {
    "aint": _compile(r"\bain['’]?t\b"),
    "existential_it": _compile(r"\bit (?:was|is) a\w*"),
    "negative_concord": _compile(r"\b\w*n['’]t (?:no\w*|anybody\b)"),
    "dropped_copula": _compile(r"\b(?:they|we|she|he) \w*?ing\b"),
    "determiner_leveling": _compile(r"\ba [aeiou]\w+"),
}
# Appendix B, the text below Table 5: a form counts unless an auxiliary or a preposition precedes
# it in its clause.
FORMS: dict[str, frozenset[str]] = {
    "habitual_be": frozenset({"be"}),
    "completive_done": frozenset({"done", "dun", "dne"}),
    "future_gone": frozenset({"gone", "gon", "gne"}),
    "remote_past_been": frozenset({"been", "bin"}),
}
FEATURE_NAMES = (*PATTERNS, *FORMS)


@dataclass(frozen=True)
class Feature:
    """One match: ``name`` of `FEATURE_NAMES`, its place in characters, and the matched text."""

    name: str
    start: int
    end: int
    match: str


def detect_features(text: str, tagger: Tagger | None = None) -> tuple[Feature, ...]:
    """Return the features of ``text`` in their order; different features may overlap.

    ``tagger`` is a loaded spaCy pipeline, which then says what is an auxiliary or a preposition;
    without one closed lists do (`annotation.corpora.clauses`).

    >>> [feature.name for feature in detect_features("He be eating")]
    ['habitual_be']
    >>> detect_features("Should he be eating?")
    ()
    """
    found = [
        Feature(name, match.start(), match.end(), match.group())
        for name, pattern in PATTERNS.items()
        for match in pattern.finditer(text)
    ]
    found += _detect_forms(text, tagger)
    return tuple(sorted(found, key=lambda feature: (feature.start, feature.end, feature.name)))


def measure_density(text: str, tagger: Tagger | None = None) -> float:
    """Return features per word (`annotation.corpora.words`), 0 for a text without words."""
    words = len(split_words(text))
    return len(detect_features(text, tagger)) / words if words else 0.0


def _detect_forms(text: str, tagger: Tagger | None) -> list[Feature]:
    lowered = text.casefold()
    if not any(form in lowered for forms in FORMS.values() for form in forms):
        return []  # most texts: no need to read their clauses
    found = []
    governed_clause = -1  # the last clause in which an auxiliary or a preposition was met
    for word in read_clauses(text, tagger):
        if governed_clause != word.clause:
            for name, forms in FORMS.items():
                if word.form in forms:
                    match = text[word.start : word.end]
                    found.append(Feature(name, word.start, word.end, match))
        # A form that counts is an auxiliary to the rest: “he gon be mad” holds one feature.
        if word.governs or any(word.form in forms for forms in FORMS.values()):
            governed_clause = word.clause
    return found
