"""Results of the laboratory: read, stored, and written as docs/coverage.md with a plot each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vl_convert

from tools.coverage.registry import EMPTY, MODULES, PRINTED, PUBLISHED, RANGES, rows_of
from tools.coverage.rows import LEAST, MOST, Result

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "coverage.md"
PLOTS = ROOT / "docs" / "images" / "coverage"
RESULTS = Path(__file__).with_name("results")
#: Recorded beside every result.
STAMPS = ("seed", "data_sets", "version")
Results = dict[tuple[str, str], dict[str, Any]]

HEAD = """# What intervals cover

Every interval and every p-value of a report makes a promise: of many studies like this one, 95 in
100 such intervals hold the truth, and a test at the 5 % level raises a false alarm in 5 of 100.
This page shows how far the promises are kept where the truth is known, because a program drew the
studies. A method is printed if it covers 92 to 99 times in 100 in every design of its table; where
it does not, the report prints the value alone and says why. A design may miss these bounds by two
standard errors of its share: below them, 2.4 points if all 500 studies have an interval, and 10.9
if 25 have. Where fewer than one study in twenty has an interval, the share says too little to judge
by.

`make coverage` draws the studies (an hour or more) and writes this page; `make coverage ONLY=τ`
runs some of the rows. A coverage of 95 % from 500 studies has a standard error of 1.0. Intervals of
several values at once hold if each holds its own; bias and spread are then those of the value that
lies farthest from its truth. What the methods do: [τ without noise](methods/tau.md),
[gaps](methods/gaps.md),
[small samples](methods/small-samples.md).
"""


def read_results(module: str) -> Results:
    """Return the stored results of a module of designs, by statistic and row."""
    path = RESULTS / f"{module}.json"
    found = json.loads(path.read_text()) if path.exists() else []
    return {(one["statistic"], one["row"]): one for one in found}


def write_results(module: str, stored: Results) -> None:
    RESULTS.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in stored.values())
    (RESULTS / f"{module}.json").write_text(f"[\n{lines}\n]\n")


def to_result(stored: dict[str, Any]) -> Result:
    return Result(**{name: value for name, value in stored.items() if name not in STAMPS})


def write() -> None:
    """Write docs/coverage.md and its plots from the stored results."""
    PLOTS.mkdir(exist_ok=True)
    total = len(PRINTED) + len(PUBLISHED) + len(RANGES)
    count = (
        f"Reports print {total} intervals and p-values (columns of their downloads). "
        f"{len(PRINTED)} rest on\nstatistics with rows here. {len(PUBLISHED)} repeat tests of "
        "papers, which take cells, prompts, or decisions for\nindependent: they are labeled so, "
        f"and promise nothing. {len(RANGES)} are middle shares of chance or of split halves, or "
        f"standard\nerrors. {len(EMPTY)} more columns have no value, since no interval is known to "
        "hold, and say so.\n"
    )
    PAGE.write_text("\n".join([HEAD, count, *(part for m in MODULES for part in _module(m))]))


def _module(module: str) -> Iterator[str]:
    stored = read_results(module)
    bias = {(name, row.name): row.most_bias for row in rows_of(module) for name in row.statistics}
    names = dict.fromkeys(name for name, _ in bias)
    for number, statistic in enumerate(names):
        rows = [stored[key] for key in bias if key in stored and key[0] == statistic]
        if not rows:
            continue
        results = [to_result(row) for row in rows]
        picture = PLOTS / f"{module}-{number + 1}.svg"
        picture.write_text(_plot(statistic, results))
        seeds, sizes, versions = (sorted({row[name] for row in rows}) for name in STAMPS)
        # The capital of τ is a T.
        title = statistic if statistic[0] == "τ" else statistic[:1].upper() + statistic[1:]
        yield f"## {title}\n"
        yield f"![Coverage of every design]({picture.relative_to(PAGE.parent)})\n"
        yield (
            f"{_listed(sizes)} studies a row, seed {_listed(seeds)}, code {_listed(versions)}. "
            "Bias, spread (sd), and width are in its unit, over studies with an interval.\n"
        )
        yield "| design | with interval, % | coverage, % | bias | sd | width | false alarms, % | |"
        yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
        for one in results:
            share = f"{100 * one.n_intervals / one.n:.0f}"
            cells = (one.row, share, _cell(one.coverage, 1), _cell(one.bias, 3, "+"))
            more = (_cell(one.sd, 3), _cell(one.width, 3), _cell(one.alarms, 1))
            note = one.misses(bias[statistic, one.row]) or _why_none(one)
            yield f"| {' | '.join((*cells, *more, note))} |"
        yield ""


def _listed(values: list[Any]) -> str:
    return ", ".join(map(str, values))


def _why_none(one: Result) -> str:
    """Return the commonest reason for no interval, where most studies had none."""
    if one.n_intervals > one.n / 2 or not one.reasons:
        return ""
    return f"none: {max(one.reasons, key=lambda reason: one.reasons[reason])}"


def _cell(value: float | None, digits: int, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.{digits}f}".replace("-", "−")


def _plot(statistic: str, results: list[Result]) -> str:
    """Return an SVG with a dot for the coverage of each design, and the band that is promised."""
    shown = [one for one in results if one.coverage is not None]
    values = [{"design": one.row, "coverage": max(one.coverage or 0, 70)} for one in shown]
    y = {"field": "design", "type": "nominal", "sort": None, "axis": {"title": None}}
    x = {
        "field": "coverage",
        "type": "quantitative",
        "scale": {"domain": [70, 100]},
        "title": "intervals that hold the truth, %",
    }
    band = {"values": [{"from": LEAST, "to": MOST}]}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": statistic,
        "width": 420,
        "height": {"step": 14},
        "layer": [
            {
                "data": band,
                "mark": {"type": "rect", "color": "#e4e4dc"},
                "encoding": {
                    "x": {"field": "from", "type": "quantitative"},
                    "x2": {"field": "to"},
                },
            },
            {"data": band, "mark": "rule", "encoding": {"x": {"datum": 95}}},
            {
                "data": {"values": values},
                "mark": {"type": "circle", "size": 50, "opacity": 1, "color": "#1f5a7a"},
                "encoding": {"x": x, "y": y},
            },
        ],
    }
    return str(vl_convert.vegalite_to_svg(spec))
