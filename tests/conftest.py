"""Fixtures that every room's tests share."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def find_shared_dir() -> Path | None:
    """Return the reference data kept beside the checkout, or None where there is none."""
    candidate = Path(os.environ.get("STEREOSCOPE_SHARED", ROOT.parent / "shared"))
    return candidate if (candidate / "golden" / "expected").is_dir() else None


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of golden values and published human data; skips loudly where it is absent."""
    found = find_shared_dir()
    if found is None:
        message = "reference data not found beside the checkout: golden tests are SKIPPED"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    return found
