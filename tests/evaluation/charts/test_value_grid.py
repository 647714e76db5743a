"""The grid of values: every value in its cell, colors by the values, gaps told apart."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import jsonschema
import pytest

from evaluation.charts import GridCell, GridLabel, GridWords, render_svg, value_grid_spec
from evaluation.charts.palette import CENTER_STEP, DIVERGING

SVG = "{http://www.w3.org/2000/svg}"
WORDS = GridWords(title="Grid", scale="τ")
ROWS = [GridLabel("a", "women", "gender"), GridLabel("b", "men", "gender")]
COLUMNS = [
    GridLabel("x", "SeT, tiny"),
    GridLabel("y", "a head that is longer than forty letters are"),
]
CELLS = {
    ("a", "x"): GridCell(0.6, "†", "10 raters"),
    ("a", "y"): GridCell(-0.9),
    ("b", "x"): GridCell(-0.001),
}


def grid(cells=CELLS):
    return value_grid_spec(ROWS, COLUMNS, cells, words=WORDS, limit=0.6)


def boxes(spec):
    return [
        row
        for layer in spec["layer"]
        if layer["mark"]["type"] == "rect"
        for row in layer["data"]["values"]
        if row.get("tip")
    ]


def texts(spec):
    root = ET.fromstring(render_svg(spec))  # noqa: S314 — our own drawing
    return [node.text for node in root.iter(f"{SVG}text")]


def test_specification_is_valid_vega_lite():
    from altair.vegalite import v6

    jsonschema.Draft7Validator(v6.schema.core.load_schema()).validate(grid())


def test_every_value_label_and_sign_is_printed():
    found = texts(grid())
    for text in ("women", "men", "SeT, tiny", "0.60†", "−0.90", "0.00", "τ"):
        assert text in found
    assert "a head that is longer than forty letter…" in found
    assert "Outlined cells have no value" in found


def test_colors_follow_the_values_and_clip_at_the_limit():
    colors = {row["tip"].split(": ")[0]: row["color"] for row in boxes(grid())}
    assert colors["women, SeT, tiny"] == DIVERGING[-1]
    assert colors[f"women, {COLUMNS[1].text}"] == DIVERGING[0]
    assert colors["men, SeT, tiny"] == DIVERGING[CENTER_STEP]


def test_a_tip_says_what_stands_besides_the_value():
    assert "women, SeT, tiny: 0.60†; 10 raters" in [row["tip"] for row in boxes(grid())]


def test_a_grid_without_values_says_so():
    spec = grid({("a", "x"): GridCell(math.nan)})
    assert spec["description"] == "No cell has a value."


def test_an_empty_grid_is_refused():
    with pytest.raises(ValueError, match="at least one row"):
        value_grid_spec([], COLUMNS, {}, words=WORDS, limit=1)
