"""`python -m tools.load`: surveys by simulated participants over HTTP, on SQLite and on PostgreSQL.

Prints Markdown. Ends with 1 where an answer was lost, an error seen or a quota overshot.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.load.databases import empty_postgres, empty_sqlite, postgres_addresses, postgres_answers
from tools.load.report import write_report
from tools.load.server import HOST, ROOT

LEVELS = [1, 20, 50, 200]
PROCESSES = {"sqlite": "1", "postgresql": "2"}
DATABASES = tuple(PROCESSES)
# The assets of the admin and of the API's pages, which no participant sees, take half a minute.
OTHERS = ("admin", "unfold", "drf_spectacular_sidecar", "rest_framework")
COLLECT = ["--no-input", "--verbosity", "0", *(f"--ignore={name}" for name in OTHERS)]


def main() -> int:
    options = _read_options()
    if options.inside:
        return _measure_inside(options)
    record: dict[str, Any] = {"machine": _machine(), "databases": []}
    failed = False
    with tempfile.TemporaryDirectory(prefix="stereoscope-load-") as name:
        folder = Path(name)
        environment = _environment(folder)
        _run([sys.executable, "manage.py", "collectstatic", *COLLECT], environment)
        for database in options.databases:
            place = _find_database(database, folder)
            if place is None:
                _announce_skip()
                continue
            with place as address:
                installed = environment | {
                    "DATABASE_URL": address,
                    "WEB_PROCESSES": _processes(database),
                }
                measured = _measure(installed, folder / database, options)
            failed |= measured is None or not _is_good(measured)
            record["databases"] += [measured] if measured else []
    sys.stdout.write(write_report(record) + "\n")
    _tell_problems(record)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return int(failed or not record["databases"])


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.load", description=__doc__)
    parser.add_argument("--databases", nargs="+", choices=DATABASES, default=DATABASES)
    parser.add_argument(
        "--levels", nargs="+", type=int, default=LEVELS, help="how many participants at once"
    )
    parser.add_argument(
        "--seconds", type=float, default=20, help="after that nobody of a level begins a survey"
    )
    parser.add_argument("--burst", type=int, default=200, help="arrivals for the last place")
    parser.add_argument(
        "--slow", type=int, default=0, help="so many idle and so many trickling connections beside"
    )
    parser.add_argument("--output", type=Path, help="a file for the numbers, as JSON")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _environment(folder: Path) -> dict[str, str]:
    """Return the settings of an installation behind a proxy, in a folder of its own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DEBUG", "DATABASE_URL", "CELERY_BROKER_URL"}
        and not name.startswith(("PYTEST_", "COV_", "STEREOSCOPE_TESTS"))
    }
    return kept | {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": f".{os.pathsep}platform",
        "SECRET_KEY": "only-for-this-measurement",
        "ALLOWED_HOSTS": HOST,
        "ARRIVALS_PER_HOUR": "0",  # all of them come from one address
        "HTTPS": "true",
        "STATIC_MANIFEST": "true",
        "STATIC_ROOT": str(folder / "collected"),
        "VAR_DIR": str(folder / "var"),
    }


def _processes(database: str) -> str:
    """Return what `make run` and compose.yaml run, unless the caller's environment says more."""
    return os.environ.get("WEB_PROCESSES", PROCESSES[database])


def _find_database(name: str, folder: Path) -> AbstractContextManager[str] | None:
    """Return an empty database, None where no server answers."""
    if name == "sqlite":
        return empty_sqlite(folder)
    address = next(filter(postgres_answers, postgres_addresses()), None)
    return None if address is None else empty_postgres(address)


def _measure(
    environment: dict[str, str], folder: Path, options: argparse.Namespace
) -> dict[str, Any] | None:
    """Return what a process on these settings has measured, None where it failed."""
    folder.mkdir()
    command = [
        *(sys.executable, "-m", "tools.load", "--inside", str(folder)),
        *("--levels", *map(str, options.levels)),
        *("--seconds", str(options.seconds), "--burst", str(options.burst)),
        *("--slow", str(options.slow)),
    ]
    if _run(command, environment):
        return None
    measured: dict[str, Any] = json.loads((folder / "measured.json").read_text())
    return measured


def _measure_inside(options: argparse.Namespace) -> int:
    import django

    django.setup()
    from django.core.management import call_command

    from tools.load.measuring import measure_database

    call_command("migrate", verbosity=0)
    measured = measure_database(
        levels=options.levels,
        seconds=options.seconds,
        arrivals=options.burst,
        slow=options.slow,
        environment=os.environ,
        log=options.inside / "web.log",
    )
    (options.inside / "measured.json").write_text(json.dumps(measured))
    return 0


def _is_good(measured: dict[str, Any]) -> bool:
    burst = measured["burst"]
    return all(level["is_good"] for level in measured["levels"]) and (
        burst is None or burst["is_good"]
    )


def _tell_problems(record: dict[str, Any]) -> None:
    for one in record["databases"]:
        for level in one["levels"]:
            if not level["is_good"]:
                where = f"{one['database']}, {level['participants']} at once"
                sys.stderr.write(f"{where}: {level['errors']}, {level['answers']}\n")
        if one["burst"] and not one["burst"]["is_good"]:
            sys.stderr.write(f"{one['database']}, the last place: {one['burst']}\n")


def _announce_skip() -> None:
    edge = "!" * 96
    sys.stderr.write(
        f"\n{edge}\n!! SKIPPED: no PostgreSQL answered at 127.0.0.1:5432 or DATABASE_URL.\n"
        f"!! Only the other databases are measured.\n{edge}\n\n"
    )


def _run(command: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "measured_on": datetime.now(UTC).date().isoformat(),
    }


if __name__ == "__main__":
    raise SystemExit(main())
