"""The survey in other languages: a switch in the middle of a page, and pages from right to left."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.instruments.known_texts import load_known
from annotation.instruments.languages.language_service import add_known_language, store_language
from annotation.instruments.languages.texts import PLACEHOLDER, list_texts
from annotation.instruments.text_keys import name_group
from annotation.models import Rating, Study
from annotation.studies.lifecycle import launch_study
from tests.annotation.survey.flows import free_text
from tests.annotation.survey.participants import spread
from tests.browser.survey_visitor import (
    HANDLE_RADIUS,
    NARROW,
    PAGE_RESTS_MS,
    Visitor,
    open_context,
)
from tools.translations.extracting import find_messages

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIXED = {"scale_order": "fixed", "pole_sides": "fixed"}
QUESTION = {"en": "What did you think?", "es": "¿Qué pensaste?"}
FLOW = ["consent", "instructions", "rating", "group_name", "rating", "marked_traits", "repeat",
        free_text(question=QUESTION), "demographics"]  # fmt: skip


class Reader(Visitor):
    """Somebody who finds buttons by their place, not by their words. Sides are fixed."""

    def start(self, link: str) -> None:
        self.page.goto(link)
        with self.page.expect_event("load"):
            self.press(self.page.locator("form .button-main"))

    def move_on(self) -> None:
        with self.page.expect_event("load"):
            self.press(self.page.locator("form .button-main"))

    def heading_group(self) -> str:
        """Return the words of the heading that stand out."""
        own = "node => [...node.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join('')"
        return self.page.locator("h1").evaluate(own).strip(" ?؟\n")

    def rate(self, row: Locator) -> None:
        scale = row.get_attribute("data-line") or ""
        shown = spread(self.group, scale)
        self.put(row, shown)
        place = int(row.locator("input.line-input").input_value())
        assert abs(place - shown) <= 1
        self.rated[self.group, scale] = place
        left, right = (row.get_attribute(f"data-{side}") or "" for side in ("left", "right"))
        self.poles[scale] = (left, right)

    def switch_to(self, name: str) -> None:
        with self.page.expect_event("load"):
            self.press(self.page.locator(".languages").get_by_role("button", name=name))


class RightToLeft(Reader):
    """Lines begin on the right for them: 0 is there."""

    def point(self, row: Locator, shown: int) -> tuple[float, float]:
        x, y = super().point(row, shown)
        box = row.locator("input.line-input").bounding_box()
        assert box is not None
        return 2 * box["x"] + box["width"] - x, y


def stored(study: Study) -> dict[tuple[str, str], float]:
    """Return first ratings by the group's name in the language of the visit, and scale."""
    language = study.submissions.get().language
    names = dict(
        study.instruments.get().wordings.filter(language=language).values_list("key", "text")
    )
    rows = Rating.objects.filter(assignment__submission__study=study, assignment__is_repeat=False)
    return {
        (names[name_group(group, "plural")], scale): value
        for group, scale, value in rows.values_list(
            "assignment__group__slug", "scale__slug", "value"
        )
    }


def texts_of(page: Page) -> set[str]:
    """Return what can be read or heard on a page, texts for scripts included."""
    return set(
        page.evaluate(
            """() => {
              const texts = [document.title];
              const take = (root) => {
                const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
                while (walk.nextNode()) {
                  const parent = walk.currentNode.parentElement;
                  if (!parent?.closest('.languages, .brand, script, style, noscript')) {
                    texts.push(walk.currentNode.data);
                  }
                }
                for (const node of root.querySelectorAll('*')) {
                  if (node.closest('.languages')) continue;
                  for (const name of ['aria-label', 'placeholder', 'aria-valuetext', 'title']) {
                    if (node.hasAttribute(name)) texts.push(node.getAttribute(name));
                  }
                  texts.push(...Object.values(node.dataset ?? {}));
                  if (node instanceof HTMLTemplateElement) take(node.content);
                }
              };
              take(document);
              return texts.map((text) => text.replace(/\\s+/g, ' ').trim()).filter(Boolean);
            }"""
        )
    )


def english_texts() -> list[re.Pattern[str]]:
    """Return patterns of whatever the platform says in English and in Spanish otherwise."""
    said = [message.text for message in find_messages()]
    said += [message.plural for message in find_messages() if message.plural]
    said += [source for source, text in load_known("es").items() if source != text]
    patterns = []
    for text in said:
        lines = [line for line in text.split("\n") if line]
        for line in lines:
            parts = (re.escape(part) for part in PLACEHOLDER.split(line.strip()))
            patterns.append(re.compile(".+".join(parts)))
    return [pattern for pattern in patterns if re.search("[a-z]{2}", pattern.pattern)]


