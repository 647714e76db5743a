"""The load bench: its counts, its checks of what is stored, and its table."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from pathlib import Path

import pytest

from annotation.models import PageEvent, Rating
from tests.probing.runs.fixtures import shared_database  # noqa: F401
from tests.web_server import describe_environment
from tools.load.burst import IN, TURNED_AWAY
from tools.load.checking import Findings, check_study
from tools.load.levels import Outcome, count_people, run_level
from tools.load.measuring import describe_level, measure_database, percentile
from tools.load.people import Times, Visit
from tools.load.report import write_report
from tools.load.server import WebServer, run_web_server
from tools.load.studies import make_survey

pytestmark = pytest.mark.services

PEOPLE = 3
# Consent, instructions, five pages of ratings, two checks, questions about the person.
PAGES = 10
# 5 × 16 ratings, a name, two words, an age.
ANSWERS = 84


def test_a_level_counts_every_submit_and_finds_every_damage(
    shared_database: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    environment = describe_environment(shared_database, tmp_path)
    study = make_survey("Three at once")
    with run_web_server(environment, tmp_path / "web.log") as server:
        outcome = asyncio.run(
            run_level(
                server,
                study.get_absolute_url(),
                participants=PEOPLE,
                seconds=0.1,
                numbers=count_people(),
            )
        )
    assert not outcome.errors
    assert len(outcome.visits) == PEOPLE
    assert len(outcome.times.submits) == PEOPLE * PAGES
    assert outcome.server_cpu_seconds > 0
    assert min(outcome.server_peak_bytes, outcome.client_peak_bytes) > 0
    assert check_study(study, outcome.visits) == Findings(PEOPLE * ANSWERS, 0, 0, 0, 0)

    ratings = Rating.objects.filter(assignment__submission__study=study)
    moved = ratings.earliest("pk")
    Rating.objects.filter(pk=moved.pk).update(value=(moved.value + 1) % 101)
    ratings.latest("pk").delete()
    PageEvent.objects.filter(submission__token=outcome.visits[0].token, step_index=3).delete()
    assert check_study(study, outcome.visits) == Findings(
        PEOPLE * ANSWERS - 1, lost=1, doubled=0, misplaced=1, strange=1
    )
    # A visit that no participant knows of: all its answers are where nobody gave one.
    unknown = check_study(study, outcome.visits[1:])
    assert (unknown.strange, unknown.misplaced >= ANSWERS - 1) == (1, True)


def test_a_server_that_is_gone_is_an_error_of_every_participant() -> None:
    gone = WebServer(port=1, pid=1)
    outcome = asyncio.run(
        run_level(gone, "/s/none/", participants=2, seconds=0.5, numbers=count_people())
    )
    assert sum(outcome.errors.values()) >= 2
    assert not outcome.visits


def test_percentiles_are_values_that_were_measured() -> None:
    # Nearest rank: of ten values the fifth is the median, the last one is the 95th percentile.
    values = [float(value) for value in range(1, 11)]
    assert [percentile(values, share) for share in (0.5, 0.9, 0.95, 1.0)] == [5, 9, 10, 10]
    assert math.isnan(percentile([], 0.5))


def test_the_report_shows_a_level_in_one_row() -> None:
    outcome = Outcome(
        seconds=2.0,
        times=Times(submits=[0.1, 0.2, 0.3, 0.4]),
        visits=[Visit(1, "token", is_complete=True), Visit(2, "other")],
        errors=Counter({"SurveyError: The server answered 500, expected 302.": 3}),
        server_cpu_seconds=0.02,
        server_peak_bytes=321_000_000,
        client_peak_bytes=65_000_000,
    )
    answers = {"stored": 84, "lost": 2, "doubled": 1, "misplaced": 0, "strange": 4}
    record = {
        "machine": {
            "measured_on": "2026-11-21",
            "cores": 2,
            "processor": "x86_64",
            "python": "3.11",
            "load_before": 0.04,
        },
        "databases": [
            {
                "database": "sqlite",
                "processes": 1,
                "threads": 8,
                "levels": [describe_level(20, outcome) | {"answers": answers}],
                "burst": {"arrivals": 200, "seen": {IN: 1, TURNED_AWAY: 199}, "overshoot": 0},
            }
        ],
    }
    shown = write_report(record)
    assert "SQLite with 1 web process of 8 threads" in shown
    row = "| SQLite | 20 | 1 | 2 | 200 | 400 | 400 | 400 | 3 | 84 | 7 | 321 | 65 | 5.0 |"
    assert row in shown.splitlines()
    assert "1 got in, 199 turned away; 0 too many." in shown


def test_a_measurement_says_whether_it_was_good(
    shared_database: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    measured = measure_database(
        levels=[2],
        seconds=0.1,
        arrivals=12,
        slow=5,
        environment=describe_environment(shared_database, tmp_path),
        log=tmp_path / "web.log",
    )
    (level,) = measured["levels"]
    assert level["is_good"]
    assert (level["surveys"], level["submits"]) == (2, 2 * PAGES)
    burst = measured["burst"]
    assert burst["seen"] == {IN: 1, TURNED_AWAY: 11}
    assert (burst["overshoot"], burst["is_good"]) == (0, True)
