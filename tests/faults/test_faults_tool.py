"""The tool that breaks installations: a small run of it, and what it counts as clean."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.web_server import run_web_server
from tools.faults.crowd import Crowd, UnrulyConnection, count_people
from tools.faults.report import BEGIN, END, is_clean, put_into, write_table
from tools.load.checking import check_study
from tools.load.studies import make_survey

PEOPLE = 4
# 5 × 16 ratings, a name, two words, an age.
ANSWERS = 84

ROW = {
    "setup": "SQLite + files",
    "fault": "full disk",
    "times": 3,
    "surveys": 12,
    "pages": 1320,
    "stored": 1008,
    "lost": 0,
    "doubled": 0,
    "wrong": 0,
    "errors": {},
    "refused": {"status 500 while the disk is full": 227},
    "runs": 2,
    "different": 0,
    "longest_seconds": 2.94,
}


@pytest.mark.services
def test_a_bad_line_loses_and_doubles_nothing(shared_database: str, tmp_path: Path) -> None:
    study = make_survey("A bad line")
    with run_web_server(shared_database, tmp_path) as port:
        crowd = Crowd(port, study.get_absolute_url(), count_people())
        asyncio.run(_send_badly(crowd))
    assert not crowd.watch.errors
    assert set(crowd.counts) == set(UnrulyConnection.KINDS)
    findings = check_study(study, crowd.visits)
    assert findings.is_clean
    assert findings.stored == PEOPLE * ANSWERS


async def _send_badly(crowd: Crowd) -> None:
    await asyncio.gather(*(crowd.take_survey(unruly=True) for _ in range(PEOPLE)))


@pytest.mark.parametrize(
    "damage",
    [{"lost": 1}, {"doubled": 1}, {"wrong": 1}, {"different": 1}, {"errors": {"status 500": 1}}],
    ids=json.dumps,
)
def test_every_damage_is_an_error(damage: dict[str, object]) -> None:
    assert is_clean(ROW)
    assert not is_clean(ROW | damage)


def test_the_table_names_what_was_refused_and_skipped(tmp_path: Path) -> None:
    skipped = {"setup": "PostgreSQL + Redis", "fault": "full disk", "skipped": "no rights"}
    table = write_table([ROW, skipped])
    assert "| SQLite + files | full disk | 3 | 12 | 1,320 | 1,008 | 0 | 0 | 0 | 0 | 227 |" in table
    assert "refused: 227 × status 500 while the disk is full" in table
    assert "SKIPPED PostgreSQL + Redis, full disk: no rights" in table
    page = tmp_path / "faults.md"
    page.write_text(f"Before.\n{BEGIN}old\n{END}After.\n")
    put_into(page, table)
    assert "old" not in page.read_text()
    assert table in page.read_text()
