"""Alignment by subgroups: values by hand, exchanging answers, and nothing about a few people."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.subgroup_result import PRECISION, TAU, Question, SubgroupResult
from evaluation.analyses.subgroups import analyze_subgroups
from evaluation.metrics import UndefinedReason
from tests.evaluation.analyses.simulated import as_long, names, simulate_ratings

SCALES = ["s1", "s2", "s3", "s4"]
NO_RESAMPLES = AlignmentOptions(n_resamples=0, n_splits=0)


def ratings_of(rows: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (person, group, scale, value)
            for (person, group), values in rows.items()
            for scale, value in zip(SCALES, values, strict=True)
        ],
        columns=["submission", "group", "scale", "value"],
    )


def ask(slug: str, **given: str) -> Question:
    """One question; a person's answers stand in one text, such as “Man Other”."""
    found = {person: frozenset(text.split()) for person, text in given.items()}
    answers = sorted(set().union(*found.values()) - {"[declined]"})
    return Question(slug, tuple(answers), found)


def opposites(minimum: int = 3, n_resamples: int = 2000, **more) -> SubgroupResult:
    """Three men rate upwards, three women downwards; the model's scores rise."""
    up, down = [10, 30, 50, 70], [70, 50, 30, 10]
    men, women = ["m1", "m2", "m3"], ["w1", "w2", "w3"]
    rows = {(p, "g"): up for p in men} | {(p, "g"): down for p in women}
    gender = ask("gender", **dict.fromkeys(men, "Man"), **dict.fromkeys(women, "Woman"))
    return analyze_subgroups(
        ratings=ratings_of(rows),
        scores=ScoreTable(pd.DataFrame([[1.0, 2, 3, 4]], ["g"], SCALES)),
        groups=["g"],
        scales=SCALES,
        questions=more.get("questions", [gender]),
        minimum=minimum,
        options=AlignmentOptions(seed=1, n_resamples=n_resamples, n_splits=0),
    )


def test_subgroups_by_hand():
    everybody, men, women = opposites().subgroups
    # All together: every scale has the mean 40, so there is no order.
    assert (everybody.question, everybody.n_people) == ("", 6)
    assert everybody.tau.reason == UndefinedReason.CONSTANT_HUMAN
    assert [(row.answer, row.n_people, row.tau.value) for row in (men, women)] == [
        ("Man", 3, pytest.approx(1)),
        ("Woman", 3, pytest.approx(-1)),
    ]
    # Men: of the means 70 50 30 of the three highest scores one lies above 50, of 10 30 50 two
    # below it. Women: of 10 30 50 none above, of 70 50 30 one below.
    assert men.precision.value == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert women.precision.value == pytest.approx((0 + 1 / 3) / 2)


def test_means_by_hand():
    cells = {(row.answer, row.scale): row for row in opposites().cells if row.question}
    assert [cells["Man", scale].mean for scale in SCALES] == [10, 30, 50, 70]
    assert [cells["Woman", scale].mean for scale in SCALES] == [70, 50, 30, 10]
    assert {(row.n, row.sd) for row in cells.values()} == {(3, 0.0)}


def test_exchanging_answers_by_counting():
    """Of the 20 ways to call three of six people men, those with two or three real men give them
    τ = 1 and the others −1: half each. The difference is 2 or −2 in all of them: p = 1."""
    result = opposites()
    (tau,) = [row for row in result.differences if row.quantity == TAU]
    assert tau.value == pytest.approx(2)
    assert tau.p_value == pytest.approx(1, abs=0.06)
    assert tau.expected == pytest.approx(0, abs=0.15)
    men = result.subgroups[1].reference
    assert (men.low, men.high) == pytest.approx((-1, 1))
    # Precision of the called men is 1/2 with three real men, 1/6 with none: 1 of 20 ways each.
    # With two their means are 30 36.7 43.3 50: top 0, bottom 1, so 1/2; with one, 50 43.3 36.7 30:
    # top 0, bottom 1 (43.3 36.7 and 50 is not below): (0 + 2/3) / 2 = 1/3.
    # Differences: 1/3 (1 + 9 ways: 1/2 − 1/6, 1/2 − 1/3 = 1/6), so as far as 1/3 are 2 of 20.
    (precision,) = [row for row in result.differences if row.quantity == PRECISION]
    assert precision.value == pytest.approx(1 / 3)
    assert precision.p_value == pytest.approx(2 / 20, abs=0.03)


