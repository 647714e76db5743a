"""Check 2: a word that the group was placed near, and one that it was placed far from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.common.seeded import shuffle

OPTIONS = 4


@dataclass(frozen=True)
class MarkedRating:
    """A rating with its scale's slug and adjectives; ``value`` in the scale's own direction."""

    slug: str
    low: str
    high: str
    value: float


@dataclass(frozen=True)
class WordOption:
    """One adjective to choose. ``key`` names scale and pole, since adjectives can repeat."""

    key: str
    word: str


@dataclass(frozen=True)
class TraitChoices:
    """Two lists of options and the keys in each that are right."""

    near: tuple[WordOption, ...]
    far: tuple[WordOption, ...]
    right_near: frozenset[str]
    right_far: frozenset[str]

    def is_passed_by(self, *, near: str, far: str) -> bool:
        return near in self.right_near and far in self.right_far


@dataclass(frozen=True)
class _Marked:
    """A rating outside the middle, with the word it is near to and the word it is far from."""

    rating: MarkedRating
    near: WordOption
    far: WordOption

    @property
    def strength(self) -> float:
        return abs(self.rating.value - 50)


def build_trait_choices(
    ratings: Sequence[MarkedRating], *, high_from: float, low_to: float, seed: int
) -> TraitChoices | None:
    """Return the choices built from one page's ratings, or None where no word is right.

    A rating of at least ``high_from`` is near the scale's high adjective and far from its low one;
    a rating of at most ``low_to`` the reverse; anything between marks neither. Each list holds one
    right word and up to three wrong ones. Right are the strongest marks of the page, one scale for
    each list where there are two, since those are remembered best. Wrong near-words are words that
    the group was placed far from, and the reverse; the middle fills up where marks run out. No
    scale gives two words while there are enough. Order and ties follow ``seed``.
    """
    marks, middle = _sort_marks(ratings, high_from=high_from, low_to=low_to, seed=seed)
    if not marks:
        return None
    near_mark, far_mark = marks[0], marks[1] if len(marks) > 1 else marks[0]
    spare = [mark for mark in marks if mark not in (near_mark, far_mark)]
    wrong_near = [mark.far for mark in spare[0::2]]
    wrong_far = [mark.near for mark in spare[1::2]]
    # A middle rating is neither near nor far, so that either of its words is a wrong answer; the
    # word on the far side is wrong beyond doubt.
    wrong_near += [_lean(rating)[1] for rating in middle[0::2]]
    wrong_far += [_lean(rating)[0] for rating in middle[1::2]]
    # Last resort on instruments with few scales: the opposite of a word in the same list.
    wrong_near = (wrong_near or [near_mark.far])[: OPTIONS - 1]
    wrong_far = (wrong_far or [far_mark.near])[: OPTIONS - 1]
    return TraitChoices(
        near=_mix([near_mark.near, *wrong_near], seed=seed, purpose="near words"),
        far=_mix([far_mark.far, *wrong_far], seed=seed, purpose="far words"),
        right_near=frozenset({near_mark.near.key}),
        right_far=frozenset({far_mark.far.key}),
    )


def _sort_marks(
    ratings: Iterable[MarkedRating], *, high_from: float, low_to: float, seed: int
) -> tuple[list[_Marked], list[MarkedRating]]:
    marks: list[_Marked] = []
    middle: list[MarkedRating] = []
    for rating in shuffle(ratings, name=lambda item: item.slug, seed=seed, purpose="marks"):
        low, high = _words(rating)
        if rating.value >= high_from:
            marks.append(_Marked(rating, near=high, far=low))
        elif rating.value <= low_to:
            marks.append(_Marked(rating, near=low, far=high))
        else:
            middle.append(rating)
    marks.sort(key=lambda mark: -mark.strength)
    return marks, middle


def _words(rating: MarkedRating) -> tuple[WordOption, WordOption]:
    return (
        WordOption(f"{rating.slug}:low", rating.low),
        WordOption(f"{rating.slug}:high", rating.high),
    )


def _lean(rating: MarkedRating) -> tuple[WordOption, WordOption]:
    """Return the nearer and the farther word of a middle rating."""
    low, high = _words(rating)
    return (high, low) if rating.value > 50 else (low, high)


def _mix(words: list[WordOption], *, seed: int, purpose: str) -> tuple[WordOption, ...]:
    return tuple(shuffle(words, name=lambda word: word.key, seed=seed, purpose=purpose))
