"""The review queue by keyboard, on a phone, and to a program that checks accessibility."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import CheckKind, PageEvent, Rating, Study, Submission
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.browser.axe import EVERY_RULE
from tests.browser.test_researcher import log_in, page, scrolls_sideways  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study() -> Study:
    study = make_study(owner=make_user("alice"), title="Group ratings, spring", reward_cents=200)
    for minutes in (30, 20):
        make_submission(study, minutes=minutes)
    failed = make_submission(study, minutes=10, failed=[CheckKind.REPEATED_GROUP])
    ratings = list(Rating.objects.filter(assignment__submission=failed))
    for number, rating in enumerate(ratings):
        rating.value = (number * 37) % 101
    Rating.objects.bulk_update(ratings, ["value"])
    return study


def queue(study: Study) -> str:
    return reverse("admin:annotation_submission_queue", args=[study.pk])


def test_submissions_are_decided_without_a_pointer(page: Page, live_server, study: Study) -> None:  # noqa: F811
    log_in(page, live_server.url)
    page.goto(live_server.url + queue(study))
    rows = page.locator("[data-row]")
    expect(rows).to_have_count(3)

    # In a field the letters are letters.
    name = page.get_by_label("Name begins with")
    name.press_sequentially("xja")
    expect(name).to_have_value("xja")
    expect(page.locator("[name=chosen]:checked")).to_have_count(0)
    name.fill("")
    name.blur()

    page.keyboard.press("?")
    expect(page.get_by_text("next and previous submission")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_text("next and previous submission")).to_be_hidden()
    page.evaluate("document.activeElement.blur()")

    # The first two: j, x, j, x, then a asks before anything is done.
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator("[data-chosen]")).to_have_text("2 chosen")
    page.keyboard.press("a")
    expect(page.get_by_text("2 people, $4.00")).to_be_visible()
    assert not Submission.objects.exclude(data_decision="waiting").exists()
    # The page that follows has its keys once it is loaded, not as soon as it is seen.
    with page.expect_navigation():
        page.get_by_role("button", name="Accept 2").press("Enter")
    expect(page.get_by_text("2 submissions decided.")).to_be_visible()
    expect(rows).to_have_count(1)

    # e takes the row that one is at; Enter opens it.
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_text("1 person, $2.00")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("link", name="Go back").click()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Attention checks")).to_be_visible()
    assert sorted(Submission.objects.values_list("data_decision", flat=True)) == [
        "accepted",
        "accepted",
        "waiting",
    ]
    assert page.complaints == []


def test_keys_can_be_switched_off_and_stay_off(page: Page, live_server, study: Study) -> None:  # noqa: F811
    log_in(page, live_server.url)
    page.goto(live_server.url + queue(study))
    page.keyboard.press("?")
    page.get_by_label("Use keys on this page").uncheck()
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("[name=chosen]:checked")).to_have_count(0)
    # All at once, by pointer; ordered by a head.
    page.get_by_label("Choose all on this page").check()
    expect(page.locator("[data-chosen]")).to_have_text("3 chosen")
    page.get_by_role("link", name="Flags", exact=True).click()
    expect(page.get_by_role("columnheader", name="Flags")).to_have_attribute(
        "aria-sort", "ascending"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_queue_fits_a_phone(page: Page, live_server, study: Study, scheme: str) -> None:  # noqa: F811
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, live_server.url)
    page.goto(live_server.url + queue(study))
    assert not scrolls_sideways(page)
    # Blocks to the eye, rows of a table to everybody else.
    expect(page.get_by_role("row", name=re.compile("^Choose S-"))).to_have_count(3)
    expect(page.locator(".badge", has_text="Lines at one place").first).to_be_visible()
    page.locator("[name=chosen]").first.check()
    page.get_by_role("button", name="Exclude data, pay").click()
    expect(page.get_by_text("1 person, $2.00")).to_be_visible()
    assert not scrolls_sideways(page)
    assert page.complaints == []


def test_words_of_a_submission_stand_in_lines_on_a_phone(
    page: Page,  # noqa: F811
    live_server,
    study: Study,
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    log_in(page, live_server.url)
    page.goto(live_server.url + queue(study))
    with page.expect_navigation():
        page.get_by_role("link", name=re.compile("^S-")).first.click()
    expect(page.get_by_role("heading", name="Quality flags")).to_be_visible()
    widths = page.locator(".table-frame td.wrap").evaluate_all("all => all.map(e => e.offsetWidth)")
    assert widths
    # A word such as “straightest” takes 80 pixels.
    assert min(widths) >= 120
    # Names of groups break between words, also where no times below them keep columns wide.
    PageEvent.objects.all().delete()
    page.reload()
    heads = page.locator(".rating-table thead th.number")
    assert max(heads.evaluate_all("all => all.map(e => e.offsetHeight)")) < 90
    assert not scrolls_sideways(page)


def test_axe_finds_nothing_in_the_queue_and_its_confirmation(
    page: Page,  # noqa: F811
    live_server,
    study: Study,
) -> None:
    log_in(page, live_server.url)
    # Axe is a script from outside, which the page's own policy would not run.
    context = page.context.browser.new_context(
        bypass_csp=True, storage_state=page.context.storage_state()
    )
    scanned = context.new_page()
    scanned.set_default_timeout(20_000)
    for width in (1280, 390):
        scanned.set_viewport_size({"width": width, "height": 844})
        scanned.goto(live_server.url + queue(study))
        scanned.locator("[data-help] summary").click()
        assert find_violations(scanned) == []
        scanned.locator("[name=chosen]").first.check()
        scanned.get_by_role("button", name="Exclude data, reject pay").click()
        expect(scanned.get_by_label("Ground", exact=True)).to_be_visible()
        assert find_violations(scanned) == []
    context.close()


def find_violations(scanned: Page) -> list[str]:
    scanned.wait_for_load_state()
    scanned.evaluate(AXE_SCRIPT)
    found = scanned.evaluate("options => axe.run('.page', options)", EVERY_RULE)["violations"]
    return [f"{one['help']}: {[node['html'] for node in one['nodes'][:3]]}" for one in found]
