"""Arms: participants dealt out by shares, each with the texts, groups and steps of their arm."""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.common.tables import Table, stream_csv
from annotation.exports.ratings import build_rating_table
from annotation.exports.submissions import build_submission_table
from annotation.instruments.arm_service import store_arms
from annotation.instruments.arms import find_arm_faults, read_arms
from annotation.instruments.content_hash import hash_instrument
from annotation.models import Instrument, Panel, Study, Submission
from annotation.studies.lifecycle import launch_study
from annotation.studies.readiness import examine_study
from annotation.survey.arrival import Arrival, start_submission
from tests.annotation.survey.conftest import GROUPS
from tests.annotation.survey.flows import choice
from tests.annotation.survey.test_concurrency import at_once

FEW = sorted(GROUPS)[:2]
ARMS = [
    {"name": "all", "label": "As ever", "share": 2},
    {
        "name": "few",
        "label": "Few groups",
        "groups": FEW,
        "texts": {"question": {"en": "What do people say of {group}?"}},
    },
]
FLOW = ["rating", "rating", choice(show_if={"visit": "arm", "is": "few"})]


def begin(make_study, arms=ARMS, **options) -> Study:  # type: ignore[no-untyped-def]
    study: Study = make_study(flow=FLOW, launched=False, **options)
    study.instruments.update(arms=arms)
    return launch_study(study=study)


def read(table: Table) -> list[dict[str, str]]:
    text = b"".join(stream_csv(table)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (ARMS[:1], "There are 1 arms, expected none or 2 to 12."),
        ([ARMS[0], ARMS[0]], "Two arms have the same name"),
        ([{**ARMS[0], "name": "No Name"}, ARMS[1]], "is no name for the data"),
        ([{**ARMS[0], "share": 0}, ARMS[1]], "0 share"),
        ("x", "list"),
    ],
)
def test_arms_that_cannot_be_read_are_refused(arms: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_arms(arms)


@pytest.mark.services
def test_people_who_start_at_once_fill_the_arms_by_their_shares(  # type: ignore[no-untyped-def]
    shared_database: str, make_study
) -> None:
    study = begin(make_study, quota_per_group=20)
    started = at_once(
        *[
            lambda name=name: start_submission(
                study=study, arrival=Arrival(Panel.LINK, f"person {name}")
            )
            for name in range(9)
        ]
    )
    assert Counter(submission.arm for submission in started) == {"all": 6, "few": 3}
    assert Counter(Submission.objects.values_list("arm", flat=True)) == {"all": 6, "few": 3}
    for submission in Submission.objects.filter(arm="few"):
        rated = submission.assignments.values_list("group__slug", flat=True)
        assert sorted(rated) == FEW


@pytest.mark.django_db
def test_each_reads_the_texts_and_steps_of_their_arm_and_exports_tell_which(  # type: ignore[no-untyped-def]
    make_study, make_person
) -> None:
    study = begin(make_study, quota_per_group=9)
    seen: dict[str, set[str]] = {"all": set(), "few": set()}
    for _ in range(3):
        person = make_person()
        person.start(study.get_absolute_url())
        own = Submission.objects.get(token=person.path.strip("/").split("/")[-1])
        seen[own.arm].add(person.see().page.framed)
        person.send(person.see().page)
        person.send(person.see().page)
        html = person.see().html
        assert ("Where did you hear of this study?" in html) == (own.arm == "few")
        if own.arm == "few":
            person.send(person.see().page, choice="panel")
        own.refresh_from_db()
        assert own.state == "finished"
    assert seen == {"all": {"How do people in America view"}, "few": {"What do people say of"}}
    counts = Counter(row["arm"] for row in read(build_submission_table(study)))
    assert counts == {"all": 2, "few": 1}
    assert {row["group"] for row in read(build_rating_table(study)) if row["arm"] == "few"} == set(
        FEW
    )


@pytest.mark.django_db
def test_an_arm_without_an_open_group_is_passed_over(make_study) -> None:  # type: ignore[no-untyped-def]
    apart = [{**ARMS[0], "groups": sorted(GROUPS)[2:]}, ARMS[1]]
    study = begin(make_study, apart, quota_per_group=1)
    arms = [
        start_submission(study=study, arrival=Arrival(Panel.LINK, f"person {n}")).arm
        for n in range(3)
    ]
    assert Counter(arms) == {"all": 2, "few": 1}


@pytest.mark.django_db
def test_arms_are_written_on_their_page_and_part_of_the_hash(make_study) -> None:  # type: ignore[no-untyped-def]
    alice = User.objects.create_user("alice", is_staff=True, is_superuser=True)
    study: Study = make_study(flow=FLOW, launched=False, owner=alice)
    instrument = study.instruments.get()
    before = hash_instrument(instrument)
    assert "depends on the arm “few”" in examine_study(study, instrument)[0].text
    client = Client()
    client.force_login(alice)
    page = reverse("admin:annotation_instrument_arms", args=[instrument.pk])
    assert "everybody gets the same" in client.get(page).content.decode()
    sent = {
        "arm-0-label": "As ever",
        "arm-0-name": "all",
        "arm-0-share": "2",
        "arm-1-label": "Few groups",
        "arm-1-name": "few",
        "arm-1-groups": FEW,
    }
    wrong = client.post(page, {**sent, "arm-1-name": "all"})
    assert wrong.status_code == 422
    assert "Two arms have the same name" in wrong.content.decode()
    text = {"arm-1-text-question-en": "What do people say of them?"}
    assert client.post(page, {**sent, **text}).status_code == 302
    instrument = Instrument.objects.get()
    assert "lacks “{group}”" in examine_study(study, instrument)[0].text
    text = {"arm-1-text-question-en": "What do people say of {group}?"}
    assert client.post(page, {**sent, **text}).status_code == 302
    instrument = Instrument.objects.get()
    assert read_arms(instrument.arms) == read_arms(ARMS)
    assert not [found for found in examine_study(study, instrument) if found.blocks]
    assert hash_instrument(instrument) != before
    launch_study(study=study)
    assert client.post(page, sent).status_code == 403
    # Whoever loaded the draft before the launch is told that nothing was stored.
    with pytest.raises(ValidationError, match="frozen"):
        store_arms(instrument=instrument, arms=ARMS[::-1])
    assert read_arms(Instrument.objects.get().arms) == read_arms(ARMS)


def test_what_an_arm_lacks_is_named_as_its_page_names_it() -> None:
    arms = read_arms(
        [
            {"name": "a", "label": "Warm", "texts": {"consent_title": {"en": "Welcome"}}},
            {"name": "b", "label": "Plain"},
        ]
    )
    faults = find_arm_faults(arms, groups={"x"}, wanted=1, languages=["en", "es"])
    assert list(faults) == ["The arm “Warm” lacks “Consent: Title” in Español."]
