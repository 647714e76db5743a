"""A colleague follows the link of an invitation to its end, with the headers of a real browser.

Two people have browser profiles of their own: an administrator invites and removes, a colleague
joins, edits, decides, and cannot come back.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import MembershipRole, StudyMembership
from annotation.studies.colleagues import invite_colleague
from tests.annotation.annotators.people import PASSWORD
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.browser.accounts import keep_session

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
    page.get_by_role("link", name="turn on a second factor").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Second factor")
    page.locator("[data-secret]").wait_for()


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


def test_a_colleague_joins_works_is_removed_and_cannot_return(chromium: Browser, site: str) -> None:
    """The colleague needs at most 20 clicks and fields from the link to a decision."""
    make_user("site-administrator", is_superuser=True)
    study = make_study(owner=make_user("study-owner"), title="Trades together")
    submission = make_submission(study)
    administrator, colleague = (
        chromium.new_context(viewport={"width": 1100, "height": 800}).new_page() for _n in range(2)
    )
    keep_session(administrator, site, "site-administrator")
    colleagues = site + reverse("admin:annotation_study_colleagues", args=[study.pk])

    def invite_editor() -> str:
        administrator.goto(colleagues)
        administrator.get_by_label("Editor", exact=False).first.check()
        administrator.get_by_role("button", name="Make a link").click()
        made = administrator.locator("#invitation-link").inner_text()
        return site + urlsplit(made).path

    link, second = invite_editor(), invite_editor()
    actions = 0

    def count(_done: None) -> None:
        nonlocal actions
        actions += 1

    colleague.goto(link)
    count(colleague.get_by_label("User name").fill("joining-colleague"))
    count(colleague.get_by_label("Password", exact=True).fill(NEW))
    count(colleague.get_by_label("Password again").fill(NEW))
    count(colleague.get_by_role("button", name="Join the study").click())
    colleague.get_by_text("You now work on “Trades together”.").wait_for()

    overview = colleague.url
    colleague.goto(site + reverse("admin:annotation_study_change", args=[study.pk]))
    count(colleague.locator("[name=contact_email]").fill("trades@example.org"))
    count(colleague.locator("[name=_save]").first.click())
    colleague.wait_for_load_state()
    study.refresh_from_db()
    assert study.contact_email == "trades@example.org"
    review = reverse("admin:annotation_submission_change", args=[submission.pk])
    colleague.goto(site + review)
    count(colleague.get_by_role("button", name=re.compile("^Accept")).first.click())
    colleague.wait_for_load_state()
    assert submission.reviews.get().reviewer.username == "joining-colleague"
    assert actions <= 20

    administrator.goto(colleagues)
    member = administrator.locator("li", has_text="joining-colleague")
    member.get_by_role("button", name="Remove").click()
    administrator.get_by_text("joining-colleague no longer has access.").wait_for()
    administrator.get_by_text("1 link that was not used yet no longer works.").wait_for()
    colleague.goto(site + review)
    expect(colleague).to_have_url(site + reverse("admin:index"))
    for old in (overview, link, second):
        answer = colleague.goto(old)
        assert answer is not None
        assert answer.status == 404
    assert not StudyMembership.objects.filter(study=study).exists()
