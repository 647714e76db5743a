"""The eight features of African American English whose associations Hofmann et al. (2024) measure.

Fig. 2c names them: invariant *be*, *finna*, unstressed *been*, no copula, *ain't*, word-final *-in*
for *-ing*, invariant *stay*, and no inflection in the third person singular. Patterns with closed
lists find them (ours; the paper builds its texts by rules, and detects nothing). As those of
`annotation.corpora.features` they over- and undershoot: they say what a text may hold.

Hofmann et al. (2024, Supplementary Information, Feature analysis) put one feature at a time into
sentences by rules. These pairs do the same for sentences of a subject, a verb and an adverbial; the
first text holds the feature, the second is its counterpart in Standard American English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import NamedTuple

from annotation.corpora.features import (
    APOSTROPHES,
    BLANK,
    ClauseWord,
    Feature,
    detect_features,
    read_clauses,
)

# --- Pairs of short texts that differ in one feature of African American English (ours) -----------


@dataclass(frozen=True)
class _Subject:
    word: str
    be: str
    have: str

    @property
    def is_singular(self) -> bool:
        return self.be == "is"


class _Verb(NamedTuple):
    base: str
    participle: str
    third: str


class FeaturePair(NamedTuple):
    """A pair of texts; `feature` is a key of `GUISE_FEATURES`."""

    feature: str
    first: str
    second: str


_SUBJECTS = (
    _Subject("he", "is", "has"),
    _Subject("she", "is", "has"),
    _Subject("they", "are", "have"),
    _Subject("we", "are", "have"),
)
_VERBS = tuple(
    _Verb(*forms.split())
    for forms in (
        "work working works",
        "cook cooking cooks",
        "play playing plays",
        "sleep sleeping sleeps",
        "study studying studies",
        "sing singing sings",
        "laugh laughing laughs",
        "talk talking talks",
    )
)
_ADVERBIALS = ("late", "outside", "with my cousin", "after church")

_RULES: dict[str, Callable[[_Subject, _Verb], tuple[str, str]]] = {
    "habitual_be": lambda s, v: (f"be {v.participle}", f"{s.be} usually {v.participle}"),
    "finna": lambda s, v: (f"{s.be} finna {v.base}", f"{s.be} about to {v.base}"),
    "been": lambda s, v: (f"been {v.participle}", f"{s.have} been {v.participle}"),
    "zero_copula": lambda s, v: (v.participle, f"{s.be} {v.participle}"),
    "aint": lambda s, v: (f"ain't {v.participle}", f"{s.be} not {v.participle}"),
    "in": lambda s, v: (f"{s.be} {v.participle[:-1]}", f"{s.be} {v.participle}"),
    "stay": lambda s, v: (f"stay {v.participle}", f"{s.be} always {v.participle}"),
    "zero_s": lambda s, v: (v.base, v.third),
}


def feature_pairs(feature: str) -> Iterator[FeaturePair]:
    """Yield every pair of a feature, 64 for *zero_s* and 128 for any other.

    Raises KeyError for a feature that is none of `GUISE_FEATURES`.
    """
    rule = _RULES[feature]
    for verb, adverbial, subject in product(_VERBS, _ADVERBIALS, _SUBJECTS):
        if feature == "zero_s" and not subject.is_singular:
            continue
        first, second = rule(subject, verb)
        yield FeaturePair(
            feature,
            f"{subject.word} {first} {adverbial}",
            f"{subject.word} {second} {adverbial}",
        )


GUISE_FEATURES: dict[str, str] = {
    "habitual_be": "habitual be",
    "finna": "finna",
    "been": "unstressed been",
    "zero_copula": "no copula",
    "aint": "ain’t",
    "in": "-in for -ing",
    "stay": "invariant stay",
    "zero_s": "no third-person -s",
}
#: Features of Deas et al. (2023) that are the same thing.
_SHARED = {"habitual_be": "habitual_be", "remote_past_been": "been", "aint": "aint"}


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


PATTERNS = {
    "finna": re.compile(rf"\b(?:f[iu]nna|fitna|fixna|finta|fixin['’]?{BLANK}to)\b", re.IGNORECASE),
    "stay": re.compile(rf"\bstay{BLANK}\w{{2,}}in(?:g\b|['’]|\b)", re.IGNORECASE),
}
# An apostrophe stands for the g (workin’), or the word is one that ends in -in and not in the list.
DROPPED_G = re.compile(r"\b([^\W\d_]{2,}in)(['’](?!\w))?(?!['’\w])", re.IGNORECASE)
ENDS_IN_IN = _list(
    """admin again akin aspirin assassin austin basin bargain begin benjamin berlin bin bitcoin
    britain cabin calvin captain certain chin coffin coin colin contain cousin cumin curtain
    dolphin domain dublin edwin entertain erin explain fin fountain franklin gain gin goblin grain
    gremlin griffin grin heroin herein insulin irvin javelin join justin kevin kin latin lenin
    login loin maintain mandolin margin marlin martin marvin melvin merlin mountain muffin napkin
    obtain origin pain penguin penicillin pin plain plugin protein puffin pumpkin putin raisin rain
    rein remain resin retain robin ruin satin sin skin spain spin stain stalin sustain strain
    terrain therein thin tin toxin train twin vain vein villain violin virgin vitamin wherein win
    within attain brain chain drain main refrain sprain swollin thereïn groin skein built-in
    bedouin cocain goin' mein"""
) - _list("goin'")

