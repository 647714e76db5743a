"""`python -m tools.faults`: what is lost when parts of an installation die, fill up or go wrong.

Prints Markdown. Ends with 1 where an answer was lost or doubled, a participant saw an error of the
server while nothing was away, or a run came out otherwise than undisturbed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.faults.injections import FAULTS
from tools.faults.installation import SETUPS, find_installed, run_installation
from tools.faults.report import is_clean, put_into, write_table
from tools.load.server import ROOT

PAGE = ROOT / "docs" / "faults.md"


def main() -> int:
    options = _read_options()
    if options.inside:
        return _disturb_inside(options)
    rows: list[dict[str, Any]] = []
    installed = find_installed(options.setups)
    is_whole = installed == [*options.setups]
    for key in installed:
        found = _disturb(key, options)
        is_whole &= found is not None and len(found) == len(options.faults)
        rows += found or []
    table = write_table(rows)
    sys.stdout.write(table)
    if options.write and rows:
        measured = f"Measured on {datetime.now(UTC).date().isoformat()}.\n\n"
        put_into(PAGE, measured + table)
    return int(not rows or not is_whole or not all(map(is_clean, rows)))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=list(SETUPS))
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--steps", type=int, default=10_000, help="pages sent over a bad line")
    parser.add_argument("--logs", type=Path, default=ROOT / "var" / "faults", help="a folder")
    parser.add_argument("--write", action="store_true", help="put the table into docs/faults.md")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _disturb(key: str, options: argparse.Namespace) -> list[dict[str, Any]] | None:
    """Return what a process with this installation's settings has found, None where it failed."""
    with tempfile.TemporaryDirectory(prefix="stereoscope-faults-") as name:
        folder = Path(name)
        command = [
            *(sys.executable, "-m", "tools.faults", "--inside", name, "--setups", key),
            *("--faults", *options.faults, "--steps", str(options.steps)),
            *("--logs", str(options.logs)),
        ]
        subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603
        found = folder / "found.json"
        rows: list[dict[str, Any]] = json.loads(found.read_text()) if found.exists() else []
    return rows or None


def _disturb_inside(options: argparse.Namespace) -> int:
    (key,) = options.setups
    with run_installation(key, options.inside / key) as installation:
        import django

        django.setup()
        from tools.faults.row import disturb, keep_logs

        def keep(rows: list[dict[str, Any]]) -> None:
            sys.stderr.write(f"{rows[-1]}\n")
            (options.inside / "found.json").write_text(json.dumps(rows))

        try:
            disturb(installation, options.faults, steps=options.steps, keep=keep)
        finally:
            keep_logs(installation.folder, options.logs / key)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
