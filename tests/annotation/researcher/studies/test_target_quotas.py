"""The page of target margins: a table of numbers for each question, and what it refuses."""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from scipy.stats import binomtest

from annotation.common.target_margins import OTHERS, Margin
from annotation.models import Study
from annotation.researcher.studies.target_quotas import set_margins
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import text_of
from tests.annotation.studies.crowds import add_crowd

pytestmark = pytest.mark.django_db


def margins(study: Study) -> str:
    return reverse("admin:annotation_study_margins", args=[study.pk])


def send(client: Client, study: Study, **values: str) -> tuple[int, str]:
    data = {name.replace("__", "-"): value for name, value in values.items()}
    response = client.post(margins(study), data, follow=True)
    study.refresh_from_db()
    return response.status_code, text_of(response.content.decode())


def test_shares_are_typed_as_percentages(study: Study, alice: User) -> None:
    # The areas: urban, suburban, rural, remote, then all others.
    status, words = send(
        log_in(alice), study, share__area__0="50", share__area__2="33.3", share__area__4="16.7"
    )
    assert status == 200
    assert "The targets are stored." in words
    assert study.margins == {"area": Margin(shares={"Urban": 0.5, "Rural": 0.333, OTHERS: 0.167})}
    page = log_in(alice).get(margins(study)).content.decode()
    assert 'value="33.3"' in page
    assert 'value="16.7"' in page
    assert 'value="50"' in page


def test_bands_are_named_first_and_get_their_shares_then(study: Study, alice: User) -> None:
    client = log_in(alice)
    status, words = send(client, study, starts__age="18, 40")
    assert status == 422
    assert "Give each band its share. Nothing is stored yet." in words
    assert "18 to 39" in words
    assert study.target_margins == {}
    status, words = send(
        client, study, starts__age="18, 40", share__age__0="60", share__age__1="40"
    )
    assert study.margins == {
        "age": Margin(starts=(18, 40), shares={"18 to 39": 0.6, "40 or more": 0.4})
    }


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"share__area__0": "60"}, "sum to 60 %, expected 100 %"),
        ({"share__area__0": "160"}, "less than or equal to 100"),
        ({"share__area__0": "many"}, "Enter a number."),
        ({"starts__age": "40, 18", "share__age__0": "100"}, "Enter whole numbers in rising order"),
        ({"starts__age": "young"}, "Enter whole numbers in rising order"),
        ({"samples": "on"}, "People can be chosen by targets alone"),
        (
            {"samples": "on", "planned_people": "20", "share__area__0": "100"},
            "asks for them after a rating page",
        ),
    ],
    ids=["sum", "beyond", "word", "order", "bands", "no target", "too late"],
)
def test_what_cannot_be_a_target_is_said_and_nothing_is_stored(
    study: Study, alice: User, values: dict[str, str], said: str
) -> None:
    status, words = send(log_in(alice), study, **values)
    assert status == 422
    assert said in words
    assert "Nothing was stored." in words
    assert (study.target_margins, study.samples_by_margins) == ({}, False)


def test_empty_fields_take_the_targets_back(study: Study, alice: User) -> None:
    set_margins(study=study, margins={"area": Margin(shares={"Urban": 1.0})})
    send(log_in(alice), study)
    assert study.target_margins == {}


def test_a_viewer_reads_targets_and_cannot_change_them(study: Study, bob: User) -> None:
    client = log_in(bob)
    page = client.get(margins(study))
    assert page.status_code == 200
    assert "Store targets" not in page.content.decode()
    assert client.post(margins(study), {"share-area-0": "100"}).status_code == 403


def test_an_outsider_does_not_find_them(study: Study, charlie: User) -> None:
    assert log_in(charlie).get(margins(study)).status_code == 404


def download(client: Client, study: Study, name: str) -> list[dict[str, str]]:
    """Return the rows of the CSV that the study's page links under a figure."""
    address = reverse("admin:annotation_study_figure", args=[study.pk, name])
    page = client.get(reverse("admin:annotation_study_overview", args=[study.pk]))
    assert f'href="{address}"' in page.content.decode()
    response = client.get(address)
    assert f"-{name}.csv" in response["Content-Disposition"]
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_targets_and_map_come_as_csv_without_what_is_kept_back(study: Study, alice: User) -> None:
    set_margins(study=study, margins={"area": Margin(shares={"Urban": 0.5, OTHERS: 0.5})})
    for area, state, n in (("Urban", "Texas", 30), ("Rural", "Ohio", 10), ("Rural", "Utah", 2)):
        add_crowd(study, n, answers=lambda number, a=area, s=state: {"area": a, "state": s})
    client = log_in(alice)
    urban, others = download(client, study, "targets")
    assert (urban["question"], urban["answer"], urban["target"]) == ("area", "Urban", "0.5")
    assert (urban["people"], urban["of_people"], urban["places"]) == ("30", "42", "")
    assert float(urban["share"]) == 30 / 42
    expected = binomtest(30, 42).proportion_ci(confidence_level=0.95, method="wilson")
    found = float(urban["wilson_low"]), float(urban["wilson_high"])
    assert found == pytest.approx(tuple(expected))
    assert (others["answer"], others["people"]) == (OTHERS, "12")
    people = {row["state"]: row["people"] for row in download(client, study, "states")}
    assert len(people) == 51
    assert people["Texas"] == "30"
    # Two people are too few to tell of: neither from their own row nor from what is left.
    assert people["Utah"] == ""
    assert sum(int(n) for n in people.values() if n) < 42
