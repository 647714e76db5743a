"""Forty simulated participants at once, over HTTP, against a server in a process of its own."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from django.db import connections

from annotation.library.abc_model import HUMAN_STUDY_GROUPS
from annotation.models import (
    CheckResponse,
    DataDecision,
    GroupAssignment,
    PageEvent,
    Participant,
    Rating,
    SocialGroup,
    Submission,
    SubmissionState,
)
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study
from annotation.studies.quotas import count_quotas
from tests.annotation.studies.people import allow_unsigned_links
from tests.annotation.survey.participants import OverHttp, Person
from tests.probing.runs.fixtures import shared_database  # noqa: F401
from tests.web_server import HOST, run_web_server

pytestmark = [pytest.mark.services, pytest.mark.slow]

PEOPLE = 40
# The last four forget which group they rated. Their data are excluded, and their slots are free
# again: 36 people with four groups each fill 18 groups eight times.
FORGETFUL = 4
GROUPS = [entry.slug for entry in HUMAN_STUDY_GROUPS[:18]]
QUOTA = 8
GROUPS_EACH = 4
SCALES = 16
# Some ten seconds; more where the machine does something else meanwhile.
PATIENCE_SECONDS = 600


def encode(person: int, group: str, scale: str) -> int:
    """A value that tells participant, group and scale apart, the same one in the repetition."""
    return hashlib.sha256(f"{person}/{group}/{scale}".encode()).digest()[0] % 101


class Crowd:
    """The people, each in a thread with a connection of their own."""

    def __init__(self, port: int, link: str) -> None:
        self.port = port
        self.link = link
        self.barrier = Barrier(PEOPLE)
        self.deadline = time.monotonic() + PATIENCE_SECONDS

    def take_part(self, number: int) -> str:
        """Take part from start to end; returns the visit's path.

        Whoever finds the study full tries again, as long as somebody may still free a place.
        """
        connection = OverHttp(HOST, self.port)
        forgets = number >= PEOPLE - FORGETFUL
        person = Person(
            connection,
            rate=lambda group, scale: encode(number, group, scale),
            recalls_group=(lambda group: "I forgot") if forgets else (lambda group: group),
        )
        self.barrier.wait()
        link = f"{self.link}?PROLIFIC_PID=person{number}&SESSION_ID=session{number}"
        try:
            while (answer := person.start(link)).status != 302:
                assert answer.status == 403, (answer.status, answer.page.text)
                if forgets and self._is_filled():
                    return ""
                assert time.monotonic() < self.deadline, "no place became free"
                time.sleep(0.25)
            self._go_through(person)
        finally:
            connection.close()
            connections.close_all()  # this thread's own look into the database
        return person.path

    def _go_through(self, person: Person) -> None:
        while (page := person.see().page).fields.get("step"):
            fields = person.fill(page)
            answer = person.connection.post(page.action, fields)
            assert answer.status == 302, (answer.status, answer.page.text)
            if page.lines:
                # As a double click does.
                assert person.connection.post(page.action, fields).status == 302

    def _is_filled(self) -> bool:
        return Submission.objects.filter(data_decision=DataDecision.ACCEPTED).count() == (
            PEOPLE - FORGETFUL
        )


@pytest.fixture
def server(shared_database: str, tmp_path: Path) -> Iterator[int]:  # noqa: F811
    with run_web_server(shared_database, tmp_path) as port:
        yield port


def test_forty_people_fill_a_study_to_its_quota(server: int) -> None:
    study = create_study(
        title="Filled by forty",
        owner=None,
        contact_email="lab@example.org",
        groups=SocialGroup.objects.filter(slug__in=GROUPS),
        quota_per_group=QUOTA,
        decide_by_checks=True,
        panel="prolific",
    )
    allow_unsigned_links(study)
    study = launch_study(study=study)
    crowd = Crowd(server, study.get_absolute_url())
    begun = time.monotonic()
    with ThreadPoolExecutor(PEOPLE) as pool:
        paths = list(pool.map(crowd.take_part, range(PEOPLE)))
    seconds = time.monotonic() - begun

    # Filled exactly: nobody is in the middle of a visit any more, so no group may be over.
    quotas = count_quotas(study, instrument=study.instruments.get())
    assert [(q.accepted, q.in_review, q.in_progress) for q in quotas] == [(QUOTA, 0, 0)] * 18
    started = [path for path in paths if path]
    assert len(set(started)) == len(started) == Submission.objects.count()
    assert Participant.objects.count() == len(started)
    assert set(Submission.objects.values_list("state", flat=True)) == {SubmissionState.FINISHED}
    decisions = Counter(Submission.objects.values_list("data_decision", flat=True))
    assert decisions[DataDecision.ACCEPTED] == PEOPLE - FORGETFUL
    assert decisions[DataDecision.EXCLUDED] == len(started) - (PEOPLE - FORGETFUL)

    # No rating lost, doubled or misplaced.
    pages = GroupAssignment.objects.count()
    assert pages == len(started) * (GROUPS_EACH + 1)
    assert Rating.objects.count() == pages * SCALES
    number_of = {path.strip("/").split("/")[1]: number for number, path in enumerate(paths) if path}
    rows = Rating.objects.values_list(
        "assignment__submission__token",
        "assignment__group__plural",
        "scale__slug",
        "value",
    )
    misplaced = [
        row for row in rows if row[3] != encode(number_of[row[0]], group=row[1], scale=row[2])
    ]
    assert not misplaced
    # Consent, instructions, five rating pages, two checks, demographics: each passed once.
    assert PageEvent.objects.count() == len(started) * 10
    assert CheckResponse.objects.count() == len(started) * 3
    print(f"{PageEvent.objects.count() / seconds:.0f} pages sent a second, {seconds:.1f} s")
    assert seconds < PATIENCE_SECONDS
