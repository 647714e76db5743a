"""Thresholds of quality flags and the rules that decide, on a study's settings page."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Study
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import settings_values

pytestmark = pytest.mark.django_db


def settings_page(study: Study) -> str:
    return reverse("admin:annotation_study_change", args=[study.pk])


def thresholds(**changes: object) -> dict[str, object]:
    """Return the fields as the page shows them by default, with changes."""
    shown = {
        "speed_index": "2.0",
        "seconds_per_line": "1.0",
        "straight_share": "0.75",
        "straight_run": "10",
        "straight_spread": "2.0",
        "straight_pages": "1",
        "untouched_share": "0.1",
        "clock_seconds": "5.0",
        "copied_characters": "20",
        "pastes": "1",
        "other_studies": "1",
        "hidden_field": "on",
        "same_identity": "on",
    }
    return {f"threshold_{name}": value for name, value in {**shown, **changes}.items()}


def test_the_page_shows_the_defaults(study: Study, alice: User) -> None:
    form = log_in(alice).get(settings_page(study)).context["adminform"].form
    assert form["threshold_straight_share"].value() == 0.75
    assert form["threshold_hidden_field"].value() is True


def test_thresholds_are_stored_and_an_empty_one_is_off(study: Study, alice: User) -> None:
    sent = thresholds(speed_index="2.5", pastes="", seconds_per_line="0.8")
    sent.pop("threshold_same_identity")  # a switch that is off sends nothing
    response = log_in(alice).post(settings_page(study), settings_values(study) | sent)
    assert response.status_code == 302, response.context["adminform"].form.errors
    study.refresh_from_db()
    stored = study.thresholds
    assert (stored.speed_index, stored.pastes, stored.seconds_per_line) == (2.5, None, 0.8)
    assert (stored.same_identity, stored.hidden_field) == (False, True)
    assert (stored.straight_run, stored.copied_characters) == (10, 20)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("speed_index", "7", "less than or equal to 3"),
        ("straight_run", "2", "greater than or equal to 4"),
        ("untouched_share", "much", "Enter a number"),
        ("seconds_per_line", "nan", "Enter a number"),
    ],
)
def test_a_threshold_that_cannot_be_is_refused_where_it_stands(
    study: Study, alice: User, name: str, value: str, problem: str
) -> None:
    sent = settings_values(study) | thresholds(**{name: value})
    response = log_in(alice).post(settings_page(study), sent)
    assert response.status_code == 200
    errors = response.context["adminform"].form.errors
    assert problem in str(errors[f"threshold_{name}"])
    study.refresh_from_db()
    assert study.quality_thresholds == {}


def test_a_form_without_thresholds_leaves_them_alone(study: Study, alice: User) -> None:
    Study.objects.filter(pk=study.pk).update(
        quality_thresholds={"pastes": 3}, accept_rule="no_flag"
    )
    log_in(alice).post(settings_page(study), settings_values(study))
    study.refresh_from_db()
    assert study.quality_thresholds == {"pastes": 3}
    assert study.accept_rule == "no_flag"


def test_rules_are_chosen_on_the_page(study: Study, alice: User) -> None:
    sent = settings_values(study, accept_rule="no_flag", exclude_rule="check_and_flag")
    log_in(alice).post(settings_page(study), sent)
    study.refresh_from_db()
    assert (study.accept_rule, study.exclude_rule) == ("no_flag", "check_and_flag")
    assert not study.decide_by_checks
