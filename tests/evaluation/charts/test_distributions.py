"""Histograms of several lines: every value in its bar, means stated, bad values named."""

from __future__ import annotations

import math

import pytest

from evaluation.charts import Distribution, distributions_spec, render_svg

WORDS = {"title": "Spread", "axis_title": "τ"}


def bars(spec: dict) -> list[dict]:
    return [
        row
        for layer in spec["layer"]
        if layer["mark"]["type"] == "rect"
        for row in layer["data"]["values"]
    ]


def test_every_value_is_in_the_bar_that_its_tooltip_names():
    line = Distribution("A", (-1.0, -0.9, 0.1, 1.0, math.nan))
    spec = distributions_spec([line], **WORDS, bins=4)
    assert [row["tip"] for row in bars(spec)] == [
        "A: 2 from −1.00 to −0.50",
        "A: 1 from 0.00 to 0.50",
        "A: 1 from 0.50 to 1.00",
    ]
    heights = [row["y2"] - row["y"] for row in bars(spec)]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.02)


def test_lines_are_drawn_on_one_scale_of_shares():
    """Two of two values are twice the share that one of two is, whatever the numbers of values."""
    lines = [Distribution("A", (0.1,) * 10), Distribution("B", (0.1, 0.9))]
    spec = distributions_spec(lines, **WORDS, bins=4)
    all_in_one, half, _ = (row["y2"] - row["y"] for row in bars(spec))
    assert all_in_one == pytest.approx(2 * half, abs=0.02)


def test_description_states_the_means_and_undefined_ones_as_a_dash():
    spec = distributions_spec(
        [Distribution("A", (0.0, 0.5)), Distribution("B", (math.nan,))], **WORDS
    )
    assert spec["description"] == "2 distributions; means A 0.25, B –."
    assert "no value" in render_svg(spec)


def test_value_beyond_the_axis_is_an_error():
    with pytest.raises(ValueError, match="“A” lies outside -1 to 1"):
        distributions_spec([Distribution("A", (1.5,))], **WORDS)
