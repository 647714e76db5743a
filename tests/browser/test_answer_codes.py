"""Names of answers in the data follow their texts in the designer, down to what is stored."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from annotation.models import Study
from annotation.steps.free_text import FreeText
from annotation.steps.matrix import Matrix
from annotation.steps.ranking import Ranking
from annotation.studies.lifecycle import launch_study
from tests.browser.survey_visitor import Visitor, open_context
from tests.browser.test_designer import (  # noqa: F401 - a fixture
    DESKTOP,
    Designer,
    flora,
    open_designer,
    take_part,
)

pytestmark = [pytest.mark.browser]


@pytest.fixture
def study(flora, make_study) -> Study:  # type: ignore[no-untyped-def] # noqa: F811
    made: Study = make_study(launched=False, owner=flora, flow=["rating"], scales=("cold-warm",))
    return made


def write(designer: Designer, field: str, text: str) -> None:
    designer.editor.locator(f'[data-field="{field}"]').first.fill(text)
    # Not the page's state before: an edit is stored a moment later.
    expect(designer.page.locator("[data-saved]")).not_to_have_text("Saved")


def test_a_new_question_starts_empty_and_its_answers_are_stored_by_their_texts(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    designer.add("Question with answers to choose from", empty=True)
    # Nothing of an example is in the data: it is only shown where nothing is written yet.
    texts = designer.editor.locator('[data-field="question"], [data-field$=" text"]')
    assert texts.evaluate_all("nodes => nodes.map(node => node.value)") == ["", "", ""]
    expect(designer.field("question")).to_have_attribute("placeholder", re.compile("^For example"))
    expect(designer.page.locator(".designer-errors").first).to_be_visible()
    write(designer, "question", "Do you have neighbors?")
    write(designer, "options 1 text", "Yes")
    write(designer, "options 2 text", "Maybe")
    designer.add(str(FreeText.label))
    # A condition on an answer goes along with its name, and so does a page that was left.
    designer.press(designer.editor.get_by_role("button", name="Add a condition"))
    designer.editor.locator(".flow-comparison select").first.select_option(index=0)
    place = designer.kinds.index("choice")
    assert designer.flow[place + 1]["show_if"] == {"step": "choice", "is": "yes"}
    designer.open()
    designer.press(designer.step("Question with answers to choose from"))
    write(designer, "options 1 text", "Yes, some")
    write(designer, "options 2 text", "No")
    choice = designer.flow[place]
    assert [one["value"] for one in choice["options"]] == ["yes-some", "no"]
    assert designer.flow[place + 1]["show_if"] == {"step": "choice", "is": "yes-some"}

    # A name that the researcher wrote stays, also on a page that is opened again.
    designer.editor.get_by_text("Show names in the data").click()
    write(designer, "options 2 value", "none")
    write(designer, "options 2 text", "Not one")
    assert designer.flow[place]["options"][1]["value"] == "none"
    designer.open()
    designer.press(designer.step("Question with answers to choose from"))
    write(designer, "options 2 text", "No, nobody")
    assert designer.flow[place]["options"][1]["value"] == "none"
    expect(designer.page.locator(".designer-errors")).to_have_count(0)

    launch_study(study=study)
    visitor = Visitor(open_context(chromium).new_page(), choices=frozenset({"yes-some"}))
    visitor.start(f"{site}{study.get_absolute_url()}")
    take_part(visitor)
    answers = study.submissions.get().step_answers
    assert answers.get(key="choice").value == "yes-some"
    assert designer.complaints == []


def test_matrix_rows_and_ranked_items_follow_their_texts(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    for kind, field in ((Matrix, "rows"), (Ranking, "items")):
        designer.add(str(kind.label), empty=True)
        write(designer, f"{field} 1 text", "From books")
        expect(designer.editor.locator(f'[data-field="{field} 1 value"]')).to_have_value(
            "from-books"
        )
        added = designer.flow[designer.kinds.index(kind.name)]
        assert added[field][0]["value"] == "from-books"
