"""What a participant withdraws is in no file of the embedded database, nor in later backups."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.conftest import ROOT

#: Thousands of words of participants, of which one withdraws, and two retention periods end.
WITHDRAW = """
from datetime import timedelta
from django.utils import timezone
from annotation.models import DemographicAnswer, Review, StepAnswer, Study
from annotation.studies.erasure import erase_expired
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.studies.people import make_study, make_submission, make_user

def leave_words(study, word):
    submission = make_submission(study)
    question = submission.instrument.questions.first()
    DemographicAnswer.objects.create(
        submission=submission, question=question, value=f"{word}-value", own_words=f"{word}-own"
    )
    text = f"{word}-long " * 2_000
    StepAnswer.objects.create(submission=submission, step_index=1, key="x", value=text)
    Review.objects.create(
        submission=submission,
        reviewer=study.owner,
        data_decision="waiting",
        pay_decision="waiting",
        reason=f"{word}-quoted",
        flags=[f"{word}-flag"],
    )
    return submission

owner = make_user("carol")
study, old = make_study(owner=owner), make_study(owner=owner, title="Old")
for number in range(20):
    leave_words(study, "stayed")
gone = leave_words(study, "withdrawn")
leave_words(old, "expired")
with open(WAL, "rb") as log:
    assert b"withdrawn-long" in log.read()
withdraw_submission(submission=gone)
closed = timezone.now() - timedelta(days=9)
Study.objects.filter(pk=old.pk).update(closed_at=closed, answer_days=1)
erase_expired()
"""


def run(folder: Path, *arguments: str) -> None:
    place = f"sqlite:///{folder / 'site.sqlite3'}"
    environment = {**os.environ, "VAR_DIR": str(folder), "DATABASE_URL": place}
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True)


def test_erased_words_are_in_no_file(tmp_path: Path, make_database: Callable[[Path], None]) -> None:
    database = tmp_path / "site.sqlite3"
    make_database(database)
    program = WITHDRAW.replace("WAL,", f"{str(database) + '-wal'!r},")
    with closing(sqlite3.connect(database)) as web:  # the log stays while somebody is connected
        web.execute("SELECT count(*) FROM annotation_study").fetchall()
        run(tmp_path, "shell", "--no-imports", "--command", program)
        run(tmp_path, "backup", str(tmp_path / "monday.sqlite3"))
        files = [one for one in tmp_path.iterdir() if one.is_file()]
        found = {
            (one.name, word): word.encode() in one.read_bytes()
            for one in files
            for word in ("stayed-long", "withdrawn-", "expired-")
        }
    assert found[database.name, "stayed-long"]
    assert [place for place, is_there in found.items() if is_there and place[1][0] in "we"] == []
