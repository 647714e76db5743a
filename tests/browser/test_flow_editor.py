"""A researcher builds a survey with every kind of step by keyboard, previews and launches it, and
a participant takes it."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.instruments.step_kinds import StepKind
from annotation.models import Study, Submission
from tests.browser.survey_visitor import Visitor, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TABS_AT_MOST = 400
IS_BEFORE_FOCUS = """
node => !!(node.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING)
"""
PASSWORD = "a long pass phrase"
FLOW = [
    "consent",
    "instructions",
    "rating",
    "group_name",
    "rating",
    "marked_traits",
    "repeat",
    "demographics",
]
# What passes the checks as they stand in a new step.
RIGHT = frozenset({"somewhat-disagree", "people-in-america", "tablet"})


@pytest.fixture
def flora(site: str) -> User:
    """A researcher on the running platform, which several tests share."""
    # The server hashes passwords as in production, unlike the tests' own settings.
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "salt")
    user, _ = User.objects.update_or_create(
        username="flora", defaults={"password": hashed, "is_staff": True}
    )
    return user


@pytest.fixture
def study(flora: User, make_study) -> Study:  # type: ignore[no-untyped-def]
    study: Study = make_study(
        launched=False, owner=flora, flow=FLOW, decide_by_checks=True, title="Built by keyboard"
    )
    return study


class Editor:
    """The editor of a flow, driven by keys alone."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = page.keyboard

    def reach(self, target: Locator) -> None:
        """Press Tab until the target has the focus, or Shift and Tab where it lies before."""
        node = target.element_handle()
        for _ in range(TABS_AT_MOST):
            if node.evaluate("node => node === document.activeElement"):
                return
            is_before = node.evaluate(IS_BEFORE_FOCUS)
            self.keys.press("Shift+Tab" if is_before else "Tab")
        raise AssertionError(f"{target} cannot be reached with the Tab key")

    def press(self, target: Locator) -> None:
        self.reach(target)
        self.keys.press("Enter")

    def add(self, label: str) -> None:
        self.press(self.page.get_by_role("button", name="Add a step"))
        self.press(self.page.locator(".flow-choice", has_text=label))
        expect(self.page.locator(".flow-title:focus")).to_contain_text(label)

    def card(self, label: str) -> Locator:
        return self.page.locator(
            ".flow-card", has=self.page.locator(".flow-title b", has_text=label)
        )

    def button(self, label: str, name: str) -> Locator:
        return self.card(label).locator(".flow-head").get_by_role("button", name=name)

    @property
    def flow(self) -> list:  # type: ignore[type-arg]
        return json.loads(self.page.locator("textarea[name=flow]").input_value())

    @property
    def kinds(self) -> list[str]:
        return [item if isinstance(item, str) else item["kind"] for item in self.flow]


def log_in(page: Page, site: str) -> None:
    page.goto(site + reverse("admin:login"))
    page.fill("input[name=username]", "flora")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(site + reverse("admin:index"))


