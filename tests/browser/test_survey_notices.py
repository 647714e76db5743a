"""Where the survey greets, stops or ends: no violation, and the ways that a participant has.

Whoever is known to the page is led to their own answers, and everybody to the researchers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from annotation.models import (
    Outcome,
    Panel,
    Study,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.studies.lifecycle import close_study, launch_study, pause_study
from tests.annotation.instruments.conftest import TITLE, add_spanish
from tests.annotation.survey.conftest import GROUPS, StudyMaker
from tests.annotation.survey.flows import comprehension
from tests.annotation.survey.participants import InProcess, Person, spread
from tests.browser.axe import open_scanned_page, scan, scan_enlarged
from tests.browser.survey_visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHORT_FLOW = ["consent", "rating", "rating", "repeat"]
PROLIFIC_IDS = "?PROLIFIC_PID=5f00000000000000000000aa&STUDY_ID=s1&SESSION_ID=6a01"

Goto = Callable[..., Page]


@pytest.fixture
def page(chromium: Browser) -> Page:
    return open_scanned_page(chromium)


@pytest.fixture
def goto(site: str, page: Page) -> Goto:
    """Return a way to open an address, to check its heading and to scan it."""

    def goto(address: str, heading: str, *, study: Study | None, own: str = "") -> Page:
        page.goto(site + address)
        check_page(page, heading, study=study, own=own)
        return page

    return goto


def check_page(page: Page, heading: str, *, study: Study | None, own: str = "") -> None:
    """Scan a page with a heading; ``own`` is the token of the participant that it knows."""
    expect(page.locator("h1")).to_have_text(heading)
    scan(page, heading)
    if study is not None:
        assert page.locator(f"a[href='mailto:{study.contact_email}']").count(), heading
    if own:
        assert page.locator(f"a[href='/w/{own}/']").count(), heading


def start(study: Study, query: str = "") -> tuple[Person, Submission]:
    person = Person(InProcess(), spread)
    person.start(study.get_absolute_url() + query)
    return person, Submission.objects.get(token=person.path.split("/")[2])


def lapse(submission: Submission) -> None:
    Submission.objects.filter(pk=submission.pk).update(
        reserved_until=timezone.now() - timedelta(minutes=1)
    )


def end(submission: Submission, outcome: Outcome) -> None:
    Submission.objects.filter(pk=submission.pk).update(
        state=SubmissionState.ENDED, outcome=outcome, reserved_until=None
    )


def test_links_that_lead_to_no_visit(goto: Goto, make_study: StudyMaker) -> None:
    goto("/", "How people see groups, and how language models do", study=None)
    goto("/nothing/here/", "There is nothing at this address", study=None)
    goto("/s/nothing/", "There is no study at this link", study=None)
    goto("/r/nothing/", "There is nothing at this link", study=None)

    prolific = make_study(panel=Panel.PROLIFIC, quota_per_group=1, groups=GROUPS[:4])
    link = prolific.get_absolute_url()
    goto(link, "This link is not complete", study=prolific)
    start(prolific, PROLIFIC_IDS.replace("aa", "ab"))
    goto(link + PROLIFIC_IDS, "All places are taken", study=prolific)

    study = make_study()
    address = study.get_absolute_url()
    pause_study(study=study)
    goto(address, "This study is paused", study=study)
    close_study(study=study)
    goto(address, "This study has ended", study=study)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.DRAFT)
    goto(address, "This study has not started yet", study=study)


def test_greetings_and_pages_that_cannot_be_taken(
    page: Page, goto: Goto, site: str, make_study: StudyMaker
) -> None:
    study = make_study(flow=SHORT_FLOW, groups=GROUPS[:4], quota_per_group=1)
    visitor = Visitor(page)
    visitor.start(site + study.get_absolute_url())
    early = study.submissions.get()
    goto(study.get_absolute_url(), study.title, study=study, own=early.token)
    lapse(early)
    goto(f"/r/{early.token}/", "Welcome back", study=study, own=early.token)
    with page.expect_event("load"):
        page.get_by_role("button", name="Go on").click()
    page.get_by_role("checkbox").check()
    visitor.move_on()

    # A page that no page of the survey can have sent.
    visitor.rate_all()
    page.locator("input[name=step]").evaluate("node => { node.value += 'x'; }")
    page.get_by_role("button", name="Continue").click()
    check_page(page, "This page cannot be taken", study=study, own=early.token)
    with page.expect_navigation():
        page.get_by_role("link", name="Go on with your visit").click()

    # The group went to somebody else meanwhile, and another one is free.
    visitor.rate_all()
    second, _left = start(study)
    lapse(early)
    start(study)
    second.connection.post(second.path.replace("/r/", "/w/"), {"confirm": "yes"})
    page.get_by_role("button", name="Continue").click()
    check_page(page, "You go on with another group", study=study, own=early.token)


def test_ends_of_visits(page: Page, goto: Goto, make_study: StudyMaker) -> None:
    study = make_study(flow=["consent", "rating"], panel=Panel.PROLIFIC)
    ends = {
        Outcome.NO_CONSENT: "You are not taking part",
        Outcome.SCREENED_OUT: "You are not taking part",
        Outcome.TIMED_OUT: "Your visit has ended",
        Outcome.QUOTA_FULL: "Your visit has ended",
    }
    person, submission = start(study, PROLIFIC_IDS)
    person.go_on(until=lambda shown: bool(shown.lines))
    goto(f"/w/{submission.token}/", "Leave the study", study=study)
    for outcome, heading in ends.items():
        end(submission, outcome)
        goto(person.path, heading, study=study, own=submission.token)
    goto(f"/w/{submission.token}/", "Your part in the study", study=study)

    other, finished = start(study, PROLIFIC_IDS.replace("aa", "ab"))
    other.go_on()
    goto(other.path, "Thank you. Your answers are saved.", study=study, own=finished.token)
    expect(page.get_by_role("link", name="Return to Prolific")).to_be_visible()
    goto(f"/w/{finished.token}/", "Your part in the study", study=study)
    # The last day for it passes while the page stands open.
    Study.objects.filter(pk=study.pk).update(withdraw_until=timezone.now() - timedelta(days=2))
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Erase my answers").click()
    check_page(page, "Answers can no longer be erased here", study=study, own=finished.token)
    goto(f"/w/{finished.token}/", "Your part in the study", study=study)

    _late, resting = start(study, PROLIFIC_IDS.replace("aa", "ac"))
    close_study(study=Study.objects.get(pk=study.pk))
    lapse(resting)
    goto(f"/r/{resting.token}/", "This study has ended", study=study, own=resting.token)


def test_end_pages_in_spanish_at_400_percent_in_forced_colors(
    page: Page, site: str, make_study: StudyMaker
) -> None:
    study = make_study(flow=SHORT_FLOW, panel=Panel.PROLIFIC, launched=False)
    add_spanish(study.instruments.get())
    launch_study(study=study)

    def look(address: str, heading: str) -> None:
        page.goto(site + address)
        expect(page.locator("h1")).to_have_text(heading)
        assert page.locator("html").get_attribute("lang") == "es"
        scan_enlarged(page, heading)

    person, submission = start(study, PROLIFIC_IDS)
    person.go_on(until=lambda shown: bool(shown.lines))
    Submission.objects.filter(pk=submission.pk).update(language="es")
    own = f"/w/{submission.token}/"
    look(own, "Salir del estudio")
    for outcome in (Outcome.NO_CONSENT, Outcome.SCREENED_OUT):
        end(submission, outcome)
        look(person.path, "No participas")
    for outcome in (Outcome.TIMED_OUT, Outcome.QUOTA_FULL):
        end(submission, outcome)
        look(person.path, "Tu participación terminó")
    other, finished = start(study, PROLIFIC_IDS.replace("aa", "ab"))
    other.go_on()
    Submission.objects.filter(pk=finished.pk).update(language="es")
    look(other.path, "Gracias. Tus respuestas están guardadas.")
    look(f"/w/{finished.token}/", "Tu participación en el estudio")
    other.connection.post(f"/w/{finished.token}/", {"confirm": "yes"})
    look(f"/w/{finished.token}/", "Tus respuestas están borradas")
    _late, resting = start(study, PROLIFIC_IDS.replace("aa", "ac"))
    Submission.objects.filter(pk=resting.pk).update(language="es")
    close_study(study=Study.objects.get(pk=study.pk))
    lapse(resting)
    look(f"/r/{resting.token}/", "Este estudio terminó")

    # Those who come too late have no visit: the browser's language counts.
    page.set_extra_http_headers({"Accept-Language": "es"})
    link = study.get_absolute_url()
    look(link + PROLIFIC_IDS.replace("aa", "ad"), "Este estudio terminó")
    look(link, "Este enlace no está completo")
    late = {
        StudyStatus.PAUSED: "Este estudio está en pausa",
        StudyStatus.DRAFT: "Este estudio aún no empieza",
    }
    for status, heading in late.items():
        Study.objects.filter(pk=study.pk).update(status=status)
        look(link + PROLIFIC_IDS.replace("aa", "ad"), heading)
    full = make_study(panel=Panel.PROLIFIC, quota_per_group=1, groups=GROUPS[:4], launched=False)
    add_spanish(full.instruments.get())
    launch_study(study=full)
    start(full, PROLIFIC_IDS)
    look(
        full.get_absolute_url() + PROLIFIC_IDS.replace("aa", "ab"),
        "Todos los lugares están ocupados",
    )


def test_each_early_end_is_reached_and_says_what_becomes_of_pay_and_answers(
    page: Page, goto: Goto, site: str, make_study: StudyMaker
) -> None:
    study = make_study(
        flow=["consent", "instructions", comprehension(on_failure="screen_out"), "rating"],
        panel=Panel.PROLIFIC,
        quota_per_group=1,
        groups=GROUPS[:1],
    )
    link, codes = study.get_absolute_url(), study.completion_codes

    def check_end(heading: str, *told: str, code: str) -> None:
        page.wait_for_load_state()
        check_page(page, heading, study=study)
        for text in told:
            expect(page.locator("main")).to_contain_text(text)
        back = page.get_by_role("link", name="Return to Prolific")
        expect(back).to_have_attribute("href", re.compile(f"cc={codes[code]}$"))

    visitor = Visitor(page)
    visitor.start(site + link + PROLIFIC_IDS)
    page.get_by_role("button", name="I do not agree").click()
    check_end(
        "You are not taking part",
        "There is no payment, because you did not take part.",
        "No answers of yours are stored.",
        code="no_consent",
    )
    page.get_by_role("button", name="Go back").click()
    page.get_by_role("checkbox").check()
    visitor.move_on()

    page.get_by_role("link", name="Leave the study").click()
    expect(page.locator("h1")).to_have_text("Leave the study")
    expect(page.locator("main")).to_contain_text("$2.00 if you finish")
    page.get_by_role("link", name="Go on with the study").click()

    goto(link + PROLIFIC_IDS.replace("aa", "ab"), "All places are taken", study=study)
    check_end(
        "All places are taken",
        "There is no payment, because you did not take part.",
        "You gave none. Nothing was stored.",
        code="quota_full",
    )
    page.goto(f"{site}/r/{study.submissions.get().token}/")
    visitor.move_on()
    for _ in range(2):
        page.get_by_role("radio").first.check()  # wrong
        visitor.move_on()
    check_end(
        "You are not taking part",
        "You did nothing wrong.",
        "There is no payment for this part",
        code="screened_out",
    )
    close_study(study=study)
    page.context.clear_cookies()
    goto(link + PROLIFIC_IDS.replace("aa", "ac"), "This study has ended", study=study)
    check_end("This study has ended", "There is no payment", code="quota_full")


def test_preferring_not_to_say_takes_other_ticks_back(
    page: Page, site: str, make_study: StudyMaker
) -> None:
    person, _submission = start(make_study(flow=["consent", "rating", "demographics"]))
    person.go_on(until=lambda shown: shown.heading == "About you")
    page.goto(site + person.path)
    question = page.get_by_role("group").filter(has_text="Choose all that fit.").first
    first, *_others, declined = question.get_by_role("checkbox").all()
    first.check()
    declined.check()
    expect(first).not_to_be_checked()
    first.check()
    expect(declined).not_to_be_checked()


def test_two_languages_and_a_preview(
    page: Page, goto: Goto, site: str, make_study: StudyMaker
) -> None:
    study = make_study(launched=False, flow=["rating", "group_name"])
    add_spanish(study.instruments.get())
    launch_study(study=study)
    goto(study.get_absolute_url(), study.title, study=study)
    page.get_by_role("link", name="Español").click()
    check_page(page, TITLE["es"], study=study)
    page.locator("main form button").click()
    page.wait_for_url("**/r/**")
    scan(page, "a rating page in Spanish")
    assert page.locator("html").get_attribute("lang") == "es"
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    study.submissions.update(origin=SubmissionOrigin.PREVIEW, is_counted=False)
    page.reload()
    expect(page.get_by_role("complementary")).to_be_visible()
    scan(page, "a preview")
