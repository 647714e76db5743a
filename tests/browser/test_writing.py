"""Two annotators write the counterparts of twenty texts, in Chromium and over HTTP."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotation.annotators.invitations import invite_annotator
from annotation.counterparts.adjudication import load_annotations
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.models import Annotator, Counterpart, Overlap, Study, TaskState, WritingTask
from annotation.studies.lifecycle import pause_study
from tests.annotation.counterparts.studies import make_corpus, make_writing_study
from tests.browser.accounts import log_in_annotator, log_in_researcher
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

PASSWORD = "a long pass phrase"
NUMBERS = itertools.count(1)


@pytest.fixture
def study(site: str) -> Study:
    """A study on the running platform; every test has its own corpus and its own accounts."""
    corpus = make_corpus(name=f"Twenty posts {next(NUMBERS)}")
    study = make_writing_study(corpus=corpus, launched=False)
    for _place in range(2):
        invite_annotator(study=study)
    return launch_writing_study(study=study)


def place_of(study: Study, number: int) -> Annotator:
    return study.annotators.get(number=number)


def tasks_of(place: Annotator) -> list[WritingTask]:
    return list(place.writing_tasks.select_related("text").order_by("position"))


def join_in_browser(page: Page, site: str, place: Annotator, name: str) -> None:
    page.goto(site + reverse("annotators:join", args=[place.invitation_token]))
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Join the study").click()
    page.get_by_text(f"you are {place}").first.wait_for()


def join_over_http(site: str, place: Annotator, name: str) -> httpx.Client:
    client = httpx.Client(base_url=site, follow_redirects=True, timeout=60)
    address = reverse("annotators:join", args=[place.invitation_token])
    client.get(address)
    sent = {"account": "new", "username": name, "password": PASSWORD, "repeated": PASSWORD}
    answer = client.post(address, data=sent | token_of(client))
    assert answer.status_code == 200
    return client


def token_of(client: httpx.Client) -> dict[str, str]:
    found = [cookie.value for cookie in client.cookies.jar if cookie.name == "csrftoken"]
    return {"csrfmiddlewaretoken": found[-1] or ""}


def client_of(context: BrowserContext, site: str) -> httpx.Client:
    """Return a client without scripts that is logged in as the browser is."""
    cookies = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
    return httpx.Client(base_url=site, cookies=cookies, follow_redirects=True, timeout=60)


def address_of(task: WritingTask) -> str:
    return reverse("counterparts:write", args=[task.study.public_id, task.position])


def write_over_http(client: httpx.Client, tasks: Sequence[WritingTask], ending: str) -> None:
    for task in tasks:
        body = {"body": f"{task.text.body.replace('be', 'am always')} {ending}"}
        answer = client.post(address_of(task), data=body | token_of(client))
        assert answer.status_code == 200, answer.text


def distance(one: str, other: str) -> int:
    """Levenshtein distance by the textbook's table."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, another in enumerate(other, 1):
            before, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, before + (letter != another)),
            )
    return row[-1]


def compute_alpha(study: Study) -> float:
    """Alpha of what was stored, by a plain double loop: 1 - D_o / D_e over characters, D_o of pairs
    of the same text, D_e of pairs of different texts. Texts without a counterpart have no letters
    to compare."""
    rows = [row for row in load_annotations(study) if not row.not_interpretable]
    same, different = [], []
    for one, other in itertools.combinations(rows, 2):
        pair = same if one.text_slug == other.text_slug else different
        pair.append(distance(one.body, other.body))
    return 1 - (sum(same) / len(same)) / (sum(different) / len(different))


def log_in_as_researcher(page: Page, site: str, study: Study) -> None:
    name = f"alice-{study.public_id}"
    study.owner = User.objects.create(username=name, is_staff=True)
    study.save()
    log_in_researcher(page, site, name)


