"""The main job, end to end: `make run`'s own launcher, a person in Chromium, a worker's report."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.survey_visitor import MOVES, PAGE_RESTS_MS
from tests.ports import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
SILENT_SECONDS = 240
REPORT_SECONDS = 180
# Children have thirteen seconds; what comes before and after takes its time on a busy machine.
STOP_SECONDS = 120
# What the first start says and no later one, which therefore takes seconds.
MADE_ONCE = ("Training the demo model.", "Simulating people who take the demo study.")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Local:
    """The platform as `make run` starts it, in a folder and on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in {"DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE", "MODEL"}
        }
        self._log = (folder / "terminal.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "runlocal"],
            cwd=ROOT,
            env={
                **inherited,
                "VAR_DIR": str(folder / "var"),
                "PORT": str(self.port),
                "STATIC_MANIFEST": "true",
                "STATIC_COMPRESSION": "false",
            },
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def terminal(self) -> str:
        return (self.folder / "terminal.log").read_text(encoding="utf-8")

    def wait_until_it_runs(self) -> None:
        """Wait as long as it goes on: a busy machine takes its time for each line."""
        said, deadline = "", time.monotonic() + SILENT_SECONDS
        while "Ctrl-C stops everything" not in self.terminal:
            assert self.process.poll() is None, self.terminal
            if self.terminal != said:
                said, deadline = self.terminal, time.monotonic() + SILENT_SECONDS
            assert time.monotonic() < deadline, self.terminal
            time.sleep(0.2)

    def printed(self, label: str) -> str:
        """Return what stands behind a label on the terminal."""
        found = re.search(rf"^  {label}\s+(\S+)$", self.terminal, flags=re.M)
        assert found, self.terminal
        return found[1]

    def descendants(self) -> set[int]:
        """Return the process ids of the launcher and of everything below it."""
        children: dict[int, list[int]] = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                text = status.read_text()
            except OSError:
                continue
            children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(
                int(status.parent.name)
            )
        found, waiting = set(), [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.add(pid)
            waiting += children.get(pid, [])
        return found

    def ask(self, query: str) -> list[tuple[object, ...]]:
        database = self.folder / "var" / "stereoscope.sqlite3"
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
            return opened.execute(query).fetchall()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._log.close()


@pytest.fixture
def local(tmp_path) -> Iterator[Local]:
    started = Local(tmp_path)
    try:
        started.wait_until_it_runs()
        yield started
    finally:
        started.end()


class Respondent:
    """A person who rates every group the same way each time, and remembers what they said."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.places: dict[tuple[str, str], int] = {}
        self.nearness: dict[str, int] = {}
        self.last_group = ""
        self.groups_rated = 0

    def answer_page(self) -> None:
        """Answer whatever page is open and send it."""
        page = self.page
        step_before = page.locator("input[name=step]").input_value()
        if page.locator("[data-lines]").count():
            self._rate()
        elif page.locator("input[name=agree]").count():
            page.locator("input[name=agree]").check()
        elif page.locator("input[name=group-name]").count():
            page.locator("input[name=group-name]").fill(self.last_group.upper())
        elif page.locator("input[name=near]").count():
            self._choose("near", max)
            self._choose("far", min)
        # A page that is still being read has not all of its questions yet.
        with page.expect_event("load"):
            page.get_by_role("button", name="Continue", exact=True).click()
        expect(page.locator(f"input[name=step][value='{step_before}']")).to_have_count(0)

    def _rate(self) -> None:
        # The frame of the question stands in elements of its own, the group in the heading's text.
        self.last_group = (
            self.page.locator("h1")
            .evaluate(
                "heading => [...heading.childNodes].filter(node => node.nodeType === 3)"
                ".map(node => node.data).join('').trim()"
            )
            .removesuffix("?")
        )
        is_practice = self.page.locator("[data-line^=practice]").count() > 0
        self.groups_rated += not is_practice
        self.nearness.clear()
        for line in self.page.locator("[data-line]").all():
            scale = line.get_attribute("data-line") or ""
            place = self.places.setdefault(
                (self.last_group, scale), 5 + (37 * len(self.places)) % 91
            )
            self.nearness[line.get_attribute("data-left") or ""] = 100 - place
            self.nearness[line.get_attribute("data-right") or ""] = place
            track = line.locator(".line-input")
            if track.evaluate(MOVES):
                self.page.wait_for_timeout(PAGE_RESTS_MS)
            box = track.bounding_box()
            assert box is not None
            track.click(position={"x": box["width"] * place / 100, "y": box["height"] / 2})

    def _choose(self, field: str, best) -> None:
        options = self.page.locator(f"label:has(input[name={field}])")
        words = [text.strip() for text in options.all_inner_texts()]
        chosen = best(words, key=lambda word: self.nearness[word])
        options.nth(words.index(chosen)).click()


@pytest.mark.smoke
def test_a_person_takes_the_study_and_a_researcher_reads_the_report(local, chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda note: errors.append(note.text) if note.type == "error" else None)

    # A person at the printed link.
    page.goto(local.printed("Participants"))
    with page.expect_event("load"):
        page.get_by_role("button", name="Start", exact=True).click()
    respondent = Respondent(page)
    for _ in range(20):
        if page.locator("[data-finished]").count():
            break
        respondent.answer_page()
    expect(page.locator("[data-finished]")).to_be_visible()
    assert respondent.groups_rated == 5  # four groups and one of them again
    ((state, passed, decision, agreement),) = local.ask(
        "SELECT state, checks_passed, data_decision, self_agreement FROM annotation_submission"
        " WHERE study_id = (SELECT id FROM annotation_study WHERE origin = 'collected')"
    )
    assert (state, passed, decision) == ("finished", 1, "accepted")
    assert agreement == 1.0
    ((ratings,),) = local.ask(
        "SELECT count(*) FROM annotation_rating r JOIN annotation_groupassignment a"
        " ON a.id = r.assignment_id JOIN annotation_submission s ON s.id = a.submission_id"
        " JOIN annotation_study t ON t.id = s.study_id WHERE t.origin = 'collected'"
    )
    assert ratings == 5 * 16

    # A researcher with the printed password, at the printed report.
    researcher = chromium.new_context(viewport={"width": 1280, "height": 900})
    desk = researcher.new_page()
    desk.goto(local.printed("Researchers"))
    desk.fill("input[name=username]", local.printed("User"))
    desk.fill("input[name=password]", local.printed("Password"))
    # The log-in's own address ends like the one that it leads to.
    with desk.expect_navigation():
        desk.locator("button[type=submit]").first.click()
    expect(desk).to_have_url(re.compile(r"/admin/$"))
    desk.goto(local.printed("Report"))
    # The page of a report that is not built yet loads itself again.
    final = desk.get_by_text("Final", exact=True).first
    expect(final).to_be_visible(timeout=REPORT_SECONDS * 1000)
    expect(desk.get_by_role("heading", level=1)).to_contain_text("Demo model (meaningless)")
    desk.wait_for_load_state()  # a report is long: what stands below may still be on its way
    assert desk.locator("svg[role=img]").count() >= 2
    body = desk.inner_text("body")
    assert "simulated" in body.lower()
    assert "meaningless" in body.lower()

    # A worker process, not this one, computed the run and built the report.
    ((run_status, scores),) = local.ask(
        "SELECT r.status, (SELECT count(*) FROM probing_score s WHERE s.run_id = r.id)"
        " FROM probing_run r"
    )
    assert run_status == "finished"
    assert scores > 25 * 16
    ((worker,),) = local.ask("SELECT DISTINCT worker FROM probing_shard")
    assert str(worker).startswith("local-")
    assert errors == []

    _stop_and_start_again(local)


def _stop_and_start_again(local: Local) -> None:
    """Ctrl-C leaves no process behind; the next start makes nothing anew, the password included."""
    password, pids = local.printed("Password"), local.descendants()
    assert len(pids) >= 4  # launcher, web server and its worker process, Celery's worker
    local.process.send_signal(signal.SIGINT)
    assert local.process.wait(timeout=STOP_SECONDS) == 0, local.terminal
    assert local.terminal.rstrip().endswith("Stopped.")
    # An orphan that has ended is there until the system's first process has looked.
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), seconds=STOP_SECONDS)

    assert all(line in local.terminal for line in MADE_ONCE)
    again = Local(local.folder)
    try:
        again.wait_until_it_runs()
        assert not [line for line in MADE_ONCE if line in again.terminal]
        assert again.printed("Password") == password
        again.process.send_signal(signal.SIGTERM)
        assert again.process.wait(timeout=STOP_SECONDS) == 0, again.terminal
    finally:
        again.end()
