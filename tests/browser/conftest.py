"""The system's Chromium, and a web server in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import connections
from playwright.sync_api import Browser

from tests.annotation.survey.conftest import make_study  # noqa: F401
from tests.browser.chromium import run_chromium
from tests.web_server import HOST, run_web_server


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
    chosen = connections["default"]
    with run_chromium() as browser:
        # Django keeps other connections inside a loop than outside: without this, the database
        # of whatever test had a loop before would answer.
        connections["default"] = chosen
        yield browser
        del connections["default"]


@pytest.fixture(scope="session")
def running_site(
    tmp_path_factory: pytest.TempPathFactory, make_database: Callable[[Path], None]
) -> Iterator[RunningSite]:
    """A platform with a database in a file, started once; each test has its own study on it."""
    folder = tmp_path_factory.mktemp("site")
    database = folder / "site.sqlite3"
    make_database(database)
    with run_web_server(f"sqlite:///{database}", folder) as port:
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
