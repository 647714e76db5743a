"""A panel's file of results: codes matched, decisions filled in, nobody paid twice."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.exceptions import ValidationError

from annotation.models import (
    ActionState,
    Panel,
    PanelAction,
    PanelRecord,
    ParticipantIdentity,
    PayDecision,
    Study,
)
from annotation.panels.action_plan import propose_rewards
from annotation.panels.batch_file import fill_decisions, read_batch, store_batch
from annotation.panels.survey_codes import make_survey_code
from tests.annotation.panels.conftest import LONG_REASON, make_paid, make_panel_study
from tests.panels_server import PanelServer

pytestmark = pytest.mark.django_db

HEAD = "AssignmentId,WorkerId,AssignmentStatus,Answer.surveycode"


@pytest.fixture
def study(db: None) -> Study:
    study = make_panel_study(PanelServer("none", 200))
    Study.objects.update(panel=Panel.MTURK)
    study.refresh_from_db()
    return study


def add(study: Study, name: str, **options):
    """Store a finished submission of somebody whose ids at the panel are not known."""
    submission = make_paid(study, None, name, **options)
    ParticipantIdentity.objects.filter(participant=submission.participant).update(session_id="")
    return submission


def code(submission) -> str:
    return make_survey_code(submission.token)


def make_file(*rows: tuple[str, str], status: str = "Submitted", head: str = HEAD) -> bytes:
    lines = [f"{who},W-{who},{status},{text}" for who, text in rows]
    return "\n".join([head, *lines]).encode()


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_codes_are_matched_unknown_or_there_twice(study) -> None:
    first, second, third = (add(study, name) for name in "abc")
    content = make_file(
        ("A1", code(first)),
        ("A2", f" {code(second).lower()[:6]}-{code(second).lower()[6:]} "),
        ("A3", "MADE-UP"),
        ("A4", code(third)),
        ("A5", code(third)),
        ("A6", ""),
    )
    batch = read_batch(study, content)
    assert [row.submission for row in batch.matched] == [first, second]
    assert [row.line for row in batch.unknown] == [4, 7]
    assert [row.line for row in batch.duplicates] == [5, 6]


def test_codes_of_another_study_are_unknown(study) -> None:
    other = make_panel_study(PanelServer("none", 200))
    batch = read_batch(study, make_file(("A1", code(add(other, "a")))))
    assert (len(batch.matched), len(batch.unknown)) == (0, 1)


def test_decisions_are_filled_in_and_entered(study) -> None:
    paid, waiting = add(study, "a"), add(study, "b", pay_decision=PayDecision.WAITING)
    rejected = add(study, "c", pay_decision=PayDecision.REJECTED, ground="low_effort")
    content = make_file(("A1", code(paid)), ("A2", code(waiting)), ("A3", code(rejected)))
    filled = read(fill_decisions(study=study, batch=read_batch(study, content)))
    assert [(row["Approve"], row["Reject"]) for row in filled] == [
        ("x", ""),
        ("", ""),
        ("", LONG_REASON),
    ]
    assert [row["WorkerId"] for row in filled] == ["W-A1", "W-A2", "W-A3"], "as the file came"
    assert dict(PanelAction.objects.values_list("reference", "state")) == {
        "A1": ActionState.SENT,
        "A3": ActionState.SENT,
    }


def test_a_later_file_confirms_and_pays_nobody_again(study) -> None:
    paid = add(study, "a")
    batch = read_batch(study, make_file(("A1", code(paid))))
    fill_decisions(study=study, batch=batch)
    later = make_file(("A1", code(paid)), status="Approved")
    filled = read(fill_decisions(study=study, batch=read_batch(study, later)))
    assert filled[0]["Approve"] == ""
    assert PanelAction.objects.get().state == ActionState.CONFIRMED
    assert propose_rewards(study).people == 0
    assert PanelRecord.objects.get().status == "APPROVED"


def test_a_code_in_two_assignments_pays_neither(study) -> None:
    paid = add(study, "a")
    content = make_file(("A1", code(paid)), ("A2", code(paid)))
    filled = read(fill_decisions(study=study, batch=read_batch(study, content)))
    assert [row["Approve"] for row in filled] == ["", ""]
    assert not PanelAction.objects.exists()


def test_ids_of_workers_are_not_kept(study) -> None:
    paid = add(study, "a")
    store_batch(study=study, batch=read_batch(study, make_file(("A1", code(paid)))))
    identity = ParticipantIdentity.objects.get()
    assert (identity.session_id, identity.external_id) == ("A1", "person-a")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no line below"),
        (HEAD.encode(), "no line below"),
        (b"WorkerId,Answer.surveycode\nW,C", "no column “AssignmentId”"),
        (b"AssignmentId,Comment\nA,C", "which|Which column holds the code"),
        (b"AssignmentId,Answer.a,Answer.b\nA,C,D", "Which column holds the code"),
        (b"AssignmentId,Answer.code\nA,C,too,many", "more cells"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(study, content, says) -> None:
    with pytest.raises(ValidationError, match=says):
        read_batch(study, content)


def test_the_column_of_the_code_can_be_named(study) -> None:
    paid = add(study, "a")
    content = f"AssignmentId,Answer.a,Answer.b\nA1,x,{code(paid)}".encode()
    assert len(read_batch(study, content, code_column="Answer.b").matched) == 1
