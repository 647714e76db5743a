"""The product's settings on a folder of their own, so that tests never touch the checkout's `var`.

Every pytest-xdist worker gets its own subfolder. A process that a test starts with a `VAR_DIR` of
its choice keeps that.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_MARK = "STEREOSCOPE_TESTS_VAR_DIR"

if "VAR_DIR" not in os.environ:
    os.environ[_MARK] = os.environ["VAR_DIR"] = tempfile.mkdtemp(prefix="stereoscope-tests-")
    atexit.register(shutil.rmtree, os.environ[_MARK], ignore_errors=True)
elif os.environ["VAR_DIR"] == os.environ.get(_MARK) and "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["VAR_DIR"] = str(Path(os.environ[_MARK]) / os.environ["PYTEST_XDIST_WORKER"])

from stereoscope.settings import *  # noqa: E402, F403
