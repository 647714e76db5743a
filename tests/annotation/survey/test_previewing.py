"""Previews: the whole survey of any version, and nothing of it anywhere in the study."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.exports.downloads import build_payment_table
from annotation.exports.ratings import build_rating_table
from annotation.exports.submissions import build_submission_table
from annotation.instruments.previews import clear_previews
from annotation.instruments.versions import current_instrument
from annotation.models import Participant, Rating, Study, Submission
from annotation.studies.lifecycle import close_study
from annotation.studies.overview import load_overview
from annotation.studies.quotas import count_quotas
from annotation.studies.ratings import load_accepted_ratings
from annotation.studies.review_service import review_submission
from annotation.survey.preview import start_preview
from tests.annotation.survey.participants import InProcess, Person, spread

pytestmark = pytest.mark.django_db


def preview(study: Study) -> Person:
    instrument = current_instrument(study)
    assert instrument is not None
    submission = start_preview(instrument=instrument)
    return Person(InProcess(), spread, path=f"/r/{submission.token}/")


def test_a_draft_is_previewed_to_the_end_and_counts_nowhere(make_study) -> None:  # type: ignore[no-untyped-def]
    study = make_study(launched=False, decide_by_checks=True)
    person = preview(study)
    assert "Preview. Nothing here counts as an answer." in person.see().page.text
    last = person.go_on()
    assert last.heading == "Thank you. Your answers are saved."
    assert study.completion_codes["completed"] not in last.text
    submission = Submission.objects.get()
    assert (submission.origin, submission.is_counted) == ("preview", False)
    assert (submission.state, submission.data_decision) == ("finished", "waiting")
    assert submission.pay_decision == "waiting"
    assert Rating.objects.count() == 5 * 4
    assert load_overview(study).counts.started == 0
    assert all(q.taken == 0 for q in count_quotas(study, instrument=submission.instrument))
    assert load_accepted_ratings(study).empty
    for table in (build_rating_table(study), build_submission_table(study)):
        assert list(table.load()) == []
    assert len(list(build_rating_table(study, include=["preview"]).load())) == 20
    assert list(build_payment_table(study).load()) == []


def test_a_full_or_closed_study_is_previewed_all_the_same(make_study, make_person) -> None:  # type: ignore[no-untyped-def]
    study = make_study(quota_per_group=1)
    for _ in range(2):
        make_person().start(study.get_absolute_url())
    close_study(study=study)
    Submission.objects.update(reserved_until=None)
    person = preview(study)
    Submission.objects.filter(origin="preview").update(reserved_until=None)
    assert person.go_on().heading == "Thank you. Your answers are saved."


def test_a_preview_is_never_decided_about(make_study) -> None:  # type: ignore[no-untyped-def]
    study = make_study()
    preview(study).go_on()
    with pytest.raises(ValidationError, match="is a preview"):
        review_submission(
            submission=Submission.objects.get(),
            reviewer=None,
            data_decision="accepted",
            pay_decision="approved",
        )


def test_the_database_lets_no_preview_count(make_study) -> None:  # type: ignore[no-untyped-def]
    preview(make_study())
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.update(is_counted=True)


def test_clearing_previews_leaves_people_alone(make_study, make_person) -> None:  # type: ignore[no-untyped-def]
    study = make_study()
    somebody = make_person()
    somebody.start(study.get_absolute_url())
    somebody.go_on()
    preview(study).go_on()
    preview(study)
    assert clear_previews(study=study) == 2
    assert clear_previews(study=study) == 0
    assert Submission.objects.get().origin == "live"
    assert (Participant.objects.count(), Rating.objects.count()) == (1, 20)


def test_a_draft_that_cannot_be_walked_is_not_previewed(make_study) -> None:  # type: ignore[no-untyped-def]
    study = make_study(launched=False)
    instrument = study.instruments.get()
    instrument.flow = ["consent", "dance"]
    instrument.save()
    with pytest.raises(ValidationError, match="Step 2 is “dance”"):
        start_preview(instrument=instrument)
    instrument.flow = ["consent", "rating"]
    instrument.groups.all().delete()
    with pytest.raises(ValidationError, match="no group to show"):
        start_preview(instrument=instrument)
    assert not Submission.objects.exists()
    assert not Participant.objects.exists()


def test_a_draft_without_a_text_is_not_previewed(make_study) -> None:  # type: ignore[no-untyped-def]
    study = make_study(launched=False)
    study.instruments.get().wordings.filter(key="question").delete()
    with pytest.raises(ValidationError, match="texts are missing: question"):
        start_preview(instrument=study.instruments.get())
