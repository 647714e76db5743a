"""Charts as Vega-Lite specifications, built from the tables of an analysis."""

from evaluation.charts.agreement_matrix import MatrixCell, agreement_matrix_spec
from evaluation.charts.distributions import Distribution, distributions_spec
from evaluation.charts.forest import forest_spec
from evaluation.charts.group_profile import profile_spec
from evaluation.charts.heat_maps import heat_maps_spec
from evaluation.charts.intervals import (
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    intervals_spec,
    narrow_intervals_spec,
)
from evaluation.charts.palette import CSS_VALUES
from evaluation.charts.rendering import render_pdf, render_png, render_svg, themeable
from evaluation.charts.small_multiples import small_multiples_specs
from evaluation.charts.text_metrics import GroupLabel, ScaleLabel
from evaluation.charts.value_grid import GridCell, GridLabel, GridWords, value_grid_spec

__all__ = [
    "CSS_VALUES",
    "Distribution",
    "GridCell",
    "GridLabel",
    "GridWords",
    "GroupLabel",
    "IntervalLine",
    "IntervalMark",
    "IntervalPanel",
    "IntervalWords",
    "LegendEntry",
    "MatrixCell",
    "ScaleLabel",
    "agreement_matrix_spec",
    "distributions_spec",
    "forest_spec",
    "heat_maps_spec",
    "intervals_spec",
    "narrow_intervals_spec",
    "profile_spec",
    "render_pdf",
    "render_png",
    "render_svg",
    "small_multiples_specs",
    "themeable",
    "value_grid_spec",
]
