"""Periods of retention, and what a person gets who asks what is held about them."""

from __future__ import annotations

import json
import stat
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.utils import timezone

from annotation.models import (
    AuditEntry,
    Origin,
    PageEvent,
    ParticipantIdentity,
    Rating,
    Study,
    Submission,
)
from annotation.studies.erasure import erase_expired
from tests.annotation.survey.conftest import make_person, make_study  # noqa: F401

pytestmark = pytest.mark.django_db


@pytest.fixture
def closed(make_study, make_person) -> Study:  # noqa: F811
    """A study that was closed ten days ago, ids for a week, answers for two."""
    study = make_study(identity_days=7, answer_days=14, decide_by_checks=True)
    person = make_person()
    person.start(study.get_absolute_url())
    person.go_on()
    Study.objects.update(closed_at=timezone.now() - timedelta(days=10))
    return study


def erased(study: Study) -> list[str]:
    entries = AuditEntry.objects.filter(study=study, action="erased").order_by("pk")
    return [f"{entry.target}: {entry.detail}" for entry in entries]


def test_ids_and_answers_are_erased_when_their_periods_are_over(closed) -> None:
    assert erase_expired() == 1
    assert not ParticipantIdentity.objects.exists()
    assert Rating.objects.exists()
    assert erased(closed) == ["panel ids: 1 after their period"]
    later = timezone.now() + timedelta(days=5)
    assert erase_expired(now=later) > 20
    assert not Rating.objects.exists()
    assert not PageEvent.objects.exists()
    assert "20 ratings" in erased(closed)[1]
    assert erase_expired(now=later) == 0
    assert len(erased(closed)) == 2
    # What was paid for and decided stays.
    assert Submission.objects.get().pay_decision == "approved"


def test_nothing_is_erased_without_being_logged_where_it_stops_half_way(
    closed,
    make_person,  # noqa: F811
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the trigger below is SQLite's")
    person = make_person()
    person.start(closed.get_absolute_url())
    person.go_on()
    first, second = Submission.objects.order_by("pk")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER power_cut BEFORE DELETE ON annotation_pageevent"
            f" WHEN OLD.submission_id = {second.pk} BEGIN SELECT RAISE(ABORT, 'cut'); END"
        )
    with pytest.raises(DatabaseError, match="cut"):
        erase_expired(now=timezone.now() + timedelta(days=5))
    assert PageEvent.objects.filter(submission=first).exists()
    assert not [entry for entry in erased(closed) if "answers" in entry]


def test_nothing_is_erased_before_or_without_a_period(closed) -> None:
    Study.objects.update(closed_at=timezone.now() - timedelta(days=6))
    assert erase_expired() == 0
    Study.objects.update(
        closed_at=timezone.now() - timedelta(days=9999), identity_days=None, answer_days=None
    )
    assert erase_expired() == 0
    Study.objects.update(identity_days=1, answer_days=1, origin=Origin.IMPORTED)
    assert erase_expired() == 0
    Study.objects.update(origin=Origin.COLLECTED, closed_at=None)
    assert erase_expired() == 0


def test_a_person_gets_everything_that_is_held_about_them(closed, tmp_path) -> None:
    identity, submission = ParticipantIdentity.objects.get(), Submission.objects.get()
    for name, who in (
        ("by-id.json", [f"--panel-id={identity.external_id}"]),
        ("by-number.json", ["--submission", str(submission)]),
    ):
        file = tmp_path / name
        call_command("export_person", str(file), *who)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        (held,) = json.loads(file.read_text())
        assert held["ids"][0]["external_id"] == identity.external_id
        assert len(held["ratings"]) == Rating.objects.count()
        assert len(held["answers"]) == submission.answers.count()
        assert len(held["reviews"]) == 1
        assert submission.token not in file.read_text()
        with pytest.raises(CommandError, match="could not be written"):
            call_command("export_person", str(file), *who)
    assert AuditEntry.objects.filter(action="exported", target=str(submission)).count() == 2
    with pytest.raises(CommandError, match="Nothing is held"):
        call_command("export_person", str(tmp_path / "none.json"), "--panel-id", "nobody")
