"""A colleague follows the link of an invitation to its end, with the headers of a real browser."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import MembershipRole, StudyMembership
from annotation.studies.colleagues import invite_colleague
from tests.annotation.annotators.people import PASSWORD
from tests.annotation.studies.people import make_study, make_user

pytestmark = [pytest.mark.browser]
NEW = "quiet river stones"


@pytest.fixture
def page(chromium: Browser) -> Page:
    opened = chromium.new_context(viewport={"width": 1100, "height": 800}).new_page()
    opened.set_default_timeout(20_000)
    return opened


def invite(title: str) -> str:
    owner = User.objects.filter(username="link-owner").first() or make_user("link-owner")
    study = make_study(owner=owner, title=title)
    _made, token = invite_colleague(study=study, role=MembershipRole.EDITOR, invited_by=owner)
    return reverse("admin:annotation_study_join", args=[token])


def test_a_colleague_without_an_account_signs_up_and_lands_in_the_study(
    page: Page, site: str
) -> None:
    page.goto(site + invite("Trades by link"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Work on “Trades by link”?")
    page.get_by_label("User name").fill("newly-invited")
    page.get_by_label("Password", exact=True).fill(NEW)
    page.get_by_label("Password again").fill("another")
    page.get_by_role("button", name="Join the study").click()
    page.get_by_text("The two passwords differ.").wait_for()
    page.get_by_label("Password", exact=True).fill(NEW)
    page.get_by_label("Password again").fill(NEW)
    page.get_by_role("button", name="Join the study").click()
    page.get_by_text("You now work on “Trades by link”.").wait_for()
    assert re.search(r"/study/\d+/overview/$", page.url)
    user = User.objects.get(username="newly-invited")
    assert StudyMembership.objects.get(user=user).role == MembershipRole.EDITOR
    assert not user.is_superuser
    assert not user.get_all_permissions()


def test_a_colleague_with_an_account_is_led_back_after_signing_in(page: Page, site: str) -> None:
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "pepper")
    make_user("ready-invited")
    User.objects.filter(username="ready-invited").update(password=hashed)
    page.goto(site + invite("Groups by link"))
    page.get_by_role("link", name="Sign in with it").click()
    page.locator("[name=username]").fill("ready-invited")
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("[name=password]").press("Enter")
    page.get_by_role("heading", name="Work on “Groups by link”?").wait_for()
    with page.expect_navigation() as joined:
        page.get_by_role("button", name="Join the study").click()
    assert joined.value.status == 200
    page.get_by_text("You now work on “Groups by link”.").wait_for()
