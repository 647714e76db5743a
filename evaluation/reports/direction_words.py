"""Words and sections that reports on two directions share: counterparts and judgments."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.analyses.direction_gaps import ALL, DirectionOptions
from evaluation.reports.direction_figures import toxic_figure
from evaluation.reports.directions import TESTS, DirectionsView, toxic_table
from evaluation.reports.document import Section
from evaluation.reports.formatting import count

NO_VERDICT = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety."
)


def resampled(view: DirectionsView) -> str:
    """Return what the intervals of figures come from."""
    return f"{view.options.n_resamples} resamples of pairs"


def rests_on(view: DirectionsView) -> str:
    """Return which pairs gaps rest on, and how many they leave out; nothing for older results."""
    known = [g.n_left_out for g in view.gaps if g.split == ALL and g.n_left_out is not None]
    if not known:
        return ""
    most = max(known)
    left = f"; up to {count(most, 'pair')} of a producer had one alone" if most else ""
    return f"A difference rests on the pairs that have both of its values{left}."


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
                caption=f"{what} in pairs whose {source} text holds a word of the list (filled) "
                "and in the others (outlined). "
                f"Intervals: {resampled(view)}; n is the number of pairs with both directions.",
                axis=f"{axis}{source} − {target}",
                metrics=metrics,
            ),
            toxic_table(view, caption=table, metrics=metrics),
        ),
        why="If removing such words made the gap, texts without them would have none.",
    )
