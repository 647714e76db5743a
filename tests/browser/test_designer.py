"""The designer in Chromium: every kind of step is built by keyboard, launched and taken; every edit
is seen in the preview, can be undone, and is never lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FrameLocator,
    Locator,
    Page,
    Route,
    expect,
)

from annotation.instruments.languages.language_service import add_known_language
from annotation.models import Instrument, Study, Submission
from annotation.steps.choice import Choice
from annotation.steps.instructions import Debrief
from annotation.steps.kind import KINDS, Menu
from tests.browser.axe import open_scanned_page
from tests.browser.axe import scan as check_page
from tests.browser.survey_visitor import DESKTOP, Visitor, open_context
from tests.waiting import wait_until

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
ROWS = ("the-questions-were-clear", "i-knew-the-groups-that-i-was-asked-a")
# What passes the checks as they stand in a new step.
RIGHT = frozenset({"somewhat-disagree", "people-in-america", "on-a-tablet"})


@pytest.fixture
def flora(site: str) -> User:
    """A researcher on the running platform, which several tests share."""
    # The server hashes passwords as in production, unlike the tests' own settings.
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "salt")
    user, _ = User.objects.update_or_create(
        username="flora", defaults={"password": hashed, "is_staff": True}
    )
    user.user_permissions.add(Permission.objects.get(codename="add_study"))
    return user


@pytest.fixture
def study(flora: User, make_study) -> Study:  # type: ignore[no-untyped-def]
    study: Study = make_study(
        launched=False, owner=flora, flow=FLOW, decide_by_checks=True, title="Built by keyboard"
    )
    return study


class Designer:
    """The designer of one study; `press` and `reach` use keys alone."""

    def __init__(self, page: Page, site: str, study: Study) -> None:
        self.page, self.keys, self.study = page, page.keyboard, study
        self.complaints: list[str] = []
        page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.address = f"{site}{reverse('admin:annotation_study_instrument', args=[study.pk])}"

    def open(self) -> None:
        self.page.goto(self.address)
        self.page.locator("html[data-ready]").wait_for()

    def reach(self, target: Locator) -> None:
        """Press Tab until the target has the focus, or Shift and Tab where it lies before."""
        for _ in range(TABS_AT_MOST):  # found anew each time: an answer may draw a part again
            if target.evaluate("node => node === document.activeElement"):
                return
            is_before = target.evaluate(IS_BEFORE_FOCUS)
            self.keys.press("Shift+Tab" if is_before else "Tab")
        raise AssertionError(f"{target} cannot be reached with the Tab key")

    def press(self, target: Locator) -> None:
        self.reach(target)
        self.keys.press("Enter")

    def add(self, label: str, *, empty: bool = False) -> None:
        """Add a step; a question of one's own gets the words of its examples."""
        self.press(self.page.get_by_role("button", name="Add step"))
        self.press(self.page.locator(".flow-choice", has_text=label))
        expect(self.page.locator("main h2")).to_have_text(label)
        kind = next(kind for kind in KINDS.values() if str(kind.label) == label)
        if kind.menu == Menu.QUESTIONS and not empty:
            self.fill_in(kind.new)

    def fill_in(self, sample: dict[str, Any]) -> None:
        for name, value in sample.items():
            if isinstance(value, dict):
                self.field(name).fill(value["en"])
            elif isinstance(value, list) and name != "points":
                for n, row in enumerate(value, start=1):
                    if not self.field(f"{name} {n} text").count():
                        first = self.page.locator(f'[data-field="{name} 1 text"]')
                        rows = self.editor.get_by_role("group").filter(has=first)
                        rows.get_by_role("button", name=re.compile("^Add an")).click()
                    self.field(f"{name} {n} text").fill(row["text"]["en"])

    def field(self, name: str) -> Locator:
        return self.page.locator(f'[data-editor] [data-field="{name}"]')

    def step(self, label: str) -> Locator:
        """Return the button of a step in the outline."""
        return self.page.locator("[data-steps] .designer-step-title", has_text=label)

    @property
    def editor(self) -> Locator:
        return self.page.locator("[data-editor]")

    @property
    def drawn(self) -> FrameLocator:
        """What stands in the frame of the preview."""
        return self.page.frame_locator("[data-frame]")

    def saved(self) -> Instrument:
        """Return what is stored once the page says so."""
        expect(self.page.locator("[data-saved]")).to_have_text("Saved")
        return self.study.instruments.get()

    @property
    def flow(self) -> list:  # type: ignore[type-arg]
        return self.saved().flow

    @property
    def kinds(self) -> list[str]:
        return [item if isinstance(item, str) else item["kind"] for item in self.flow]