def test_too_small_subgroups_are_not_computed_at_all():
    result = opposites(minimum=4)
    assert [row.question for row in result.subgroups] == [""]
    assert result.hidden == ("gender",)
    assert result.differences == ()
    assert {row.question for row in result.by_group} == {""}
    nobody = opposites(minimum=7)
    assert (nobody.subgroups, nobody.by_group, nobody.cells) == ((), (), ())


def test_who_gave_several_answers_counts_in_each():
    people = {"m1": "A", "m2": "A B", "m3": "A B", "w1": "A B", "w2": "B", "w3": "B"}
    everyone_in_one = {**people, "m1": "A B", "w2": "A B", "w3": "A B"}
    result = opposites(n_resamples=0, questions=[ask("race", **everyone_in_one)])
    assert [(row.answer, row.n_people) for row in result.subgroups[1:]] == [("A", 6), ("B", 6)]
    # A holds four people, but then two who did not choose it could be computed.
    small = opposites(n_resamples=0, questions=[ask("race", **people)])
    assert [row.answer for row in small.subgroups[1:]] == []


@pytest.fixture(scope="module")
def study():
    """60 people, 5 groups, 16 scales, two questions without any effect."""
    rng = np.random.default_rng(2)
    groups, scales = names("group", 5), names("scale", 16)
    truth = rng.normal(50, 15, (5, 16))
    ratings = as_long(simulate_ratings(truth, people=60, per_person=3, rng=rng), groups, scales)
    people = sorted(ratings["submission"].unique())
    gender = {p: frozenset({"Man" if i % 2 else "Woman"}) for i, p in enumerate(people)}
    race = {p: frozenset({"White" if i % 3 else "Black"}) for i, p in enumerate(people)}
    return {
        "ratings": ratings,
        "scores": ScoreTable(pd.DataFrame(truth + rng.normal(0, 15, (5, 16)), groups, scales)),
        "groups": groups,
        "scales": scales,
        "questions": [
            Question("race", ("Black", "White"), race),
            Question("gender", ("Man", "Woman"), gender),
        ],
        "crossings": [("race", "gender")],
        "options": AlignmentOptions(seed=5, n_resamples=200, n_splits=0),
    }


@pytest.fixture(scope="module")
def result(study) -> SubgroupResult:
    return analyze_subgroups(**study)


def test_all_participants_have_the_values_of_the_alignment(study, result):
    alone = analyze_alignment(
        **{name: study[name] for name in ("ratings", "scores", "groups", "scales")},
        options=NO_RESAMPLES,
    )
    everybody = result.subgroups[0]
    assert everybody.tau.value == alone.pooled.tau.value
    assert everybody.precision.value == alone.pooled.precision.value
    groups = {row.group: row for row in result.by_group if not row.question}
    for row in alone.by_group:
        assert groups[row.group].tau.value == row.tau.value
        assert groups[row.group].p_holm == pytest.approx(row.p_holm)


def test_a_subgroup_has_the_values_of_an_alignment_with_its_ratings_alone(study, result):
    women = study["questions"][1]
    own = {person for person, given in women.given.items() if given == {"Woman"}}
    alone = analyze_alignment(
        ratings=study["ratings"][study["ratings"]["submission"].isin(own)],
        scores=study["scores"],
        groups=study["groups"],
        scales=study["scales"],
        options=NO_RESAMPLES,
    )
    (found,) = [row for row in result.subgroups if row.answer == "Woman"]
    assert found.n_people == 30
    assert found.tau.value == alone.pooled.tau.value
    means = {(c.group, c.scale): c.human.mean for c in alone.cells}
    for cell in result.cells:
        if cell.answer == "Woman":
            assert cell.mean == pytest.approx(means[cell.group, cell.scale])


def test_crossed_questions_make_subgroups_of_both_answers(study, result):
    crossed = {
        row.answer: row.n_people for row in result.subgroups if row.question == "race*gender"
    }
    # Every third of 60 is Black, every second a man.
    assert crossed == {
        "Black × Man": 10,
        "Black × Woman": 10,
        "White × Man": 20,
        "White × Woman": 20,
    }


def test_random_answers_differ_no_more_than_chance(result):
    """Nothing was made to differ; the smallest p of the seeded pairs survives no correction."""
    assert min(row.p_holm for row in result.differences) > 0.05


