"""Who rewrites which text, over random designs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.counterparts.assignment_plan import (
    AssignmentError,
    GivenText,
    HeldText,
    count_pair_share,
    plan_assignment,
    plan_handover,
    plan_newcomer,
    plan_unassigned,
)
from annotation.models import Overlap


@st.composite
def designs(draw):
    people = draw(st.integers(1, 6))
    n_texts = draw(st.integers(1, 90))
    pairs = people * (people - 1) // 2
    return {
        "texts": [f"text-{number}" for number in range(n_texts)],
        "annotators": list(range(1, people + 1)),
        "common_texts": draw(st.integers(0, n_texts)),
        "shared_percent": draw(st.floats(0, 99.9 / max(1, pairs))),
        "seed": draw(st.integers(0, 2**31 - 1)),
    }


def plan(design: dict) -> list[GivenText]:
    options = {key: design[key] for key in ("common_texts", "shared_percent", "seed")}
    return plan_assignment(design["texts"], design["annotators"], **options)


def hold(tasks: list[GivenText], done: set[tuple[str, int]] = frozenset()) -> list[HeldText]:
    return [
        HeldText(
            task.text,
            task.annotator,
            task.overlap,
            is_open=(task.text, task.annotator) not in done,
        )
        for task in tasks
    ]


def writers_of(tasks) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for task in tasks:
        found.setdefault(task.text, set()).add(task.annotator)
    return found


@given(designs())
def test_every_text_is_assigned_and_nobody_gets_one_twice(design):
    tasks = plan(design)
    assert {task.text for task in tasks} == set(design["texts"])
    assert max(Counter((task.text, task.annotator) for task in tasks).values()) == 1


@given(designs())
def test_the_overlap_is_the_designed_one(design):
    tasks = plan(design)
    people = design["annotators"]
    writers = writers_of(tasks)
    labels = {task.text: task.overlap for task in tasks}
    common = [text for text in writers if labels[text] == Overlap.COMMON]
    assert len(common) == design["common_texts"]
    assert all(writers[text] == set(people) for text in common)
    remainder = len(design["texts"]) - len(common)
    pairs = list(combinations(people, 2))
    shared = Counter(frozenset(writers[text]) for text in writers if labels[text] == Overlap.SHARED)
    # Nearest whole text, but never more than the remainder holds for all pairs.
    wanted = remainder * design["shared_percent"] / 100
    if not pairs:
        assert not shared
        return
    sizes = {shared[frozenset(pair)] for pair in pairs}
    assert len(sizes) == 1
    size = sizes.pop()
    assert abs(size - wanted) <= 0.5 + 1e-9 or size == remainder // len(pairs)
    assert sum(shared.values()) == size * len(pairs)
    assert all(len(writers[text]) == 1 for text in writers if labels[text] == Overlap.SINGLE)


@given(designs())
def test_loads_differ_by_one_at_most(design):
    loads = Counter(task.annotator for task in plan(design))
    counts = [loads[person] for person in design["annotators"]]
    assert max(counts) - min(counts) <= 1


@given(designs())
def test_the_plan_depends_on_the_seed_and_not_on_the_order_of_rows(design):
    backwards = design | {
        "texts": design["texts"][::-1],
        "annotators": design["annotators"][::-1],
    }
    assert plan(design) == plan(backwards)


def test_the_papers_design_by_hand():
    """Deas et al. (2023) §3.2: 372 texts, 72 common, 4 annotators, 10 % of the other 300 each pair.

    6 pairs share 30 texts each, 180 in all; the other 120 are split, 30 each. So everybody writes
    72 + 3 · 30 + 30 = 192.
    """
    tasks = plan_assignment(
        [str(number) for number in range(372)],
        [1, 2, 3, 4],
        common_texts=72,
        shared_percent=10,
        seed=1,
    )
    assert Counter(task.annotator for task in tasks) == {1: 192, 2: 192, 3: 192, 4: 192}
    assert Counter(task.overlap for task in tasks) == {"common": 288, "shared": 360, "single": 120}


def test_queues_mix_common_shared_and_single_texts():
    tasks = plan_assignment(
        [str(number) for number in range(100)],
        [1, 2],
        common_texts=20,
        shared_percent=50,
        seed=3,
    )
    first = [task.overlap for task in tasks if task.annotator == 1][:20]
    assert len(set(first)) == 3


def test_a_share_that_does_not_fit_is_refused_with_what_would():
    # 5 annotators are 10 pairs: at 11 % they would need 110 %.
    with pytest.raises(AssignmentError, match=r"110 % of the texts.*choose 10 % or less"):
        count_pair_share(100, 5, 11)
    assert count_pair_share(100, 5, 10) == 10


def test_bad_designs_are_refused():
    options = {"shared_percent": 0, "seed": 1}
    with pytest.raises(AssignmentError, match="at least one annotator"):
        plan_assignment(["a"], [], common_texts=0, **options)
    with pytest.raises(AssignmentError, match="2 texts are to be common, but there are only 1"):
        plan_assignment(["a"], [1], common_texts=2, **options)


@st.composite
def standing(draw):
    """A plan with some of its tasks done."""
    design = draw(designs())
    tasks = plan(design)
    keys = [(task.text, task.annotator) for task in tasks]
    done = set(draw(st.lists(st.sampled_from(keys), unique=True, max_size=len(keys))))
    return design, hold(tasks, done), done


def apply(held: list[HeldText], changes) -> list[HeldText]:
    """Carry out changes as the services do."""
    kept = [task for task in held if (task.text, task.annotator) not in set(changes.taken)]
    kept = [
        HeldText(
            task.text,
            task.annotator,
            changes.relabeled.get(task.text, task.overlap),
            task.is_open,
            task.is_untouched,
        )
        for task in kept
    ]
    return kept + hold(list(changes.given))


@given(standing())
def test_a_newcomer_gets_common_texts_and_a_share_and_takes_no_done_work(case):
    design, held, done = case
    newcomer = len(design["annotators"]) + 1
    changes = plan_newcomer(
        held, newcomer, shared_percent=design["shared_percent"], seed=design["seed"]
    )
    after = apply(held, changes)
    assert {task.text for task in after} == set(design["texts"])
    assert max(Counter((task.text, task.annotator) for task in after).values()) == 1
    assert not done & set(changes.taken)
    common = {task.text for task in held if task.overlap == Overlap.COMMON}
    mine = {task.text for task in after if task.annotator == newcomer}
    assert common <= mine
    labels: dict[str, set[Overlap]] = {}
    for task in after:
        labels.setdefault(task.text, set()).add(task.overlap)
    writers = writers_of(after)
    for text, found in labels.items():
        assert len(found) == 1, "one text has one overlap"
        if found == {Overlap.SHARED}:
            assert len(writers[text]) == 2
        if found == {Overlap.SINGLE}:
            assert len(writers[text]) == 1


def test_a_newcomer_shares_as_much_as_the_design_asks_for():
    """100 texts, none common, 2 annotators at 10 %: 10 shared, 45 + 45 single. A third one gets 10
    of each one's singles, and open work is evened out: 110 + 20 tasks for 3 people."""
    held = hold(
        plan_assignment(
            [str(number) for number in range(100)],
            [1, 2],
            common_texts=0,
            shared_percent=10,
            seed=5,
        )
    )
    after = apply(held, plan_newcomer(held, 3, shared_percent=10, seed=5))
    shared = Counter(
        frozenset(writers) for text, writers in writers_of(after).items() if len(writers) == 2
    )
    assert shared == {frozenset({1, 2}): 10, frozenset({1, 3}): 10, frozenset({2, 3}): 10}
    loads = Counter(task.annotator for task in after)
    assert sum(loads.values()) == 130
    assert max(loads.values()) - min(loads.values()) <= 2


