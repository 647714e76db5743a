"""`--quick` leaves out what took its time when it last ran, and runs what it does not know."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.durations import QUICK_SECONDS

TESTS = f"""
import time

def test_quick():
    pass

def test_slow():
    time.sleep({2 * QUICK_SECONDS})
"""
CONFTEST = """
from tests.durations import pytest_addoption, pytest_configure
from tests.ordering import pytest_collection_modifyitems
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite of its own, which measures its tests as this one does."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    (tmp_path / "test_some.py").write_text(TESTS)
    return tmp_path


def run(folder: Path, *options: str) -> str:
    """Run the suite in two processes; return pytest's last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist.plugin", "-n", "2", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.strip().splitlines()[-1]


def test_what_was_slow_is_left_out_and_what_is_new_is_run(folder: Path):
    assert "2 passed" in run(folder, "--quick")
    with (folder / "test_some.py").open("a") as file:
        file.write("\ndef test_new():\n    pass\n")
    assert "2 passed" in run(folder, "--quick")
    assert "3 passed" in run(folder)


def test_where_nothing_is_kept_everything_is_run(folder: Path):
    run(folder)
    assert "2 passed" in run(folder, "--quick", "-p", "no:cacheprovider")
