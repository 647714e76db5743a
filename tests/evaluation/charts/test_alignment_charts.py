"""The three charts of the alignment report: everything said is there, at the right place."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.charts import (
    GroupLabel,
    ScaleLabel,
    forest_spec,
    heat_maps_spec,
    profile_spec,
    render_png,
    render_svg,
    themeable,
)
from evaluation.charts.heat_maps import MISSING
from evaluation.charts.palette import CSS_VALUES, DIVERGING, TOKENS
from evaluation.reports.alignment_tables import alignment_tables
from tests.evaluation.analyses.simulated import as_long
from tests.evaluation.charts.conftest import Picture, make_picture

SVG = "{http://www.w3.org/2000/svg}"


def all_specs(picture: Picture) -> dict[str, dict]:
    tables, groups, scales = picture.tables, picture.groups, picture.scales
    return {
        "heat_maps": heat_maps_spec(tables["cells"], groups=groups, scales=scales),
        "forest": forest_spec(tables["groups"], tables["overall"], groups=groups),
        "profile": profile_spec(tables["cells"], tables["groups"], group=groups[0], scales=scales),
    }


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 — our own drawing, not a stranger's file


def texts(svg: str) -> list[str]:
    return [node.text for node in parse(svg).iter(f"{SVG}text")]


def values(spec: dict, **marks: object) -> list[dict]:
    """The data rows of all layers whose mark has these properties."""
    return [
        row
        for layer in spec["layer"]
        if all(layer["mark"].get(name) == value for name, value in marks.items())
        for row in layer["data"]["values"]
    ]


@pytest.mark.parametrize("name", ["heat_maps", "forest", "profile"])
def test_specification_is_valid_vega_lite(picture, name):
    from altair.vegalite import v6

    schema = v6.schema.core.load_schema()
    jsonschema.Draft7Validator(schema).validate(all_specs(picture)[name])


@pytest.mark.parametrize("name", ["heat_maps", "forest"])
def test_every_group_is_written(picture, name):
    written = texts(render_svg(all_specs(picture)[name]))
    # Names of groups stand once, at the left of both maps.
    for group in picture.groups:
        assert written.count(group.text) == 1


@pytest.mark.parametrize(("name", "times"), [("heat_maps", 2), ("profile", 1)])
def test_both_poles_of_every_scale_and_all_dimensions_are_written(picture, name, times):
    written = texts(render_svg(all_specs(picture)[name]))
    for scale in picture.scales:
        assert written.count(scale.low) == times
        assert written.count(scale.high) == times
    for dimension in ("Agency", "Beliefs", "Communion"):
        assert written.count(dimension) == times


@pytest.mark.parametrize("name", ["heat_maps", "forest", "profile"])
def test_every_color_is_a_token_or_a_step_between_tokens(picture, name):
    svg = render_svg(all_specs(picture)[name])
    painted = re.findall(r'\b(?:fill|stroke)="([^"]+)"', svg)
    assert len(painted) > 50
    assert set(painted) - {"none", "transparent"} <= set(CSS_VALUES)
    followed = themeable(svg)
    assert re.findall(r"#[0-9A-Fa-f]{6}", followed) == []
    assert "style=" not in followed  # a strict content policy would drop it


@pytest.mark.parametrize("name", ["heat_maps", "forest", "profile"])
def test_drawing_is_described_for_screen_readers_and_fits_its_place(picture, name):
    spec = all_specs(picture)[name]
    root = parse(themeable(render_svg(spec)))
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("role") == "img"
    assert title is not None
    assert description is not None
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == (
        title.get("id"),
        description.get("id"),
    )
    assert (title.text, description.text) == (spec["usermeta"]["title"], spec["description"])
    assert (root.get("width"), root.get("height")) == ("100%", None)
    assert root.get("viewBox") == f"0 0 {spec['width']} {spec['height']}"


def test_drawings_on_one_page_have_ids_of_their_own(picture):
    ids = [
        found
        for spec in all_specs(picture).values()
        for found in re.findall(r'\bid="([^"]+)"', render_svg(spec))
    ]
    assert len(ids) == len(set(ids)) == 6


@pytest.mark.parametrize("name", ["heat_maps", "forest", "profile"])
def test_nothing_stands_outside_the_drawing(picture, name):
    spec = all_specs(picture)[name]
    for layer in spec["layer"]:
        for row in layer["data"]["values"]:
            for axis, end in (("x", "width"), ("x2", "width"), ("y", "height"), ("y2", "height")):
                assert 0 <= row.get(axis, 0) <= spec[end] + 0.5


@pytest.mark.parametrize("name", ["heat_maps", "forest", "profile"])
def test_markup_in_names_is_shown_as_text(picture, name):
    hostile = '<script>alert(1)</script> & "co"'
    groups = [dataclasses.replace(picture.groups[0], text=hostile), *picture.groups[1:]]
    scales = [dataclasses.replace(picture.scales[0], low=hostile), *picture.scales[1:]]
    svg = themeable(
        render_svg(all_specs(dataclasses.replace(picture, groups=groups, scales=scales))[name])
    )
    assert "<script" not in svg
    assert hostile in "".join(parse(svg).itertext())


@pytest.mark.parametrize(("n_groups", "n_scales"), [(1, 3), (2, 1), (60, 16), (5, 45)])
def test_charts_are_drawn_for_any_number_of_groups_and_scales(n_groups, n_scales):
    picture = make_picture(n_groups, n_scales, people=30)
    for spec in all_specs(picture).values():
        root = parse(render_svg(spec))
        assert root.tag == f"{SVG}svg"
    cells = values(heat_maps_spec(picture.tables["cells"], groups=picture.groups,
                                  scales=picture.scales), type="rect")  # fmt: skip
    # Two maps of cells, 11 swatches and as many brackets as dimensions each.
    dimensions = len({scale.dimension for scale in picture.scales})
    assert len(cells) == 2 * (n_groups * n_scales + 11 + dimensions)


def test_png_has_two_image_pixels_a_drawn_pixel(picture):
    spec = all_specs(picture)["forest"]
    png = render_png(spec)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    size = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    assert size == (2 * spec["width"], 2 * spec["height"])


def test_a_specification_that_is_no_vega_lite_is_refused(picture):
    spec = all_specs(picture)["forest"]
    with pytest.raises(ValueError, match=r"(?i)error"):
        render_svg({**spec, "layer": "nothing"})


def small_table(human: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    """Cells of group g: scale → mean, low, high of people; the model has 1.0 everywhere."""
    return pd.DataFrame(
        [
            {
                "group": "g", "scale": scale, "human_n": 20, "model_n": pd.NA,
                "human_mean": mean, "human_low": low, "human_high": high,
                "model_mean": 1.0, "model_low": np.nan, "model_high": np.nan,
            }
            for scale, (mean, low, high) in human.items()
        ]
    )  # fmt: skip


def test_heat_map_colors_by_step_and_dots_undecided_cells_only():
    # 20 or less is the low end, 80 or more the high one, 50 the center; 44 to 56 is undecided.
    cells = small_table(
        {"a": (20, 15, 25), "b": (80, 75, 85), "c": (50, 44, 56), "d": (90, np.nan, np.nan)}
    )
    scales = [ScaleLabel(s, f"lo {s}", f"hi {s}") for s in "abcd"]
    spec = heat_maps_spec(cells, groups=[GroupLabel("g", "them")], scales=scales)
    drawn = [row["color"] for row in values(spec, type="rect") if row.get("tip")]
    assert drawn[:4] == [DIVERGING[0], DIVERGING[10], DIVERGING[5], DIVERGING[10]]
    # All scores are 1.0, so their limit is 1.0 and every cell of the model is at the high end.
    assert drawn[4:] == [DIVERGING[10]] * 4
    dots = values(spec, type="point", strokeWidth=0)
    assert len(dots) == 1
    column_c = next(
        row for row in values(spec, type="rect") if row.get("tip", "").startswith("them, lo c")
    )
    assert dots[0]["x"] == pytest.approx((column_c["x"] + column_c["x2"]) / 2)


def test_heat_map_prints_its_clipped_limits_and_counts():
    cells = small_table({"a": (20, 15, 25), "b": (80, 75, 85)})
    cells["model_n"] = 35
    cells["model_mean"] = [-1.284, 0.2]
    scales = [ScaleLabel(s, f"lo {s}", f"hi {s}") for s in "ab"]
    written = texts(render_svg(heat_maps_spec(cells, groups=[GroupLabel("g", "them")],
                                              scales=scales)))  # fmt: skip
    # 98th percentile of 0.2 and 1.284: 0.2 + 0.98 · 1.084 = 1.262, printed with two digits.
    for text in (
        "20 or less", "50", "80 or more", "−1.3 or less", "0", "+1.3 or more",
        "People, mean of 20 ratings", "Model, mean of 35 prompts",
    ):  # fmt: skip
        assert written.count(text) == 1


def test_cells_without_a_value_are_outlined_and_explained(picture):
    spec = all_specs(picture)["heat_maps"]
    outlined = values(spec, type="rect", filled=False)
    assert len(outlined) == 1  # the one score that the picture lacks
    assert outlined[0]["color"] == TOKENS["line"]
    assert MISSING in texts(render_svg(spec))


def test_groups_of_one_domain_stand_together_with_a_gap_between_domains(picture):
    spec = all_specs(picture)["heat_maps"]
    row_of = {
        row["text"]: row["y"] for row in values(spec, type="text") if "people of" in row["text"]
    }
    # Domains 0 1 2 0 1 2 are brought together: groups 0 and 3, 1 and 4, 2 and 5.
    order = [picture.groups[i].text for i in (0, 3, 1, 4, 2, 5)]
    steps = np.diff([row_of[text] for text in order])
    assert steps.tolist() == [20, 27, 20, 27, 20]


def test_maps_are_stacked_where_columns_would_be_too_narrow():
    narrow, wide = make_picture(2, 16), make_picture(2, 30)
    side = heat_maps_spec(narrow.tables["cells"], groups=narrow.groups, scales=narrow.scales)
    stacked = heat_maps_spec(wide.tables["cells"], groups=wide.groups, scales=wide.scales)
    asked = heat_maps_spec(
        narrow.tables["cells"], groups=narrow.groups, scales=narrow.scales, stacked=True
    )
    assert (side["width"], asked["width"]) == (1040, 572)
    for spec, expected in ((side, 1), (stacked, 2), (asked, 2)):
        heads = {row["y"] for row in values(spec, type="text", fontSize=13)}
        assert len(heads) == expected


def test_forest_is_sorted_by_tau_and_draws_interval_ceiling_and_pooled_lozenge(picture):
    spec = all_specs(picture)["forest"]
    table = picture.tables["groups"].set_index("group")
    place = {
        row["text"]: row["y"] for row in values(spec, type="text") if "people of" in row["text"]
    }
    by_place = sorted(picture.groups, key=lambda group: place[group.text])
    taus = [table.at[group.slug, "tau"] for group in by_place]
    assert taus == sorted(taus, reverse=True)
    # Marks: x grows linearly with tau; the tick texts give two fixed points.
    ticks = {row["text"]: row["x"] for row in values(spec, type="text", align="center")}
    zero, unit = ticks["0"], ticks["1.00"] - ticks["0"]
    marks = {row["y"]: row["x"] for row in values(spec, type="point", shape="circle")}
    intervals = {row["y"]: row for row in values(spec, type="rule", strokeWidth=1.75)}
    for group in by_place:
        y = place[group.text]
        assert marks[y] == pytest.approx(zero + unit * table.at[group.slug, "tau"], abs=0.02)
        ends = [zero + unit * table.at[group.slug, f"tau_{end}"] for end in ("low", "high")]
        assert [intervals[y]["x"], intervals[y]["x2"]] == pytest.approx(ends, abs=0.02)
    overall = picture.tables["overall"].set_index("quantity").loc["tau_pooled"]
    lozenge = values(spec, type="area")
    expected = [zero + unit * overall[part] for part in ("low", "value", "high")]
    assert [row["x"] for row in lozenge] == pytest.approx(expected, abs=0.02)
    assert "all 95 cells pooled" in texts(render_svg(spec))  # 6 × 16 less the missing one


def test_forest_gives_the_reason_where_a_group_has_no_tau():
    groups, scales = ["g", "h"], ["a", "b", "c", "d"]
    ratings = as_long(np.array([[[10.0, 20, 60, 90], [np.nan] * 4]] * 2), groups, scales)
    result = analyze_alignment(
        ratings=ratings,
        scores=pd.DataFrame([[1.0, 2, 3, 4]] * 2, groups, scales),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=0, n_splits=0),
    )
    tables = {name: table.frame for name, table in alignment_tables(result).items()}
    labels = [GroupLabel("h", "the unrated"), GroupLabel("g", "the rated")]
    spec = forest_spec(
        tables["groups"], tables["overall"], groups=labels,
        reasons={"nobody rated it": "niemand"},
    )  # fmt: skip
    place = {row["text"]: row["y"] for row in values(spec, type="text")}
    assert place["the rated"] < place["the unrated"] == place["niemand"]
    assert place["no interval"] > 0
    assert values(spec, type="area") == []  # no interval, no lozenge


def test_profile_draws_both_sides_on_one_center_line_with_ranks(picture):
    spec = all_specs(picture)["profile"]
    own = picture.tables["cells"].query("group == 'group-00'").set_index("scale")
    center = {row["x"] for row in values(spec, type="text", align="center") if row["text"] == "50"}
    zero = {row["x"] for row in values(spec, type="text", align="center") if row["text"] == "0"}
    assert center < zero  # the human 0 stands at the left end, the model's 0 on the center line
    end = next(row["x"] for row in values(spec, type="text") if row["text"] == "100")
    people = [row for row in values(spec, type="point", shape="circle") if row.get("tip")]
    model = [row for row in values(spec, type="point", shape="diamond") if row.get("tip")]
    assert (len(people), len(model)) == (16, 15)
    middle = center.pop()
    drawn = sorted((row["x"] - middle) / (end - middle) * 50 + 50 for row in people)
    assert drawn == pytest.approx(sorted(own["human_mean"]), abs=0.05)
    assert {row["color"] for row in people} == {TOKENS["human"]}
    assert {row["color"] for row in model} == {TOKENS["model"]}
    written = texts(render_svg(spec))
    # Fifteen scales have both sides, so 1 to 15 stand in both columns; the sixteenth has dashes.
    assert all(written.count(str(rank)) == 2 for rank in (1, 2, 14, 15))
    assert written.count("–") == 2
    assert "Rank of 16" in written


def test_profile_of_an_unknown_group_is_refused(picture):
    with pytest.raises(ValueError, match="nothing about nobody"):
        profile_spec(
            picture.tables["cells"], picture.tables["groups"],
            group=GroupLabel("nobody", "nobody"), scales=picture.scales,
        )  # fmt: skip


def test_heat_maps_without_groups_are_refused(picture):
    with pytest.raises(ValueError, match="at least one group"):
        heat_maps_spec(picture.tables["cells"], groups=[], scales=picture.scales)
