"""Features of African American Language in a text, found by patterns.

Deas et al. (2023), Appendix B: five regular expressions (Table 5) and four rules of grammar. The
patterns find candidates for sampling and for a first look; they are no description of the variety
and no judgment of a text. They over- and undershoot: as printed, “didn’t notice” is negative
concord but “don’t know nothing” is not, and “a uniform” is determiner leveling.

Where this differs from print. The print lost the backslashes of its patterns; they stand here as
they must have been. Both apostrophes match, and any blanks between words. Patterns begin at a word
(“maintain” holds no “ain’t”, “data entry” no determiner). The dropped copula needs no word after
the verb, which the printed blank asked for.

Two ways to the same result. Without a tagger, auxiliaries and prepositions are closed lists, for
they are closed classes. With one (a loaded spaCy pipeline), its tags AUX and ADP decide, and the
infinitive's “to”, which the tag set counts among the particles, counts as a preposition as it does
in the list.

A clause ends at punctuation (not at apostrophes and hyphens within words), at a line break, and
before a conjunction or relative pronoun of `CONJUNCTIONS`. “That”, “like”, “since” and “than” end
none: they are determiners and prepositions more often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Letters and digits, joined by apostrophes and hyphens between them: don't, mother-in-law, 3-year.
WORD = re.compile(r"[^\W_]+(?:['’‘ʼ\-‐‑][^\W_]+)*")
APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-"})


def split_words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, with straight apostrophes and hyphens.

    A word is a run of letters and digits; apostrophes and hyphens belong to it between two of
    them, so that “ain’t” and “mother-in-law” are one word each. Everything else separates.

    >>> split_words("He ain’t goin' nowhere, #fr")
    ['he', "ain't", 'goin', 'nowhere', 'fr']
    """
    return [word.casefold() for word in WORD.findall(text.translate(APOSTROPHES))]


# --- Words of a text in their clauses, marked where they are auxiliaries or prepositions ----------

# A loaded spaCy pipeline: called with a text it returns tokens with text, idx, pos_ and tag_.
Tagger = Callable[[str], Iterable[Any]]


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Forms of be, have and do, modals, and what African American Language uses like them. The forms
# of done, gone and been stand here as well: they are auxiliaries to what follows them.
AUXILIARIES = _list(
    """am is are was were be been bin being 's 're 'm 've 'd 'll
    have has had having do does did done dun dne gone gon gne
    can could may might must shall should will would ought
    gonna gotta finna fitna fixna tryna ima imma im ive youve weve theyve youre theyre
    ain't aint isn't isnt aren't arent wasn't wasnt weren't werent
    haven't havent hasn't hasnt hadn't hadnt don't dont doesn't doesnt didn't didnt
    can't cant cannot couldn't couldnt won't wont wouldn't wouldnt shouldn't shouldnt
    mustn't mustnt mightn't mightnt needn't neednt shan't
    shoulda coulda woulda musta mighta"""
)
# The list's 's is a form of be or have after these words only; elsewhere it is a possessive.
BEFORE_S = _list("he she it that this there here who what where when how everybody everyone")
CLITICS = ("'re", "'m", "'ve", "'d", "'ll")
PREPOSITIONS = _list(
    """about above across after against along amid among around as at before behind below beneath
    beside besides between beyond by concerning despite down during except for from in inside into
    like near of off on onto out outside over past per since than through throughout till til 'til
    to toward towards under underneath until up upon via with within without wit"""
)
CONJUNCTIONS = _list(
    """and but or nor so because cause 'cause cuz 'cuz coz bc if when whenever while although though
    unless whereas whether who whom which where wherever why how what whatever"""
)

TOKEN = re.compile(
    r"(?P<word>['’‘]?[^\W_]+(?:['’‘ʼ\-][^\W_]+)*['’]?)|(?P<end>[.,;:!?…–—()\[\]{}\"“”\n]| [-*|/]+ )"
)


@dataclass(frozen=True)
class ClauseWord:
    """A word with its place in the text; `clause` counts the clauses of the text from 0.

    governs : it is an auxiliary or a preposition, or carries one as in “he’ll”
    """

    form: str
    start: int
    end: int
    clause: int
    governs: bool


def read_clauses(text: str, tagger: Tagger | None = None) -> list[ClauseWord]:
    """Return the words of ``text`` in their order."""
    return list(_by_lists(text) if tagger is None else _by_tags(text, tagger))


def _by_lists(text: str) -> Iterator[ClauseWord]:
    clause = 0
    for found in TOKEN.finditer(text):
        if found.group("end"):
            clause += 1
            continue
        start, end, form = _without_quotes(found.start(), found.group())
        if form in CONJUNCTIONS:
            clause += 1
        yield ClauseWord(form, start, end, clause, _governs(form))


def _by_tags(text: str, tagger: Tagger) -> Iterator[ClauseWord]:
    clause = 0
    for token in tagger(text):
        form = token.text.translate(APOSTROPHES).casefold()
        if token.pos_ in ("PUNCT", "SPACE"):
            ends = token.pos_ == "PUNCT" or "\n" in token.text
            clause += 1 if ends and form not in ("'", "-") else 0
            continue
        if form in CONJUNCTIONS or token.pos_ == "CCONJ":
            clause += 1
        infinitive = form == "to" and token.pos_ == "PART"
        yield ClauseWord(
            form,
            token.idx,
            token.idx + len(token.text),
            clause,
            token.pos_ in ("AUX", "ADP") or infinitive,
        )


def _without_quotes(start: int, word: str) -> tuple[int, int, str]:
    """Return place and form of a word without the quotation marks that look like apostrophes."""
    form = word.translate(APOSTROPHES).casefold()
    lead = 1 if form.startswith("'") and form not in CONJUNCTIONS | PREPOSITIONS else 0
    tail = 1 if form.endswith("'") else 0
    return start + lead, start + len(word) - tail, form[lead : len(form) - tail]


def _governs(form: str) -> bool:
    if form in AUXILIARIES or form in PREPOSITIONS or form.endswith(CLITICS):
        return True
    host, _, clitic = form.rpartition("'")
    return clitic == "s" and host in BEFORE_S


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
