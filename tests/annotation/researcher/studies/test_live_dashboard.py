"""The part of a study's page that browsers ask for again and again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.common.target_margins import Margin
from annotation.models import KeptFlagCounts, PanelSettings, Study, Submission
from annotation.researcher.studies.target_quotas import set_margins
from annotation.studies.flag_counts import recall_flags
from annotation.studies.pilot import start_pilot
from annotation.studies.quality import count_flags
from annotation.studies.review_service import review_submission
from annotation.studies.tasks import count_study_flags
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import overview, text_of
from tests.annotation.studies.crowds import add_crowd
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


def live(study: Study) -> str:
    return reverse("admin:annotation_study_live", args=[study.pk])


def test_nothing_is_sent_while_nothing_has_changed(study: Study, alice: User) -> None:
    client = log_in(alice)
    make_submission(study)
    first = client.get(live(study))
    assert first.status_code == 200
    assert "private" in first["Cache-Control"]
    again = client.get(live(study), headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    make_submission(study)
    changed = client.get(live(study), headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_an_outsider_gets_no_numbers(study: Study, charlie: User) -> None:
    assert log_in(charlie).get(live(study)).status_code == 404


def count_queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_three_hundred_submissions_cost_no_more_queries_than_ten(study: Study, alice: User) -> None:
    client = log_in(alice)
    add_crowd(study, 10)
    few = count_queries(client, live(study))
    add_crowd(study, 290)
    assert count_queries(client, live(study)) <= few


def test_the_fragment_and_the_page_show_the_same_parts(study: Study, alice: User) -> None:
    make_submission(study)
    client = log_in(alice)
    fragment = client.get(live(study)).content.decode()
    # Whitespace around the fragment is the page's own.
    assert fragment.strip() in client.get(overview(study)).content.decode()


def test_the_page_names_the_middle_half_and_the_pages_that_people_leave(
    study: Study, alice: User
) -> None:
    for minutes in (8, 9, 10, 11, 12):
        make_submission(study, minutes=minutes)
    add_crowd(study, 5, state="ended", outcome="no_consent", step_index=0, finished_at=None)
    words = text_of(log_in(alice).get(overview(study)).content.decode())
    assert "The middle half took 9 min 00 s to 11 min 00 s." in words
    # Ten came to the consent page, five of them did not agree.
    assert "Consent 10 5 5 50.0 %" in words
    assert "5 visits stopped before their end" in words
    assert "Devices Phone 10 (100 %)" in words


def test_the_page_says_what_the_study_costs_and_warns_of_low_pay(study: Study, alice: User) -> None:
    PanelSettings.objects.update_or_create(study=study, defaults={"minimum_hourly_minor": 1500})
    make_submission(study, minutes=12)
    page = log_in(alice).get(overview(study)).content.decode()
    # 200 cents for 12 minutes are 10 dollars an hour; 25 groups of 6 and 4 each make 38 people.
    assert "An hour pays $10.00, less than the $15.00 that the study sets." in page
    assert "About $76.00 to go: 38 more people" in page
    assert reverse("admin:annotation_study_money", args=[study.pk]) in page


def test_the_overview_and_the_money_page_of_a_pilot_name_the_same_sum(alice: User) -> None:
    study = make_study(owner=alice, launched=False, quota_per_group=6)
    start_pilot(study=study)
    client = log_in(alice)
    # 25 groups of 6, four by each person; nobody has been decided about.
    words = text_of(client.get(overview(study)).content.decode())
    assert "About $76.00 to go: 38 more people if everyone’s data are accepted." in words
    for decision in ("accepted", "excluded"):
        submission = make_submission(study)
        Submission.objects.filter(pk=submission.pk).update(origin="pilot", is_counted=False)
        submission.refresh_from_db()
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=decision,
            pay_decision="approved",
        )
    # 146 are missing, four by each person, and every second one is accepted: 73 people.
    words = text_of(client.get(overview(study)).content.decode())
    assert "About $146.00 to go: 73 more people at the present share of accepted data." in words
    money = reverse("admin:annotation_study_money", args=[study.pk])
    words = text_of(client.get(money).content.decode())
    assert "$146.00 73 more people." in words


def test_flags_are_counted_apart_from_the_page(study: Study, alice: User) -> None:
    client = log_in(alice)
    address = reverse("admin:annotation_study_flags", args=[study.pk])
    make_submission(study)
    # Every one of its lines lies at 60: straight lines, and no other flag that asks for a look.
    words = text_of(client.get(address).content.decode())
    assert "Lines at one place 1 100.0 %" in words
    assert "1 of 1 finished submission ask for a closer look." in words
    assert address in client.get(overview(study)).content.decode()
    make_submission(study)
    assert "Lines at one place 2 100.0 %" in text_of(client.get(address).content.decode())


def test_flags_that_are_known_cost_one_query(study: Study) -> None:
    make_submission(study)
    counted = recall_flags(study)
    with CaptureQueriesContext(connection) as queries:
        assert recall_flags(study) == counted
    assert len(queries) == 1


def test_flags_of_a_large_study_are_counted_by_a_worker(
    study: Study, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.studies.flag_counts.MOST_AT_ONCE", 1)
    make_submission(study)
    make_submission(study)
    at_once = count_flags(study)
    address = reverse("admin:annotation_study_flags", args=[study.pk])
    client = log_in(alice)
    waiting = client.get(address).content.decode()
    assert "A worker is counting" in waiting
    assert "data-fill-again" in waiting
    count_study_flags(study.pk)
    count_study_flags(study.pk)  # a message that comes twice counts once
    assert recall_flags(study) == at_once
    assert "Lines at one place 2 100.0 %" in text_of(client.get(address).content.decode())
    # What was counted last stays there until somebody has counted anew.
    make_submission(study)
    assert recall_flags(study) == at_once
    count_study_flags(study.pk)
    assert recall_flags(study) == count_flags(study)
    assert KeptFlagCounts.objects.get().finished == 3
    count_study_flags(0)


def test_the_page_compares_who_took_part_with_the_targets(study: Study, alice: User) -> None:
    set_margins(
        study=study, margins={"area": Margin(shares={"Urban": 0.25, "Rural": 0.5, "Remote": 0.25})}
    )
    areas = ["Urban"] * 10 + ["Rural"] * 7 + ["Remote"] * 3
    add_crowd(study, 20, answers=lambda number: {"area": areas[number], "state": "Texas"})
    words = text_of(log_in(alice).get(overview(study)).content.decode())
    # 10 of 20, Wilson by hand: center 0.5, half width 0.2007; 25 points above the target.
    assert "Urban 25.0 % 10 50.0 % 29.9 to 70.1 +25.0" in words
    # Three are too few, and would follow from the rest: the seven are kept back as well.
    assert "Remote 25.0 % kept back" in words
    assert "Rural 50.0 % kept back" in words
    assert "Shares of 20 people, accepted or in review." in words
    assert "Texas 20" in words
