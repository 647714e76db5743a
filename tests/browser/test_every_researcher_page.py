"""No violation that axe finds on any page of researchers, light and dark, phone and desktop, and
nothing that the content security policy refuses, no error of a script, and on a phone nothing that
a finger would miss.

The pages come from the addresses that the admin knows: a page that is added is scanned with them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Error, Page

from annotation.models import LibraryQuestion, SocialGroup, Study, TraitPair
from annotation.studies.colleagues import give_team_role
from annotation.studies.teams import create_team
from probing.models import LanguageModel
from tests.annotation.counterparts.studies import make_corpus, make_writing_study
from tests.annotation.studies.people import make_submission
from tests.annotation.survey.guises import make_pairs
from tests.browser.accounts import log_in_researcher
from tests.browser.axe import find_violations, open_scanned_page
from tests.browser.survey_visitor import PHONE
from tools.researcher_pages import list_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAME = "reads-every-page"
# What a page is for takes a finger's width; links in lists, and what else stands in rows, the 24
# pixels of WCAG 2.2 (2.5.8). Links within a sentence are as high as its lines.
MAIN = ".button:not(.row-action), [type=submit]:not(#searchbar-submit), #submit-row :is(a, button)"
ROWS = "table a, ul a, ol a, dl a, li button, td button, summary, #searchbar-submit"
SMALL_TARGETS = """([selector, least]) => {
  const small = [];
  for (const one of document.querySelectorAll(selector)) {
    if (one.closest("p, [hidden]") || !one.checkVisibility({ visibilityProperty: true })) continue;
    const box = one.getBoundingClientRect();
    if (box.height < least - 0.5 || box.width < least - 0.5) {
      small.push(`${one.outerHTML.slice(0, 160)}: ${box.width} by ${box.height}`);
    }
  }
  return small;
}"""


@pytest.fixture
def page(chromium: Browser) -> Page:
    return open_scanned_page(chromium)


def make_rows(owner: User, study: Study) -> dict[str, int]:
    """Return a row of every kind that a page is about, by the name of its model."""
    submission = make_submission(study)
    team = create_team(name=f"Lab of {owner}", owner=owner)
    give_team_role(study=study, team=team, role="viewer")
    corpus = make_corpus(name=f"Posts of {owner}")
    names = (f"ann-of-{owner}", f"ben-of-{owner}")
    writing = make_writing_study(*names, corpus=corpus, owner=owner)
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


def test_every_page_of_researchers_is_read_by_all_and_hit_by_a_finger(
    site: str,
    page: Page,
    make_study,  # type: ignore[no-untyped-def]
) -> None:
    owner = User.objects.create_superuser(NAME)
    LanguageModel.objects.create(name="i", location="/nowhere")  # a link as narrow as its name
    log_in_researcher(page, site, NAME)
    found, seen = [], 0
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if is_refusal(said.text) else None)
    page.on("pageerror", lambda error: refused.append(f"{page.url}: {error}"))
    for name in open_pages(page, site, make_rows(owner, make_study(owner=owner))):
        seen += 1
        found += [f"{name}: {line}" for line in find_violations(page)]
        found += [f"{name}: {line}" for line in find_small_targets(page)]
    page.goto(site + reverse("admin:index"))
    assert not found, "\n".join(found)
    assert not refused, "\n".join(refused)
    assert seen > 50


def find_small_targets(page: Page) -> list[str]:
    """Return what a finger would miss on the page as it stands, on a phone."""
    device = page.context.new_cdp_session(page)
    page.set_viewport_size(PHONE)
    device.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    small = [
        line
        for wanted in ((MAIN, 44), (ROWS, 24))
        for line in page.evaluate(SMALL_TARGETS, list(wanted))
    ]
    device.detach()  # with which the finger leaves
    return small


def open_pages(page: Page, site: str, rows: dict[str, int]) -> Iterator[str]:
    """Open every page, one after the other; yields its name and address."""
    for name, address in list_pages(rows):
        # Some only answer what is sent to them, hold for rows of another sort, or are files.
        try:
            answer = page.goto(site + address)
        except Error as error:
            if "Download is starting" not in error.message:
                raise
            continue
        if answer is None or answer.status != 200 or "html" not in answer.headers["content-type"]:
            continue
        if page.locator("body main, #main").count() == 0:
            continue  # a part of a page, fetched by its script
        yield f"{name} {address}"


def is_refusal(said: str) -> bool:
    return "Content Security Policy" in said or "Alpine" in said