SUBJECTS = _list("he she we they")
SINGULAR = _list("he she it everybody everyone somebody someone nobody")
ADVERBS = _list(
    "always just still really so too not never already also only even usually often sometimes "
    "actually probably prolly lowkey real hella"
)
DETERMINERS = _list("a an the my your his her our their this that these those")
PREDICATES = _list(
    """mad sad happy angry tired hungry sick sleepy ready busy late early good bad nice mean cool
    funny fine pretty ugly old young tall short big small fat skinny rich poor smart dumb stupid
    crazy lazy wrong right sure gone here there home dead alive drunk high hot cold broke single
    married pregnant famous weird cute loud quiet rude friendly scared afraid bored done sorry
    serious nervous proud jealous lucky different beautiful gonna gon annoying"""
)
PLACES = _list("in at on from with out outside inside upstairs downstairs behind under like")
#: They end as participles do and are none.
NO_PARTICIPLES = _list(
    "thing king bring sing during nothing something anything everything morning evening spring "
    "string ring wing being ceiling building wedding sibling begin again in within"
)
#: Base forms that differ from the past tense.
VERBS = _list(
    """act ask be become begin believe belong blow break bring build buy call care carry catch
    change check choose clean come complain cook cry dance deserve do don't dont draw dream drink
    drive eat fall feel fight find finish fly follow forget get give go grow handle hang hate have
    hear help hold hope invite join jump keep kick kill kiss know laugh learn leave lie like listen
    live look lose love make mean meet mind miss move need open own pay pick play pray promise pull
    push rain remember ride ring run say see seem sell send shake share shine shop show sing sit
    sleep smell smile smoke sound speak spend stand start steal stop study swim take talk taste
    teach tell text think throw tell touch travel treat try turn understand use visit wait wake walk
    want wash watch wear win wish wonder work worry write yell"""
) - _list("be")
#: After these the verb has its base form: “let him”, “make it work”, “see her go”, “if need be”.
CAUSATIVES = _list(
    "make makes made making let lets letting help helps helped helping see sees saw seen watch "
    "watched hear hears heard have has had suggest demand that"
)


def detect_guise_features(text: str) -> tuple[Feature, ...]:
    """Return the features of a text in their order; different features may overlap.

    >>> [feature.name for feature in detect_guise_features("He finna cook")]
    ['finna']
    >>> [feature.name for feature in detect_guise_features("she tired and he walk home")]
    ['zero_copula', 'zero_s']
    """
    plain = text.translate(APOSTROPHES)
    found = [
        Feature(_SHARED[feature.name], feature.start, feature.end, feature.match)
        for feature in detect_features(text)
        if feature.name in _SHARED
    ]
    found += [
        Feature(name, match.start(), match.end(), text[match.start() : match.end()])
        for name, pattern in PATTERNS.items()
        for match in pattern.finditer(plain)
    ]
    found += _dropped_g(plain)
    for _, words in groupby(read_clauses(text), key=lambda word: word.clause):
        clause = [word for word in words if word.form]
        found += _zero_copula(clause, text)
        found += _zero_s(clause, text)
    return tuple(sorted(found, key=lambda feature: (feature.start, feature.end, feature.name)))


def count_guise_features(text: str) -> dict[str, int]:
    """Return how often each of the eight features occurs in a text."""
    counts = Counter(feature.name for feature in detect_guise_features(text))
    return {name: counts[name] for name in GUISE_FEATURES}


def _dropped_g(plain: str) -> Iterator[Feature]:
    for match in DROPPED_G.finditer(plain):
        word = match.group(1).casefold()
        if match.group(2) or word not in ENDS_IN_IN:
            yield Feature("in", match.start(), match.end(), match.group())


def _zero_copula(clause: Sequence[ClauseWord], text: str) -> Iterator[Feature]:
    """Yield subjects that a predicate follows at once: a participle, a noun phrase, a place."""
    for place, word in enumerate(clause):
        begins, form = place == 0 or clause[place - 1].form in ("and", "but", "so", "cause"), ""
        if word.form in SUBJECTS:
            rest = clause[place + 1 :]
        elif begins and word.form in DETERMINERS - {"this", "that"} and len(clause) > place + 2:
            # “my brother working here”, but not “the man working here is …”
            rest = clause[place + 2 :]
            if any(other.governs and other.form not in PLACES for other in clause[place + 1 :]):
                continue
        else:
            continue
        while rest and rest[0].form in ADVERBS:
            rest = rest[1:]
        form = rest[0].form if rest else ""
        nominal = form in DETERMINERS | PLACES and word.form in SUBJECTS and form != "like"
        if _is_participle(form) or nominal or form in PREDICATES:
            yield Feature("zero_copula", word.start, rest[0].end, text[word.start : rest[0].end])


def _zero_s(clause: Sequence[ClauseWord], text: str) -> Iterator[Feature]:
    """Yield singular subjects with a verb in its base form, unless something governs the verb."""
    for place, word in enumerate(clause):
        before = clause[:place]
        if word.form not in SINGULAR or any(
            other.form in CAUSATIVES or (other.governs and other.form not in PLACES)
            for other in before
        ):
            continue
        rest = clause[place + 1 :]
        while rest and rest[0].form in ADVERBS:
            rest = rest[1:]
        if rest and rest[0].form in VERBS:
            yield Feature("zero_s", word.start, rest[0].end, text[word.start : rest[0].end])


def _is_participle(form: str) -> bool:
    if form in NO_PARTICIPLES or len(form) < 4:
        return False
    return form.endswith("ing") or (form.endswith("in") and form not in ENDS_IN_IN)
