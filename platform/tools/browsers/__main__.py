"""`python -m tools.browsers`: the main journeys in every engine, with a picture of every page.

Prints Markdown. Ends with 1 where a journey went wrong; what is not installed is skipped.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.faults.report import put_into
from tools.load.server import HOST, ROOT, run_web_server
from tools.screens.installation import prepare_environment

ENGINES = ("chromium", "firefox", "webkit")
PAGE = ROOT / "docs" / "browsers.md"
GOOD = "✓"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.browsers", description=__doc__)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--journeys", default="", help="only those whose name and path hold this")
    parser.add_argument("--pictures", type=Path, default=ROOT / "var" / "browsers")
    parser.add_argument("--write", action="store_true", help="put the table into docs/browsers.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _run_site(Path(folder)) as site:
        table, is_good = _go_all(site, chosen)
    sys.stdout.write(table)
    if chosen.write:
        put_into(PAGE, table)
    return int(not is_good)


@contextmanager
def _run_site(folder: Path) -> Iterator[str]:
    """Run a web server on an empty database, which is this process's too."""
    import os

    prepare_environment(folder)
    os.environ["ARRIVALS_PER_HOUR"] = os.environ["LOGINS_PER_MINUTE"] = "0"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    with run_web_server(os.environ, folder / "web.log") as server:
        yield f"http://{HOST}:{server.port}"


def _go_all(site: str, chosen: argparse.Namespace) -> tuple[str, bool]:
    """Go all journeys; return the table, and whether none went wrong."""
    from tools.browsers.chromium import CHROMIUM
    from tools.browsers.firefox import FIREFOX
    from tools.browsers.journeys import JOURNEYS
    from tools.browsers.webkit import WEBKIT

    engines = [
        dict(zip(ENGINES, (CHROMIUM, FIREFOX, WEBKIT), strict=True))[n] for n in chosen.engines
    ]
    journeys = [one for one in JOURNEYS if chosen.journeys in f"{one.name}, {one.path}"]
    cells: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    for engine in engines:
        if engine.missing:
            _announce_skip(engine.name, engine.missing)
            notes.append(f"- {engine.name}: skipped, because {engine.missing} is not installed")
        for journey in journeys:
            name = f"{journey.name}, {journey.path}"
            if engine.missing or journey.path in engine.lacks:
                cells[name, engine.name] = "–"
                continue
            folder = (
                chosen.pictures / engine.name.lower() / name.replace(", ", "-").replace(" ", "-")
            )
            shutil.rmtree(folder, ignore_errors=True)
            problem = journey.go(engine, site, folder)
            sys.stderr.write(f"{engine.name}: {name}: {problem or GOOD}\n")
            cells[name, engine.name] = "✗" if problem else GOOD
            notes += [f"- {engine.name}, {name}: {problem}"] if problem else []
        notes += [f"- {engine.name}, {path}: {why}" for path, why in engine.lacks.items()]
    head = ["journey", *(engine.name for engine in engines)]
    lines = [_row(head), _row(["---"] * len(head))]
    for journey in journeys:
        name = f"{journey.name}, {journey.path}"
        lines.append(_row([name, *(cells[name, engine.name] for engine in engines)]))
    return "\n".join([*lines, "", *notes]).rstrip() + "\n", "✗" not in cells.values()


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _announce_skip(engine: str, missing: str) -> None:
    edge = "!" * 96
    sys.stderr.write(f"\n{edge}\n!! SKIPPED: {engine}: {missing} is not installed.\n{edge}\n\n")


if __name__ == "__main__":
    raise SystemExit(main())
