"""A web server killed for a minute while somebody rates and somebody writes: nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from django.db import connections
from django.urls import reverse
from playwright.sync_api import Browser, Route, expect

from annotation.annotators.invitations import invite_annotator
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.models import Rating, WritingTask
from tests.annotation.counterparts.studies import make_corpus, make_writing_study
from tests.browser.conftest import RunningSite
from tests.browser.survey_visitor import Visitor, open_context
from tests.browser.test_writing import join_in_browser
from tests.waiting import wait_until
from tests.web_server import HOST, describe_environment
from tools.load import server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AWAY_SECONDS = 60
BEFORE, MEANWHILE = "They are always reading", ", whatever the hour – and I’m too."


def test_a_page_whose_answer_was_lost_is_sent_again_and_stored_once(
    site: str, chromium: Browser, make_study
) -> None:  # type: ignore[no-untyped-def]
    study = make_study(flow=["rating", "rating"])
    visitor = Visitor(open_context(chromium).new_page())
    visitor.start(site + study.get_absolute_url())
    page = visitor.page
    arrived: list[int] = []

    def lose_the_answer(route: Route) -> None:
        if route.request.method == "POST":
            arrived.append(route.fetch(max_redirects=0).status)
            route.abort()
        else:
            route.continue_()

    visitor.answer()
    page.route("**/r/**", lose_the_answer)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("This page sends them by itself as soon as it can.")).to_be_visible()
    with page.expect_event("load"):
        page.unroute("**/r/**")
    assert set(arrived) == {302}
    expect(page.locator("[data-answered]")).to_have_text("0 of 4 lines answered")
    assert Rating.objects.filter(assignment__submission__study=study).count() == 4
    # What is changed meanwhile waits for its writer.
    visitor.answer()
    page.route("**/r/**", lambda route: route.abort())
    page.get_by_role("button", name="Continue").click()
    visitor.put(page.locator("[data-line]").first, 12)
    expect(page.get_by_text("Continue when you are connected again.")).to_be_visible()
    page.unroute("**/r/**")
    visitor.move_on()
    ratings = Rating.objects.filter(assignment__submission__study=study)
    assert ratings.count() == 8
    assert ratings.filter(value__in=[12, 88], assignment__position=2).exists()


def test_answers_and_letters_outlive_a_server_that_is_killed_for_a_minute(
    site: str, running_site: RunningSite, chromium: Browser, make_study, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    environment = describe_environment(f"sqlite:///{running_site.database}", tmp_path)
    study = make_study(flow=["rating"])
    writing = make_writing_study(
        corpus=make_corpus(name="Posts of a killed server"), launched=False
    )
    place = invite_annotator(study=writing)
    launch_writing_study(study=writing)
    with server.run_web_server(environment, tmp_path / "first.log") as first:
        address = f"http://{HOST}:{first.port}"
        rater = Visitor(open_context(chromium).new_page())
        rater.start(address + study.get_absolute_url())
        lines = rater.page.locator("[data-line]").all()
        rater.put(lines[0], 20)
        page = open_context(chromium).new_page()
        join_in_browser(page, address, place, "killed-server")
        task = WritingTask.objects.filter(annotator=place).order_by("position")[0]
        page.goto(address + reverse("counterparts:write", args=[writing.public_id, task.position]))
        body = page.locator("[name=body]")
        body.press_sequentially(BEFORE)
        wait_until(lambda: WritingTask.objects.get(pk=task.pk).draft == BEFORE)
        os.killpg(first.pid, signal.SIGKILL)
        killed = time.monotonic()
        for line, place_of in zip(lines[1:], (40, 60, 80), strict=True):
            rater.put(line, place_of)
        rater.page.get_by_role("button", name="Continue").click()
        expect(rater.page.get_by_text("There is no connection.")).to_be_visible()
        body.press_sequentially(MEANWHILE)
        expect(page.get_by_text("There is no connection.")).to_be_visible()
        connections["default"].close()
        rater.page.wait_for_timeout(max(0, 1000 * (AWAY_SECONDS - time.monotonic() + killed)))
        expect(rater.page.locator("[data-answered]")).to_have_text("4 of 4 lines answered")
        assert not Rating.objects.filter(assignment__submission__study=study).exists()
    with server.run_web_server(environment, tmp_path / "second.log", port=first.port):
        # Both arrive by themselves.
        wait_until(lambda: WritingTask.objects.get(pk=task.pk).draft == BEFORE + MEANWHILE)
        rater.page.locator("[data-finished]").wait_for()
        places = Rating.objects.filter(assignment__submission__study=study)
        assert places.count() == 4
        expect(rater.page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
