"""Sets of groups that share no domain: exact against every subset."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from annotation.instruments.domains import choose_disjoint

DOMAINS = st.frozensets(st.sampled_from("abcde"), max_size=3)


def choose(*candidates: str, wanted: int, used: str = "") -> list[int]:
    """Return the places of those chosen; a candidate is written as its domains, one a letter."""
    chosen = choose_disjoint(
        list(enumerate(candidates)), wanted=wanted, domains_of=lambda pair: pair[1], used=used
    )
    return [place for place, _domains in chosen]


def test_earlier_candidates_come_first() -> None:
    assert choose("a", "a", "b", "c", wanted=2) == [0, 2]


def test_one_steps_back_where_more_fit_without_it() -> None:
    # “ab” comes first, but leaves nothing for two of the others.
    assert choose("ab", "a", "b", wanted=2) == [1, 2]
    assert choose("ab", "a", "b", wanted=1) == [0]


def test_candidates_without_a_domain_are_never_in_the_way() -> None:
    assert choose("", "", "a", "", wanted=3) == [0, 1, 2]


def test_domains_that_are_used_already_are_left_out() -> None:
    assert choose("ab", "c", "a", wanted=3, used="b") == [1, 2]


def test_a_thousand_groups_without_domains_are_no_burden() -> None:
    assert choose(*[""] * 1000, "a", wanted=4) == [0, 1, 2, 3]


@given(candidates=st.lists(DOMAINS, max_size=7), used=DOMAINS, wanted=st.integers(0, 4))
def test_it_is_the_first_of_the_largest_sets(candidates, used, wanted) -> None:
    fitting = [
        places
        for size in range(wanted + 1)
        for places in combinations(range(len(candidates)), size)
        if _share_nothing([used, *(candidates[place] for place in places)])
    ]
    largest = max(len(places) for places in fitting)
    # Python compares tuples from left to right: the smallest takes the earliest candidates.
    best = min(places for places in fitting if len(places) == largest)
    assert tuple(choose(*map("".join, candidates), wanted=wanted, used="".join(used))) == best


def _share_nothing(sets) -> bool:  # type: ignore[no-untyped-def]
    return sum(map(len, sets)) == len(frozenset().union(*sets))
