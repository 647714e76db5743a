"""A newcomer's first hour: from the log-in to a pilot, with groups, scales and a language of their own.

Counted is what the researcher does: clicks, fields that are filled in, keys. What the pages of the
preview ask is answered as a participant does, and not counted.
"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from playwright.sync_api import Browser, Locator, expect

from annotation.models import Study
from tests.annotation.annotators.people import PASSWORD
from tests.browser.accounts import log_in_researcher
from tests.browser.survey_visitor import Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST_ACTIONS = 60
GROUPS = ["bakers", "florists", "plumbers", "tailors", "nurses"]
SCALES = [("lazy", "hard-working"), ("shy", "bold")]


class Hand:
    """Does one thing at a time, and counts."""

    def __init__(self) -> None:
        self.actions = 0

    def click(self, target: Locator) -> None:
        self.actions += 1
        target.click()

    def fill(self, target: Locator, text: str) -> None:
        self.actions += 1
        target.fill(text)

    def choose(self, target: Locator, label: str) -> None:
        self.actions += 1
        target.select_option(label=label)


def test_a_newcomer_pilots_a_study_of_their_own_in_sixty_actions(
    chromium: Browser, site: str
) -> None:
    user = User.objects.create_user("nora", "nora@example.org", is_staff=True)
    names = ["add_socialgroup", "add_traitpair"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    context = open_context(chromium)
    page, hand = context.new_page(), Hand()
    log_in_researcher(page, site, user.username)
    hand.actions += 3  # name, pass phrase, Enter
    assert PASSWORD

    # A study to begin with.
    page.goto(site + reverse("admin:annotation_study_changelist"))
    hand.actions += 1  # “Studies”
    hand.click(page.locator("a.addlink"))
    hand.click(page.get_by_role("link", name="Short ABC survey"))
    hand.fill(page.get_by_label("Title"), "How trades are seen")
    hand.click(page.get_by_role("button", name="Create the draft"))
    page.locator("html[data-ready]").wait_for()
    study = Study.objects.get(owner=user)
    editor, saved = page.locator("[data-editor]"), page.locator("[data-saved]")
    steps = page.locator("[data-steps] .designer-step-title")

    # Groups and scales of one's own.
    hand.click(steps.filter(has_text="Rating page").first)
    hand.click(editor.get_by_role("button", name="Remove 25 groups of the human study"))
    hand.fill(editor.get_by_label("New groups"), ", ".join(GROUPS))
    hand.click(editor.get_by_role("button", name="Add these groups"))
    expect(editor.locator(".picker-chips").first.locator(".picker-chip")).to_have_count(5)
    for n, (low, high) in enumerate(SCALES, start=7):
        hand.fill(editor.get_by_label("Word at the low end"), low)
        hand.fill(editor.get_by_label("Word at the high end"), high)
        hand.click(editor.get_by_role("button", name="Add this scale"))
        expect(editor.locator(".designer-scales li")).to_have_count(n)

    # The consent in other words.
    hand.click(steps.filter(has_text="Consent"))
    hand.fill(editor.get_by_label("What participants read"), "We ask how trades are seen.")

    # A question that only some are asked.
    hand.click(page.get_by_role("button", name="Add step"))
    hand.click(page.locator(".flow-choice", has_text="Question with answers to choose from"))
    hand.fill(editor.get_by_role("textbox", name="Question"), "Was a name hard to remember?")
    hand.fill(editor.get_by_label("Answers 1", exact=True), "Yes")
    hand.fill(editor.get_by_label("Answers 2", exact=True), "No")
    hand.click(editor.get_by_role("button", name="Remove Answers 3"))
    hand.click(editor.get_by_role("button", name="Add a condition"))
    hand.choose(editor.get_by_label("Value"), "failed")

    # Spanish: what the platform knows is there, the rest is typed.
    hand.click(page.locator(".designer-panels button"))
    hand.click(editor.get_by_role("button", name="Add español"))
    page.locator("html[data-ready]").wait_for()
    fields = editor.locator("[data-translations=es] > .designer-translation .flow-input")
    fields.first.wait_for()
    for n in range(fields.count()):
        source = fields.nth(n).locator("xpath=../p[1]").inner_text()
        hand.fill(fields.nth(n), f"{source} (es)")
    expect(saved).to_have_text("Saved")
    expect(page.locator(".designer-errors")).to_have_count(0)

    # The preview, to its end.
    with context.expect_page() as opened:
        hand.click(page.get_by_role("button", name="Preview as participant"))
    visitor = Visitor(opened.value, "mouse")
    opened.value.wait_for_url("**/r/**")
    while not visitor.is_over():
        visitor.answer()
        visitor.move_on()
    expect(opened.value.locator("h1")).to_have_text("Thank you. Your answers are saved.")

    # The pilot.
    hand.click(page.get_by_role("button", name="Start a pilot"))
    page.get_by_text("The study is piloting.").wait_for()
    study.refresh_from_db()
    instrument = study.instruments.get()
    assert (study.status, instrument.is_frozen) == ("piloting", True)
    assert set(instrument.groups.values_list("plural", flat=True)) == set(GROUPS)
    assert {(scale.low, scale.high) for scale in instrument.scales.all()} >= set(SCALES)
    assert instrument.flow[-1]["show_if"] == {"step": "group-name", "is": "failed"}
    texts = instrument.wordings.filter(language="es")
    assert texts.get(key="consent_body").text == "We ask how trades are seen. (es)"
    assert texts.get(key="group.baker.plural").text == "bakers (es)"
    assert study.submissions.get().state == "finished"
    assert hand.actions <= MOST_ACTIONS
