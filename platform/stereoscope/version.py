"""Which code this is: the release number and, in a checkout, the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

RELEASE = "0.1.0"


def find_code_version(root: Path, revision: str = "") -> str:
    """Return ``release+commit`` for reports and runs, or the release alone outside a checkout.

    ``revision`` overrides the commit, for images that are built without the repository.
    """
    if not revision and (root / ".git").exists():
        try:
            revision = subprocess.run(
                ["git", "rev-parse", "--short=12", "HEAD"],  # noqa: S607
                cwd=root,
                capture_output=True,
                text=True,
                timeout=5,
                check=True,
            ).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            revision = ""
    return f"{RELEASE}+{revision}" if revision else RELEASE
