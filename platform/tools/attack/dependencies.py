"""What is installed against what is pinned, and what is known against these versions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from tools.attack.injection import Injected

ROOT = Path(__file__).resolve().parents[3]
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;]+)")
NAME = re.compile(r"^[A-Za-z0-9._-]+")
FILES = ("requirements.txt", "requirements-dev.txt", "requirements-optional.txt", "constraints.txt")
# An index that answers each of two hundred questions as late as it may is not waited for.
PATIENCE_SECONDS = 600.0


def audit_dependencies() -> Injected:
    """Compare pins with what is installed, and look for requirements that nothing pins."""
    found = Injected(Counter())
    pins: dict[str, str] = {}
    for file in FILES:
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
            _read_line(found, pins, file, line.partition("#")[0].strip())
    for name, version in sorted(pins.items()):
        found.counts["pins"] += 1
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            found.counts["not installed"] += 1
            continue
        if installed != version and installed.partition("+")[0] != version:
            found.note("differ", f"{name} is pinned to {version}, and {installed} is installed")
    for name in sorted(_needed(pins) - set(pins)):
        found.note("unpinned", f"{name} is needed and pinned nowhere")
    return found


def look_up_weaknesses() -> Injected:
    """Ask the package index what is known against the pinned versions, by pip-audit.

    Where no index tells it, or none answers in time, the counts say that nothing was looked up.
    """
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json"]
    command += ["--progress-spinner", "off", "--requirement", "constraints.txt"]
    said = ""
    with suppress(subprocess.TimeoutExpired):
        said = subprocess.run(  # noqa: S603
            command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        ).stdout
    return read_audit(said or '{"dependencies": []}')


def read_audit(text: str) -> Injected:
    """Read what pip-audit writes: each version with its weaknesses, or why it was not looked up."""
    found = Injected(Counter({"versions looked up": 0}))
    for version in json.loads(text)["dependencies"]:
        if "skip_reason" in version:
            found.counts["not looked up"] += 1
            continue
        found.counts["versions looked up"] += 1
        for weakness in version["vulns"]:
            mended = ", ".join(weakness["fix_versions"]) or "no version"
            line = f"{version['name']} {version['version']}: {weakness['id']}, mended in {mended}"
            found.note("known weaknesses", line)
    return found


def _read_line(found: Injected, pins: dict[str, str], file: str, line: str) -> None:
    if not line or line.startswith("-"):
        return
    pin = PIN.match(line)
    if pin is None:
        found.note("unpinned", f"{file}: “{line}” names no version")
        return
    name = _canonical(pin["name"])
    if pins.setdefault(name, pin["version"]) != pin["version"]:
        found.note("differ", f"{file}: {name} is pinned to two versions")


def _needed(pins: dict[str, str]) -> set[str]:
    """Return what the pinned packages of `requirements.txt` need here, and what those need."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    waiting = [_canonical(pin["name"]) for line in text.splitlines() if (pin := PIN.match(line))]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        waiting += [
            _canonical(match[0])
            for line in wanted
            if ";" not in line and (match := NAME.match(line))
        ]
    return seen


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
