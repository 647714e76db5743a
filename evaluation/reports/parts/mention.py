"""One line for reports on templates: how much of the groups' deviation mere mention explains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.common.lazy import pd
from evaluation.analyses.markedness import UNMARKED, MarkednessOptions, analyze_markedness
from evaluation.analyses.plain_record import to_plain
from evaluation.reports.parts.formatting import interval, number, percent

#: Where the summary stands in a report's result.
MENTION = "mention"


def summarize_mention(
    scores: pd.DataFrame, groups: Iterable[str], bootstrap: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the share that mention explains; None without the baseline.

    scores : columns group, scale, template, value; one row a template, ``unmarked`` among the
        groups
    groups : those that the report is about
    bootstrap : seed, resamples and level of the report
    """
    scored = set(scores["group"])
    marked = [group for group in groups if group != UNMARKED and group in scored]
    if UNMARKED not in scored or not marked:
        return None
    found = analyze_markedness(by_template(scores), marked, MarkednessOptions(**bootstrap))
    plain: dict[str, Any] = to_plain(found)
    names = ("explained", "low", "high", "n_cells", "reason", "interval_reason")
    return {name: plain[name] for name in names} | {
        "n_groups": len(marked),
        "level": found.options.level,
    }


def by_template(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores, one row a cell, as `analyze_markedness` takes them."""
    table = scores.set_index(["template", "group", "scale"])["value"].astype(float)
    return table.unstack("scale")


def mention_caveat(record: dict[str, Any]) -> str:
    """Return what `summarize_mention` found as a sentence."""
    if record["reason"]:
        return f"What the mere mention of a group explains is undefined: {record['reason']}."
    low, high = (math.nan if record[name] is None else record[name] for name in ("low", "high"))
    covered = f"{percent(record['level'])} interval {interval(100 * low, 100 * high, 0)} %, "
    if record["interval_reason"]:
        covered = f"no interval: {record['interval_reason']}; "
    return (
        "Naming any group moves the scores: beside the unmarked sentence, mere mention explains "
        f"{number(100 * record['explained'], 0)} % of the groups’ deviations "
        f"({covered}{record['n_groups']} groups). A report of the kind “markedness” shows it by "
        "group."
    )
