"""A researcher in Chromium: watches a study, reviews, copies nothing by hand."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page

from annotation.models import CheckKind, Study, Submission, SubmissionState
from tests.annotation.studies.people import make_study, make_submission, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "a long pass phrase"  # of tests.annotation.studies.people.make_user


@pytest.fixture
def page(chromium: Browser) -> Page:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    opened = context.new_page()
    opened.complaints = []
    opened.on(
        "console",
        lambda message: opened.complaints.append(message.text) if message.type == "error" else None,
    )
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    return opened


@pytest.fixture
def study() -> Study:
    study = make_study(owner=make_user("alice"), title="Group ratings, spring", quota_per_group=6)
    make_submission(study, minutes=12)
    make_submission(study, minutes=9, failed=[CheckKind.GROUP_NAME], first_group=3)
    return study


def log_in(page, base: str) -> None:
    page.goto(base + reverse("admin:login"))
    page.fill("input[name=username]", "alice")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(base + reverse("admin:index"))


def scrolls_sideways(page) -> bool:
    page.wait_for_load_state()
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.smoke
def test_a_researcher_watches_a_study_and_reviews_it(page, live_server, study: Study) -> None:
    log_in(page, live_server.url)
    page.goto(live_server.url + reverse("admin:annotation_study_changelist"))
    page.get_by_role("link", name="Group ratings, spring").click()
    page.get_by_role("heading", name="From start to accepted data").wait_for()
    assert page.get_by_role("row", name="Started").inner_text().split()[1] == "2"

    # Somebody starts: the numbers follow without a reload, and an opened table stays open.
    page.locator("#quota-table summary").click()
    page.evaluate("window.notReloaded = true")
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    page.get_by_role("row", name="Started 3").wait_for()
    assert page.evaluate("window.notReloaded") is True
    assert page.locator("#quota-table[open]").count() == 1

    with page.expect_navigation():
        page.get_by_role("link", name="Review 2").click()
    page.get_by_role("heading", name="Attention checks").wait_for()
    first = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Accept data, pay").click()
    page.get_by_text(f"{first}: data accepted, pay approved.").wait_for()

    # The second one failed a memory check: without a ground its pay cannot be rejected.
    second = page.get_by_role("heading", level=1).inner_text()
    assert second != first
    page.get_by_text("Named the group “senior citizens”").wait_for()
    page.get_by_text("Reject pay", exact=True).click()
    page.get_by_label("Reason, as the participant is told it").fill("Wrong name.")
    page.get_by_role("button", name="Exclude data, reject pay").click()
    page.get_by_text("Choose the ground on which pay is rejected").wait_for()
    page.get_by_role("button", name="Exclude data, pay").click()
    page.wait_for_url(live_server.url + reverse("admin:annotation_study_overview", args=[study.pk]))

    decisions = set(
        Submission.objects.filter(state=SubmissionState.FINISHED).values_list(
            "data_decision", "pay_decision"
        )
    )
    assert decisions == {("accepted", "approved"), ("excluded", "approved")}
    # The refused rejection was answered with 422, which the browser notes; nothing else went wrong.
    assert [text for text in page.complaints if "422" not in text] == []


def test_the_heads_of_a_list_stand_on_one_line_and_begin_with_capitals(
    page, live_server, study: Study
) -> None:
    log_in(page, live_server.url)
    page.goto(live_server.url + reverse("admin:annotation_study_changelist") + "?o=1.-3")
    heads = page.locator("#result_list thead th:has(.text) .text")
    assert page.locator("#result_list .sortoptions").count() == 2
    feet = heads.evaluate_all("all => all.map((one) => one.getBoundingClientRect().bottom)")
    assert len(feet) > 4
    assert max(feet) - min(feet) < 1
    key = page.locator("#changelist-search kbd")
    assert key.is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert key.is_hidden()
    labels = page.locator("#result_list td[data-label]").evaluate_all(
        "all => all.map((one) => getComputedStyle(one, '::before').content.replaceAll('\"', ''))"
    )
    named = [label for label in labels if label != "none"]
    assert {"Status", "Accepted ratings"} <= set(named)
    assert [label for label in named if label[0] != label[0].upper()] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_fit_a_phone(page, live_server, study: Study, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page, live_server.url)
    waiting = Submission.objects.first()
    assert waiting is not None
    for address in (
        reverse("admin:annotation_study_changelist"),
        reverse("admin:annotation_study_overview", args=[study.pk]),
        reverse("admin:annotation_study_change", args=[study.pk]),
        reverse("admin:annotation_instrument_change", args=[study.instruments.get().pk]),
        reverse("admin:annotation_submission_changelist"),
        reverse("admin:annotation_submission_review", args=[waiting.pk]),
    ):
        page.goto(live_server.url + address)
        page.wait_for_load_state("networkidle")
        assert not scrolls_sideways(page), address
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    # look/README.md §2: paper is #FAF9F6 in light and #12161C in dark.
    assert paper == {"light": "rgb(250, 249, 246)", "dark": "rgb(18, 22, 28)"}[scheme]
    assert page.complaints == []
