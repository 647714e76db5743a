"""From rows to pair scores, worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probing.measures.aggregation import cells_of_fewer_templates, pair_scores
from probing.measures.base import SCORE_COLUMNS
from probing.measures.stimuli import Group, Stimuli, Template, Trait

STIMULI = Stimuli(
    (Group("man", "man", "men", "Men"), Group("woman", "woman", "women", "Women")),
    (Trait("cold-warm", "cold", "warm", "communion"),),
    (
        Template("that", "That {singular} is {trait}."),
        Template("all", "All {plural} are {trait}."),
    ),
)

#: (template, group) -> (value of the low pole, value of the high pole)
VALUES = {
    ("that", "man"): (1.0, 4.0),
    ("that", "woman"): (-2.0, -2.5),
    ("all", "man"): (0.5, 1.0),
    ("all", "woman"): (3.0, 1.0),
}


def frame(values: dict[tuple[str, str], tuple[float, float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (template, group, "cold-warm", pole, word, value, "" if value == value else "too far")
            for (template, group), pair in values.items()
            for pole, word, value in zip(("low", "high"), ("cold", "warm"), pair, strict=True)
        ],
        columns=["template", "group", "trait", "pole", "word", "value", "reason"],
    )


def scores_by_cell(scores: pd.DataFrame) -> pd.DataFrame:
    return scores.set_index(["template", "group"])


def test_pair_scores_are_high_minus_low_and_templates_are_averaged() -> None:
    scores = pair_scores(STIMULI, [frame(VALUES)])
    assert tuple(scores.columns) == SCORE_COLUMNS
    assert set(scores["name"]) == {"pair_score"}
    assert len(scores) == 2 * 2 + 2
    found = scores_by_cell(scores)
    # that: 4 - 1 = 3, -2.5 + 2 = -0.5; all: 1 - 0.5 = 0.5, 1 - 3 = -2; means 1.75 and -1.25
    expected = {
        ("that", "man"): (3.0, 1),
        ("that", "woman"): (-0.5, 1),
        ("all", "man"): (0.5, 1),
        ("all", "woman"): (-2.0, 1),
        ("", "man"): (1.75, 2),
        ("", "woman"): (-1.25, 2),
    }
    for cell, (value, n) in expected.items():
        assert found.loc[cell, "value"] == value
        assert found.loc[cell, "n"] == n
    assert (scores["reason"] == "").all()


def test_the_order_and_cut_of_the_shards_do_not_matter() -> None:
    rows = frame(VALUES)
    whole = pair_scores(STIMULI, [rows])
    pieces = [rows.iloc[5:], rows.iloc[:2], rows.iloc[2:5]]
    pd.testing.assert_frame_equal(pair_scores(STIMULI, pieces), whole)


def test_an_undefined_template_is_left_out_of_the_mean_and_counted() -> None:
    values = {**VALUES, ("all", "man"): (np.nan, 1.0)}
    found = scores_by_cell(pair_scores(STIMULI, [frame(values)]))
    assert np.isnan(found.loc[("all", "man"), "value"])
    assert found.loc[("all", "man"), "reason"] == "cold: too far"
    assert found.loc[("all", "man"), "n"] == 0
    assert found.loc[("", "man"), "value"] == 3.0
    assert found.loc[("", "man"), "n"] == 1
    assert found.loc[("", "man"), "reason"] == ""


def test_cells_of_fewer_templates_are_counted() -> None:
    """Of the man one template is lacking, of the woman both: her mean is undefined instead."""
    nothing = (np.nan, np.nan)
    values = {**VALUES, ("all", "man"): (np.nan, 1.0)}
    assert cells_of_fewer_templates(STIMULI, [frame(VALUES)]) == 0
    assert cells_of_fewer_templates(STIMULI, [frame(values)]) == 1
    values |= {("all", "woman"): nothing, ("that", "woman"): nothing}
    assert cells_of_fewer_templates(STIMULI, [frame(values)]) == 1


def test_a_cell_without_any_value_is_nan_with_the_reason() -> None:
    nothing = (np.nan, np.nan)
    values = {**VALUES, ("all", "man"): nothing, ("that", "man"): nothing}
    found = scores_by_cell(pair_scores(STIMULI, [frame(values)]))
    assert np.isnan(found.loc[("", "man"), "value"])
    assert found.loc[("", "man"), "n"] == 0
    reason = found.loc[("", "man"), "reason"]
    assert reason == "undefined in all 2 templates: cold: too far; warm: too far"
    assert found.loc[("", "woman"), "n"] == 2


def test_a_long_reason_is_shortened_to_what_the_database_keeps() -> None:
    rows = frame({**VALUES, ("all", "man"): (np.nan, np.nan)})
    rows.loc[rows["reason"] != "", "reason"] = "x" * 300
    found = scores_by_cell(pair_scores(STIMULI, [rows]))
    reason = found.loc[("all", "man"), "reason"]
    assert len(reason) == 200
    assert reason.endswith("…")


def test_missing_doubled_and_foreign_rows_are_refused() -> None:
    rows = frame(VALUES)
    with pytest.raises(ValueError, match="no shards"):
        pair_scores(STIMULI, [])
    with pytest.raises(ValueError, match=r"1 rows are missing.*'woman'"):
        pair_scores(STIMULI, [rows.iloc[:-1]])
    with pytest.raises(ValueError, match=r"8 rows occur twice"):
        pair_scores(STIMULI, [rows, rows])
    foreign = rows.iloc[:2].assign(group="nobody")
    with pytest.raises(ValueError, match="belong to no cell"):
        pair_scores(STIMULI, [rows, foreign])