def test_fewer_people_are_expected_to_have_a_lower_tau(result):
    everybody, *others = result.subgroups
    by_size = sorted(others, key=lambda row: row.n_people)
    assert by_size[0].reference.mean < by_size[-1].reference.mean < everybody.tau.value


def test_tests_of_differences_are_corrected_over_all_pairs(result):
    rows = [row for row in result.differences if row.quantity == TAU]
    assert len(rows) == 1 + 1 + 6
    least = min(rows, key=lambda row: row.p_value)
    assert least.p_holm == pytest.approx(min(1, 8 * least.p_value))


def test_result_survives_storage_and_the_order_of_rows(study, result):
    stored = json.dumps(to_plain(result), allow_nan=False)
    assert to_plain(from_plain(SubgroupResult, json.loads(stored))) == json.loads(stored)
    mixed = study["ratings"].sample(frac=1, random_state=3)
    assert to_plain(analyze_subgroups(**{**study, "ratings": mixed})) == json.loads(stored)


def test_an_unknown_crossing_is_named(study):
    with pytest.raises(ValueError, match=r"race\*shoe"):
        analyze_subgroups(**{**study, "crossings": [("race", "shoe")]})


@st.composite
def small_studies(draw):
    """Up to 24 people, two groups, four scales, gaps; answers alone, several, declined or none."""
    n = draw(st.integers(3, 24))
    people = [f"p{i:02d}" for i in range(n)]
    single = st.sampled_from(["a", "b", "c", "[declined]", ""])
    several = st.sampled_from(["x", "y", "x y", "z", "[declined]"])
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    rows = [
        (person, group, scale, float(rng.integers(0, 101)))
        for person in people
        for group in ("g", "h")
        if rng.uniform() < 0.8
        for scale in SCALES
        if rng.uniform() < 0.95
    ]
    return (
        pd.DataFrame(rows, columns=["submission", "group", "scale", "value"]),
        ask("one", **{person: draw(single) for person in people}),
        ask("many", **{person: draw(several) for person in people}),
        draw(st.integers(3, 6)),
    )


@settings(max_examples=150, deadline=None)
@given(small_studies())
def test_no_published_number_concerns_fewer_than_the_minimum(drawn):
    ratings, one, many, minimum = drawn
    if ratings.empty:
        return
    result = analyze_subgroups(
        ratings=ratings,
        scores=ScoreTable(pd.DataFrame([[1.0, 2, 3, 4], [4.0, 1, 3, 2]], ["g", "h"], SCALES)),
        groups=["g", "h"],
        scales=SCALES,
        questions=[one, many],
        crossings=[("one", "many")],
        minimum=minimum,
        options=NO_RESAMPLES,
    )
    given = {"one": one.given, "many": many.given}

    def belongs(person: str, question: str, answer: str) -> bool:
        if not question:
            return True
        if question == "one*many":
            a, b = answer.split(" × ")
            return a in one.given[person] and b in many.given[person]
        return answer in given[question][person]

    for row in result.subgroups:
        assert row.n_people >= minimum
    for row in result.by_group:
        raters = ratings[ratings["group"] == row.group]["submission"].unique()
        own = [p for p in raters if belongs(p, row.question, row.answer)]
        assert row.n_raters == len(own) >= minimum
    shown: dict[tuple[str, str, str], list[str]] = {}
    for cell in result.cells:
        there = ratings[(ratings["group"] == cell.group) & (ratings["scale"] == cell.scale)]
        own = there[[belongs(p, cell.question, cell.answer) for p in there["submission"]]]
        assert cell.n == len(own) >= minimum
        assert cell.mean == pytest.approx(own["value"].mean())
        # Who is not in it, but rated the cell, must not follow from the mean of all.
        rest = len(there) - len(own)
        if cell.question in given:
            assert rest == 0 or rest >= minimum
            shown.setdefault((cell.question, cell.group, cell.scale), []).append(cell.answer)
    for (question, group, scale), answers in shown.items():
        there = ratings[(ratings["group"] == group) & (ratings["scale"] == scale)]
        odd = [
            p for p in there["submission"]
            if sum(belongs(p, question, answer) for answer in answers) != 1
        ]  # fmt: skip
        assert not odd or len(odd) >= minimum


def test_nan_is_never_a_hidden_number(result):
    for row in result.by_group:
        assert not math.isnan(row.tau.value) or row.tau.reason
