"""How models were asked: prompts, settings and remarks of the runs behind a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.reports.parts.document import Section
from evaluation.reports.parts.records import RunRecord
from evaluation.reports.parts.table import Column, ReportTable

# How work is cut into parts says nothing about the numbers.
UNTOLD = ("pairs_per_shard",)


def settings_table(runs: Sequence[RunRecord]) -> ReportTable:
    """Return the runs with prompts, settings and remarks; downloaded with settings as JSON."""
    return ReportTable.of_rows(
        "runs",
        "Prompts, settings and remarks of every run",
        runs,
        RunRecord,
        Column("", "run", "number"),
        "model",
        Column("", "revision", "model_revision"),
        "seed",
        Column("", "prompt", lambda run: "\n\n".join(p["text"] for p in _all_prompts(run))),
        Column("", "varieties", lambda run: "; ".join(map(_names, _all_prompts(run)))),
        Column("", "settings", lambda run: json.dumps(run["parameters"], sort_keys=True)),
        Column("", "remarks", _remarks),
    )


def settings_section(table: ReportTable) -> Section:
    """Return a table of the runs: their prompts where they have some, settings and remarks."""
    with_prompts = any(run.get("prompts") for run in table.rows)
    printed = table.printed(
        "Prompts and settings of every run. What is not named was left to the measure’s default "
        "for the kind of model.",
        columns=(
            Column("Run", value=lambda run: f"{run['number']}: {run['label']}"),
            *((Column("Prompt", value=_prompts, wide=True),) if with_prompts else ()),
            Column("Settings", value=_settings, wide=True),
            Column("Remarks", value=_remarks, wide=True),
        ),
    )
    return Section("How the models were asked", (printed,))


def _all_prompts(run: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = run.get("prompts", ())
    return found


def _remarks(run: Mapping[str, Any]) -> str:
    return " ".join(map(str, run["notices"]))


def _prompts(run: Mapping[str, Any]) -> str:
    found = []
    for prompt in _all_prompts(run):
        text = " ⏎ ".join(str(prompt["text"]).splitlines())
        names = _names(prompt)
        found.append(f"“{text}”" + (f" with {names}" if names else ""))
    if shown := run.get("n_examples"):
        found.append(f"after {shown} examples")
    return "; ".join(found) or "–"


def _names(prompt: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{variety} as “{name}”" for variety, name in (prompt["variety_names"] or {}).items()
    )


def _settings(run: Mapping[str, Any]) -> str:
    told = [
        f"{name.replace('_', ' ')} {_value(value)}"
        for name, value in run["parameters"].items()
        if value is not None and name not in (*UNTOLD, *run.get("idle", ()))
    ]
    return f"{', '.join(told)}, seed {run['seed']}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " and ".join(map(_value, value))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).replace("_", " ")
