"""`python -m tools.attack`: attacks installations of its own, and prints tables.

Ends with 1 where something was reached, leaked, echoed or answered with a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.attack.report import write_report
from tools.faults.installation import SETUPS, find_installed, run_services
from tools.load.server import HOST, ROOT, run_web_server

#: No limit stands between the attack and what lies behind it; limits have tests of their own.
WIDE = dict.fromkeys(("API_RATE", "API_RATE_ANONYMOUS", "API_RATE_CHANGES"), "1000000/min")
SHOWN = 40
#: The attack is blind if it finds nothing without most of the guards.
FEWEST_GUARDS = 40


def main() -> int:
    options = _read_options()
    if options.inside:
        return _attack_inside(options)
    installed = find_installed(options.setups)
    records = [record for key in installed if (record := _attack_setup(key, options))]
    is_whole = len(records) == len(options.setups)
    mutations = None if options.no_mutations else _try_mutations()
    page = write_report(records, mutations)
    sys.stdout.write(page[page.index("## What came out") :])
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    is_blind = mutations is not None and (
        bool(mutations["findings"]) or sum(map(bool, mutations["guards"].values())) < FEWEST_GUARDS
    )
    return int(not is_whole or is_blind or any(record["findings"] for record in records))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.attack", description=__doc__)
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=list(SETUPS))
    parser.add_argument("--examples", type=int, default=20, help="requests for each operation")
    parser.add_argument("--no-mutations", action="store_true", help="leave all guards in place")
    parser.add_argument("--output", type=Path, help="a file for the page, such as docs/attack.md")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _attack_setup(key: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """Return what a process with this installation's settings has found, None where it failed."""
    with tempfile.TemporaryDirectory(prefix="stereoscope-attack-") as name:
        command = [
            *(sys.executable, "-m", "tools.attack", "--inside", name, "--setups", key),
            *("--examples", str(options.examples)),
        ]
        subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603
        found = Path(name, "found.json")
        return json.loads(found.read_text()) if found.exists() else None


def _try_mutations() -> dict[str, Any]:
    """Return what a process without one guard after the other has found."""
    with tempfile.TemporaryDirectory(prefix="stereoscope-attack-") as name:
        found = Path(name, "mutations.json")
        command = [sys.executable, "-m", "tools.attack.mutations", str(found)]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603
        return json.loads(found.read_text())


def _attack_inside(options: argparse.Namespace) -> int:
    (key,) = options.setups
    folder = options.inside
    for unwanted in ("DEBUG", "DATABASE_URL", "CELERY_BROKER_URL"):
        os.environ.pop(unwanted, None)
    with run_services(SETUPS[key], folder / key) as places:
        os.environ |= _environment(folder) | places
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        record = _attack(folder, options)
        connection.close()
    (folder / "found.json").write_text(json.dumps(record))
    return 0


def _environment(folder: Path) -> dict[str, str]:
    """Return the settings of an installation behind a proxy, in a folder of its own."""
    docs = folder / "docs"
    docs.mkdir()
    (docs / "index.html").write_text("<!doctype html><title>Documentation</title>")
    return {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        "VAR_DIR": str(folder / "var"),
        "SECRET_KEY": "only-for-this-attack",
        "IDENTITY_KEYS": "only-for-this-attack-" * 2,
        "METRICS_TOKEN": "only-for-this-attack",
        "DOCS_ROOT": str(docs),
        "ALLOWED_HOSTS": HOST,
        "HTTPS": "true",
        "STATIC_MANIFEST": "false",
        "ARRIVALS_PER_HOUR": "0",
        "LOGINS_PER_MINUTE": "0",
        "WRONG_TOKENS_PER_MINUTE": "0",
        **WIDE,
    }


def _attack(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Build the world, attack it part by part; the poison comes last, it changes the world."""
    from tools.attack import contract, csrf, dependencies, injection, matrix
    from tools.attack.addresses import list_addresses
    from tools.attack.client import Attacker
    from tools.attack.poison import store_everywhere
    from tools.attack.roles import ROLES
    from tools.attack.world import build_reports, build_world

    begun = time.monotonic()
    world, addresses = build_world(), list(list_addresses())
    parts: list[tuple[str, injection.Injected]] = []
    with run_web_server(dict(os.environ), folder / "web.log") as server:
        attacker = Attacker(f"http://{HOST}:{server.port}")
        attacker.begin_visit(world)
        outcomes = {role.name: matrix.Outcome() for role in ROLES}
        # First what everybody may not do: what is allowed may change what there is.
        for allowed in (False, True):
            for role in ROLES:
                matrix.try_all(outcomes[role.name], role, addresses, world, attacker, allowed)
        parts.append(("other sites", csrf.send_from_elsewhere(attacker, addresses, world)))
        header = attacker.token_of("superuser")
        examples = options.examples
        found = contract.try_contract(attacker.address, header, world, examples=examples)
        parts.append(("the API’s contract", found))
    poisoned = store_everywhere()
    build_reports(world)
    with run_web_server(dict(os.environ), folder / "poisoned.log") as server:
        attacker = Attacker(f"http://{HOST}:{server.port}")
        attacker.begin_visit(world)
        looked = injection.look_everywhere(attacker, addresses, world)
        looked.counts["texts poisoned"] = poisoned
        parts.append(("poisoned pages", looked))
        parts.append(("poisoned forms", injection.send_everywhere(attacker, addresses, world)))
    parts.append(("dependencies", dependencies.audit_dependencies()))
    parts.append(("known weaknesses", dependencies.look_up_weaknesses()))
    findings = [line for one in outcomes.values() for line in one.findings]
    findings += [line for _name, part in parts for line in part.findings]
    minutes = (time.monotonic() - begun) / 60
    return {
        "setup": SETUPS[options.setups[0]].name,
        "about": f"{datetime.now(UTC).date().isoformat()}, Python {platform.python_version()}: "
        f"{len(addresses)} addresses, {len(ROLES)} roles, {minutes:.1f} minutes.",
        "roles": matrix.sum_up(outcomes),
        "parts": [(name, _describe(part.counts), len(part.findings)) for name, part in parts],
        "findings": findings[:SHOWN] + ([f"… of {len(findings)}"] if findings[SHOWN:] else []),
    }


def _describe(counts: Any) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


if __name__ == "__main__":
    raise SystemExit(main())