def test_two_annotators_write_twenty_texts(site: str, study: Study, chromium: Browser) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    ann = place_of(study, 1)
    join_in_browser(page, site, ann, f"ann-{study.public_id}")
    first, second, third, fourth, *rest = tasks_of(ann)

    # The first text: the difference shows while it is typed, the keyboard sends it.
    page.get_by_role("link", name="Begin").click()
    page.get_by_role("link", name="Begin writing").click()
    field = page.get_by_label("Counterpart in White Mainstream English (WME)")
    expect(field).to_be_focused()
    words = first.text.body.split()
    field.press_sequentially("Really " + " ".join(words[1:]))
    expect(page.locator("[data-diff] del")).to_have_text([f"removed: {words[0]}"])
    expect(page.locator("[data-diff] ins")).to_have_text(["added: Really"])
    changed = page.locator("[data-changed-words]")
    expect(changed).to_have_text(f"1 of {len(words)} source words removed, 1 added")
    field.press_sequentially(" all day")
    expect(changed).to_have_text(f"1 of {len(words)} source words removed, 3 added")
    expect(page.locator("[data-draft-state]")).to_contain_text("Draft saved")
    field.press("Control+Enter")
    page.wait_for_url(site + address_of(second))

    # The second one: the connection is lost while it is typed, and the window with it.
    field.fill("Half of it")
    expect(page.locator("[data-draft-state]")).to_contain_text("Draft saved")
    context.set_offline(True)
    field.press_sequentially(" and the other half")
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    page.keyboard.press("Control+Enter")  # nothing is sent, nothing is lost
    page.close()
    assert WritingTask.objects.get(pk=second.pk).draft == "Half of it"
    context.set_offline(False)
    page = context.new_page()
    page.goto(site + address_of(second))
    field = page.get_by_label("Counterpart in White Mainstream English (WME)")
    expect(field).to_have_value("Half of it and the other half")
    # The window may have sent it while it closed; else this page does.
    stored = WritingTask.objects.filter(pk=second.pk, draft="Half of it and the other half")
    wait_until(stored.exists)
    page.reload()
    expect(field).to_have_value("Half of it and the other half")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(site + address_of(third))

    # The third one cannot be interpreted; the first answer lacks its reason.
    page.keyboard.press("Alt+n")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose why the text cannot be interpreted.")).to_be_visible()
    page.get_by_label("What the text means is unclear").check()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(site + address_of(fourth))

    # The fourth one is right as it is; starting from the source can be undone.
    field.fill("Away with it")
    page.get_by_role("button", name="Start from the source").click()
    expect(field).to_have_value(fourth.text.body)
    field.press("Control+z")
    expect(field).to_have_value("Away with it")
    page.get_by_role("button", name="Start from the source").click()
    page.get_by_role("button", name="Save and next").click()
    page.get_by_role("button", name="Yes, it needs no change").click()
    page.wait_for_url(site + address_of(rest[0]))

    # The others over HTTP, as a browser without scripts sends them; one of them four times at once.
    client = client_of(context, site)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _n: write_over_http(client, rest[:1], "today"), range(4)))
    write_over_http(client, rest[1:], "today")
    page.goto(site + reverse("counterparts:queue", args=[study.public_id]))
    expect(page.get_by_text("Nothing is left to do.")).to_be_visible()

    ben = place_of(study, 2)
    write_over_http(join_over_http(site, ben, f"ben-{study.public_id}"), tasks_of(ben), "now")

    tasks = WritingTask.objects.filter(study=study)
    assert tasks.exclude(state=TaskState.DONE).count() == 0
    written = Counterpart.objects.filter(annotator__study=study)
    assert written.count() == tasks.count() == 28  # 4 common and 4 shared twice, 12 once
    assert list(written.filter(not_interpretable=True).values_list("reason", flat=True)) == [
        "meaning unclear"
    ]
    assert {written.get(task=task).history.count() for task in rest} == {1}
    assert len(load_annotations(study)) == 28
    assert tasks.get(pk=first.pk).active_seconds > 0
    assert complaints == []

    # The researcher's page says how far they agree.
    researcher = chromium.new_page()
    log_in_as_researcher(researcher, site, study)
    researcher.goto(site + reverse("admin:annotation_writingstudy_overview", args=[study.pk]))
    shown = researcher.locator("[data-alpha]").get_attribute("data-alpha") or ""
    assert float(shown) == pytest.approx(compute_alpha(study), abs=1e-12)
    researcher.close()


