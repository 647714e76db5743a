"""No violation that axe-core finds where annotators write and judge, and researchers log in."""

from __future__ import annotations

import uuid

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import JudgmentTask, Study, TaskState
from annotation.studies.lifecycle import pause_study
from tests.annotation.counterparts import studies as writing
from tests.annotation.judgments import corpora as judging
from tests.annotation.studies.people import make_user
from tests.browser.accounts import log_in_annotator, log_in_researcher
from tests.browser.axe import open_scanned_page, scan

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def page(chromium: Browser) -> Page:
    return open_scanned_page(chromium)


@pytest.fixture
def tag() -> str:
    return uuid.uuid4().hex[:8]


def submit(page: Page) -> None:
    page.locator("[data-submit]").click()


def test_writing(site: str, page: Page, tag: str) -> None:
    name = f"ann-{tag}"
    corpus = writing.make_corpus(2, name=f"Two posts {tag}")
    study = writing.make_writing_study(name, corpus=corpus, common_texts=2)
    first, second = writing.tasks_of(study, name)
    log_in_annotator(page, site, name)
    scan(page, "an annotator's studies")
    queue = site + reverse("counterparts:queue", args=[study.public_id])
    page.goto(queue)
    scan(page, "texts to write")
    with page.expect_navigation():
        page.get_by_role("link", name="Begin writing").click()
    scan(page, "an empty field")
    page.locator("#body").fill("He is going to leave now")
    expect(page.locator("[data-diff] ins").first).to_be_visible()
    scan(page, "the difference")
    page.locator("#body").press("Escape")
    page.keyboard.press("?")
    scan(page, "keys")
    page.get_by_role("button", name="Close").click()
    page.context.set_offline(True)
    page.locator("#body").press_sequentially(" then")
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    scan(page, "no connection")
    page.context.set_offline(False)
    expect(page.get_by_text("There is no connection.")).to_have_count(0)
    page.locator("#body").fill(first.text.body)
    submit(page)
    expect(page.locator("[data-question]")).to_be_visible()
    scan(page, "unchanged")
    page.get_by_role("button", name="Yes, it needs no change").click()
    page.wait_for_url(f"**/write/{second.position}/")
    page.locator("[data-not-interpretable]").check()
    submit(page)
    expect(page.locator(".problem").first).to_be_visible()
    scan(page, "no reason")
    page.get_by_label("What the text means is unclear").check()
    submit(page)
    expect(page.get_by_text("Nothing is left to do.")).to_be_visible()
    scan(page, "nothing left to write")
    pause_study(study=study)
    page.goto(queue)
    scan(page, "a paused study")


def test_judging(site: str, page: Page, tag: str) -> None:
    name = f"cleo-{tag}"
    corpus = judging.make_corpus(1, name=f"Posts {tag}", runs=list(judging.RUNS)[:1])
    study = judging.launch(
        judging.make_study(corpus, runs=list(judging.RUNS)[:1]), f"ben-{tag}", name
    )
    tasks = judging.tasks_of(study, name)
    log_in_annotator(page, site, name)
    page.goto(site + reverse("judgments:queue", args=[study.public_id]))
    scan(page, "counterparts to judge")
    with page.expect_navigation():
        page.get_by_role("link", name="Begin judging").click()
    scan(page, "four questions")
    page.keyboard.press("4")
    submit(page)
    expect(page.locator("[data-summary]")).to_be_visible()
    scan(page, "three answers missing")
    for aspect, value in judging.answers().items():
        page.locator(f"#{aspect}-{value}").check()
    page.context.set_offline(True)
    submit(page)
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    scan(page, "no connection")
    page.context.set_offline(False)
    after_first = f"**/judge/{tasks[1].position}/" if len(tasks) > 1 else "**/judge/"
    page.wait_for_url(after_first)
    page.goto(site + reverse("judgments:judge", args=[study.public_id, tasks[0].position]))
    scan(page, "judged before")
    JudgmentTask.objects.filter(pk__in=[task.pk for task in tasks[1:]]).delete()
    page.goto(site + reverse("judgments:queue", args=[study.public_id]))
    expect(page.get_by_text("Nothing is left to do.")).to_be_visible()
    scan(page, "nothing left to judge")
    JudgmentTask.objects.filter(pk=tasks[0].pk).update(state=TaskState.WITHDRAWN)
    page.goto(site + reverse("judgments:judge", args=[study.public_id, tasks[0].position]))
    scan(page, "a counterpart that was taken away")


@pytest.fixture
def differing(tag: str) -> Study:
    """Ann and ben differ on both texts; alice owns the study."""
    alice = make_user(f"alice-{tag}")
    names = {f"{name}-{tag}": f"{name} wrote" for name in ("ann", "ben")}
    corpus = writing.make_corpus(2, name=f"Two posts {tag}")
    study = writing.make_writing_study(*names, corpus=corpus, common_texts=2, owner=alice)
    for name, body in names.items():
        for task in writing.tasks_of(study, name):
            writing.write(task, f"{body} {task.text.slug}")
    return study


def test_adjudication(site: str, page: Page, tag: str, differing: Study) -> None:
    log_in_researcher(page, site, f"alice-{tag}")
    overview = reverse("admin:annotation_writingstudy_adjudication", args=[differing.pk])
    page.goto(site + overview)
    scan(page, "texts to decide")
    page.get_by_role("link", name="Decide 2 texts").click()
    page.get_by_role("button", name="Decide and next").click()
    expect(page.get_by_text("Nothing was decided.")).to_be_visible()
    scan(page, "nothing decided")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Decide and next").click()
    page.wait_for_url("**/text-001/**")
    scan(page, "the next text")


def test_researchers_log_in_and_lockout(site: str, page: Page, tag: str) -> None:
    page.goto(site + reverse("admin:login"))
    scan(page, "researchers' log-in")
    for attempt in range(settings.AXES_FAILURE_LIMIT):
        page.locator("[name=username]").fill(f"nobody-{tag}")
        page.locator("[name=password]").fill("wrong")
        with page.expect_navigation():
            page.locator("[name=password]").press("Enter")
        if attempt == 0:
            scan(page, "researchers' log-in, refused")
    expect(page.locator("[name=password]")).to_have_count(0)
    scan(page, "locked out")
