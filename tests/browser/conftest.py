"""The system's Chromium, and a web server in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import connections
from playwright.sync_api import Browser, expect, sync_playwright

from tests.annotation.survey.conftest import make_study  # noqa: F401
from tests.conftest import ROOT
from tests.web_server import HOST, describe_environment, run_web_server

# Two cores may be busy with other tests: wait longer than the usual five seconds for an element.
expect.set_options(timeout=20_000)

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")


class RunningSite(NamedTuple):
    address: str
    database: Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the browser after whatever else a test needs, and close it first."""
    for item in items:
        names = getattr(item, "fixturenames", [])
        if "chromium" in names:
            names.remove("chromium")
            names.append("chromium")


@pytest.fixture
def chromium(monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """Chromium without a window; skips loudly where none is installed."""
    # Playwright keeps an event loop in this thread, where Django would refuse to ask the database.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    executable = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    chosen = connections["default"]
    with sync_playwright() as playwright:
        if executable is None and not Path(playwright.chromium.executable_path).exists():
            message = "no Chromium is installed: browser tests are SKIPPED"
            warnings.warn(message, stacklevel=1)
            pytest.skip(message)
        # Django keeps other connections inside a loop than outside: without this, the database
        # of whatever test had a loop before would answer.
        connections["default"] = chosen
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()
        del connections["default"]


@pytest.fixture(scope="session")
def running_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A platform with a database in a file, started once; each test has its own study on it."""
    folder = tmp_path_factory.mktemp("site")
    database = folder / "site.sqlite3"
    address = f"sqlite:///{database}"
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=describe_environment(address, folder),
        check=True,
    )
    with run_web_server(address, folder) as port:
        yield RunningSite(f"http://{HOST}:{port}", database)


@pytest.fixture
def site(running_site: RunningSite, django_db_blocker) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """The running platform's address; the test's own queries go to its database."""
    options = {"transaction_mode": "IMMEDIATE", "timeout": 30}
    described = connections.configure_settings(
        {
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(running_site.database),
                "OPTIONS": options,
            }
        }
    )
    before, settings_before = connections["default"], connections.settings["default"]
    connections.settings["default"] = described["default"]
    del connections["default"]
    try:
        with django_db_blocker.unblock():
            yield running_site.address
    finally:
        connections["default"].close()
        connections.settings["default"] = settings_before
        connections["default"] = before