@given(standing(), st.data())
def test_a_handover_keeps_every_text_and_all_done_work(case, data):
    design, held, done = case
    if len(design["annotators"]) < 2:
        return
    giver = data.draw(st.sampled_from(design["annotators"]))
    others = [person for person in design["annotators"] if person != giver]
    receivers = data.draw(
        st.one_of(st.just(others), st.sampled_from(others).map(lambda person: [person]))
    )
    changes = plan_handover(held, giver, receivers)
    after = apply(held, changes)
    assert {task.text for task in after} == set(design["texts"])
    assert max(Counter((task.text, task.annotator) for task in after).values()) == 1
    assert {(task.text, task.annotator) for task in after if not task.is_open} == done
    assert not [task for task in after if task.annotator == giver and task.is_open]
    for text, writers in writers_of(after).items():
        if len(writers) == 1 and len(design["annotators"]) > 1:
            (label,) = {task.overlap for task in after if task.text == text}
            assert label == Overlap.SINGLE or label == Overlap.COMMON


def test_open_work_needs_somebody_to_take_it():
    held = [HeldText("a", 1, Overlap.SINGLE, is_open=True)]
    with pytest.raises(AssignmentError, match="invite somebody first"):
        plan_handover(held, 1, [1])


def test_texts_that_nobody_has_go_to_those_with_the_least_work():
    held = [HeldText(text, 1, Overlap.SINGLE, is_open=True) for text in "abc"]
    changes = plan_unassigned(held, ["d", "e", "f", "g"], [1, 2], seed=1)
    # 3 and 0 open, 4 more: 7 in all, so 4 and 3 (the first of equals gets the last one).
    assert Counter(task.annotator for task in changes.given) == {2: 3, 1: 1}
