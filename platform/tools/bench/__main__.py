"""`python -m tools.bench`: run benchmarks, print a table, keep the numbers in var/bench."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.bench import BENCHMARKS

ROOT = Path(__file__).resolve().parents[3]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHMARKS)}; none = all"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "var" / "bench")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark '{unknown[0]}'; there are {', '.join(BENCHMARKS)}")
    if chosen.inside:
        found = import_module(f"tools.bench.{chosen.names[0]}").run()
        json.dump([dataclasses.asdict(row) for row in found], sys.stdout)
        return 0
    console, failed = Console(width=160), 0
    for name in chosen.names or BENCHMARKS:
        rows = _run_alone(name)
        if rows is None:
            failed = 1
            continue
        console.print(_table(name, rows))
        _print_figures(console, rows)
        chosen.output.mkdir(parents=True, exist_ok=True)
        record = {"benchmark": name, "machine": _machine(), "rows": rows}
        file = chosen.output / f"{name}.json"
        file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return failed


def _run_alone(name: str) -> list[dict[str, Any]] | None:
    """Return the rows of a benchmark in a process of its own, whose memory is its own too."""
    command = [sys.executable, "-m", "tools.bench", name, "--inside"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)  # noqa: S603
    if done.returncode:
        sys.stderr.write(f"the benchmark {name} failed\n")
        return None
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def _table(name: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=name, title_justify="left")
    for heading in ("what", "how much", "seconds", "CPU s", "measured", "peak MB", "× ours"):
        table.add_column(heading, justify="left" if heading in ("what", "how much") else "right")
    for row in rows:
        share = "all" if row["of"] == row["measured"] else f"{row['measured']:,} of {row['of']:,}"
        factor = "" if row["factor"] is None else f"{row['factor']:,.1f}"
        table.add_row(
            row["case"],
            row["units"],
            f"{row['seconds']:,.2f}",
            f"{row['cpu_seconds']:,.2f}",
            share,
            f"{row['peak_mb']:,.0f}",
            factor,
        )
    return table


def _print_figures(console: Console, rows: list[dict[str, Any]]) -> None:
    """Print what else was found: as a table where all rows have the same figures, or in lines."""
    names = list(rows[0]["figures"])
    if len(rows) > 1 and names and all(list(row["figures"]) == names for row in rows):
        table = Table("what", *(name.replace(": ", "\n") for name in names))
        for row in rows:
            table.add_row(row["case"], *(f"{value:.3f}" for value in row["figures"].values()))
        console.print(table)
        return
    for row in rows:
        for figure, value in row["figures"].items():
            console.print(f"{row['case']}: {figure} {value:,.4g}", highlight=False)


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


if __name__ == "__main__":
    raise SystemExit(main())
