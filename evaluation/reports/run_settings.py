"""How models were asked: prompts, settings and remarks of the runs behind a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.reports.cells import to_frame
from evaluation.reports.document import Column, DataTable, Section, TableBuilder

# How work is cut into parts says nothing about the numbers.
UNTOLD = ("pairs_per_shard",)
COLUMNS = ("run", "model", "revision", "seed", "prompt", "varieties", "settings", "remarks")


def settings_section(runs: Sequence[Mapping[str, Any]]) -> Section:
    """Return a table of the runs: their prompts where they have some, settings and remarks."""
    with_prompts = any(run.get("prompts") for run in runs)
    table = TableBuilder(
        "Prompts and settings of every run. What is not named was left to the measure’s default "
        "for the kind of model.",
        "runs",
        (
            Column("Run"),
            *((Column("Prompt", wide=True),) if with_prompts else ()),
            Column("Settings", wide=True),
            Column("Remarks", wide=True),
        ),
    )
    for run in runs:
        prompts = (_prompts(run),) if with_prompts else ()
        table.add(
            f"{run['number']}: {run['label']}",
            *prompts,
            f"{_settings(run)}, seed {run['seed']}",
            " ".join(map(str, run["notices"])),
        )
    return Section("How the models were asked", (table.build(),))


def settings_data(runs: Sequence[Mapping[str, Any]]) -> DataTable:
    """Return the same with nothing left out; settings as JSON."""
    rows = (
        {
            "run": run["number"],
            "model": run["model"],
            "revision": run["model_revision"],
            "seed": run["seed"],
            "prompt": "\n\n".join(prompt["text"] for prompt in run.get("prompts", ())),
            "varieties": "; ".join(map(_names, run.get("prompts", ()))),
            "settings": json.dumps(run["parameters"], sort_keys=True),
            "remarks": " ".join(map(str, run["notices"])),
        }
        for run in runs
    )
    return DataTable("runs", "Prompts, settings and remarks of every run", to_frame(rows, COLUMNS))


def _prompts(run: Mapping[str, Any]) -> str:
    found = []
    for prompt in run.get("prompts", ()):
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
    return ", ".join(
        f"{name.replace('_', ' ')} {_value(value)}"
        for name, value in run["parameters"].items()
        if value is not None and name not in UNTOLD
    )


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " and ".join(map(_value, value))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).replace("_", " ")
