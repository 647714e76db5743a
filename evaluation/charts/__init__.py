"""Charts as Vega-Lite specifications, built from the tables of an analysis."""

from evaluation.charts.forest import ForestWords, forest_spec
from evaluation.charts.group_profile import ProfileWords, profile_spec
from evaluation.charts.heat_maps import HeatMapWords, heat_maps_spec
from evaluation.charts.lettering import GroupLabel, ScaleLabel
from evaluation.charts.rendering import render_png, render_svg, themeable

__all__ = [
    "ForestWords",
    "GroupLabel",
    "HeatMapWords",
    "ProfileWords",
    "ScaleLabel",
    "forest_spec",
    "heat_maps_spec",
    "profile_spec",
    "render_png",
    "render_svg",
    "themeable",
]
