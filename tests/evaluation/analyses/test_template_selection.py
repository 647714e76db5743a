"""Template selection on ratings and scores whose best template is known by construction."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.template_selection import (
    SelectionOptions,
    TemplateSelection,
    select_templates,
)

SCALES = ["a", "b", "c", "d"]
GROUPS = ["pilot", "test"]
OPTIONS = SelectionOptions(pilot_groups=("pilot",), annotations=2)


def rate(values: list[float], *, group: str = "pilot", raters: int = 3) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (f"{group}-{rater}", group, scale, value)
            for rater in range(raters)
            for scale, value in zip(SCALES, values, strict=True)
        ],
        columns=["submission", "group", "scale", "value"],
    )


def score(**templates: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (group, scale, template, value)
            for group in GROUPS
            for template, values in templates.items()
            for scale, value in zip(SCALES, values, strict=True)
        ],
        columns=["group", "scale", "template", "value"],
    )


def choose(scores: pd.DataFrame, options: SelectionOptions = OPTIONS) -> TemplateSelection:
    ratings = pd.concat([rate([10, 20, 30, 40]), rate([40, 30, 20, 10], group="test")])
    return select_templates(
        ratings=ratings, scores=scores, groups=GROUPS, scales=SCALES, options=options
    )


def test_the_template_that_follows_the_pilot_group_wins() -> None:
    """“good” ranks all four scales as the pilot's raters do; “bad” turns them round."""
    found = choose(score(good=[1, 2, 3, 4], bad=[4, 3, 2, 1]))
    assert found.chosen == ("good",)
    taus = {candidate.templates: candidate.tau for candidate in found.candidates}
    assert taus[("good",)] == 1
    assert taus[("bad",)] == -1


def test_two_templates_are_taken_only_where_they_are_better_than_one() -> None:
    """Each alone has one pair of scales in the wrong order, tau 4/6; their mean has none."""
    found = choose(score(first=[2, 1, 3, 4], second=[1, 5, 4, 6]))
    assert found.chosen == ("first", "second")
    alone = choose(score(first=[1, 2, 3, 4], second=[1, 2, 3, 4]))
    assert alone.chosen == ("first",)


def test_the_test_groups_never_enter_the_choice() -> None:
    """The test group's people rank the scales the other way round, and it changes nothing."""
    found = choose(score(good=[1, 2, 3, 4], bad=[4, 3, 2, 1]))
    assert found.test_groups == ("test",)
    assert all(candidate.n_cells == len(SCALES) for candidate in found.candidates)


def test_only_the_stated_number_of_raters_is_looked_at_and_the_seed_says_which() -> None:
    ratings = pd.concat([rate([10, 20, 30, 40], raters=9), rate([1, 2, 3, 4], group="test")])
    ratings["value"] += np.random.default_rng(1).uniform(0, 30, len(ratings))
    scores = score(one=[1, 2, 3, 4])

    def draw(seed: int) -> TemplateSelection:
        options = SelectionOptions(pilot_groups=("pilot",), annotations=2, seed=seed)
        return select_templates(
            ratings=ratings, scores=scores, groups=GROUPS, scales=SCALES, options=options
        )

    assert (draw(0).pilot[0].n_raters, draw(0).pilot[0].n_used) == (9, 2)
    assert draw(0) == draw(0)
    assert len({draw(seed).candidates[0].tau for seed in range(20)}) > 1


def test_a_template_with_a_gap_on_the_pilot_is_no_candidate() -> None:
    found = choose(score(gap=[1, math.nan, 3, 4], whole=[4, 3, 2, 1]))
    assert {candidate.templates for candidate in found.candidates} == {("whole",)}


def test_constant_scores_choose_nothing_and_say_why() -> None:
    found = choose(score(flat=[1, 1, 1, 1]))
    assert found.chosen == ()
    assert "no template" in found.reason
    assert to_plain(from_plain(TemplateSelection, to_plain(found))) == to_plain(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SelectionOptions(pilot_groups=("nobody",)), "'nobody' has no ratings"),
        (SelectionOptions(pilot_groups=()), "at least one pilot group"),
        (SelectionOptions(pilot_groups=("pilot", "test")), "none is left to test"),
        (SelectionOptions(pilot_groups=("pilot",), annotations=0), "at least 1"),
    ],
)
def test_what_cannot_be_selected_is_refused(options: SelectionOptions, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose(score(good=[1, 2, 3, 4]), options)
