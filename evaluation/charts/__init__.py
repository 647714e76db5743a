"""Charts as Vega-Lite specifications, built from the tables of an analysis."""

from evaluation.charts.agreement_matrix import (
    MatrixCell,
    MatrixWords,
    agreement_matrix_spec,
)
from evaluation.charts.distributions import (
    Distribution,
    DistributionWords,
    distributions_spec,
)
from evaluation.charts.forest import ForestWords, forest_spec
from evaluation.charts.group_profile import ProfileWords, profile_spec
from evaluation.charts.heat_maps import HeatMapWords, heat_maps_spec
from evaluation.charts.intervals import (
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    intervals_spec,
)
from evaluation.charts.lettering import GroupLabel, ScaleLabel
from evaluation.charts.narrow_intervals import narrow_intervals_spec
from evaluation.charts.rendering import render_png, render_svg, themeable
from evaluation.charts.value_grid import GridCell, GridLabel, GridWords, value_grid_spec

__all__ = [
    "Distribution",
    "DistributionWords",
    "ForestWords",
    "GridCell",
    "GridLabel",
    "GridWords",
    "GroupLabel",
    "HeatMapWords",
    "IntervalLine",
    "IntervalMark",
    "IntervalPanel",
    "IntervalWords",
    "LegendEntry",
    "MatrixCell",
    "MatrixWords",
    "ProfileWords",
    "ScaleLabel",
    "agreement_matrix_spec",
    "distributions_spec",
    "forest_spec",
    "heat_maps_spec",
    "intervals_spec",
    "narrow_intervals_spec",
    "profile_spec",
    "render_png",
    "render_svg",
    "themeable",
    "value_grid_spec",
]
