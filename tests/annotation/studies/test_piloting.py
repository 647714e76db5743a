"""The pilot: a few people before the study goes live, kept apart unless a researcher decides."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from annotation.exports.ratings import build_rating_table
from annotation.exports.submissions import build_submission_table
from annotation.models import Study, Submission
from annotation.studies.lifecycle import close_study, launch_study, pause_study
from annotation.studies.overview import load_overview
from annotation.studies.pilot import (
    count_pilot,
    end_pilot,
    launch_with_pilot,
    launch_without_pilot,
    start_pilot,
)
from annotation.studies.quotas import count_quotas
from annotation.studies.ratings import load_accepted_ratings
from tests.annotation.survey.conftest import (  # noqa: F401
    make_person,
    make_study,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot(make_study) -> Study:  # type: ignore[no-untyped-def]  # noqa: F811
    """A study that is piloting with two places and accepts whoever passes the checks."""
    return start_pilot(study=make_study(launched=False, pilot_places=2, decide_by_checks=True))


@pytest.fixture
def take_part(make_person):  # type: ignore[no-untyped-def]  # noqa: F811
    def take(study: Study, *, finish: bool = True) -> int:
        person = make_person()
        status = person.start(study.get_absolute_url()).status
        if status == 302 and finish:
            person.go_on()
        return status

    return take


def test_a_pilot_lets_in_as_many_as_it_has_places(pilot: Study, take_part) -> None:  # type: ignore[no-untyped-def]
    assert pilot.instruments.get().is_frozen
    assert [take_part(pilot) for _ in range(3)] == [302, 302, 403]
    found = set(Submission.objects.values_list("origin", "is_counted", "data_decision"))
    assert found == {("pilot", False, "accepted")}
    counts = count_pilot(pilot)
    assert (counts.places, counts.taken, counts.open, counts.finished) == (2, 2, 0, 2)


def test_a_place_of_the_pilot_is_free_again_when_its_holder_is_gone(pilot, take_part) -> None:  # type: ignore[no-untyped-def]
    assert take_part(pilot, finish=False) == 302
    assert count_pilot(pilot).open == 1
    Submission.objects.update(reserved_until=timezone.now() - timedelta(minutes=1))
    assert count_pilot(pilot).open == 2


def test_while_piloting_the_numbers_are_those_of_the_pilot(pilot: Study, take_part) -> None:  # type: ignore[no-untyped-def]
    take_part(pilot)
    overview = load_overview(pilot)
    assert (overview.counts.finished, overview.ratings_accepted) == (1, 4)


def test_pilot_data_stay_apart_from_live_data(pilot: Study, take_part) -> None:  # type: ignore[no-untyped-def]
    take_part(pilot)
    study = launch_without_pilot(study=pilot)
    assert (study.status, study.pilot_is_counted) == ("live", False)
    instrument = study.instruments.get()
    assert all(quota.taken == 0 for quota in count_quotas(study, instrument=instrument))
    assert load_overview(study).counts.started == 0
    assert load_accepted_ratings(study).empty
    assert list(build_rating_table(study).load()) == []
    take_part(study)
    assert load_overview(study).counts.finished == 1
    assert load_accepted_ratings(study)["submission"].nunique() == 1
    origins = [column.name for column in build_submission_table(study).columns].index(
        "submission_origin"
    )
    rows = list(build_submission_table(study).load())
    assert [row[origins] for row in rows] == ["live"]
    rows = list(build_submission_table(study, include=["pilot"]).load())
    assert [row[origins] for row in rows] == ["pilot", "live"]


def test_a_researcher_may_count_the_pilot_when_going_live(pilot: Study, take_part) -> None:  # type: ignore[no-untyped-def]
    take_part(pilot)
    study = launch_with_pilot(study=pilot)
    assert load_overview(study).counts.finished == 1
    # 4 groups by 4 scales; the repeated group is left out.
    assert len(load_accepted_ratings(study)) == 16
    assert Submission.objects.get().origin == "pilot"
    decided = study.history.exclude(history_change_reason=None).first()
    assert decided is not None
    assert decided.pilot_is_counted is True
    assert "count with the live ones" in decided.history_change_reason


def test_the_decision_about_the_pilot_is_taken_once(pilot: Study, take_part) -> None:  # type: ignore[no-untyped-def]
    take_part(pilot)
    study = launch_without_pilot(study=pilot)
    with pytest.raises(ValidationError, match="no pilot to decide about"):
        launch_with_pilot(study=study)
    pause_study(study=study)
    assert launch_without_pilot(study=study).pilot_is_counted is False


def test_going_live_without_saying_anything_keeps_the_pilot_apart(pilot, take_part) -> None:  # type: ignore[no-untyped-def]
    take_part(pilot)
    study = launch_study(study=pilot)
    assert (study.status, study.pilot_is_counted) == ("live", None)
    assert load_accepted_ratings(study).empty


def test_ending_the_pilot_leads_back_to_a_draft_with_a_new_version(pilot, make_person) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    going_on = make_person()
    going_on.start(pilot.get_absolute_url())
    study = end_pilot(study=pilot)
    assert study.status == "draft"
    versions = list(study.instruments.order_by("version").values_list("version", "frozen_at"))
    assert [version for version, _ in versions] == [1, 2]
    assert versions[0][1] is not None
    assert versions[1][1] is None
    assert make_person().start(study.get_absolute_url()).status == 403
    going_on.go_on()
    assert Submission.objects.get().state == "finished"


def test_a_second_pilot_has_all_its_places(pilot: Study, take_part) -> None:  # type: ignore[no-untyped-def]
    assert [take_part(pilot) for _ in range(3)] == [302, 302, 403]
    again = start_pilot(study=end_pilot(study=pilot))
    assert count_pilot(again).open == 2
    assert count_pilot(again).total == 2
    assert take_part(again) == 302


def test_a_study_that_cannot_be_launched_cannot_be_piloted(make_study) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    study = make_study(launched=False, scales=())
    with pytest.raises(ValidationError, match="no trait scale"):
        start_pilot(study=study)
    study.refresh_from_db()
    assert (study.status, study.pilot_started_at) == ("draft", None)


def test_a_live_or_closed_study_is_not_piloted(make_study) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    study = make_study()
    with pytest.raises(ValidationError, match="cannot become piloting"):
        start_pilot(study=study)
    with pytest.raises(ValidationError, match="not piloting"):
        end_pilot(study=study)
    with pytest.raises(ValidationError, match="cannot become piloting"):
        start_pilot(study=close_study(study=study))
