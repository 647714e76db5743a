"""Words and sections that reports on two directions share: counterparts and judgments."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.reports.direction_figures import toxic_figure
from evaluation.reports.directions import TESTS, DirectionsView, toxic_table
from evaluation.reports.document import Section

NO_VERDICT = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety."
)


def resampled(view: DirectionsView) -> str:
    """Return what the intervals of figures come from."""
    return f"{view.options.n_resamples} resamples of pairs"


def intervals_and_tests(options: DirectionOptions) -> str:
    """Return how uncertainty was computed, as one sentence of the method."""
    return (
        f"Intervals come from {options.n_resamples} resamples of pairs (bias-corrected "
        f"percentile), tests are {TESTS[options.test]}; p is stated as it is and by Holm’s method."
    )


def toxic_section(
    view: DirectionsView, *, what: str, table: str, axis: str = "", metrics: Sequence[str] = ()
) -> Section:
    """Return gaps in texts with a word of the list beside those in texts without one."""
    source, target = view.varieties
    return Section(
        "With and without words of the list",
        (
            toxic_figure(
                view,
                caption=f"{what} in texts with a word of the list (filled) and without one. "
                f"Intervals: {resampled(view)}.",
                axis=f"{axis}{source} − {target}",
                metrics=metrics,
            ),
            toxic_table(view, caption=table, metrics=metrics),
        ),
        why="If removing such words made the gap, texts without them would have none.",
    )