def test_survey_in_spanish_with_a_switch_in_the_middle_of_pages(
    chromium: Browser, site: str, make_study
) -> None:  # type: ignore[no-untyped-def]
    study = make_study(launched=False, flow=FLOW, instrument_options=FIXED, title="Grupos")
    instrument = study.instruments.get()
    add_known_language(instrument=instrument, language="es")
    known = {text.key: text.translation for text in list_texts(instrument, "es")}
    store_language(
        instrument=instrument, language="es", translations=known | {"study.title": "Grupos"}
    )
    launch_study(study=study)
    english = english_texts()
    context = open_context(chromium, "touch", locale="es-MX")
    reader = Reader(context.new_page(), "touch", writes="Fue claro.")
    page = reader.page
    seen = 0

    def check_words() -> None:
        assert page.locator("html").get_attribute("lang") == "es"
        wrong = [
            (text, pattern.pattern)
            for text in texts_of(page)
            for pattern in english
            if pattern.fullmatch(text)
        ]
        assert wrong == []
        assert reader.overflow() == 0

    page.goto(site + study.get_absolute_url())
    check_words()
    reader.start(site + study.get_absolute_url())
    while not reader.is_over():
        check_words()
        reader.answer()
        answered = page.locator("[data-answered]")
        if reader.is_rating():
            expect(answered).to_have_text("4 de 4 líneas respondidas")
        reader.switch_to("English")
        assert page.locator("html").get_attribute("lang") == "en"
        if reader.is_rating():
            expect(answered).to_have_text("4 of 4 lines answered")
        reader.switch_to("Español")
        reader.move_on()
        seen += 1
    check_words()
    assert seen == len(FLOW)
    expect(page.locator("h1")).to_have_text("Gracias. Tus respuestas están guardadas.")
    submission = study.submissions.get()
    assert (submission.language, submission.checks_passed) == ("es", True)
    assert set(submission.pages.values_list("language", flat=True)) == {"es"}
    assert submission.step_answers.get().value == "Fue claro."
    assert submission.answers.get().value == 37
    assert stored(study) == {place: float(value) for place, value in reader.rated.items()}
    page.locator("footer").get_by_role("link").first.tap()
    page.wait_for_url("**/w/**")
    check_words()
    assert reader.complaints == []


def arabic(text: str, number: int) -> str:
    """Return Arabic words that are no other text's, with the placeholders of ``text``."""
    letters = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"
    word = "".join(letters[int(digit) + 7] for digit in str(number))
    return " ".join(["كلمة", word, *PLACEHOLDER.findall(text)])


def test_arabic_survey_runs_from_right_to_left(chromium: Browser, site: str, make_study) -> None:  # type: ignore[no-untyped-def]
    flow = ["consent", "rating", "group_name", "rating", "marked_traits", "demographics"]
    study = make_study(launched=False, flow=flow, instrument_options=FIXED)
    instrument = study.instruments.get()
    texts = list_texts(instrument, "ar")
    store_language(
        instrument=instrument,
        language="ar",
        translations={text.key: arabic(text.source, place) for place, text in enumerate(texts)},
    )
    launch_study(study=study)
    context = open_context(chromium, "touch", locale="ar-EG", viewport=NARROW)
    reader = RightToLeft(context.new_page(), "touch")
    page = reader.page

    def check_direction() -> None:
        assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
        assert page.locator("html").get_attribute("lang") == "ar"
        latin = [
            text
            for text in texts_of(page)
            if re.search("[A-Za-z]{2}", PLACEHOLDER.sub("", text)) and " " in text
        ]
        assert latin == []
        assert reader.overflow() == 0

    page.goto(site + study.get_absolute_url())
    check_direction()
    reader.start(site + study.get_absolute_url())
    turned = 0
    while not reader.is_over():
        check_direction()
        if reader.is_rating() and not turned:
            turned = 1
            check_line(reader)
        reader.answer()
        reader.move_on()
    check_direction()
    # Code and address stay in one piece, whatever surrounds them.
    for name in ("code", "link"):
        source = page.locator(f"[data-copy-source={name}]")
        assert source.evaluate("node => getComputedStyle(node).direction") == "ltr"
    submission = study.submissions.get()
    assert (submission.language, submission.checks_passed) == ("ar", True)
    assert stored(study) == {place: float(value) for place, value in reader.rated.items()}
    assert reader.complaints == []


def check_line(reader: RightToLeft) -> None:
    """The first word stands on the right, arrows move the handle where they point."""
    row = reader.page.locator("[data-line]").first
    first, second = row.locator(".pole-left"), row.locator(".pole-right")
    assert first.bounding_box()["x"] > second.bounding_box()["x"]  # type: ignore[index]
    line = row.locator("input.line-input")
    line.focus()
    values = []
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "End", "Home"):
        reader.page.keyboard.press(key)
        values.append(line.input_value())
    # From the middle to the left is toward the second word, which is 100.
    assert values == ["51", "52", "51", "100", "0"]
    # At 0 the handle is at the right end of the line: a tap there says 0 as well.
    box = line.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    reader.page.wait_for_timeout(PAGE_RESTS_MS)
    reader.page.touchscreen.tap(box["x"] + HANDLE_RADIUS, y)
    assert line.input_value() == "100"
    reader.page.touchscreen.tap(box["x"] + box["width"] - HANDLE_RADIUS, y)
    assert line.input_value() == "0"
