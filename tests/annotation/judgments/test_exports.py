"""What leaves the platform of judgments: a table, and the same rows over HTTP."""

from __future__ import annotations

import csv
import io

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.judgments.views import submit_judgment
from tests.annotation.judgments.corpora import (
    RUNS,
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
)
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = launch(make_study(make_corpus(1), owner=make_user("alice")), "ann")
    for place, task in enumerate(tasks_of(study, "ann")):
        comment = "=SUM(A1)" if place == 0 else ""
        submit_judgment(task=task, ratings=answers(1 + place % 5), comment=comment, seconds=place)
    return study


def read(response) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_a_row_for_each_judgment_and_no_identity(study, client):
    client.force_login(study.owner)
    address = reverse("admin:annotation_judgmentstudy_export", args=[study.pk, "judgments.csv"])
    rows = read(client.get(address))
    assert len(rows) == 6
    first = next(row for row in rows if row["comment"])
    assert first["comment"] == "'=SUM(A1)"
    assert (first["human_likeness"], first["tone_preservation"]) == ("1", "2")
    assert {(row["original_variety"], row["variety"]) for row in rows} == {
        ("AAL", "WME"),
        ("WME", "AAL"),
    }
    assert {row["producer"] for row in rows} == {"human", *RUNS.values()}
    assert {row["run"] for row in rows} == {"", *RUNS}
    assert {row["annotator"] for row in rows} == {"1"}
    assert all("ann" not in value for row in rows for value in row.values())


def test_the_codebook_names_every_column(study, client):
    client.force_login(study.owner)
    name = "admin:annotation_judgmentstudy_export"
    rows = read(client.get(reverse(name, args=[study.pk, "judgments-codebook.csv"])))
    table = read(client.get(reverse(name, args=[study.pk, "judgments.csv"])))
    assert [row["column"] for row in rows] == list(table[0])
    assert client.get(reverse(name, args=[study.pk, "else.csv"])).status_code == 404


def test_the_api_returns_the_same_rows_to_those_who_see_the_study(study):
    api = APIClient()
    address = f"/api/v1/studies/{study.public_id}/judgments/"
    assert api.get(address).status_code in {401, 403}
    api.force_authenticate(make_user("charlie"))
    assert api.get(address).status_code == 404
    api.force_authenticate(study.owner)
    found = api.get(address).json()
    rows = found["results"] if isinstance(found, dict) else found
    assert len(rows) == 6
    assert rows[0]["producer"] in {"human", *RUNS.values()}
    only = api.get(address, {"producer": "human", "variety": "AAL"}).json()
    assert len(only["results"] if isinstance(only, dict) else only) == 1
