"""A frozen instrument is never edited: a new version takes its place for those who start later."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from annotation.instruments.content_hash import describe_instrument, hash_instrument
from annotation.instruments.versions import create_version, discard_version
from annotation.models import DataDecision, Instrument
from annotation.studies.lifecycle import archive_study, close_study, launch_study, publish_version
from annotation.studies.quotas import count_quotas
from annotation.studies.review_service import review_submission
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


def test_a_new_version_is_an_open_copy_of_the_whole_content() -> None:
    study = make_study()
    first = study.instruments.get()
    second = create_version(study=study)
    assert (second.version, second.is_frozen, second.content_hash) == (2, False, "")
    before, after = describe_instrument(first), describe_instrument(second)
    assert before.pop("version") == 1
    assert after.pop("version") == 2
    assert after == before
    assert len(after["groups"]) == 25
    assert len(after["wordings"]) > 5


def test_edits_of_the_draft_leave_the_frozen_version_and_its_hash_alone() -> None:
    study = make_study()
    first = study.instruments.get()
    second = create_version(study=study)
    second.wordings.filter(key="question").update(text="Where would people put {group}?")
    first.refresh_from_db()
    assert hash_instrument(first) == first.content_hash
    publish_version(study=study)
    second.refresh_from_db()
    assert second.is_frozen
    assert second.content_hash != first.content_hash


def test_submissions_keep_the_version_that_they_saw_and_count_for_the_quota() -> None:
    study = make_study()
    submission = make_submission(study)
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.ACCEPTED,
        pay_decision="approved",
    )
    second = create_version(study=study)
    publish_version(study=study)
    submission.refresh_from_db()
    assert submission.instrument.version == 1
    accepted = [quota.accepted for quota in count_quotas(study, instrument=second)]
    assert sum(accepted) == 4


def test_there_is_one_draft_at_a_time() -> None:
    study = make_study()
    create_version(study=study)
    with pytest.raises(ValidationError, match="Version 2 is a draft already"):
        create_version(study=study)
    assert Instrument.objects.count() == 2


def test_a_version_with_problems_is_not_put_in_force() -> None:
    study = make_study()
    second = create_version(study=study)
    second.scales.all().delete()
    with pytest.raises(ValidationError, match="no trait scale"):
        publish_version(study=study)
    second.refresh_from_db()
    assert not second.is_frozen


def test_what_is_in_force_cannot_be_published_again() -> None:
    with pytest.raises(ValidationError, match="Version 1 is in force already"):
        publish_version(study=make_study())


def test_a_draft_study_is_launched_not_published() -> None:
    with pytest.raises(ValidationError, match="launching it puts its newest version in force"):
        publish_version(study=make_study(launched=False))


def test_relaunching_a_closed_study_puts_its_draft_in_force() -> None:
    study = close_study(study=make_study())
    second = create_version(study=study)
    launch_study(study=study)
    second.refresh_from_db()
    assert second.is_frozen


def test_an_archived_study_gets_no_new_version() -> None:
    study = archive_study(study=close_study(study=make_study()))
    with pytest.raises(ValidationError, match="archived"):
        create_version(study=study)


def test_a_draft_can_be_discarded_and_a_frozen_version_cannot() -> None:
    study = make_study()
    discard_version(instrument=create_version(study=study))
    assert [instrument.version for instrument in study.instruments.all()] == [1]
    with pytest.raises(ValidationError, match="is frozen and stays"):
        discard_version(instrument=study.instruments.get())


def test_the_only_version_of_a_draft_study_stays() -> None:
    study = make_study(launched=False)
    with pytest.raises(ValidationError, match="only version"):
        discard_version(instrument=study.instruments.get())
