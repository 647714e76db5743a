"""No violation that axe finds on any page of researchers, light and dark, phone and desktop, and
nothing that the content security policy refuses, and no error of a script.

The pages come from the addresses that the admin knows: a page that is added is scanned with them.
"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page

from annotation.models import LibraryQuestion, SocialGroup, Study, TraitPair
from annotation.studies.colleagues import give_team_role
from annotation.studies.teams import create_team
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.studies.people import make_submission
from tests.annotation.survey.guises import make_pairs
from tests.browser.accounts import log_in_researcher
from tests.browser.axe import find_violations, open_scanned_page
from tools.researcher_pages import list_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAME = "reads-every-page"


@pytest.fixture
def page(chromium: Browser) -> Page:
    return open_scanned_page(chromium)


def make_rows(owner: User, study: Study) -> dict[str, int]:
    """Return a row of every kind that a page is about, by the name of its model."""
    submission = make_submission(study)
    team = create_team(name="Lab", owner=owner)
    give_team_role(study=study, team=team, role="viewer")
    writing = make_writing_study("ann-of-pages", "ben-of-pages", owner=owner)
    return {
        "study": study.pk,
        "instrument": study.instruments.get().pk,
        "submission": submission.pk,
        "writingstudy": writing.pk,
        "corpus": make_pairs(3, owner=owner).pk,
        "socialgroup": SocialGroup.objects.earliest("pk").pk,
        "libraryquestion": LibraryQuestion.objects.earliest("pk").pk,
        "traitpair": TraitPair.objects.earliest("pk").pk,
        "team": team.pk,
    }


def test_axe_finds_nothing_on_any_page_of_researchers(site: str, page: Page, make_study) -> None:  # type: ignore[no-untyped-def]
    owner = User.objects.create_superuser(NAME)
    log_in_researcher(page, site, NAME)
    found, seen = [], 0
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if is_refusal(said.text) else None)
    page.on("pageerror", lambda error: refused.append(f"{page.url}: {error}"))
    for name, address in list_pages(make_rows(owner, make_study(owner=owner))):
        # Some only answer what is sent to them, hold for rows of another sort, or are files.
        asked = page.request.get(site + address)
        if asked.status != 200 or "html" not in asked.headers.get("content-type", ""):
            continue
        page.goto(site + address)
        if page.locator("body main, #main").count() == 0:
            continue  # a part of a page, fetched by its script
        seen += 1
        found += [f"{name} {address}: {line}" for line in find_violations(page)]
    page.goto(site + reverse("admin:index"))
    assert not found, "\n".join(found)
    assert not refused, "\n".join(refused)
    assert seen > 50


def is_refusal(said: str) -> bool:
    return "Content Security Policy" in said or "Alpine" in said
