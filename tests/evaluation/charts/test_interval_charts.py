"""Interval charts and agreement matrices: every number is there, at the right place."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import jsonschema
import pytest

from evaluation.charts import (
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    MatrixCell,
    agreement_matrix_spec,
    intervals_spec,
    narrow_intervals_spec,
    render_svg,
    themeable,
)
from evaluation.charts.palette import CSS_VALUES, TEXT_SIZE, TOKENS
from evaluation.charts.text_metrics import text_width

SVG = "{http://www.w3.org/2000/svg}"
WORDS = IntervalWords(title="Gaps", axis="AAL − WME", level="95 %", value="gap")


def mark(value: float, **options: Any) -> IntervalMark:
    values: dict[str, Any] = {"low": value - 1, "high": value + 2, "n": 346, "tone": "model"}
    return IntervalMark(value, **(values | options))


def gaps(draw: Any = intervals_spec, **options: Any) -> dict[str, Any]:
    panels = (
        IntervalPanel(
            "Rouge-1", (IntervalLine("first model", (mark(-13.0), mark(7.5, outlined=True))),)
        ),
        IntervalPanel("empty", ()),
        IntervalPanel(
            "Rouge-L",
            (
                IntervalLine("people", (mark(0.5, tone="human", low=math.nan, high=math.nan),)),
                IntervalLine("silent", (mark(math.nan, n=0, reason="there is no value"),)),
            ),
        ),
    )
    values: dict[str, Any] = {"words": WORDS, "reference": 0.0, "decimals": 1, "signed": True}
    return draw(panels, **(values | options))


def matrix() -> dict[str, Any]:
    cells = {(1, 0): MatrixCell(0.81, 99), (2, 0): MatrixCell(-0.2, 9)}
    return agreement_matrix_spec(["Annotator 1", "Annotator 2", "Annotator 3"], cells)


def texts(spec: dict[str, Any]) -> list[str | None]:
    root = ET.fromstring(render_svg(spec))  # noqa: S314 — our own drawing
    return [node.text for node in root.iter(f"{SVG}text")]


def rows(spec: dict[str, Any], **marks: object) -> list[dict[str, Any]]:
    return [
        row
        for layer in spec["layer"]
        if all(layer["mark"].get(name) == value for name, value in marks.items())
        for row in layer["data"]["values"]
    ]


@pytest.mark.parametrize(
    "spec",
    [gaps(), gaps(narrow_intervals_spec), matrix()],
    ids=["intervals", "narrow", "matrix"],
)
def test_specification_is_valid_vega_lite(spec):
    from altair.vegalite import v6

    jsonschema.Draft7Validator(v6.schema.core.load_schema()).validate(spec)


@pytest.mark.parametrize(
    "spec",
    [gaps(), gaps(narrow_intervals_spec), matrix()],
    ids=["intervals", "narrow", "matrix"],
)
def test_every_color_follows_the_page(spec):
    svg = render_svg(spec)
    painted = set(re.findall(r'\b(?:fill|stroke)="([^"]+)"', svg))
    assert painted - {"none", "transparent"} <= set(CSS_VALUES)
    assert re.findall(r"#[0-9A-Fa-f]{6}", themeable(svg)) == []


def test_every_estimate_is_printed_with_interval_and_n_or_reason():
    written = texts(gaps())
    for text in ("−13.0", "−14.0 to −11.0", "+7.5", "+6.5 to +9.5", "no interval", "346"):
        assert text in written
    assert "there is no value" in written
    assert "empty" not in written


def test_narrow_drawing_fits_a_phone_with_every_estimate_its_interval_and_reason():
    """A label that would run into its numbers is cut; so is a heading wider than the page."""
    spec = gaps(
        narrow_intervals_spec,
        legend=[LegendEntry("Model", "model"), LegendEntry("Model, other way", "model", True)],
    )
    assert spec["width"] <= 320
    written = texts(spec)
    for text in ("first model", "−13.0, −14.0 to −11.0", "+7.5, +6.5 to +9.5", "+0.5", "Rouge-L",
                 "there is no value", "Model, other way", "gap, 95 % interval"):  # fmt: skip
        assert text in written
    assert "empty" not in written
    for row in rows(spec):
        assert 0 <= row["x"] <= 320
        assert 0 <= row["y"] <= spec["height"]
    long = IntervalLine("a group whose name is far too long for a phone", (mark(1.0),))
    panel = IntervalPanel("What is the highest level of school that you have completed?", (long,))
    spec = narrow_intervals_spec((panel,), words=WORDS, decimals=2)
    ends = [
        row["x"] + text_width(row["text"], TEXT_SIZE)
        for row in rows(spec, type="text", align="left")
    ]
    assert max(ends) <= 320
    (name,) = [row for row in rows(spec, type="text") if row["text"].startswith("a group")]
    (told,) = [row for row in rows(spec, type="text") if row["text"].startswith("1.00, ")]
    assert name["text"].endswith("…")
    assert text_width(name["text"], TEXT_SIZE) < 320 - text_width(told["text"], TEXT_SIZE)


def test_narrow_marks_stand_on_the_axis_of_the_wide_drawing():
    wide, narrow = gaps(), gaps(narrow_intervals_spec)
    shares = []
    for spec in (wide, narrow):
        first, second = sorted(row["x"] for row in rows(spec, shape="diamond"))
        (people,) = rows(spec, shape="circle")
        shares.append((people["x"] - first) / (second - first))
    assert shares[1] == pytest.approx(shares[0], abs=0.002)


def test_marks_stand_in_order_on_one_axis_with_the_reference_line():
    spec = gaps()
    diamonds = sorted(rows(spec, shape="diamond"), key=lambda row: row["x"])
    people = rows(spec, shape="circle")
    assert len(diamonds) == 2
    assert diamonds[0]["x"] < people[0]["x"] < diamonds[1]["x"]
    # Equal steps: 0.5 lies at (0.5 + 13) / (7.5 + 13) of the way between the two.
    share = (people[0]["x"] - diamonds[0]["x"]) / (diamonds[1]["x"] - diamonds[0]["x"])
    assert share == pytest.approx(13.5 / 20.5, abs=0.002)
    zero = [row for row in rows(spec, type="rule") if row["color"] == TOKENS["ink"]]
    assert any(row["x"] == row["x2"] for row in zero)


def test_legend_and_ends_are_written():
    spec = gaps(
        words=IntervalWords(title="t", axis="a", level="95 %", left="← less", right="more →"),
        legend=[LegendEntry("Model", "model"), LegendEntry("Model, other way", "model", True)],
    )
    written = texts(spec)
    for text in ("Model", "Model, other way", "← less", "more →"):
        assert text in written


def test_chart_without_any_estimate_says_so():
    line = IntervalLine("silent", (mark(math.nan, n=0, reason="there is no value"),))
    spec = intervals_spec((IntervalPanel("", (line,)),), words=WORDS)
    assert spec["description"] == "There is no estimate."
    assert "there is no value" in texts(spec)


def test_one_value_alone_has_an_axis():
    line = IntervalLine("only", (mark(5.0, low=5.0, high=5.0),))
    assert "5.0" in texts(intervals_spec((IntervalPanel("", (line,)),), words=WORDS, decimals=1))


def test_matrix_shows_every_pair_once_and_missing_ones_outlined():
    written = texts(matrix())
    assert written.count("0.81") == 1
    assert "n = 99" in written
    assert "−0.20" in written
    # Annotators 2 and 3 share no text.
    assert "n = 0" in written
    assert "–" in written


def test_matrix_of_one_annotator_is_refused():
    with pytest.raises(ValueError, match="two annotators"):
        agreement_matrix_spec(["Annotator 1"], {})
