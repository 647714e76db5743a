"""Tokens, the diverging scale, and texts of numbers."""

from __future__ import annotations

import math
import re

import pytest

from evaluation.charts.canvas import Drawing
from evaluation.charts.palette import CSS_VALUES, DIVERGING, TOKENS, diverging_step, mix
from evaluation.charts.text_metrics import (
    arrange,
    decimals_for,
    format_number,
    round_up,
    text_width,
)


@pytest.mark.parametrize(
    ("rating", "step"),
    # Nine equal steps of 60/9 = 6.67 between 20 and 80: the center one is 46.67 to 53.33.
    [(0, 0), (20, 0), (20.1, 1), (46.6, 4), (46.7, 5), (50, 5), (53.3, 5), (53.4, 6), (79.9, 9),
     (80, 10), (100, 10)],
)  # fmt: skip
def test_ratings_fall_into_eleven_steps_clipped_at_twenty_and_eighty(rating, step):
    assert diverging_step(rating, center=50, limit=30) == step


def test_the_scale_is_symmetric_and_exact_at_awkward_limits():
    for limit in (0.1, 1.3, 0.7, 2 / 3):
        assert diverging_step(limit, center=0, limit=limit) == 10
        assert diverging_step(-limit, center=0, limit=limit) == 0
        for value in (0.05, 0.31, 0.5, 0.9):
            up = diverging_step(value * limit, center=0, limit=limit)
            assert up + diverging_step(-value * limit, center=0, limit=limit) == 10


def test_a_scale_without_width_is_refused():
    with pytest.raises(ValueError, match="above 0"):
        diverging_step(1, center=0, limit=0)


def test_every_color_is_used_for_one_thing_only():
    assert len(set(TOKENS.values())) == len(TOKENS)
    assert len(set(DIVERGING)) == 11
    # The two ends and the center are tokens themselves; eight steps lie between.
    assert len(CSS_VALUES) == len(TOKENS) + 8


def test_chart_colors_are_the_tokens_of_the_stylesheet(pytestconfig):
    style = (pytestconfig.rootpath / "static" / "stereoscope" / "tokens.css").read_text()
    light = style.split("@media")[0]
    declared = dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9A-Fa-f]{6})", light))
    for name, color in TOKENS.items():
        assert declared[name].upper() == color


def test_mixing_in_oklab_keeps_ends_and_meets_a_known_middle():
    assert mix("#123456", "#FEDCBA", 1) == "#123456"
    assert mix("#123456", "#FEDCBA", 0) == "#FEDCBA"
    # Half of black and white in Oklab has lightness 0.5, linear light 0.5³ = 0.125, encoded
    # 1.055 · 0.125^(1/2.4) − 0.055 = 0.38858, times 255 = 99.09: #636363.
    assert mix("#000000", "#FFFFFF", 0.5) == "#636363"


def test_numbers_have_true_minus_signs_and_no_sign_at_zero():
    assert format_number(-0.314, 2) == "−0.31"
    assert format_number(-0.001, 2) == "0.00"
    assert format_number(0.5, 1, signed=True) == "+0.5"
    assert format_number(0.0, 1, signed=True) == "0.0"
    assert format_number(math.nan, 2) == "–"


@pytest.mark.parametrize(
    ("largest", "limit", "decimals"),
    [(1.21, 1.5, 2), (1.5, 1.5, 2), (0.00021, 0.00025, 6), (7, 8, 2), (84, 100, 0), (0, 1, 2),
     (math.nan, 1, 2), (12, 15, 1)],
)  # fmt: skip
def test_axes_end_at_round_numbers_whose_half_can_be_printed(largest, limit, decimals):
    assert round_up(largest) == pytest.approx(limit)
    assert decimals_for(limit) == decimals
    assert round(limit / 2, decimals) == pytest.approx(limit / 2)


def test_labels_are_brought_together_in_order_of_first_appearance():
    assert arrange(["b", "a", "b", "c", "a"]) == [0, 2, 1, 4, 3]


def test_text_width_matches_the_metrics_of_liberation_sans():
    # Advance widths of the font, units of 1/2048 em: A 1366, b c d 1139 1024 1139, m 1706.
    expected = (1366 + 1139 + 1024 + 1139 + 1706) / 2048 * 12
    assert text_width("Abcdm", 12) == pytest.approx(expected, rel=0.05)


def test_colors_outside_the_house_are_not_drawn():
    with pytest.raises(ValueError, match="no color of the house"):
        Drawing().text(0, 0, "x", color="#FF0000")
