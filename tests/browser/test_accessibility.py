"""No violation that axe-core finds on the pages of accounts."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django_otp.oath import totp
from playwright.sync_api import Browser, Page, expect

from annotation.annotators.invitations import invite_annotator
from stereoscope.models import Authenticator
from tests.annotation.annotators.people import PASSWORD, make_annotated_study
from tests.browser.accounts import log_in_researcher, sign_in
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


def test_pages_of_sign_in_and_of_the_audit_log(site: str, page: Page, make_study) -> None:  # type: ignore[no-untyped-def]
    name = "owner-of-the-log"
    owner, _made = User.objects.get_or_create(
        username=name, defaults={"is_staff": True, "is_superuser": True}
    )
    study = make_study(owner=owner)
    log_in_researcher(page, site, name)
    for address, what in (
        (reverse("security"), "second factor, off"),
        (reverse("admin:stereoscope_apitoken_add"), "new token"),
        (reverse("admin:stereoscope_apitoken_changelist"), "tokens"),
        (reverse("admin:annotation_study_history", args=[study.pk]), "history"),
        (reverse("admin:annotation_study_audit", args=[study.pk]), "audit log"),
    ):
        page.goto(site + address)
        scan(page, what)
    page.goto(site + reverse("security"))
    device = Authenticator.objects.get(user=owner)
    page.get_by_label("Code").fill(f"{totp(device.bin_key):06d}")
    page.get_by_role("button", name="Turn it on").click()
    expect(page.get_by_text("Keep these recovery codes.")).to_be_visible()
    scan(page, "recovery codes")
    codes = page.locator(".recovery-codes code").all_inner_texts()
    page.context.clear_cookies()
    sign_in(page, site, name)
    expect(page.get_by_role("heading", name="One more step")).to_be_visible()
    scan(page, "second factor asked for")
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"**{reverse('admin:index')}")
    page.goto(site + reverse("admin:stereoscope_apitoken_add"))
    page.get_by_label("Name").fill("nightly export")
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator("[data-key]")).to_be_visible()
    scan(page, "token shown once")
