"""Random streams are keyed by name: leaving out a group moves no number that does not rest on it.

Beside these, `test_rating_agreement`, `test_intersectional` and `test_ceat` show it of theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.fpr_counts import Predictions
from evaluation.analyses.fpr_gaps import analyze_gaps
from evaluation.analyses.markedness import MarkednessOptions, analyze_markedness
from evaluation.analyses.plain_record import to_plain
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.subgroup_result import Question
from evaluation.analyses.subgroups import analyze_subgroups
from evaluation.analyses.template_selection import SelectionOptions, select_templates
from probing.measures.probe_stimuli import SENTIMENT
from tests.evaluation.analyses.simulated import as_long

GROUPS, FEWER = ["asian", "black", "teenager"], ["teenager", "black"]
SCALES = [f"s{place}" for place in range(10)]
OPTIONS = AlignmentOptions(n_resamples=100, n_splits=50)
#: What is corrected over groups rests on all of them.
OVER_GROUPS = {"p_holm", "p_resampled_holm", "p_table", "p_resampled_table"}


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    """Everyone rates one group; the first of all people in the order rate the one left out."""
    rng = np.random.default_rng(0)
    values = np.full((24, 3, 10), np.nan)
    for person in range(24):
        values[person, person // 8] = rng.integers(0, 101, 10)
    return as_long(values, GROUPS, SCALES)


@pytest.fixture(scope="module")
def scores() -> ScoreTable:
    values = np.random.default_rng(1).normal(size=(3, 10))
    return ScoreTable(pd.DataFrame(values, GROUPS, SCALES))


def own(rows: Any, **chosen: Any) -> list[dict[str, Any]]:
    """Return the rows of the groups that stay, without what is corrected over groups."""
    found = [to_plain(row) for row in rows]
    flat = [row.pop("alignment", {}) | row for row in found]
    kept = [row for row in flat if row["group"] in FEWER and chosen.items() <= row.items()]
    assert kept
    bare = [{name: row[name] for name in row if name not in OVER_GROUPS} for row in kept]
    return sorted(bare, key=lambda row: [str(row.get(name)) for name in ("run", "answer", "group")])


def test_alignment_of_the_other_groups_stays(ratings, scores):
    whole, fewer = (
        analyze_alignment(
            ratings=ratings, scores=scores, groups=groups, scales=SCALES, options=OPTIONS
        )
        for groups in (GROUPS, FEWER)
    )
    assert own(whole.by_group) == own(fewer.by_group)
    assert own(whole.cells, scale="s1") == own(fewer.cells, scale="s1")
    assert not np.isnan([row.tau.interval.low for row in fewer.by_group]).any()


def test_compared_runs_keep_their_other_groups(ratings, scores):
    runs = {"follows": scores, "opposes": ScoreTable(-scores.mean)}
    whole, fewer = (
        compare_alignments(
            ratings=ratings, scores=runs, groups=groups, scales=SCALES, options=OPTIONS
        )
        for groups in (GROUPS, FEWER)
    )
    assert own(whole.by_group) == own(fewer.by_group)


def test_subgroups_keep_their_other_groups_and_questions(ratings, scores):
    people = sorted(ratings["submission"].unique())
    asked = [
        Question(
            name,
            ("yes", "no"),
            {
                one: frozenset([("yes", "no")[place // step % 2]])
                for place, one in enumerate(people)
            },
        )
        for name, step in (("first", 1), ("second", 2))
    ]

    def analyze(groups: list[str], questions: list[Question]) -> Any:
        return analyze_subgroups(
            ratings=ratings,
            scores=scores,
            groups=groups,
            scales=SCALES,
            questions=questions,
            minimum=3,
            options=OPTIONS,
        )

    whole, fewer, one = analyze(GROUPS, asked), analyze(FEWER, asked), analyze(GROUPS, asked[1:])
    assert own(whole.by_group) == own(fewer.by_group)
    assert own(whole.cells, scale="s2") == own(fewer.cells, scale="s2")
    of_second = [
        [
            to_plain(replace(row, p_holm=0.0, p_generalizing_holm=0.0))
            for row in found.differences
            if row.question == "second"
        ]
        for found in (whole, one)
    ]
    assert of_second[0]
    assert of_second[0] == of_second[1]


def test_template_selection_draws_the_same_raters_in_a_pilot_group(ratings, scores):
    """Which raters are drawn decides tau of every candidate."""
    noise = np.random.default_rng(2).normal(size=(3, *scores.mean.shape))
    by_template = pd.concat(
        [
            (scores.mean + noise[k])
            .rename_axis("group")
            .reset_index()
            .melt("group", var_name="scale")
            .assign(template=f"t{k}")
            for k in range(3)
        ]
    )
    options = SelectionOptions(pilot_groups=("black",), annotations=3)
    whole, fewer = (
        select_templates(
            ratings=ratings[ratings["group"].isin(groups)],
            scores=by_template,
            groups=groups,
            scales=SCALES,
            options=options,
        ).candidates
        for groups in (GROUPS, FEWER)
    )
    assert whole == fewer


def test_markedness_of_a_group_stays_where_the_mean_over_others_does():
    """Mention is that mean: it stays without one of two other groups that are alike."""
    rng = np.random.default_rng(5)
    black, other = rng.normal(size=(2, 4, 6))  # four templates, six traits
    found = []
    for groups in ({"asian": other, "black": black, "teenager": other},
                   {"black": black, "teenager": other}):  # fmt: skip
        rows = {
            (f"t{k}", name): np.zeros(6) if name == "unmarked" else groups[name][k]
            for k in range(4)
            for name in ("unmarked", *groups)
        }
        index = pd.MultiIndex.from_tuples(rows, names=["template", "group"])
        table = pd.DataFrame(list(rows.values()), index=index)
        result = analyze_markedness(table, list(groups), MarkednessOptions(n_resamples=100))
        found.append(next(row for row in result.by_group if row.group == "black"))
    with_it, without = (vars(one) for one in found)
    # Solvers round the last bit as their arrays lie in memory.
    assert with_it == {
        name: pytest.approx(value, rel=1e-12, nan_ok=True) if isinstance(value, float) else value
        for name, value in without.items()
    }


def test_false_positives_of_groups_stay_without_a_placebo_or_in_another_order():
    """Gaps are set against the mean over groups, on which placebo words do not rest."""
    rng = np.random.default_rng(3)
    words = {"tall": "placebo", "asian": "group", "black": "group", "teenager": "group"}
    rows = [(word, word, f"t{place}", 1) for word in words for place in range(6)]
    frame = pd.DataFrame(rows, columns=["group", "filler", "template", "label"])
    predicted = rng.integers(0, 3, (4, len(frame)))

    def analyze(kept: np.ndarray) -> Any:
        """Return everything about groups, of the sentences at these places in this order."""
        sentences = frame.iloc[kept].reset_index(drop=True)
        roles = {word: role for word, role in words.items() if word in set(sentences["group"])}
        found = analyze_gaps(
            Predictions(
                "m", "s", sentences, predicted[:, kept], ("1", "2", "3", "4"), roles, SENTIMENT
            )
        )
        gaps = [to_plain(gap) for gap in found.gaps if gap.is_group]
        return gaps, [to_plain(span) for span in found.spans]

    places = np.arange(len(frame))
    whole = analyze(places)
    assert whole == analyze(places[6:])
    assert whole == analyze(np.append(places[1:], 0))
