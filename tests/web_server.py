"""A web server as in production, in a process of its own, on a database shared with the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.load import server
from tools.load.server import HOST as HOST

SECRET_KEY = "only-for-this-test"


@contextmanager
def run_web_server(database: str, folder: Path) -> Iterator[int]:
    """Run gunicorn with the product's configuration on ``database``; yields its port."""
    try:
        with server.run_web_server(
            describe_environment(database, folder), folder / "web.log"
        ) as running:
            yield running.port
    except server.ServerError as error:
        pytest.fail(str(error))


def describe_environment(database: str, folder: Path) -> dict[str, str]:
    """Return the environment of a process of the product on ``database``, in ``folder``."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_", "STEREOSCOPE_TESTS"))
    }
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
        "PYTHONPATH": f".{os.pathsep}platform",
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": database,
        "SECRET_KEY": SECRET_KEY,
        "STATIC_MANIFEST": "false",
    }