def log_in(page: Page, site: str) -> None:
    page.goto(site + reverse("admin:login"))
    page.fill("input[name=username]", "flora")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(site + reverse("admin:index"))


def open_designer(context: BrowserContext, site: str, study: Study) -> Designer:
    page = context.new_page()
    log_in(page, site)
    designer = Designer(page, site, study)
    designer.open()
    return designer


def test_a_flow_is_built_by_keyboard_previewed_launched_and_taken(
    chromium: Browser, site: str, study: Study
) -> None:
    context = open_context(chromium, viewport=DESKTOP)
    designer = open_designer(context, site, study)
    page, status = designer.page, designer.page.locator("[data-announce]")

    for name, kind in KINDS.items():
        if name not in FLOW:
            designer.add(str(kind.label))
    assert set(designer.kinds) == set(KINDS)
    # What is added comes last, as far as the flow allows it.
    ordered = [kind for kind in designer.kinds if kind in {"demographics", "choice", "free_text"}]
    assert ordered == ["demographics", "choice", "free_text"]
    assert designer.kinds[-1] == "debrief"
    expect(page.locator(".designer-errors")).to_have_count(0)

    # Order: Alt with an arrow moves a step, which keeps the focus; arrows alone go along.
    before = designer.kinds.index("free_text")
    writing = designer.step("Question with a text")
    designer.reach(writing)
    designer.keys.press("Alt+ArrowUp")
    assert designer.kinds.index("free_text") == before - 1
    expect(writing).to_be_focused()
    designer.keys.press("Alt+ArrowDown")
    assert designer.kinds.index("free_text") == before
    expect(status).to_have_text(
        f"Question with a text as its answer is step {before + 1} of {len(designer.kinds)} now."
    )
    designer.keys.press("ArrowUp")
    expect(designer.step("Question with answers to choose")).to_be_focused()

    # A condition by controls: the last source is the question just before.
    designer.press(writing)
    designer.press(designer.editor.get_by_role("button", name="Add a condition"))
    source = designer.editor.locator(".flow-comparison select").first
    expect(source).to_be_focused()
    names = source.locator("option").all_inner_texts()
    place = next(n for n, name in enumerate(names) if "How did you answer" in name)
    designer.keys.press("Home")
    for _ in range(place):
        designer.keys.press("ArrowDown")
    assert designer.flow[before]["show_if"] == {"step": "choice", "is": "on-a-phone"}
    designer.reach(designer.editor.get_by_label("Value"))
    designer.keys.press("ArrowDown")
    assert designer.flow[before]["show_if"] == {"step": "choice", "is": "on-a-tablet"}

    # What is wrong is told beside the field and counted in the outline, and goes when it is mended.
    designer.press(designer.step("Question with answers to choose"))
    question = designer.editor.get_by_role("textbox").first
    designer.reach(question)
    words = question.input_value()
    designer.keys.press("Control+a")
    designer.keys.press("Delete")
    expect(designer.editor.locator(".designer-problem")).to_have_text("The text is empty.")
    expect(question).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".is-chosen .designer-errors")).to_contain_text("1 problem")
    designer.keys.type(words)
    expect(designer.editor.locator(".designer-problem")).to_have_count(0)

    # Removing can be undone, and done again.
    designer.press(designer.step("What the study was about"))
    designer.press(designer.editor.get_by_role("button", name="Remove What the study was about"))
    assert "debrief" not in designer.kinds
    designer.keys.press("Control+z")
    assert designer.kinds[-1] == "debrief"
    designer.keys.press("Control+Shift+z")
    assert "debrief" not in designer.kinds
    designer.press(page.get_by_role("button", name="Undo"))
    assert designer.kinds[-1] == "debrief"
    # A copy has a name of its own in the data.
    designer.press(designer.step("Question with a text"))
    designer.press(designer.editor.get_by_role("button", name="Duplicate"))
    assert [item["key"] for item in designer.flow[before : before + 2]] == [
        "free-text",
        "free-text-2",
    ]
    designer.keys.press("Control+z")
    built = designer.flow

    preview_button = page.get_by_role("button", name="Preview as participant")
    with context.expect_page() as opened:
        designer.press(preview_button)
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

    designer.press(page.get_by_role("button", name="Launch study"))
    expect(page.get_by_text("The instrument is frozen")).to_be_visible()
    designer.press(page.get_by_role("button", name="Launch study"))
    page.get_by_text("The study is live.").wait_for()
    assert designer.complaints == []

    visitor = Visitor(open_context(chromium).new_page(), "keyboard", choices=RIGHT)
    visitor.start(f"{site}{study.get_absolute_url()}")
    take_part(visitor)
    submission = study.submissions.get(origin="live")
    assert (submission.state, submission.outcome) == ("finished", "completed")
    assert (submission.checks_passed, submission.data_decision) == (True, "accepted")
    assert submission.checks.count() == 7
    answers = {answer.key: answer.value for answer in submission.step_answers.all()}
    # The items stand in another order for each participant.
    assert sorted(answers.pop("ranking").values()) == [1, 2, 3]
    assert answers == {
        "slider": 70,
        "number": 3,
        "matrix": dict.fromkeys(ROWS, "strongly-disagree"),
        "choice": "on-a-tablet",
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
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    page = designer.page

    def drag(label: str, onto: str, *, release: bool) -> None:
        grip = page.locator(".designer-step", has_text=label).locator(".designer-grip")
        start = grip.first.bounding_box()
        target = designer.step(onto).first.bounding_box()
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
    expect(designer.step("Instructions")).to_have_attribute("data-step", "3")
    assert designer.flow == moved
    drag("Instructions", "Demographic questions", release=False)
    assert designer.flow == moved
    assert designer.complaints == []


def test_an_edit_is_seen_at_once_and_never_lost(chromium: Browser, site: str, study: Study) -> None:
    add_known_language(instrument=study.instruments.get(), language="es")
    context = open_context(chromium, viewport=DESKTOP)
    designer = open_designer(context, site, study)
    page, drawn = designer.page, designer.drawn

    # The page of the chosen step, as participants see it; a text in it leads to its field.
    expect(drawn.get_by_role("heading", name="Before you start")).to_be_visible()
    frame = page.locator("[data-frame]").element_handle().content_frame()
    frame.wait_for_load_state()  # the script that hears clicks comes after what is seen
    drawn.get_by_text("I am at least 18 years old").click()
    agree = designer.editor.get_by_label("Words of the box to agree, English")
    expect(agree).to_be_focused()
    agree.fill("Yes, I take part.")
    expect(drawn.get_by_text("Yes, I take part.")).to_be_visible()
    assert designer.saved().wordings.get(language="en", key="consent_agree").text == (
        "Yes, I take part."
    )
    page.locator("[data-language]").select_option("es")
    expect(drawn.get_by_role("heading", name="Antes de empezar")).to_be_visible()
    for name, color in (("Dark", "rgb(18, 22, 28)"), ("Light", "rgb(250, 249, 246)")):
        page.get_by_role("button", name=name, exact=True).click()
        expect(drawn.locator("body")).to_have_css("background-color", color)
    page.get_by_role("button", name="Desktop").click()
    assert frame.evaluate("innerWidth") == 1280
    # “Continue” leads to the next step, and nothing is sent.
    drawn.locator("form[data-step] [type=submit]").first.click()
    expect(designer.step("Instructions")).to_have_attribute("aria-current", "step")
    assert not Submission.objects.filter(study=study).exists()

    # Somebody else saves meanwhile: nothing is written over without a decision.
    other = study.instruments.get()
    other.wordings.filter(language="en", key="debrief_title").update(text="Theirs")
    title = designer.editor.get_by_label("Title, English")
    title.fill("Mine")
    conflict = page.locator("[data-conflict]")
    expect(conflict).to_contain_text("changed this version on")
    assert not study.instruments.get().wordings.filter(text="Mine").exists()
    conflict.get_by_role("button", name="Replace theirs with mine").click()
    expect(conflict).to_be_hidden()
    texts = designer.saved().wordings.filter(language="en")
    assert texts.get(key="instructions_title").text == "Mine"

    # What arrived though its answer was lost is no conflict with oneself when it is sent again.
    page.route("**/draft/", lambda route: (route.fetch(), route.abort()))
    title.fill("Arrived")
    expect(page.locator("[data-saved]")).to_contain_text("Not saved: no connection.")
    page.unroute("**/draft/")
    assert designer.saved().wordings.filter(text="Arrived").exists()

    # Without a connection the page says so and keeps the edit, also once it was left.
    context.set_offline(True)
    title.fill("Kept on the device")
    expect(page.locator("[data-saved]")).to_contain_text("Not saved: no connection.")
    assert texts.get(key="instructions_title").text == "Arrived"
    kept = page.evaluate("({...localStorage})")
    page.on("dialog", lambda dialog: dialog.accept())
    # What is sent in leaving may arrive, now or once there is a connection again.
    page.goto("about:blank")
    context.set_offline(False)
    designer.open()
    designer.step("Instructions").click()
    expect(title).to_have_value("Kept on the device")
    assert designer.saved().wordings.filter(text="Kept on the device").exists()

    # An edit that arrived while the page was left is kept too, and the next one goes through.
    page.evaluate("kept => Object.assign(localStorage, kept)", kept)
    designer.open()
    designer.step("Instructions").click()
    title.fill("Written after")
    assert designer.saved().wordings.filter(text="Written after").exists()


def test_typing_on_after_a_lost_answer_is_no_conflict_with_oneself(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    page, status = designer.page, designer.page.locator("[data-saved]")
    designer.step("Instructions").click()
    title = designer.editor.get_by_label("Title", exact=True)
    texts = study.instruments.get().wordings.filter(language="en", key="instructions_title")
    before = title.input_value()

    def lose_answer(text: str) -> None:
        """Type what arrives, and whose answer does not come back."""
        page.route("**/draft/", lambda route: (route.fetch(), route.abort()))
        title.fill(text)
        expect(status).to_contain_text("Not saved: no connection.")
        page.unroute("**/draft/")
        assert texts.get().text == text

    lose_answer("Arrived")
    title.fill("Typed on")
    designer.saved()
    assert texts.get().text == "Typed on"
    expect(page.locator("[data-conflict]")).to_be_hidden()

    # Taken back to what the page knows to be stored, it is not taken for stored.
    lose_answer("Arrived again")
    title.fill("Typed on")
    designer.saved()
    assert texts.get().text == "Typed on"

    # The same once the page was left in between.
    lose_answer("Arrived before leaving")
    page.route("**/draft/", lambda route: route.abort())
    title.fill(before)
    page.wait_for_function(
        "text => Object.values(localStorage).some((kept) => kept.includes(text))", arg=before
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("about:blank")
    page.unroute("**/draft/")
    designer.open()
    designer.saved()
    assert texts.get().text == before
    expect(page.locator("[data-conflict]")).to_be_hidden()


def test_what_has_the_focus_keeps_it_when_the_answer_to_a_saved_edit_arrives(
    chromium: Browser, site: str, study: Study
) -> None:
    """By keyboard one is elsewhere by then: in the menu, at the languages, at a problem to fix."""
    Study.objects.filter(pk=study.pk).update(contact_email="")
    context = open_context(chromium, viewport=DESKTOP)
    designer = open_designer(context, site, study)
    page = designer.page
    waiting: list[Route] = []
    page.route("**/draft/", lambda route: waiting.append(route))

    def edit_then_reach(*targets: Locator) -> Locator:
        """Edit a text, go on by keyboard, and have the edit answered."""
        waiting.clear()
        designer.step("Instructions").click()
        designer.editor.get_by_role("textbox").first.press_sequentially("!")
        expect(page.locator("[data-saved]")).to_contain_text("Saving")
        for target in targets[:-1]:
            designer.press(target)
        designer.reach(targets[-1])
        wait_until(lambda: waiting, pause=lambda seconds: page.wait_for_timeout(1000 * seconds))
        waiting.pop().continue_()
        designer.saved()
        return targets[-1]

    choice = page.locator(".flow-choice", has_text=str(Choice.label))
    languages = page.locator("[data-panels] button")
    expect(edit_then_reach(page.get_by_role("button", name="Add step"), choice)).to_be_focused()
    designer.keys.press("Escape")
    expect(page.get_by_role("button", name="Add step")).to_be_focused()
    problem = page.locator("[data-general] a")
    expect(edit_then_reach(problem)).to_be_focused()
    expect(edit_then_reach(languages)).to_be_focused()
    designer.keys.press("Enter")
    expect(page.locator("[data-panels] .is-chosen")).to_be_visible()


def test_a_step_that_came_back_while_the_menu_was_open_is_not_added_once_more(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    designer.add(str(Debrief.label))
    designer.saved()
    designer.keys.press("Control+z")
    assert "debrief" not in designer.kinds
    choice = designer.page.locator(".flow-choice", has_text=str(Debrief.label))
    designer.press(designer.page.get_by_role("button", name="Add step"))
    designer.reach(choice)
    designer.keys.press("Control+Shift+z")
    assert designer.kinds.count("debrief") == 1
    designer.press(choice)
    expect(choice).to_be_disabled()
    assert designer.kinds.count("debrief") == 1


def test_add_step_stays_in_view_and_its_list_lies_over_the_page(
    chromium: Browser, site: str, study: Study
) -> None:
    """On a laptop the button was cut off at eleven steps, and its list lay below the fold."""
    instrument = study.instruments.get()
    instrument.flow = [*FLOW[:-1], *(["rating"] * 8), "demographics"]
    instrument.save()
    laptop = {"width": 1366, "height": 657}  # of the page within the browser
    designer = open_designer(open_context(chromium, viewport=laptop), site, study)
    page = designer.page
    adder = page.get_by_role("button", name="Add step")
    for scrolled in (0, 10_000):
        page.locator(".designer-outline").evaluate("(node, by) => node.scrollTo(0, by)", scrolled)
        box = adder.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= laptop["height"]
    designer.press(adder)
    dialog = page.get_by_role("dialog")
    box = dialog.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= laptop["height"]
    search = dialog.get_by_label("Search steps")
    expect(search).to_be_focused()
    designer.keys.type("NUMBER")
    choices = dialog.locator(".flow-choice")
    expect(choices.first).to_contain_text("number")
    assert choices.count() < 5
    search.fill("no such step")
    expect(dialog.get_by_text("No kind of step is called that.")).to_be_visible()
    search.fill("")
    assert choices.count() > 10
    designer.keys.press("Escape")
    expect(adder).to_be_focused()


def test_steps_of_a_frozen_version_have_room_for_their_names(
    chromium: Browser,
    site: str,
    flora: User,
    make_study,  # type: ignore[no-untyped-def]
) -> None:
    """Nothing can be dragged there: the names do not stand in the place of the grips."""
    study = make_study(owner=flora, flow=FLOW)
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    for title in designer.page.locator("[data-steps] .designer-step-title").all():
        box = title.bounding_box()
        assert box is not None
        assert box["width"] > 150


def test_groups_and_scales_are_picked_by_keyboard(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    page = designer.page
    designer.press(designer.step("Rating page").first)
    groups = designer.editor.get_by_role("combobox", name="Groups: Search")
    designer.reach(groups)
    # A key on the empty search takes the last one away; a whole set is one chip.
    chips = page.locator(".picker-chips").first.locator(".picker-chip")
    n = study.instruments.get().groups.count()
    expect(chips).to_have_count(n)
    designer.keys.press("Backspace")
    expect(chips).to_have_count(n - 1)
    designer.keys.type("average")
    designer.keys.press("Enter")
    expect(chips.last).to_contain_text("average people")
    assert designer.saved().groups.count() == n
    assert designer.saved().groups.filter(slug="average").exists()
    designer.keys.type("25 groups")
    designer.keys.press("Enter")
    expect(chips).to_have_count(2)
    expect(chips.first).to_contain_text("25 groups of the human study")
    assert designer.saved().groups.count() == 26
    # All of a dimension at once, and none of it.
    communion = designer.editor.get_by_role("button", name="Communion")
    for n in (6, 0):
        designer.press(communion)
        expect(communion).to_be_focused()
        assert designer.saved().scales.filter(dimension="communion").count() == n
    scales = designer.editor.get_by_role("combobox", name="Scales: Search")
    designer.reach(scales)
    designer.keys.type("warm")
    designer.keys.press("Enter")
    assert designer.saved().scales.last().slug == "cold-warm"
    scan = open_scanned_page(chromium)
    log_in(scan, site)
    Designer(scan, site, study).open()
    for step in ("Rating page", "Demographic questions", "Languages"):
        scan.locator(".designer-step-title", has_text=step).first.click()
        expect(scan.frame_locator("[data-frame]").locator("h1")).to_be_visible()
        check_page(scan, step)
    for address in (
        reverse("admin:annotation_study_gallery"),
        reverse("admin:annotation_study_begin", args=["file"]),
        reverse("admin:annotation_instrument_import", args=[study.instruments.get().pk]),
    ):
        scan.goto(site + address)
        check_page(scan, address)
    # In a form the picker ticks the boxes that are sent.
    scan.goto(f"{site}{reverse('admin:annotation_study_add')}?kind=abc_survey")
    ticked = scan.locator("input[name=trait_pairs]:checked")
    n = ticked.count()
    scan.get_by_role("button", name="Communion").click()
    expect(ticked).to_have_count(n - 6)


def test_a_group_that_is_written_twice_is_added_once(
    chromium: Browser, site: str, study: Study, flora: User
) -> None:
    flora.user_permissions.add(Permission.objects.get(codename="add_socialgroup"))
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    designer.press(designer.step("Rating page").first)
    n = study.instruments.get().groups.count()
    designer.editor.get_by_label("New groups").fill("night nurses, night nurses\nNight nurses")
    designer.editor.get_by_role("button", name="Add these groups").click()
    expect(designer.editor.get_by_text("1 group added.")).to_be_attached()
    assert designer.saved().groups.filter(plural="night nurses").count() == 1
    assert designer.saved().groups.count() == n + 1


def test_a_scale_that_is_refused_says_why(
    chromium: Browser, site: str, study: Study, flora: User
) -> None:
    flora.user_permissions.add(Permission.objects.get(codename="add_traitpair"))
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    designer.press(designer.step("Rating page").first)
    for label in ("Word at the low end", "Word at the high end"):
        designer.editor.get_by_label(label).fill("lazy")
    designer.editor.get_by_role("button", name="Add this scale").click()
    said = designer.editor.get_by_role("alert").filter(has_text="lazy")
    expect(said).to_be_visible()
    # Nobody's scale is one of agency because nobody said otherwise.
    designer.editor.get_by_label("Word at the high end").fill("busy")
    designer.editor.get_by_role("button", name="Add this scale").click()
    said = designer.editor.get_by_role("alert").filter(has_text="Choose the dimension")
    expect(said).to_be_visible()
    # It goes once the scale is as it should be.
    designer.editor.get_by_label("Dimension", exact=True).select_option("beliefs")
    designer.editor.get_by_role("button", name="Add this scale").click()
    expect(designer.editor.locator(".designer-scales li").last).to_contain_text("busyBeliefs")
    expect(said).to_be_hidden()


def test_what_keeps_a_study_from_a_launch_stands_where_its_button_was(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    launch = designer.page.get_by_role("button", name="Launch study")
    reason = designer.page.get_by_role("button", name="1 problem to fix first")
    expect(launch).to_be_visible()
    expect(reason).to_be_hidden()
    designer.step("Consent").click()
    title = designer.editor.get_by_label("Title", exact=True)
    title.fill("")
    expect(reason).to_be_visible()
    expect(launch).to_be_hidden()
    designer.step("Demographic questions").click()
    reason.click()
    expect(designer.page.locator("main h2")).to_have_text("Consent")
    title.fill("Before you start")
    expect(launch).to_be_visible()
    expect(reason).to_be_hidden()


def test_the_parts_of_a_condition_stand_in_one_line(
    chromium: Browser, site: str, study: Study
) -> None:
    designer = open_designer(open_context(chromium, viewport=DESKTOP), site, study)
    designer.step("Demographic questions").click()
    designer.editor.get_by_role("button", name="Add a condition").click()
    row = designer.editor.locator(".flow-comparison")
    tops = row.locator("> *").evaluate_all(
        "nodes => nodes.map(n => n.getBoundingClientRect()).map(r => r.top + r.height / 2)"
    )
    assert max(tops) - min(tops) < 4