def test_a_flow_is_built_by_keyboard_previewed_launched_and_taken(
    chromium: Browser, site: str, study: Study
) -> None:
    context = open_context(chromium)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    log_in(page, site)
    page.goto(f"{site}{reverse('admin:annotation_study_instrument', args=[study.pk])}")
    editor = Editor(page)
    status = page.locator(".flow-editor [role=status]")
    verdict = page.locator(".flow-verdict")

    for label in (
        "Check: type one trait marked high, one marked low",
        "Practice page",
        "Check: a question about the instructions",
        "Check: an answer that the text asks for",
        "Check: a statement that nobody can affirm",
        "Question with answers to choose from",
        "Question with a text as its answer",
        "What the study was about",
    ):
        editor.add(label)
    assert set(editor.kinds) == set(StepKind)
    assert editor.kinds.index("debrief") == len(editor.kinds) - 1
    expect(verdict).to_have_text("The steps fit together.")

    # Order: one place up by its button, which keeps the focus; a number leads to any place.
    before = editor.kinds.index("free_text")
    up = editor.button("Question with a text", "Move Question with a text as its answer up")
    editor.press(up)
    assert editor.kinds.index("free_text") == before - 1
    expect(up).to_be_focused()
    place = editor.card("Question with a text").locator(".flow-number")
    editor.reach(place)
    editor.keys.type(str(before + 1))
    editor.keys.press("Enter")
    assert editor.kinds.index("free_text") == before
    expect(status).to_have_text(
        f"Question with a text as its answer is step {before + 1} of {len(editor.kinds)} now."
    )

    # A condition by controls: the fourth answer source is the question just before.
    writing = editor.card("Question with a text")
    if writing.locator(".flow-body").is_hidden():
        editor.press(writing.locator(".flow-title"))
    editor.press(writing.get_by_role("button", name="Add a condition"))
    source = writing.locator(".flow-comparison select").first
    expect(source).to_be_focused()
    editor.keys.press("End")
    assert editor.flow[before]["show_if"] == {"step": "choice", "is": "phone"}
    editor.reach(writing.get_by_label("Value"))
    editor.keys.press("ArrowDown")
    assert editor.flow[before]["show_if"] == {"step": "choice", "is": "tablet"}

    # What is wrong is told at its step, and goes when it is mended.
    choice = editor.card("Question with answers")
    question = choice.get_by_role("textbox").first
    if question.is_hidden():
        editor.press(choice.locator(".flow-title"))
    editor.reach(question)
    words = question.input_value()
    editor.keys.press("Control+a")
    editor.keys.press("Delete")
    expect(choice.locator(".flow-problems")).to_contain_text("The text is empty.")
    expect(question).to_have_attribute("aria-invalid", "true")
    editor.keys.type(words)
    expect(choice.locator(".flow-problems")).to_be_hidden()

    # Removing can be undone.
    editor.press(editor.button("What the study was about", "Remove What the study was about"))
    assert "debrief" not in editor.kinds
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    editor.keys.press("Enter")
    assert editor.kinds[-1] == "debrief"

    built = editor.flow
    with page.expect_navigation():
        editor.press(page.get_by_role("button", name="Save", exact=True))
    assert study.instruments.get().flow == built

    preview_button = page.get_by_role("button", name="Preview as participant")
    with context.expect_page() as opened:
        editor.press(preview_button)
    previewer = Visitor(opened.value, "keyboard", choices=RIGHT)
    opened.value.wait_for_url("**/r/**")
    expect(opened.value.get_by_text("Preview. Nothing here counts as an answer.")).to_be_visible()
    while not opened.value.locator("[name=try]").count():
        previewer.answer()
        previewer.move_on()
    # A wrong answer to the question about the instructions: one more try, which begins empty.
    previewer.tab_to(opened.value.locator("[name=choice]").first)
    previewer.page.keyboard.press("Space")
    previewer.move_on()
    expect(opened.value.get_by_text("That was not the right answer.")).to_be_visible()
    expect(opened.value.locator("[name=choice]:checked")).to_have_count(0)
    take_part(previewer)
    check = study.submissions.get().checks.get(kind="comprehension")
    assert (check.passed, check.answer) == (True, {"tries": ["my-own", "people-in-america"]})
    assert study.submissions.get().origin == "preview"

    page.goto(f"{site}{reverse('admin:annotation_study_overview', args=[study.pk])}")
    editor.press(page.get_by_role("button", name="Launch study"))
    page.get_by_text("The study is live.").wait_for()
    assert complaints == []

    visitor = Visitor(open_context(chromium).new_page(), "keyboard", choices=RIGHT)
    visitor.start(f"{site}{study.get_absolute_url()}")
    take_part(visitor)
    submission = study.submissions.get(origin="live")
    assert (submission.state, submission.outcome) == ("finished", "completed")
    assert (submission.checks_passed, submission.data_decision) == (True, "accepted")
    assert submission.checks.count() == 7
    assert {answer.key: answer.value for answer in submission.step_answers.all()} == {
        "choice": "tablet",
        "free-text": "It was clear.",
    }
    assert submission.pages.count() == len(built)
    assert set(submission.pages.values_list("client__pointer", flat=True)) == {"keyboard"}


def take_part(visitor: Visitor) -> None:
    while not visitor.is_over():
        visitor.answer()
        visitor.move_on()
    expect(visitor.page.locator("h1")).to_have_text("Thank you. Your answers are saved.")
    assert visitor.complaints == []


def test_steps_are_dragged_by_pointer_and_escape_leaves_them(
    chromium: Browser, site: str, study: Study
) -> None:
    page = open_context(chromium).new_page()
    log_in(page, site)
    page.goto(f"{site}{reverse('admin:annotation_study_instrument', args=[study.pk])}")
    editor = Editor(page)
    # Once the steps are checked, no card changes its height any more.
    expect(page.locator(".flow-verdict")).to_have_text("The steps fit together.")

    def drag(label: str, onto: str, *, release: bool) -> None:
        grip = editor.card(label).locator(".flow-grip").first
        grip.scroll_into_view_if_needed()
        start, target = grip.bounding_box(), editor.card(onto).first.bounding_box()
        assert start is not None
        assert target is not None
        page.mouse.move(start["x"] + 5, start["y"] + 10)
        page.mouse.down()
        page.mouse.move(start["x"] + 5, target["y"] + target["height"] - 2, steps=8)
        if not release:
            page.keyboard.press("Escape")
        page.mouse.up()

    drag("Instructions", "Check: name the group", release=True)
    moved = ["consent", "rating", "group_name", "instructions", *FLOW[4:]]
    assert editor.flow == moved
    drag("Instructions", "Demographic questions", release=False)
    assert editor.flow == moved
    assert not Submission.objects.filter(study=study).exists()
