"""Studies, quotas and ratings over HTTP."""

from __future__ import annotations

import csv
import io

import pytest

from annotation.counterparts.creation import create_writing_study
from annotation.judgments.creation import create_judgment_study
from annotation.models import Corpus, Rating, Submission
from tests.annotation.annotators.people import make_account


def test_a_study_comes_with_its_instrument(api, alice, study):
    content = api(alice).get(f"/api/v1/studies/{study.public_id}/").json()
    assert content["title"] == "Three groups"
    assert content["status"] == "live"
    assert content["participant_link"].endswith(f"/s/{study.public_id}/")
    assert content["annotator_link"] is None
    groups = {group["slug"] for group in content["instrument"]["groups"]}
    assert groups == {"asian", "black", "elderly"}
    assert len(content["instrument"]["scales"]) == 16
    assert len(content["instrument"]["content_hash"]) == 64


@pytest.mark.parametrize("create", [create_writing_study, create_judgment_study])
def test_a_study_of_annotators_names_their_page_and_no_participants(api, alice, client, create):
    corpus = Corpus.objects.create(name="Posts", license="CC BY 4.0")
    options = {"include_human": True} if create is create_judgment_study else {}
    study = create(
        title="Posts", owner=alice, contact_email="lab@example.org", corpus=corpus, **options
    )
    place = study.annotators.create(number=1, user=make_account("ann"))
    study.status = "live"
    study.save()
    content = api(alice).get(f"/api/v1/studies/{study.public_id}/").json()
    assert content["participant_link"] is None
    assert content["instrument"] is None
    client.force_login(place.user)
    page = client.get(content["annotator_link"])
    assert page.status_code == 200
    assert "Posts" in page.content.decode()


def test_studies_are_filtered_by_status(api, alice, study):
    client = api(alice)
    assert client.get("/api/v1/studies/?status=live").json()["count"] == 1
    assert client.get("/api/v1/studies/?status=closed").json()["count"] == 0
    refused = client.get("/api/v1/studies/?status=sleeping")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "status"


def test_quotas_count_what_was_accepted(api, alice, study):
    quotas = api(alice).get(f"/api/v1/studies/{study.public_id}/quotas/").json()
    assert [quota["wanted"] for quota in quotas] == [3, 3, 3]
    accepted = Submission.objects.filter(study=study, data_decision="accepted")
    for quota in quotas:
        assert (
            quota["accepted"]
            == accepted.filter(
                assignments__group__slug=quota["group"], assignments__is_repeat=False
            ).count()
        )


def test_ratings_come_in_pages_with_the_columns_of_the_export(api, alice, study):
    client = api(alice)
    address = f"/api/v1/studies/{study.public_id}/ratings/"
    total = Rating.objects.filter(assignment__submission__study=study).count()
    seen, content = [], client.get(address, {"limit": 40}).json()
    while True:
        seen += content["results"]
        if content["next"] is None:
            break
        content = client.get(content["next"]).json()
    assert content["count"] == len(seen) == total
    exported = client.get(f"/api/v1/studies/{study.public_id}/ratings.csv/")
    assert exported["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(exported).decode())))
    # The file has lines that were left out as well, and says why.
    assert list(rows[0]) == [*seen[0], "missing"]
    keys = ("submission", "group", "scale")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        tuple(row[key] for key in keys) for row in seen
    ]
    assert [float(row["value"]) for row in rows] == [row["value"] for row in seen]


def test_ratings_are_filtered(api, alice, study):
    client = api(alice)
    address = f"/api/v1/studies/{study.public_id}/ratings/"
    content = client.get(
        address,
        {"group": "asian", "is_repeat": "false", "data_decision": "accepted", "limit": 1000},
    ).json()
    assert content["count"] == 3 * 16
    assert {row["group"] for row in content["results"]} == {"asian"}


def test_submissions_come_with_flags_and_without_identity(api, alice, study):
    exported = api(alice).get(f"/api/v1/studies/{study.public_id}/submissions.csv/")
    assert exported["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(exported).decode())))
    names = set(study.submissions.filter(is_counted=True).values_list("public_id", flat=True))
    assert {row["submission"] for row in rows} == names
    assert {"flag_speeding", "flag_straight_lining", "self_agreement_rule"} <= rows[0].keys()
    assert not {name for name in rows[0] if "external" in name or "token" in name}


@pytest.mark.parametrize("name", ["ratings.csv", "submissions.csv", "exports/ratings.csv"])
def test_csv_has_a_mark_for_excel_on_demand(api, alice, study, name):
    address = f"/api/v1/studies/{study.public_id}/{name}/"
    plain, marked = (b"".join(api(alice).get(address + ask)) for ask in ("", "?bom=true"))
    assert marked == b"\xef\xbb\xbf" + plain


def test_csv_is_also_given_to_who_asks_by_the_accept_header(api, alice, study):
    address = f"/api/v1/studies/{study.public_id}/ratings.csv/"
    assert api(alice).get(address, headers={"accept": "text/csv"}).status_code == 200


def test_an_offset_beyond_every_database_gives_an_empty_page(api, alice, study):
    address = f"/api/v1/studies/{study.public_id}/ratings/"
    content = api(alice).get(address, {"offset": 10**30}).json()
    assert content["results"] == []


def test_lists_do_not_ask_once_per_study(api, alice, study, django_assert_max_num_queries):
    client = api(alice)
    # The token with its account, the count, the page, and one for the session's sake.
    with django_assert_max_num_queries(4):
        client.get("/api/v1/studies/")
