"""What a shared report leaves out: every number that rests on fewer than five participants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.common.small_cells import DEFAULT_MINIMUM
from evaluation.models import Report
from evaluation.reports.parts.provenance import WITHHELD

REASON = "fewer than five participants; not shown in shared reports"
#: How records of results count the participants that they rest on.
COUNTS = ("n_people", "n_raters", "n_submissions")
#: What records of people's mean ratings have; they count their people under ``n``.
MEAN_RATING = {"mean", "sd", "n"}
SIDES = ("first", "second")
#: Choices of the report and names, which say nothing about anybody.
KEPT = ("options", "resampling", "level")


def cut_small(report: Report) -> None:
    """Empty in memory what rests on too few participants, and note that; nothing is stored."""
    cut = _cut(report.result)
    if cut != report.result:
        report.result = cut
        report.inputs = report.inputs | {WITHHELD: REASON}


def _cut(value: Any, name: str = "", *, small: bool = False) -> Any:
    if isinstance(value, Mapping):
        small = small or _is_small(value)
        if "subgroups" in value and "differences" in value:
            value = {**value, "differences": _cut_differences(value)}
        return {
            key: part if key in KEPT else _cut(part, key, small=small)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_cut(part, name, small=small) for part in value]
    if small and (isinstance(value, float) or name == "rank"):
        return None
    if small and isinstance(value, str) and name.endswith("reason"):
        return REASON
    return value


def _cut_differences(result: Mapping[str, Any]) -> list[Any]:
    """Cut differences of which one side is cut: with the other, they would tell it."""
    small = {(one["question"], one["answer"]) for one in result["subgroups"] if _is_small(one)}
    return [
        _cut(one, small=not small.isdisjoint((one["question"], one[side]) for side in SIDES))
        for one in result["differences"]
    ]


def _is_small(record: Mapping[str, Any]) -> bool:
    found = [record.get(key) for key in COUNTS]
    if record.keys() >= MEAN_RATING:
        found.append(record["n"])
    if str(record.get("picture", "")).startswith("people"):
        found.append(record["estimate"]["n"])
    return any(isinstance(n, int) and 0 < n < DEFAULT_MINIMUM for n in found)