def test_a_paused_study_keeps_what_is_written(site: str, study: Study, chromium: Browser) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(30_000)
    page = context.new_page()
    ann = place_of(study, 1)
    join_in_browser(page, site, ann, f"ann-{study.public_id}")
    task = tasks_of(ann)[0]
    page.goto(site + address_of(task))
    assert not page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    pause_study(study=study)
    page.locator("#body").fill("Written too late")
    expect(page.get_by_text("The study takes no work at the moment.")).to_be_visible()
    page.get_by_role("button", name="Save and next").click()
    expect(page.get_by_text("This text was not submitted. It is kept as a draft")).to_be_visible()
    expect(page.locator("#body")).to_have_value("Written too late")
    task.refresh_from_db()
    assert (task.draft, task.state) == ("Written too late", TaskState.OPEN)


def test_a_text_changed_in_two_windows_asks_which_one_goes_on(
    site: str, study: Study, chromium: Browser
) -> None:
    context = chromium.new_context()
    context.set_default_timeout(30_000)
    one = context.new_page()
    ann = place_of(study, 1)
    join_in_browser(one, site, ann, f"ann-{study.public_id}")
    task = tasks_of(ann)[0]
    other_context = chromium.new_context(storage_state={"cookies": context.cookies()})  # a device
    other = other_context.new_page()
    for page in (one, other):
        page.goto(site + address_of(task))
    one.locator("#body").fill("From the first device")
    expect(one.locator("[data-draft-state]")).to_contain_text("Draft saved")
    other.locator("#body").fill("From the second device")
    expect(other.get_by_text("was changed in another window")).to_be_visible()
    other.get_by_role("button", name="The text in this field").click()
    expect(other.locator("[data-draft-state]")).to_contain_text("Draft saved")
    task.refresh_from_db()
    assert task.draft == "From the second device"


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_draft_whose_answer_was_lost_asks_nothing(
    site: str, study: Study, chromium: Browser, reloaded: bool
) -> None:
    context = chromium.new_context()
    context.set_default_timeout(30_000)
    page = context.new_page()
    ann = place_of(study, 1)
    join_in_browser(page, site, ann, f"lost-{study.public_id}")
    task = tasks_of(ann)[0]
    page.goto(site + address_of(task))
    arrived: list[str] = []

    def lose_the_answer(route: Route) -> None:
        if not arrived:
            arrived.append(route.fetch().text())
        route.abort()

    drafts = "**" + reverse("counterparts:draft", args=[study.public_id, task.position])
    page.route(drafts, lose_the_answer)
    body = page.locator("#body")
    body.fill("They are")
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    assert WritingTask.objects.get(pk=task.pk).draft == "They are"
    body.press_sequentially(" always reading")
    if reloaded:
        page.on("dialog", lambda dialog: dialog.accept())
        page.reload()
    page.unroute(drafts)
    stored = WritingTask.objects.filter(pk=task.pk, draft="They are always reading")
    wait_until(stored.exists)
    expect(body).to_have_value("They are always reading")
    expect(page.locator("[data-draft-state].is-saved")).to_be_visible()
    expect(page.get_by_text("was changed in another window")).to_have_count(0)


