"""Judging in a browser: by keyboard alone, by touch on a phone, without script, offline."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from annotation.judgments.error_coding import DEFAULT_SCHEME, store_scheme
from annotation.models import CodedError, Judgment, JudgmentTask, Study, TaskState
from tests.annotation.judgments.corpora import (
    RUNS,
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
    write_counterpart,
)
from tests.browser.accounts import log_in_annotator
from tests.browser.axe import open_scanned_page, scan
from tests.browser.survey_visitor import NARROW, PHONE, open_context

pytestmark = pytest.mark.browser

WIDTH = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def make_judging(n_pairs: int = 3) -> tuple[Study, str]:
    """Store a live study; return it with the third annotator, who wrote one of the pairs."""
    tag = uuid.uuid4().hex[:8]
    corpus = make_corpus(n_pairs, name=f"Posts {tag}")
    first, second, third = corpus.pairs.order_by("pk")[:3]
    write_counterpart(f"ann-{tag}", first.source_text)
    write_counterpart(f"ben-{tag}", second.source_text)
    write_counterpart(f"cleo-{tag}", third.source_text)
    study = launch(make_study(corpus), f"ann-{tag}", f"ben-{tag}", f"cleo-{tag}")
    return study, f"cleo-{tag}"


def listen(page: Page) -> list[str]:
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    return complaints


def rows(study: Study, name: str) -> list[Judgment]:
    return list(
        Judgment.objects.filter(task__study=study, task__annotator__user__username=name).order_by(
            "task__position"
        )
    )


def test_a_third_annotator_judges_a_blind_mix_by_keyboard_and_never_their_own(
    site: str, chromium: Browser
) -> None:
    study, cleo = make_judging()
    tasks = tasks_of(study, cleo)
    own = study.judging.corpus.pairs.order_by("pk")[2]
    assert {task.item.producer for task in tasks} >= {"human", next(iter(RUNS.values()))}
    with open_context(chromium, "keyboard") as context:
        page = context.new_page()
        complaints = listen(page)
        log_in_annotator(page, site, cleo)
        page.goto(f"{site}/annotate/{study.public_id}/judge/")
        with page.expect_navigation():
            page.get_by_role("link", name="Begin judging").press("Enter")
        seen = []
        for number in range(1, len(tasks) + 1):
            expect(page.locator(".top-progress b")).to_have_text(
                f"Counterpart {number} of {len(tasks)}"
            )
            texts = page.locator(".source").all_inner_texts()
            seen.append(tuple(texts))
            source = page.content()
            assert not [word for word in (*RUNS, *RUNS.values(), "producer") if word in source]
            # The first question has the focus: a digit answers it and leads to the next.
            expect(page.locator("#human_likeness-1")).to_be_focused()
            for digit in "4532":
                page.keyboard.press(digit)
            expect(page.locator("[data-submit]")).to_be_focused()
            page.keyboard.press("Enter")
            page.wait_for_url(f"**/judge/{number + 1}/" if number < len(tasks) else "**/judge/")
        expect(page.get_by_text("Nothing is left to do.")).to_be_visible()
        assert complaints == []
    own_texts = {own.source_text.body, own.target_text.body}
    assert not [shown for shown in seen if own_texts & set(shown)]
    assert seen == [(task.item.text.body, task.item.body) for task in tasks]
    stored = rows(study, cleo)
    assert len(stored) == len(tasks)
    for one in stored:
        ratings = (one.human_likeness, one.linguistic_match, one.meaning_preservation)
        assert (*ratings, one.tone_preservation) == (4, 5, 3, 2)
        assert one.history.count() == 1
    everyone = JudgmentTask.objects.filter(study=study).exclude(state=TaskState.WITHDRAWN)
    assert everyone.count() == study.judgment_items.count() == 18


@pytest.mark.smoke
def test_touch_on_a_phone_with_a_missing_answer_and_a_change_of_mind(
    site: str, chromium: Browser
) -> None:
    study, cleo = make_judging()
    with open_context(chromium, "touch") as context:
        page = context.new_page()
        complaints = listen(page)
        log_in_annotator(page, site, cleo)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        assert page.evaluate(WIDTH) == 0
        brand, queue = (page.locator(f".top {css}").bounding_box() for css in (".brand", ".button"))
        assert brand is not None
        assert queue is not None
        assert queue["y"] < brand["y"] + brand["height"], "the head is one line"
        # Texts of three lines, four questions, and the button are in one screen.
        page.evaluate(
            "words => document.querySelectorAll('.source').forEach(one => one.append(words))",
            " We was finna leave but it started raining, so we just sat there on the porch.",
        )
        for locator in (page.locator(".source").first, page.locator("[data-submit]")):
            expect(locator).to_be_in_viewport(ratio=1)
        assert page.evaluate("scrollY") == 0
        page.set_viewport_size(NARROW)
        assert page.evaluate(WIDTH) == 0
        page.set_viewport_size(PHONE)
        for aspect, value in answers().items():
            box = page.locator(f"label:has(#{aspect}-{value})")
            size = box.bounding_box()
            assert size is not None
            assert size["height"] >= 44
            if aspect != "tone_preservation":
                box.tap()
        page.locator("[data-submit]").tap()
        expect(page.locator("[data-summary]")).to_contain_text("1 question is not answered yet.")
        expect(page.locator("[data-summary] li")).to_have_text("Tone preservation")
        expect(page.locator("#human_likeness-4")).to_be_checked()
        assert rows(study, cleo) == []
        page.locator("label:has(#tone_preservation-2)").tap()
        expect(page.locator("[data-summary]")).to_have_count(0)
        page.locator("[data-submit]").tap()
        page.wait_for_url("**/judge/2/")
        # Back, another answer, saved: one judgment with its history.
        page.get_by_role("link", name="Back").tap()
        page.wait_for_url("**/judge/1/")
        expect(page.locator("#tone_preservation-2")).to_be_checked()
        page.locator("label:has(#tone_preservation-5)").tap()
        page.get_by_role("button", name="Save the change").tap()
        page.wait_for_url("**/judge/2/")
        assert complaints == []
    (judgment,) = rows(study, cleo)
    assert judgment.tone_preservation == 5
    assert [row.tone_preservation for row in judgment.history.all()] == [5, 2]


def test_a_lost_connection_keeps_the_answers_and_sends_them_later(
    site: str, chromium: Browser
) -> None:
    study, cleo = make_judging()
    with open_context(chromium) as context:
        page = context.new_page()
        log_in_annotator(page, site, cleo)
        address = f"{site}/annotate/{study.public_id}/judge/1/"
        page.goto(address)
        page.keyboard.press("3")
        page.locator("#comment").fill("half way")
        page.reload()
        expect(page.get_by_text("Your answers were restored.")).to_be_visible()
        expect(page.locator("#human_likeness-3")).to_be_checked()
        expect(page.locator("#comment")).to_have_value("half way")
        page.locator("#linguistic_match-1").focus()
        for digit in "245":
            page.keyboard.press(digit)
        context.set_offline(True)
        page.keyboard.press("Enter")
        expect(page.get_by_text("There is no connection.")).to_be_visible()
        assert rows(study, cleo) == []
        context.set_offline(False)
        page.wait_for_url("**/judge/2/")
        kept = page.evaluate("Object.keys(localStorage).filter((key) => key.includes('judging'))")
        assert kept == []
    (judgment,) = rows(study, cleo)
    assert (judgment.human_likeness, judgment.tone_preservation) == (3, 5)
    assert judgment.comment == "half way"


def test_answers_are_sent_though_the_device_never_knew_that_it_was_cut_off(
    site: str, chromium: Browser
) -> None:
    study, cleo = make_judging()
    with open_context(chromium) as context:
        page = context.new_page()
        log_in_annotator(page, site, cleo)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        cut: list[str] = []
        told: list[bool] = []

        def cut_off(route: Route) -> None:
            # Until the message was seen, which stands only until the next attempt succeeds.
            if route.request.method == "POST" and (not told or len(cut) < 2):
                cut.append(route.request.url)
                route.abort("internetdisconnected")
            else:
                route.continue_()

        page.route("**/judge/1/", cut_off)
        for digit in "4532":
            page.keyboard.press(digit)
        page.keyboard.press("Enter")
        expect(page.get_by_text("There is no connection.")).to_be_visible()
        told.append(True)
        page.wait_for_url("**/judge/2/")
    assert len(cut) >= 2
    (judgment,) = rows(study, cleo)
    assert (judgment.human_likeness, judgment.tone_preservation) == (4, 2)


def test_a_double_click_stores_one_judgment_and_no_script_is_needed(
    site: str, chromium: Browser
) -> None:
    study, cleo = make_judging()
    with open_context(chromium) as context:
        page = context.new_page()
        log_in_annotator(page, site, cleo)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        for digit in "1234":
            page.keyboard.press(digit)
        page.locator("[data-submit]").dblclick()
        page.wait_for_url("**/judge/2/")
        state = context.storage_state()
    assert [one.history.count() for one in rows(study, cleo)] == [1]
    with open_context(chromium, java_script_enabled=False, storage_state=state) as context:
        page = context.new_page()
        page.goto(f"{site}/annotate/{study.public_id}/judge/2/")
        for aspect, value in answers().items():
            if aspect != "meaning_preservation":
                page.locator(f"#{aspect}-{value}").check()
        page.get_by_role("button", name="Save and next").click()
        expect(page.get_by_text("Not answered yet: Meaning preservation.")).to_be_visible()
        expect(page.locator("#human_likeness-4")).to_be_checked()
        page.locator("#meaning_preservation-3").check()
        page.get_by_role("button", name="Save and next").click()
        page.wait_for_url("**/judge/3/")
    assert len(rows(study, cleo)) == 2


def test_who_loses_a_counterpart_meanwhile_is_told_why(site: str, chromium: Browser) -> None:
    study, cleo = make_judging()
    task = tasks_of(study, cleo)[0]
    with open_context(chromium) as context:
        page = context.new_page()
        log_in_annotator(page, site, cleo)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        for digit in "1234":
            page.keyboard.press(digit)
        write_counterpart(cleo, task.item.pair.target_text)
        page.locator("[data-submit]").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "You wrote a counterpart of this text"
        )
    assert rows(study, cleo) == []
    task.refresh_from_db()
    assert task.state == TaskState.WITHDRAWN


def make_coding() -> tuple[Study, str]:
    tag = uuid.uuid4().hex[:8]
    corpus = make_corpus(1, name=f"Posts {tag}")
    scheme = store_scheme(DEFAULT_SCHEME)
    return launch(make_study(corpus, error_scheme=scheme), f"ann-{tag}"), f"ann-{tag}"


def passages(study: Study, name: str) -> list[tuple[str, str]]:
    """Return category and words of every passage that ``name`` marked."""
    found = CodedError.objects.filter(judgment__in=rows(study, name)).order_by("start", "category")
    bodies = found.values_list("category", "start", "end", "judgment__task__item__body")
    return [(category, body[start:end]) for category, start, end, body in bodies]


def test_errors_are_marked_by_keyboard(site: str, chromium: Browser) -> None:
    study, ann = make_coding()
    words = tasks_of(study, ann)[0].item.body.split()
    with open_context(chromium) as context:
        page = context.new_page()
        complaints = listen(page)
        log_in_annotator(page, site, ann)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        for digit in "4532":
            page.keyboard.press(digit)
        # The last answer leads to the errors, where nothing is said yet.
        expect(page.locator("#errors-1")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("[data-summary] li")).to_have_text("Errors")
        assert rows(study, ann) == []
        # Tab goes from text to text, arrows from word to word; Shift marks on the way.
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        expect(page.locator("#errors-1")).to_be_disabled()
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.reload()
        expect(page.get_by_text("Your answers were restored.")).to_be_visible()
        expect(page.locator("[data-words] input:checked")).to_have_count(3)
        page.locator("[data-submit]").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/judge/2/")
        assert complaints == []
    assert passages(study, ann) == [
        ("misread", words[0]),
        ("neutralized", " ".join(words[1:3])),
    ]


def test_errors_are_marked_by_touch_and_without_script(site: str, chromium: Browser) -> None:
    study, ann = make_coding()
    first, second = (task.item.body.split() for task in tasks_of(study, ann)[:2])
    with open_context(chromium, "touch") as context:
        page = context.new_page()
        log_in_annotator(page, site, ann)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        for aspect, value in answers().items():
            page.locator(f"label:has(#{aspect}-{value})").tap()
        page.locator("label:has(#errors-1)").tap()
        kinds = page.locator(".error-category")
        for place in (0, 2):
            word = kinds.nth(2).locator(".word").nth(place)
            size = word.bounding_box()
            assert size is not None
            assert size["height"] >= 40
            word.tap()
        expect(page.locator("#errors-1")).not_to_be_checked()
        assert page.evaluate(WIDTH) == 0
        page.locator("[data-submit]").tap()
        page.wait_for_url("**/judge/2/")
        state = context.storage_state()
    assert passages(study, ann) == [("invented", first[0]), ("invented", first[2])]
    with open_context(chromium, java_script_enabled=False, storage_state=state) as context:
        page = context.new_page()
        page.goto(f"{site}/annotate/{study.public_id}/judge/2/")
        for aspect, value in answers().items():
            page.locator(f"#{aspect}-{value}").check()
        page.get_by_role("button", name="Save and next").click()
        expect(page.locator("#errors-problem")).to_have_text(
            "Mark the words that are errors, or tick “No errors”."
        )
        page.get_by_role("group", name="Misread").get_by_label(second[0], exact=True).check()
        page.get_by_role("button", name="Save and next").click()
        page.wait_for_url("**/judge/3/")
    assert ("misread", second[0]) in passages(study, ann)


def test_the_marking_of_errors_has_no_violation_of_accessibility(
    site: str, chromium: Browser
) -> None:
    study, ann = make_coding()
    page = open_scanned_page(chromium)
    with page.context:
        log_in_annotator(page, site, ann)
        page.goto(f"{site}/annotate/{study.public_id}/judge/1/")
        page.locator("[data-submit]").click()  # every problem is said
        page.locator(".error-category").first.locator("input").nth(1).check(force=True)
        scan(page, "marking errors")
