"""Small cells: nothing about a few people is shown, and nothing from which it follows."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.common.small_cells import (
    DECLINED,
    choose_crossed,
    choose_shown,
    count_answers,
    tabulate,
)

ANSWERS = "abcd"


def single(**counts: int) -> dict[frozenset[str], int]:
    return {frozenset({answer}): n for answer, n in counts.items() if n}


def shown(people, minimum=5) -> str:
    return "".join(sorted(choose_shown(people, minimum)))


def test_large_answers_are_shown_and_nothing_is_hidden_from_large_ones():
    found = tabulate(single(a=30, b=20), answers="abc", several=False, minimum=5)
    assert found.n_people == 50
    assert dict(found.shown) == {"a": 30, "b": 20, "c": 0}
    assert (found.hidden, found.n_hidden) == ((), 0)


def test_the_number_of_hidden_answers_is_told_where_it_tells_nothing_else():
    found = tabulate(single(a=30, b=3, c=4), answers="abcd", several=False, minimum=5)
    assert found.hidden[:3] == ("b", "c", "d")
    assert found.n_hidden_answers == 3  # as many as the question's other answers
    every_one = {f"x{number}": 1 for number in range(6)}
    found = tabulate(single(a=30, **every_one), answers="a", several=False, minimum=5)
    assert (found.n_hidden, found.n_hidden_answers) == (6, None)  # six would be one each
    found = tabulate(single(a=30, b=3, c=4), answers="abc", several=True, minimum=5)
    assert found.n_hidden_answers is None
    assert tabulate(single(a=30), answers="a", several=False, minimum=5).n_hidden_answers is None


def test_one_small_answer_takes_the_next_one_with_it():
    # 3 would follow as 53 − 50; with b it is 23 people whose split is not known.
    found = tabulate(single(a=30, b=20, c=3), answers="abcd", several=False, minimum=5)
    assert dict(found.shown) == {"a": 30}
    assert found.hidden == ("b", "c", "d")
    assert found.n_hidden == 23


def test_several_small_answers_that_make_a_large_rest_hide_themselves_alone():
    found = tabulate(single(a=30, b=3, c=4), answers="abc", several=False, minimum=5)
    assert dict(found.shown) == {"a": 30}
    assert found.n_hidden == 7


def test_a_rest_that_tells_its_parts_is_hidden_deeper():
    # Eight people in two hidden answers would be four and four, since five would be shown.
    found = tabulate(single(a=30, b=4, c=4), answers="abc", several=False, minimum=5)
    assert dict(found.shown) == {}


def test_equal_answers_are_hidden_together():
    # Which of two equal ones were hidden would follow from the order of their names.
    assert shown(single(a=9, b=9, c=2)) == ""
    assert shown(single(a=9, b=8, c=2)) == "a"


def test_a_few_people_in_all_have_no_table():
    found = tabulate(single(a=4), answers="ab", several=False, minimum=5)
    assert (found.n_people, dict(found.shown), found.n_hidden) == (None, {}, None)


def test_people_in_several_answers_must_not_follow_from_the_totals():
    # 12 + 9 − 20 = 1 person gave both, so that the smaller one falls; 8 are left beside a.
    assert shown({**single(a=11, b=8), frozenset("ab"): 1}) == "a"
    # With six in both the overlap may follow.
    assert shown({**single(a=11, b=8), frozenset("ab"): 6}) == "ab"


def test_who_preferred_not_to_say_is_a_rest_like_others():
    assert choose_shown({**single(a=20), frozenset({DECLINED}): 2}, 5) == set()
    assert choose_shown({**single(a=20), frozenset({DECLINED}): 6}, 5) == {"a", DECLINED}


def test_an_answer_within_another_leaves_no_small_difference():
    # Everybody in b is in a; the two in a alone would follow as 12 − 10, and as 21 − 10 − 9.
    assert shown({frozenset("ab"): 10, frozenset("a"): 2, frozenset("c"): 9}) == "a"


@pytest.mark.parametrize("minimum", [0, 2])
def test_a_minimum_below_three_is_refused(minimum):
    with pytest.raises(ValueError, match="from 3"):
        choose_shown(single(a=9), minimum)


@pytest.mark.parametrize(("n_answers", "minimum", "most"), [(2, 3, 16), (3, 3, 14), (3, 4, 14),
                                                            (4, 3, 11)])  # fmt: skip
def test_even_who_knows_the_rule_cannot_compute_a_small_number(n_answers, minimum, most):
    """All ways that people can spread over answers, sorted by the table that is shown for them: in
    no table is a number from 1 to minimum − 1 the same in all of them."""
    answers = ANSWERS[:n_answers]
    for n in range(minimum, most + 1):
        worlds: dict[object, list[tuple[int, ...]]] = {}
        for counts in product(range(n + 1), repeat=n_answers):
            if sum(counts) == n:
                people = single(**dict(zip(answers, counts, strict=True)))
                table = tabulate(people, answers=answers, several=False, minimum=minimum)
                seen = (tuple(sorted(table.shown.items())), table.hidden, table.n_hidden)
                worlds.setdefault(seen, []).append(counts)
        for possible in worlds.values():
            for i in range(n_answers):
                values = {counts[i] for counts in possible}
                assert not (len(values) == 1 and 0 < values.pop() < minimum), possible


patterns = st.frozensets(st.sampled_from(ANSWERS), min_size=1)
crowds = st.dictionaries(patterns, st.integers(1, 40), min_size=1, max_size=9)
minima = st.integers(3, 12)


@settings(max_examples=300)
@given(crowds, minima)
def test_no_sum_or_difference_of_what_is_shown_concerns_a_few(people, minimum):
    found = choose_shown(people, minimum)
    counts = count_answers(people)
    total = sum(people.values())
    assert all(counts[answer] >= minimum for answer in found)
    for size in range(len(found) + 1):
        for part in combinations(sorted(found), size):
            # All people minus the sum of these answers: who gave none, or several of them.
            odd = sum(n for own, n in people.items() if len(own & set(part)) != 1)
            assert odd == 0 or odd >= minimum or total < minimum
    for a, b in combinations(sorted(found), 2):
        apart = sum(n for own, n in people.items() if (a in own) != (b in own))
        assert apart == 0 or apart >= minimum


@settings(max_examples=300)
@given(crowds, minima, st.data())
def test_every_part_of_what_can_be_shown_can_be_shown(people, minimum, data):
    found = sorted(choose_shown(people, minimum))
    part = set(data.draw(st.lists(st.sampled_from(found), unique=True))) if found else set()
    for size in range(1, len(part) + 1):
        for chosen in combinations(sorted(part), size):
            odd = sum(n for own, n in people.items() if len(own & set(chosen)) != 1)
            assert odd == 0 or odd >= minimum


pairs = st.dictionaries(
    st.tuples(
        st.sampled_from([frozenset("a"), frozenset("b"), frozenset("ab")]),
        st.sampled_from([frozenset("x"), frozenset("y"), frozenset("z")]),
    ),
    st.integers(1, 30),
    min_size=1,
)


@settings(max_examples=300)
@given(pairs, minima)
def test_crossed_answers_leave_no_small_rest_in_any_line(people, minimum):
    found = choose_crossed(people, minimum)
    for place in (0, 1):
        for answer in {pair[place] for pair in found}:
            own = {pair[1 - place] for pair in found if pair[place] == answer}
            inside: Counter[frozenset[str]] = Counter()
            for both, n in people.items():
                if answer in both[place]:
                    inside[both[1 - place]] += n
            odd = sum(n for those, n in inside.items() if len(those & own) != 1)
            assert odd == 0 or odd >= minimum
            for other in own:
                assert sum(n for those, n in inside.items() if other in those) >= minimum


def test_crossing_by_hand():
    people = {
        (frozenset({"White"}), frozenset({"Man"})): 10,
        (frozenset({"White"}), frozenset({"Woman"})): 12,
        (frozenset({"Black"}), frozenset({"Man"})): 9,
        (frozenset({"Black"}), frozenset({"Woman"})): 14,
    }
    assert len(choose_crossed(people, 5)) == 4
    people[frozenset({"White"}), frozenset({"Other"})] = 3
    people[frozenset({"Black"}), frozenset({"Other"})] = 6
    # White, 25 people: beside 10 men and 12 women the 3 others would follow, so the men fall.
    # Other, 9 people: beside 6 Black ones the same 3 would follow, so these fall.
    assert choose_crossed(people, 5) == {
        ("White", "Woman"),
        ("Black", "Man"),
        ("Black", "Woman"),
    }
