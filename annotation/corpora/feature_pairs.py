"""Pairs of short texts that differ in one feature of African American English (ours).

Hofmann et al. (2024, Supplementary Information, Feature analysis) put one feature at a time into
sentences by rules. These pairs do the same for sentences of a subject, a verb and an adverbial; the
first text holds the feature, the second is its counterpart in Standard American English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple


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
