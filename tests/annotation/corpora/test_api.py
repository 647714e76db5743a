"""Corpora over HTTP: the list, one corpus, its pairs page by page; outsiders get 404."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from annotation.corpora.corpus_import import import_corpus
from annotation.models import Corpus
from tests.annotation.studies.people import make_user
from tests.tokens import header_for

pytestmark = pytest.mark.django_db
BASE = "/api/v1/corpora/"
LINES = """{"id": "p1", "AAL": "He be late", "WME": "He is late", "source": "CORAAL",
 "spans": {"AAL": [{"start": 3, "end": 5, "kind": "VP"}]}}
{"id": "p2", "AAL": "They here", "WME": "They are here", "split": "training"}
{"id": "p3", "AAL": "She gone", "WME": "She is gone"}
""".replace(",\n ", ", ")


@pytest.fixture
def alice() -> User:
    return make_user("alice")


@pytest.fixture
def corpus(alice: User) -> Corpus:
    made = import_corpus(
        content=LINES.encode(), file_name="p.jsonl", owner=alice, name="Pairs", license="CC0"
    ).corpus
    assert made is not None
    return made


def api(user: User | None) -> APIClient:
    client = APIClient()
    if user is not None:
        client.credentials(HTTP_AUTHORIZATION=header_for(user))
    return client


def test_the_owner_reads_corpus_and_pairs(corpus, alice, django_assert_max_num_queries):
    client = api(alice)
    listed = client.get(BASE).json()
    assert listed["count"] == 1
    entry = listed["results"][0]
    assert (entry["name"], entry["n_texts"], entry["n_pairs"]) == ("Pairs", 6, 3)
    assert client.get(f"{BASE}{corpus.public_id}/").json() == entry
    with django_assert_max_num_queries(6):  # token, corpus, count, page, two of the audit log
        answer = client.get(f"{BASE}{corpus.public_id}/pairs/", {"limit": 2}).json()
    assert answer["count"] == 3
    assert [pair["slug"] for pair in answer["results"]] == ["p1", "p2"]
    assert answer["results"][0] == {
        "slug": "p1",
        "source_slug": "p1-aal",
        "source_text": "He be late",
        "source_spans": [{"start": 3, "end": 5, "kind": "VP"}],
        "target_slug": "p1-wme",
        "target_text": "He is late",
        "target_spans": [],
        "source": "CORAAL",
        "context": "",
        "split": "evaluation",
        "study": None,
    }


def test_pairs_are_filtered_by_split_and_source(corpus, alice):
    client, address = api(alice), f"{BASE}{corpus.public_id}/pairs/"
    assert client.get(address, {"split": "training"}).json()["count"] == 1
    assert client.get(address, {"source": "CORAAL"}).json()["count"] == 1
    assert client.get(address, {"split": "both"}).status_code == 400


def test_an_outsider_finds_nothing(corpus):
    client = api(make_user("charlie"))
    assert client.get(BASE).json()["count"] == 0
    for address in (f"{BASE}{corpus.public_id}/", f"{BASE}{corpus.public_id}/pairs/"):
        assert client.get(address).status_code == 404
    Corpus.objects.update(is_shared=True)
    assert client.get(f"{BASE}{corpus.public_id}/pairs/").status_code == 200


def test_only_staff_with_a_token_may_ask(corpus):
    assert api(None).get(BASE).status_code == 401
    assert api(User.objects.create_user("dora")).get(BASE).status_code == 403
