"""`python -m tools.footprint`: the memory of an idle `make run`, the CPU time of each command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import connect

from rich.console import Console
from rich.table import Table

from tools.load.usage import resident_bytes
from tools.screens.installation import ROOT, prepare_environment, run_demo

OUR_APPS = ("annotation", "probing", "evaluation", "platform/stereoscope")
PATIENCE_SECONDS = 600.0
# Celery has said that it is ready, gunicorn has answered: what they import is imported.
SETTLE_SECONDS = 5.0


def measure_memory(folder: Path) -> dict[str, float]:
    """Return the resident MB of each process of `make run` once its demo has been computed.

    The second start counts: there the worker has nothing to do.
    """
    with run_demo(folder):
        _wait_for_reports(folder / "stereoscope.sqlite3")
    with run_demo(folder) as again:
        time.sleep(SETTLE_SECONDS)
        return {_role(pid): resident_bytes([pid]) / 1e6 for pid in _family(again.pid)}


def measure_cpu(arguments: list[str]) -> float:
    """Return the CPU seconds of a call of manage.py."""
    command = [sys.executable, "manage.py", *arguments]
    process = subprocess.Popen(  # noqa: S603
        command, cwd=ROOT, stdout=subprocess.DEVNULL
    )
    _pid, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"manage.py {' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime


def our_commands() -> list[str]:
    """Return the names of the platform's own commands."""
    folders = (ROOT / app / "management" / "commands" for app in OUR_APPS)
    return sorted(
        file.stem for folder in folders for file in folder.glob("*.py") if file.stem != "__init__"
    )


def _wait_for_reports(database: Path) -> None:
    """Wait until all reports of the demo are built: what is left would wake the next worker."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with closing(connect(f"file:{database}?mode=ro", uri=True)) as opened:
            query = "SELECT count(*), count(built_at) FROM evaluation_report"
            reports, built = opened.execute(query).fetchone()
        if reports and reports == built:
            return
        time.sleep(1)
    raise RuntimeError(f"the demo's reports were not built within {PATIENCE_SECONDS:g} s")


def _family(pid: int) -> Iterator[int]:
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from _family(int(child))


def _role(pid: int) -> str:
    command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    if "runlocal" in command:
        return "launcher"
    if "celery" in command:
        return "worker"
    parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    is_first = "gunicorn" not in Path(f"/proc/{parent}/cmdline").read_text()
    return "web, first process" if is_first else "web"


def _table(title: str, unit: str, rows: dict[str, float], decimals: int) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    table.add_column(unit, justify="right")
    for name, figure in rows.items():
        table.add_row(name, f"{figure:,.{decimals}f}")
    return table


def main() -> None:
    argparse.ArgumentParser(prog="python -m tools.footprint", description=__doc__).parse_args()
    console = Console(width=100)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare_environment(folder)
        calls = [["check"], *([command, "--help"] for command in our_commands())]
        measure_cpu(["check"])  # compiles what was not compiled yet
        seconds = {f"manage.py {' '.join(call)}": measure_cpu(call) for call in calls}
        console.print(_table("CPU time", "seconds", seconds, 2))
        memory = measure_memory(folder)
        memory["sum"] = sum(memory.values())
        console.print(_table("Idle memory of make run", "MB", memory, 0))


if __name__ == "__main__":
    main()
