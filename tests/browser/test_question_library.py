"""The library of questions in Chromium: kept from one study by keyboard, put into another."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, expect

from annotation.models import LibraryQuestion, Study
from tests.annotation.survey.flows import slider
from tests.browser.axe import find_violations
from tests.browser.survey_visitor import PHONE, open_context
from tests.browser.test_designer import Designer, flora, log_in, open_designer  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OWN = "How sure are you of this?"


@pytest.fixture
def studies(flora: User, make_study) -> list[Study]:  # type: ignore[no-untyped-def]  # noqa: F811
    flow = ["consent", "rating", slider(question={"en": OWN, "es": "¿Está seguro?"})]
    return [
        make_study(launched=False, owner=flora, flow=flow, title="First"),
        make_study(launched=False, owner=flora, flow=["consent", "rating"], title="Second"),
    ]


def test_a_question_is_kept_in_one_study_and_put_into_another(
    chromium: Browser, site: str, studies: list[Study]
) -> None:
    context = open_context(chromium)
    first = open_designer(context, site, studies[0])
    first.press(first.step("Question with a line"))
    first.press(first.editor.get_by_role("button", name="Save to library"))
    dialog = first.page.get_by_role("dialog", name="Save to library")
    name = dialog.get_by_label("Name in the library")
    expect(name).to_be_focused()
    expect(name).to_have_value(OWN)
    first.keys.type("My sureness line")
    first.keys.press("Enter")
    expect(dialog).to_have_count(0)
    expect(first.editor.locator(".designer-kept [role=status]")).to_have_text(
        "“My sureness line” is in the library."
    )
    kept = LibraryQuestion.objects.get(name="My sureness line")
    assert kept.content["question"]["es"] == "¿Está seguro?"
    assert not kept.is_shared

    second = Designer(context.new_page(), site, studies[1])
    second.open()
    second.press(second.page.get_by_role("button", name="Add step"))
    second.press(second.page.locator(".flow-choice", has_text="From the library"))
    dialog = second.page.get_by_role("dialog", name="From the library")
    search = dialog.get_by_role("searchbox")
    expect(search).to_be_focused()
    expect(dialog.locator(".designer-offer")).to_have_count(LibraryQuestion.objects.count())
    assert not find_violations(second.page)
    second.keys.type("sureness")
    expect(dialog.locator(".designer-offer")).to_have_count(1)
    second.press(dialog.locator(".designer-offer"))
    expect(dialog).to_have_count(0)
    expect(second.page.locator("main h2")).to_have_text("Question with a line between two words")
    assert second.flow[-1]["question"] == {"en": OWN}
    expect(second.drawn.get_by_text(OWN)).to_be_visible()

    # A question about the participant brings the page that such questions are asked on.
    second.press(second.page.get_by_role("button", name="Add step"))
    second.press(second.page.locator(".flow-choice", has_text="From the library"))
    second.keys.type("dialect background")
    expect(second.page.locator(".designer-offer")).to_have_count(1)
    second.press(second.page.locator(".designer-offer"))
    expect(second.page.locator("main h2")).to_have_text("Demographic questions")
    assert second.kinds[-1] == "demographics"
    assert second.saved().questions.filter(slug="dialect-background").exists()
    second.keys.press("Control+z")
    expect(second.step("Demographic questions")).to_have_count(0)
    assert not second.saved().questions.filter(slug="dialect-background").exists()
    assert not [*first.complaints, *second.complaints]


def test_the_list_finds_renames_and_deletes(chromium: Browser, site: str, studies) -> None:  # type: ignore[no-untyped-def]
    kept = LibraryQuestion.objects.create(
        name="To be renamed",
        kind="page",
        content={"kind": "page", "title": {"en": "Hello"}},
        asks="Hello",
        owner=User.objects.get(username="flora"),
    )
    page = open_context(chromium, viewport=PHONE).new_page()
    log_in(page, site)
    page.goto(site + reverse("admin:annotation_libraryquestion_changelist"))
    page.get_by_role("link", name="To be renamed").click()
    page.get_by_label("Name").fill("Another name")
    # The form's own address lies below the list's.
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/libraryquestion/**")
    kept.refresh_from_db()
    assert kept.name == "Another name"
    page.goto(site + reverse("admin:annotation_libraryquestion_delete", args=[kept.pk]))
    page.get_by_role("button", name="Yes").click()
    page.wait_for_url("**/libraryquestion/")
    assert not LibraryQuestion.objects.filter(pk=kept.pk).exists()