@pytest.mark.smoke
def test_why_a_text_is_not_interpretable_follows_to_another_device(
    site: str, study: Study, chromium: Browser
) -> None:
    context = chromium.new_context()
    context.set_default_timeout(30_000)
    page = context.new_page()
    ann = place_of(study, 1)
    join_in_browser(page, site, ann, f"ann-{study.public_id}")
    task = tasks_of(ann)[0]
    page.goto(site + address_of(task))
    page.locator("#body").fill("Half of it")
    page.keyboard.press("Alt+n")
    page.get_by_label("Another reason").check()
    page.get_by_label("In your own words").fill("the other half is cut off")
    expect(page.locator("[data-draft-state]")).to_contain_text("Draft saved")

    elsewhere = chromium.new_context(storage_state={"cookies": context.cookies()})
    other = elsewhere.new_page()
    other.goto(site + reverse("counterparts:queue", args=[study.public_id]))
    expect(other.get_by_text("Draft", exact=True)).to_have_count(1)
    other.goto(site + address_of(task))
    tick = other.get_by_label("I cannot interpret this text")
    expect(tick).to_be_checked()
    expect(other.get_by_label("Another reason")).to_be_checked()
    expect(other.get_by_label("In your own words")).to_have_value("the other half is cut off")
    expect(other.locator("#body")).not_to_be_editable()
    other.keyboard.press("Alt+n")
    expect(other.locator("#body")).to_be_editable()
    expect(other.locator("[data-draft-state]")).to_contain_text("Draft saved")
    other.reload()
    expect(tick).not_to_be_checked()
    expect(other.locator("#body")).to_have_value("Half of it")

    # The first device types on from what it had: its writer decides which one goes on.
    page.get_by_label("In your own words").fill("cut off")
    page.get_by_role("button", name="The other one").click()
    expect(page.get_by_label("I cannot interpret this text")).not_to_be_checked()
    expect(page.locator("#body")).to_be_editable()
    expect(page.locator("#body")).to_have_value("Half of it")


def test_the_page_stays_where_it_is_on_a_phone_while_a_draft_is_saved(
    site: str, study: Study, chromium: Browser
) -> None:
    viewport = {"width": 390, "height": 844}
    with chromium.new_context(viewport=viewport, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        join_in_browser(page, site, place_of(study, 1), f"still-{study.pk}")
        page.goto(site + reverse("counterparts:write", args=[study.public_id, 1]))
        field = page.locator("textarea").first
        before = field.bounding_box()
        field.fill("He is about to leave.")
        expect(page.locator("[data-draft-state]")).to_have_class("draft-state is-saved")
        assert field.bounding_box() == before


def test_keys_are_named_where_a_keyboard_is_likely(
    site: str, study: Study, chromium: Browser
) -> None:
    place = place_of(study, 1)
    hands = {
        "desktop": ({"viewport": {"width": 1280, "height": 800}}, True),
        "tablet": ({"viewport": {"width": 1024, "height": 768}, "has_touch": True}, False),
        "phone": ({"viewport": {"width": 390, "height": 844}}, False),
    }
    for name, (options, named) in hands.items():
        with chromium.new_context(**options, is_mobile=name == "tablet") as context:
            page = context.new_page()
            if name == "desktop":
                join_in_browser(page, site, place, f"keys-{study.pk}")
            else:
                log_in_annotator(page, site, f"keys-{study.pk}")
            page.goto(site + reverse("counterparts:write", args=[study.public_id, 1]))
            page.get_by_role("button", name="Save and next").wait_for()
            assert page.locator(".keys").is_visible() is named, name
            assert page.locator("[data-help-open]").is_visible() is named, name


def test_the_pages_of_writers_work_without_scripts(
    site: str, study: Study, chromium: Browser
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(30_000)
    page = context.new_page()
    ann = place_of(study, 1)
    join_in_browser(page, site, ann, f"ann-{study.public_id}")
    first, second, *_rest = tasks_of(ann)
    page.goto(site + address_of(first))
    expect(page.get_by_role("button", name="Start from the source")).to_be_hidden()
    page.locator("#body").fill("Without any script")
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url(site + address_of(second))
    page.get_by_label("I cannot interpret this text").check()
    page.get_by_label("A word or expression that I do not know").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Save and next").click()
    assert WritingTask.objects.filter(annotator=ann, state=TaskState.DONE).count() == 2
    assert WritingTask.objects.filter(study=study, overlap=Overlap.COMMON).count() == 8
