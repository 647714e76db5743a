"""The run monitor in Chromium: it follows a run without reload, and works without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.db import connection
from django.test import Client
from django.test.testcases import LiveServerThread
from playwright.sync_api import BrowserContext, expect

from probing.models import Run, RunStatus
from probing.runs.failure import fail_shard
from probing.runs.leases import claim_shard
from probing.runs.worker import compute_shard, work
from tests.browser.chromium import run_chromium
from tests.probing.runs.fixtures import (  # noqa: F401
    RunMaker,
    bert,
    make_run,
    one_thread,
    shared_database,
)

T = TypeVar("T")

pytestmark = [pytest.mark.browser, pytest.mark.shared, pytest.mark.slow]


@pytest.fixture
def address(shared_database: str) -> Iterator[str]:  # noqa: F811
    """A real server on a free port; like the test, it has connections of its own."""
    server = LiveServerThread("127.0.0.1", StaticFilesHandler, connections_override={})
    server.daemon = True
    server.start()
    server.is_ready.wait()
    if server.error:
        raise server.error
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.terminate()


@pytest.fixture
def contexts(address: str) -> Iterator[Any]:
    """Open browser windows in which alice is logged in."""
    client = Client()
    client.force_login(User.objects.create_superuser("alice"))
    cookie = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    with run_chromium() as browser:

        def open_window(**options: Any) -> BrowserContext:
            context = browser.new_context(base_url=address, **options)
            context.add_cookies(
                [{"name": django_settings.SESSION_COOKIE_NAME, "value": cookie, "url": address}]
            )
            return context

        yield open_window


def aside(call: Callable[[], T]) -> T:
    """Use the database in a thread: Playwright runs an event loop in the test's own one."""

    def body() -> T:
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as threads:
        return threads.submit(body).result()


def fail_one() -> None:
    shard = claim_shard(worker="w")
    assert shard is not None
    fail_shard(shard=shard, error="Traceback\nValueError: a first attempt that failed")


def compute_three() -> None:
    for _ in range(3):
        shard = claim_shard(worker="w")
        assert shard is not None
        compute_shard(shard)


def test_the_monitor_follows_a_run_to_its_scores(
    make_run: RunMaker,  # noqa: F811
    contexts: Any,
) -> None:
    run = aside(make_run)
    page = contexts().new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"/admin/probing/run/{run.pk}/change/")
    expect(page.get_by_text("No worker has taken a shard yet.")).to_be_visible()
    page.evaluate("window.loadedOnce = true")

    aside(fail_one)
    trouble = page.locator("#trouble-0")
    expect(trouble).to_be_visible()
    trouble.locator("summary").click()
    expect(trouble.get_by_text("a first attempt that failed")).to_be_visible()

    aside(compute_three)
    expect(page.locator(".run-keys")).to_contain_text("3 of 8")
    expect(trouble.get_by_text("a first attempt that failed")).to_be_visible()

    aside(lambda: work(worker="w", run=run))
    expect(page.locator(".badge.good")).to_have_text("Finished")
    expect(page.locator(".scores tbody tr")).to_have_count(4)
    assert page.evaluate("window.loadedOnce"), "the page was never loaded again"
    assert faults == []


def test_a_run_is_created_and_canceled_without_scripts(
    bert: Any,  # noqa: F811
    contexts: Any,
) -> None:
    page = contexts(java_script_enabled=False).new_page()
    page.goto("/admin/probing/run/add/?measure=set")
    page.get_by_label("Model", exact=True).select_option(label="tiny-bert")
    page.get_by_role("button", name="Preview cost").click()
    # 25 groups at five a shard, one template.
    expect(page.locator(".preview dd").first).to_have_text("5")
    with page.expect_navigation():
        page.get_by_role("button", name="Create run").click()
    run = aside(Run.objects.get)
    expect(page).to_have_url(f"{page.url.split('/admin')[0]}/admin/probing/run/{run.pk}/change/")
    page.get_by_role("button", name="Cancel run").click()
    expect(page.locator(".page-sub .badge").first).to_have_text("Canceled")
    page.get_by_role("button", name="Resume run").click()
    expect(page.locator(".page-sub .badge").first).to_have_text("Waiting")
    assert aside(Run.objects.get).status == RunStatus.WAITING
