"""A newcomer's first study: from the log-in to a pilot, with their own groups, scales and language.

Counted is what the researcher does: clicks, fields that are filled in, keys. What the pages of the
preview ask is answered as a participant does, and not counted. The walk is told in
`docs/first-study.md` with the pictures that `take` is called for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import Permission, User
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from tests.browser.survey_visitor import Visitor

#: Takes the page as it stands, under a name.
Take = Callable[[Page, str], None]
TITLE = "How trades are seen"
CONSENT = "We ask how trades are seen."
QUESTION = "Was a name hard to remember?"
ALT = "A loaf of bread"
#: What the preview's participant recalls; like no group, lest it pass as a slip of the hand.
WRONG_GROUP = "astronauts"
GROUPS = ("bakers", "florists", "plumbers", "tailors", "nurses")
SCALES = (("lazy", "hard-working", "Agency"), ("shy", "bold", "Agency"))
PERMISSIONS = ("add_study", "add_socialgroup", "add_traitpair")
#: Every step of the walk that has a picture, in order.
STEPS = (
    "log-in",
    "start",
    "gallery",
    "title",
    "designer",
    "groups",
    "scales",
    "consent",
    "question",
    "picture",
    "condition",
    "spanish",
    "preview",
    "preview-question",
    "preview-end",
    "pilot",
)


def create_newcomer(name: str = "nora") -> User:
    """Store an account of a researcher who may do what an administrator lets newcomers do."""
    user = User.objects.create_user(name, f"{name}@example.org", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=PERMISSIONS))
    return user


@dataclass
class Newcomer:
    """Does one thing at a time, and counts."""

    page: Page
    site: str
    picture: Path
    take: Take
    actions: int = 0

    def click(self, target: Locator) -> None:
        self.actions += 1
        target.click()

    def fill(self, target: Locator, text: str) -> None:
        self.actions += 1
        target.fill(text)

    def choose(self, target: Locator, label: str) -> None:
        self.actions += 1
        target.select_option(label=label)

    def take_step(self, name: str, shown: Locator | None = None) -> None:
        if shown is not None:
            shown.evaluate("node => node.scrollIntoView({block: 'center'})")
        if (saved := self.page.locator("[data-saved]")).count():
            expect(saved).to_have_text("Saved", timeout=30_000)  # the preview follows
        self.take(self.page, name)

    @property
    def editor(self) -> Locator:
        return self.page.locator("[data-editor]")

    def open_step(self, title: str) -> None:
        steps = self.page.locator("[data-steps] .designer-step-title")
        self.click(steps.filter(has_text=title).first)

    def walk(self, name: str, password: str) -> None:
        self.log_in(name, password)
        self.begin()
        self.choose_groups_and_scales()
        self.word_the_consent()
        self.ask_a_question()
        self.add_spanish()
        self.preview()
        self.pilot()

    def log_in(self, name: str, password: str) -> None:
        self.page.goto(self.site + reverse("admin:login"))
        self.take_step("log-in")
        self.fill(self.page.locator("[name=username]"), name)
        self.fill(self.page.locator("[name=password]"), password)
        with self.page.expect_navigation():
            self.click(self.page.locator("form [type=submit]"))
        self.take_step("start")

    def begin(self) -> None:
        page = self.page
        self.click(page.get_by_role("link", name="New study").first)
        page.get_by_role("link", name="Short ABC survey").wait_for()
        self.take_step("gallery")
        self.click(page.get_by_role("link", name="Short ABC survey"))
        self.fill(page.get_by_label("Title"), TITLE)
        self.take_step("title")
        self.click(page.get_by_role("button", name="Create the draft"))
        page.locator("html[data-ready]").wait_for()
        self.take_step("designer")

    def choose_groups_and_scales(self) -> None:
        editor = self.editor
        self.open_step("Rating page")
        self.click(editor.get_by_role("button", name="Remove 25 groups of the human study"))
        self.fill(editor.get_by_label("New groups"), ", ".join(GROUPS))
        self.click(editor.get_by_role("button", name="Add these groups"))
        chips = editor.locator(".picker-chips").first
        expect(chips.locator(".picker-chip")).to_have_count(len(GROUPS))
        self.take_step("groups", chips)
        for n, (low, high, dimension) in enumerate(SCALES, start=7):
            self.fill(editor.get_by_label("Word at the low end"), low)
            self.fill(editor.get_by_label("Word at the high end"), high)
            self.choose(editor.get_by_label("Dimension", exact=True), dimension)
            self.click(editor.get_by_role("button", name="Add this scale"))
            expect(editor.locator(".designer-scales li")).to_have_count(n)
        self.take_step("scales", editor.locator(".designer-scales li").last)

    def word_the_consent(self) -> None:
        self.open_step("Consent")
        self.fill(self.editor.get_by_label("What participants read"), CONSENT)
        self.take_step("consent")

    def ask_a_question(self) -> None:
        """A question of one's own, with a picture, that only some are asked."""
        page, editor = self.page, self.editor
        self.click(page.get_by_role("button", name="Add step"))
        self.click(page.locator(".flow-choice", has_text="Question with answers to choose from"))
        self.fill(editor.get_by_role("textbox", name="Question"), QUESTION)
        self.fill(editor.get_by_label("Answers 1", exact=True), "Yes")
        self.fill(editor.get_by_label("Answers 2", exact=True), "No")
        self.take_step("question", editor.get_by_label("Answers 2", exact=True))
        media = editor.get_by_role("group", name="Picture or sound")
        with page.expect_file_chooser() as opened:
            self.click(media.get_by_role("button", name="Upload a file"))
        self.actions += 1  # the file is picked
        opened.value.set_files(self.picture)
        self.fill(media.get_by_role("textbox"), ALT)
        self.take_step("picture", media)
        self.click(editor.get_by_role("button", name="Add a condition"))
        value = editor.get_by_label("Value")
        self.choose(value, "failed")
        self.take_step("condition", value)

    def add_spanish(self) -> None:
        """What the platform knows is there, the rest is typed."""
        page, editor = self.page, self.editor
        self.click(page.locator(".designer-panels button"))
        self.click(editor.get_by_role("button", name="Add español"))
        page.locator("html[data-ready]").wait_for()
        fields = editor.locator("[data-translations=es] > .designer-translation .flow-input")
        fields.first.wait_for()
        for n in range(fields.count()):
            source = fields.nth(n).locator("xpath=../p[1]").inner_text()
            self.fill(fields.nth(n), f"{source} (es)")
        expect(page.locator("[data-saved]")).to_have_text("Saved")
        for problems in (".designer-errors", ".designer-problems li"):
            expect(page.locator(problems)).to_have_count(0)
        expect(editor.locator("[data-missing]")).to_contain_text("0 of ")
        self.take_step("spanish", fields.first)

    def preview(self) -> None:
        """Take the survey to its end, failing the check that leads to the question."""
        with self.page.context.expect_page() as opened:
            self.click(self.page.get_by_role("button", name="Preview as participant"))
        shown = opened.value
        visitor = Visitor(shown, "mouse")
        shown.wait_for_url("**/r/**")
        seen: set[str] = set()

        def take_once(name: str) -> None:
            if name not in seen:
                seen.add(name)
                shown.evaluate("scrollTo(0, 0)")
                self.take(shown, name)

        while not visitor.is_over():
            visitor.answer()
            if visitor.is_rating() and not shown.locator("[data-line^=practice]").count():
                take_once("preview")
            elif shown.locator("[name=group-name]").count():
                visitor.write(shown.locator("[name=group-name]"), WRONG_GROUP)
            elif shown.get_by_text(QUESTION).count():
                picture = shown.get_by_role("img", name=ALT)
                assert picture.evaluate("node => node.complete && node.naturalWidth") > 0
                take_once("preview-question")
            visitor.move_on()
        expect(shown.locator("h1")).to_have_text("Thank you. Your answers are saved.")
        take_once("preview-end")
        shown.close()

    def pilot(self) -> None:
        self.click(self.page.get_by_role("button", name="Start a pilot"))
        self.page.get_by_text("The study is piloting.").wait_for()
        self.take_step("pilot")
