"""One line for reports on templates: how much of the groups' deviation mere mention explains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from evaluation.analyses import to_plain
from evaluation.analyses.markedness import UNMARKED, MarkednessOptions, analyse_markedness
from evaluation.reports.formatting import interval, number

#: Where the summary stands in a report's result.
MENTION = "mention"


def summarise_mention(
    table: pd.DataFrame, groups: Iterable[str], *, seed: int, resamples: int, level: float
) -> dict[str, Any] | None:
    """Return the share that mention explains with its interval; None without the baseline.

    table : groups by traits, ``unmarked`` among them; groups : those that the report is about
    """
    marked = [group for group in groups if group != UNMARKED and group in table.index]
    if UNMARKED not in table.index or not marked:
        return None
    found = analyse_markedness(
        table, marked, MarkednessOptions(seed=seed, n_resamples=resamples, level=level)
    )
    plain: dict[str, Any] = to_plain(found)
    return {name: plain[name] for name in ("explained", "low", "high", "n_cells", "reason")} | {
        "n_groups": len(marked),
        "level": level,
    }


def summarise_mention_of(
    scores: pd.DataFrame, groups: Iterable[str], *, seed: int, resamples: int, level: float
) -> dict[str, Any] | None:
    """Return `summarise_mention` of the mean over templates.

    scores : columns group, scale, value; one row a template
    """
    table = scores.groupby(["group", "scale"])["value"].mean().unstack("scale")
    return summarise_mention(table, groups, seed=seed, resamples=resamples, level=level)


def mention_caveat(record: dict[str, Any]) -> str:
    """Return what `summarise_mention` found as a sentence."""
    if record["reason"]:
        return f"What the mere mention of a group explains is undefined: {record['reason']}."
    low, high = (math.nan if record[name] is None else record[name] for name in ("low", "high"))
    return (
        "Naming any group moves the scores: beside the unmarked sentence, mere mention explains "
        f"{number(100 * record['explained'], 0)} % of the groups’ deviations "
        f"({record['level'] * 100:g} % interval {interval(100 * low, 100 * high, 0)} %, "
        f"{record['n_groups']} groups). A report of the kind “markedness” shows it by group."
    )
