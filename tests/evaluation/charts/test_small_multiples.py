"""Every group in small: none is missing, all on the same axes, marks where the values are."""

from __future__ import annotations

import jsonschema

from evaluation.charts import small_multiples_specs
from evaluation.charts.palette import TOKENS
from evaluation.charts.small_multiples import ACROSS, PANEL


def test_every_group_has_a_panel_on_the_same_axes(picture):
    from altair.vegalite import v6

    tables, groups, scales = picture.tables, picture.groups, picture.scales
    specs = list(
        small_multiples_specs(tables["cells"], tables["groups"], groups=groups, scales=scales)
    )
    assert len(specs) == -(-len(groups) // ACROSS)
    validator = jsonschema.Draft7Validator(v6.schema.core.load_schema())
    for spec in specs:
        validator.validate(spec)
    layers = [layer for spec in specs for layer in spec["layer"]]
    written = [
        row["text"]
        for layer in layers
        if layer["mark"]["type"] == "text"
        for row in layer["data"]["values"]
    ]
    for group in groups:
        assert written.count(group.text) == 1
    for scale in scales:
        assert written.count(scale.low) == written.count(scale.high) == len(specs)
    assert len({spec["width"] for spec in specs}) == 1

    # People's marks of the first row of panels, from its left end: 0 to 100 on the panel's width.
    cells = tables["cells"].set_index(["group", "scale"])
    (people,) = (
        [row["x"] for row in layer["data"]["values"]]
        for layer in specs[0]["layer"]
        if layer["mark"].get("shape") == "circle"
        and layer["data"]["values"][0]["color"] == TOKENS["human"]
    )
    order = sorted(scales, key=lambda scale: [s.dimension for s in scales].index(scale.dimension))
    expected = [cells.loc[(groups[0].slug, scale.slug), "human_mean"] for scale in order]
    found = people[: len(order)]
    shares = [(x - found[0]) / PANEL for x in found]
    for share, mean in zip(shares, expected, strict=True):
        assert abs(share - (mean - expected[0]) / 100) < 0.001
