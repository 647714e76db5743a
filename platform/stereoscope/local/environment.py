"""Creates and refreshes `.venv`. Runs by its path, before anything is installed: standard library
only, and in the syntax of old Pythons, so that one of those can say what is missing.

    python3 platform/stereoscope/local/environment.py requirements.txt
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
CONSTRAINTS = "constraints.txt"
STAMP = VENV / "installed-requirements.json"
# The versions that the pinned packages support, newest first.
SUPPORTED = ("3.14", "3.13", "3.12", "3.11")


class NoEnvironmentError(Exception):
    """Why there can be no environment; the message names the remedy."""


def find_python() -> str:
    """Return the newest supported interpreter that can make a virtual environment."""
    unable = ""
    for version in SUPPORTED:
        found = shutil.which("python" + version)
        if found is None and sys.version_info[:2] == tuple(map(int, version.split("."))):
            found = sys.executable
        if found is None:
            continue
        if _succeeds([found, "-c", "import ensurepip, venv"]):
            return found
        unable = unable or version
    if unable:
        raise NoEnvironmentError(
            f"Python {unable} has no venv module. On Debian and Ubuntu: "
            f"sudo apt install python{unable}-venv"
        )
    raise NoEnvironmentError(
        f"No Python {SUPPORTED[-1]} or newer (up to {SUPPORTED[0]}) was found. Install one, "
        "for example on Debian and Ubuntu: sudo apt install python3 python3-venv"
    )


def read_requirements(name: str) -> str:
    """Return the text of a requirements file with those that it includes."""
    text = (ROOT / name).read_text(encoding="utf-8")
    included = [line[3:].strip() for line in text.splitlines() if line.startswith("-r ")]
    return text + "".join(read_requirements(other) for other in included)


def hash_requirements(name: str) -> str:
    """Return a hash that changes with the pins, the constraints and the interpreter."""
    digest = hashlib.sha256()
    for part in (
        read_requirements(name),
        (ROOT / CONSTRAINTS).read_text(encoding="utf-8"),
        os.path.realpath(VENV / "bin" / "python"),
    ):
        digest.update(part.encode())
    return digest.hexdigest()


def read_stamp() -> dict[str, str]:
    try:
        content = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def prepare_environment(name: str) -> None:
    """Create `.venv` if it does not work and install what `name` asks for if that has changed."""
    python = VENV / "bin" / "python"
    if not (python.exists() and _succeeds([str(python), "-m", "pip", "--version"])):
        base = find_python()
        print(f"Creating the environment in {VENV} with {base}.", flush=True)
        _run([base, "-m", "venv", "--clear", str(VENV)], "The environment could not be created.")
    stamp = read_stamp()
    wanted = hash_requirements(name)
    if stamp.get(name) == wanted:
        return
    print(f"Installing {name}. The first time takes some minutes.", flush=True)
    _run(
        [
            *(str(python), "-m", "pip", "install", "--disable-pip-version-check"),
            *("--requirement", str(ROOT / name), "--constraint", str(ROOT / CONSTRAINTS)),
            "--no-compile",
        ],
        "The packages could not be installed: the reason stands above.",
    )
    _compile(python)
    # What a larger file has just installed holds for the files that it includes.
    stamp[name] = wanted
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            stamp[line[3:].strip()] = hash_requirements(line[3:].strip())
    STAMP.write_text(json.dumps(stamp, indent=1), encoding="utf-8")


def _run(command: list[str], message: str) -> None:
    if subprocess.run(command, check=False).returncode:  # noqa: S603
        raise NoEnvironmentError(message)


def _compile(python: Path) -> None:
    """Compile what was installed on all cores; pip itself would take one, for a minute.

    Packages bring templates and old syntax that do not compile, which does no harm, and tests of
    their own, which nobody runs.
    """
    for folder in VENV.glob("lib/python*/site-packages"):
        _succeeds([str(python), "-m", "compileall", "-q", "-j", "0", "-x", "/tests/", str(folder)])


def _succeeds(command: list[str]) -> bool:
    try:
        return not subprocess.run(command, capture_output=True, check=False).returncode  # noqa: S603
    except OSError:
        return False


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else "requirements.txt"
    try:
        prepare_environment(name)
    except NoEnvironmentError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The next start goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
