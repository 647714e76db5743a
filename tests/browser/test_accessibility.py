"""No violation that axe-core finds on the pages of annotators' accounts."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.annotators.invitations import invite_annotator
from tests.annotation.annotators.people import PASSWORD, make_annotated_study
from tests.browser.axe import open_scanned_page, scan

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def page(chromium: Browser) -> Page:
    return open_scanned_page(chromium)


def test_pages_of_annotators_accounts(site: str, page: Page) -> None:
    study = make_annotated_study()
    place = invite_annotator(study=study)
    log_in = f"{site}{reverse('annotators:login')}"
    page.goto(log_in)
    scan(page, "annotators' log-in")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".problem").first).to_be_visible()
    scan(page, "annotators' log-in, nothing filled in")
    page.get_by_label("User name").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    scan(page, "annotators' log-in, refused")
    page.goto(site + reverse("annotators:join", args=["nothing"]))
    scan(page, "no invitation")
    page.goto(site + reverse("annotators:join", args=[place.invitation_token]))
    scan(page, "invitation")
    page.get_by_role("button", name="Join the study").click()
    expect(page.locator(".problem").first).to_be_visible()
    scan(page, "invitation, nothing filled in")
    page.get_by_label("User name").fill(f"ann-{study.public_id}".lower())
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Join the study").click()
    page.wait_for_url(f"**{reverse('annotators:home')}")
    scan(page, "annotator's studies")
    page.goto(site + reverse("annotators:password"))
    scan(page, "password")
    page.get_by_role("button", name="Change password").click()
    expect(page.locator(".problem").first).to_be_visible()
    scan(page, "password, nothing filled in")
