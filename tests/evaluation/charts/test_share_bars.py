"""Bars of shares: as long as the share, with percentage and count; what is hidden says so."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import jsonschema
import pytest

from evaluation.charts.rendering import render_svg
from evaluation.charts.share_bars import PLOT, ShareBar, SharePanel, share_bars_spec

SVG = "{http://www.w3.org/2000/svg}"
PANEL = SharePanel(
    "Gender",
    (ShareBar("Woman", 30), ShareBar("Other answers", None, quiet=True), ShareBar("Man", 10)),
    whole=40,
)
TITLE = "Who took part"


def bars(spec):
    return {
        row["tip"].split(":")[0]: row["x2"] - row["x"]
        for layer in spec["layer"]
        if layer["mark"]["type"] == "rect"
        for row in layer["data"]["values"]
    }


@pytest.mark.parametrize("narrow", [False, True])
def test_specification_is_valid_and_prints_every_number(narrow):
    from altair.vegalite import v6

    spec = share_bars_spec([PANEL], title=TITLE, narrow=narrow)
    jsonschema.Draft7Validator(v6.schema.core.load_schema()).validate(spec)
    root = ET.fromstring(render_svg(spec))  # noqa: S314 — our own drawing
    texts = [node.text for node in root.iter(f"{SVG}text")]
    for text in ("Gender", "Woman", "75.0", "30", "Man", "25.0", "10", "not shown"):
        assert text in texts


def test_bars_are_as_long_as_their_shares():
    assert bars(share_bars_spec([PANEL], title=TITLE)) == pytest.approx(
        {"Woman": 0.75 * PLOT, "Man": 0.25 * PLOT}
    )


def test_narrow_drawing_fits_a_phone():
    assert share_bars_spec([PANEL], title=TITLE, narrow=True)["width"] <= 320


def test_no_bars_are_refused():
    with pytest.raises(ValueError, match="at least one bar"):
        share_bars_spec([], title=TITLE)
