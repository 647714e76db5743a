"""A researcher decides between counterparts in Chromium, by the keyboard alone."""

from __future__ import annotations

import itertools

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.counterparts.adjudication import CaseState, load_cases
from annotation.models import Adjudication, Study
from tests.annotation.counterparts.studies import (
    make_corpus,
    make_writing_study,
    tasks_of,
    write,
)
from tests.annotation.studies.people import make_user
from tests.browser.accounts import log_in_researcher

pytestmark = pytest.mark.browser

NUMBERS = itertools.count(1)
BODIES = {"ann": "He always leaves now", "ben": "He will leave soon"}


@pytest.fixture
def study(site: str) -> Study:
    """Ann and Ben differ on all of three texts; alice owns the study."""
    number = next(NUMBERS)
    alice = make_user(f"alice-adjudicates-{number}")
    names = {f"{name}-{number}-adjudicated": body for name, body in BODIES.items()}
    corpus = make_corpus(3, name=f"Three posts {number}")
    study = make_writing_study(*names, corpus=corpus, common_texts=3, owner=alice)
    for name, body in names.items():
        for task in tasks_of(study, name):
            write(task, f"{body} {task.text.slug}")
    return study


def log_in(page: Page, site: str, study: Study) -> None:
    assert study.owner is not None
    log_in_researcher(page, site, study.owner.username)


def decided(study: Study) -> dict[str, str]:
    return {one.text.slug: one.body for one in Adjudication.objects.filter(study=study)}


def test_texts_are_decided_edited_and_undone_by_keyboard_alone(
    site: str, study: Study, chromium: Browser
) -> None:
    page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(30_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    log_in(page, site, study)

    def case(slug: str) -> str:
        return site + reverse("admin:annotation_writingstudy_case", args=[study.pk, slug])

    overview = site + reverse("admin:annotation_writingstudy_adjudication", args=[study.pk])
    page.goto(overview)
    page.get_by_role("link", name="Decide 3 texts").press("Enter")
    page.wait_for_url(case("text-000"))

    # What each of them changed is marked; nobody is named.
    expect(page.locator("[data-option]").first.locator("ins").first).to_contain_text("added:")
    expect(page.locator("main, .page").first).not_to_contain_text("adjudicated")

    # Without a choice nothing is decided.
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing was decided.")).to_be_visible()
    assert decided(study) == {}

    # The first text: the second version as it is.
    page.keyboard.press("2")
    expect(page.get_by_role("radio").nth(1)).to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(case("text-001"))
    assert decided(study) == {"text-000": f"{BODIES['ben']} text-000"}

    # The second one: the first version, edited. Letters in the field are letters.
    page.keyboard.press("1")
    page.keyboard.press("e")
    field = page.get_by_role("textbox", name="Another counterpart")
    expect(field).to_be_focused()
    expect(field).to_have_value(f"{BODIES['ann']} text-001")
    page.keyboard.type(" just now")
    expect(page.get_by_role("radio", name="Another counterpart")).to_be_checked()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(case("text-002"))
    assert decided(study)["text-001"] == f"{BODIES['ann']} text-001 just now"

    # Undone, looked at again, and decided as not interpretable; K and J go to and fro.
    page.keyboard.press("u")
    page.wait_for_url(case("text-001"))
    expect(page.get_by_text("is undone")).to_be_visible()
    assert set(decided(study)) == {"text-000"}
    page.keyboard.press("j")
    page.wait_for_url(case("text-002"))
    page.keyboard.press("k")
    page.wait_for_url(case("text-001"))
    page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(case("text-002"))

    # The last one: words of one's own; out of the field, and on.
    page.keyboard.press("w")
    page.keyboard.type("He is about to leave")
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Another counterpart")).not_to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(overview)
    assert decided(study) == {
        "text-000": f"{BODIES['ben']} text-000",
        "text-001": "",
        "text-002": "He is about to leave",
    }
    assert {one.state for one in load_cases(study)} == {CaseState.DECIDED}
    undo = page.get_by_role("button", name="Undo the last decision")
    undo.press("Enter")
    page.wait_for_url(case("text-002"))
    assert set(decided(study)) == {"text-000", "text-001"}
    assert complaints == []


def test_a_decision_fits_a_phone(site: str, study: Study, chromium: Browser) -> None:
    page = chromium.new_context(viewport={"width": 360, "height": 740}).new_page()
    page.set_default_timeout(30_000)
    log_in(page, site, study)
    page.goto(site + reverse("admin:annotation_writingstudy_case", args=[study.pk, "text-000"]))
    page.get_by_role("radio").nth(0).check()
    page.get_by_role("button", name="Edit the chosen one").click()
    expect(page.get_by_role("textbox", name="Another counterpart")).to_be_focused()
    assert not page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
