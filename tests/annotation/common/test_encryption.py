"""Ids of people are encrypted at rest, looked up as before, and put under another key."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from annotation.common.encryption import KeyMissing, decrypt, encrypt, is_current
from annotation.models import (
    Instrument,
    Panel,
    Participant,
    ParticipantIdentity,
    Study,
    Submission,
)
from annotation.panels.key_rotation import rotate_identity_key
from annotation.survey.arrival import Arrival, find_submission
from stereoscope.checks import check_identity_keys

pytestmark = pytest.mark.django_db

OLD, NEW = "an old key of thirty-two characters", "a new key of thirty-two characters!"
PERSON = "5f1e0000aa00bb00cc00dd00"


@pytest.fixture
def identity(settings) -> ParticipantIdentity:
    settings.IDENTITY_KEYS = [OLD]
    study = Study.objects.create(title="Study", contact_email="lab@example.org")
    return ParticipantIdentity.objects.create(
        participant=Participant.objects.create(),
        study=study,
        panel=Panel.PROLIFIC,
        external_id=PERSON,
    )


def stored() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT external_id, session_id FROM annotation_participantidentity")
        return cursor.fetchall()


def find(external_id: str) -> int:
    exact = ParticipantIdentity.objects.filter(external_id=external_id).count()
    among = ParticipantIdentity.objects.filter(external_id__in=[external_id, "another"]).count()
    assert exact == among
    return exact


def test_the_database_holds_no_id_and_python_reads_it(identity) -> None:
    ((external, session),) = stored()
    assert PERSON not in external
    assert session == ""  # nobody’s
    assert ParticipantIdentity.objects.get().external_id == PERSON
    assert ParticipantIdentity.objects.values_list("external_id", flat=True)[0] == PERSON
    assert (find(PERSON), find("somebody else"), find("")) == (1, 0, 0)
    with pytest.raises(IntegrityError), transaction.atomic():
        ParticipantIdentity.objects.create(
            participant=identity.participant,
            study=identity.study,
            panel=Panel.PROLIFIC,
            external_id=PERSON,
        )


def test_a_key_is_changed_while_people_arrive(identity, settings) -> None:
    settings.IDENTITY_KEYS = [NEW, OLD]
    assert find(PERSON) == 1  # found under the old key before the rotation
    before = stored()
    call_command("rotate_identity_key")
    assert stored() != before
    assert is_current(stored()[0][0])
    assert rotate_identity_key() == 0
    settings.IDENTITY_KEYS = [NEW]
    assert find(PERSON) == 1
    settings.IDENTITY_KEYS = [OLD]
    with pytest.raises(KeyMissing):
        ParticipantIdentity.objects.get()


def test_a_visit_goes_on_while_the_key_is_changed(identity, settings) -> None:
    study = identity.study
    submission = Submission.objects.create(
        study=study,
        instrument=Instrument.objects.create(study=study, version=1),
        participant=identity.participant,
    )
    arrival = Arrival(panel=Panel.PROLIFIC, external_id=PERSON)
    assert find_submission(study, Arrival(panel=Panel.PROLIFIC, external_id="another")) is None
    for keys in [OLD], [NEW, OLD]:
        settings.IDENTITY_KEYS = keys
        assert find_submission(study, arrival) == submission
    call_command("rotate_identity_key")
    settings.IDENTITY_KEYS = [NEW]
    assert find_submission(study, arrival) == submission


def test_ids_from_before_are_read_and_a_changed_one_is_not(settings) -> None:
    settings.IDENTITY_KEYS = [OLD]
    assert decrypt(PERSON) == PERSON
    sealed = encrypt(PERSON)
    assert len(encrypt("x" * 120)) <= 240
    forged = sealed[:-2] + ("AA" if not sealed.endswith("AA") else "BB")
    with pytest.raises(KeyMissing):
        decrypt(forged)


def test_a_short_key_is_refused_at_start(settings) -> None:
    settings.IDENTITY_KEYS = ["short"]
    assert [error.id for error in check_identity_keys()] == ["stereoscope.E002"]
    settings.IDENTITY_KEYS = [OLD]
    assert check_identity_keys() == []
