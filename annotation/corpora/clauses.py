"""Words of a text in their clauses, marked where they are auxiliaries or prepositions.

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

from annotation.corpora.words import APOSTROPHES

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
