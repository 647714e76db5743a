"""Whoever is faster than a page's script loses nothing: what they did is kept, older drafts yield.

The script is held back until a person has been at the page, as on a bad line.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotation.models import Study
from tests.annotation.counterparts import studies as writing
from tests.annotation.judgments import corpora as judging
from tests.annotation.survey.flows import free_text
from tests.browser.accounts import log_in_annotator
from tests.browser.survey_visitor import Visitor, open_context
from tests.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NUMBERS = itertools.count(1)


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    with open_context(chromium) as context:
        yield context


@contextmanager
def script_held_back(page: Page, name: str, open_page: Callable[[], object]) -> Iterator[None]:
    """Open a page whose script has not come yet; it comes at the end of the block."""
    held: list[Route] = []
    page.route(f"**/{name}", lambda route: held.append(route))
    open_page()
    yield
    # One may be faster than the browser asks for it.
    wait_until(lambda: held, pause=lambda seconds: page.wait_for_timeout(1000 * seconds))
    with page.expect_event("load"):
        (route,) = held
        route.continue_()
    page.unroute(f"**/{name}")


def reload_early(page: Page) -> None:
    page.reload(wait_until="commit")


def test_answers_of_the_survey(context: BrowserContext, site: str, make_study) -> None:  # type: ignore[no-untyped-def]
    study: Study = make_study(flow=[free_text(), "rating", "demographics"])
    page = context.new_page()
    visitor = Visitor(page)
    visitor.start(site + study.get_absolute_url())
    box = page.locator("[name=text]")
    box.fill("A first thought.")
    with script_held_back(page, "step.js", lambda: reload_early(page)):
        box.fill("A better one.")
    expect(box).to_have_value("A better one.")
    page.reload()
    expect(box).to_have_value("A better one.")
    visitor.move_on()

    # On a rating page numbers stand for the lines until then.
    rows = page.locator("[data-line]")
    numbers = page.locator("input.line-input")
    visitor.put(rows.nth(0), 10)
    visitor.put(rows.nth(1), 20)
    with script_held_back(page, "rating.js", lambda: reload_early(page)):
        numbers.nth(1).fill("85")
        numbers.nth(2).fill("7")
    answered = page.locator("[data-answered]")
    for _ in range(2):
        expect(answered).to_have_text("3 of 4 lines answered")
        assert abs(int(numbers.nth(0).input_value()) - 10) <= 1
        assert [numbers.nth(place).input_value() for place in (1, 2)] == ["85", "7"]
        page.reload()
    assert visitor.complaints == []


def test_a_counterpart(context: BrowserContext, site: str) -> None:
    number = next(NUMBERS)
    name = f"ann-is-early-{number}"
    corpus = writing.make_corpus(2, name=f"Two posts, early {number}")
    study = writing.make_writing_study(name, corpus=corpus, common_texts=2)
    task = writing.tasks_of(study, name)[0]
    page = context.new_page()
    log_in_annotator(page, site, name)
    address = f"{site}/annotate/{study.public_id}/write/{task.position}/"
    field, state = page.locator("#body"), page.locator("[data-draft-state]")

    # Nothing was there before: it becomes the draft.
    with script_held_back(page, "writing.js", lambda: page.goto(address, wait_until="commit")):
        field.fill("Typed at once")
    expect(state).to_contain_text("Draft saved")
    task.refresh_from_db()
    assert task.draft == "Typed at once"

    # A lost connection left another text on this device: its writer says which one goes on.
    context.set_offline(True)
    field.fill("Typed without a connection")
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    page.close()
    context.set_offline(False)
    page = context.new_page()
    field, state = page.locator("#body"), page.locator("[data-draft-state]")
    with script_held_back(page, "writing.js", lambda: page.goto(address, wait_until="commit")):
        field.fill("Typed at once again")
    expect(field).to_have_value("Typed at once again")
    page.get_by_role("button", name="The other one").click()
    expect(field).to_have_value("Typed without a connection")
    expect(state).to_contain_text("Draft saved")
    task.refresh_from_db()
    assert task.draft == "Typed without a connection"


def test_a_judgment(context: BrowserContext, site: str) -> None:
    number = next(NUMBERS)
    name = f"cleo-is-early-{number}"
    corpus = judging.make_corpus(1, name=f"Posts, early {number}", runs=list(judging.RUNS)[:1])
    study = judging.launch(
        judging.make_study(corpus, runs=list(judging.RUNS)[:1]), f"ben-is-early-{number}", name
    )
    position = judging.tasks_of(study, name)[0].position
    page = context.new_page()
    log_in_annotator(page, site, name)
    page.goto(f"{site}/annotate/{study.public_id}/judge/{position}/")
    page.locator("#human_likeness-1").check()
    page.locator("#linguistic_match-2").check()
    with script_held_back(page, "judging.js", lambda: reload_early(page)):
        page.locator("#human_likeness-5").check()
        page.locator("#comment").fill("early")
    for _ in range(2):
        expect(page.get_by_text("Your answers were restored.")).to_be_visible()
        expect(page.locator("#human_likeness-5")).to_be_checked()
        expect(page.locator("#linguistic_match-2")).to_be_checked()
        expect(page.locator("#comment")).to_have_value("early")
        page.reload()
