"""Errors that judges mark: the scheme, ticked words, pages, exports. Places are counted by hand."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.annotators.errors import WorkRefused
from annotation.judgments.error_coding import (
    DEFAULT_SCHEME,
    Passage,
    SentErrors,
    load_codings,
    parse_scheme,
    read_passages,
    read_scheme,
    store_scheme,
    ticked_words,
    write_scheme,
)
from annotation.judgments.views import submit_judgment
from annotation.models import ASPECTS, CodedError, Judgment, JudgmentStudy
from tests.annotation.judgments.corpora import (
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
)
from tests.annotation.judgments.test_admin import filled_form, no_members
from tests.annotation.studies.people import make_creator, make_user

#       0123456789012345678901
BODY = "She  was very kind – so"


def read(words, *, none=False):
    return read_passages(BODY, DEFAULT_SCHEME, SentErrors(words, none))


# --- The scheme -----------------------------------------------------------------------------------


def test_a_scheme_is_lines_of_names_and_meanings():
    text = "Neutralized: too tame\n\n Mis-read \nErfunden: hinzu: erdacht\n"
    scheme = read_scheme(text)
    assert [(c.slug, c.name, c.meaning) for c in scheme] == [
        ("neutralized", "Neutralized", "too tame"),
        ("mis-read", "Mis-read", ""),
        ("erfunden", "Erfunden", "hinzu: erdacht"),
    ]
    assert read_scheme(write_scheme(scheme)) == scheme
    assert parse_scheme(store_scheme(DEFAULT_SCHEME)) == DEFAULT_SCHEME


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "at least one category"),
        ("\n".join(f"Kind {n}" for n in range(7)), "at most 6"),
        ("Fine\n: nameless", "Line 2: begin with a name"),
        ("x" * 41, "Line 1: begin with a name of up to 40"),
        (f"Long: {'x' * 201}", "up to 200 characters"),
        ("Misread\nmisread: again", "“Misread” stands there twice"),
    ],
)
def test_a_bad_scheme_is_refused_with_what_to_enter(text, problem):
    with pytest.raises(ValidationError, match=problem):
        read_scheme(text)


@pytest.mark.parametrize("stored", [[{"slug": "a"}], ["a"], [{"slug": "", "name": "A"}]])
def test_what_is_no_scheme_is_refused(stored):
    with pytest.raises(ValidationError):
        parse_scheme(stored)


# --- Ticked words ---------------------------------------------------------------------------------


def test_consecutive_words_of_a_category_are_one_passage():
    # “was very”, “so” and, in another category, “very kind”.
    found = read({"misread": ["1", "2", "5"], "invented": ["3", "2", "2"]})
    assert found == [
        Passage("invented", 9, 18),
        Passage("misread", 5, 13),
        Passage("misread", 21, 23),
    ]
    assert BODY[5:13] == "was very"
    assert ticked_words(BODY, found) == {"invented": ["2", "3"], "misread": ["1", "2", "5"]}


def test_no_errors_is_an_answer():
    assert read({}, none=True) == []


@pytest.mark.parametrize(
    ("words", "none", "problem"),
    [
        ({}, False, "or tick “No errors”"),
        ({"misread": []}, False, "or tick “No errors”"),
        ({"misread": ["1"]}, True, "Undo one of the two"),
        ({"misread": ["6"]}, False, "Reload it"),
        ({"misread": ["-1"]}, False, "Reload it"),
        ({"rude": ["1"]}, False, "Reload it"),
    ],
)
def test_what_cannot_be_read_is_refused(words, none, problem):
    with pytest.raises(WorkRefused, match=problem):
        read(words, none=none)


# --- Judging --------------------------------------------------------------------------------------


@pytest.fixture
def study(db):
    scheme = store_scheme(DEFAULT_SCHEME)
    study = make_study(make_corpus(1), owner=make_user("alice"), error_scheme=scheme)
    return launch(study, "ann")


@pytest.fixture
def task(study):
    return next(t for t in tasks_of(study, "ann") if t.item.body == "They read book 1 (two).")


def places():
    return list(CodedError.objects.order_by("start").values_list("category", "start", "end"))


def test_errors_are_stored_with_the_judgment_and_changed_with_it(study, task):
    submit_judgment(
        task=task, ratings=answers(), errors=SentErrors({"misread": ["1"], "invented": ["4"]})
    )
    assert places() == [("misread", 5, 9), ("invented", 17, 23)]
    same = SentErrors({"misread": ["1"], "invented": ["4"]})
    submit_judgment(task=task, ratings=answers(), errors=same)
    assert CodedError.history.count() == 2
    submit_judgment(task=task, ratings=answers(), errors=SentErrors({"misread": ["1", "2"]}))
    assert places() == [("misread", 5, 14)]
    assert sorted(CodedError.history.values_list("history_type", flat=True)) == list("+++--")
    submit_judgment(task=task, ratings=answers(), errors=SentErrors({}, none=True))
    assert places() == []
    (row,) = load_codings(study)
    assert (row.item, row.annotator, row.passages) == (task.item_id, 1, ())


def test_a_judgment_without_coding_is_refused_whole(study, task):
    with pytest.raises(WorkRefused) as refusal:
        submit_judgment(task=task, ratings=answers() | {"tone_preservation": ""})
    assert set(refusal.value.problems) == {"tone_preservation", "errors"}
    assert not Judgment.objects.exists()


@pytest.mark.django_db
def test_a_study_without_a_scheme_asks_for_no_errors(client: Client):
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    client.force_login(task.annotator.user)
    page = client.get(reverse("judgments:judge", args=[study.public_id, 1])).content.decode()
    assert "checkbox" not in page
    submit_judgment(task=task, ratings=answers(), errors=SentErrors({"misread": ["0"]}))
    assert places() == []


def test_the_page_keeps_marks_that_were_refused_and_shows_those_stored(study, task, client):
    client.force_login(task.annotator.user)
    address = reverse("judgments:judge", args=[study.public_id, task.position])
    page = client.get(address).content.decode()
    assert page.count('type="checkbox"') == 1 + 3 * 5
    assert "Misread</b> Takes a word" in page
    refused = client.post(address, answers())
    assert refused.status_code == 422
    assert "Mark the words that are errors" in refused.content.decode()
    sent = answers() | {"tone_preservation": "", "error-misread": ["1", "2"]}
    refused = client.post(address, sent).content.decode()
    assert refused.count("checked") == 3 + 2
    client.post(address, sent | {"tone_preservation": "2"})
    assert places() == [("misread", 5, 14)]
    assert client.get(address).content.decode().count("checked") == 4 + 2
    client.post(address, answers() | {"no_errors": "1"})
    assert 'name="no_errors" value="1" checked' in client.get(address).content.decode()


# --- Researchers ----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_researcher_sets_the_scheme_until_the_launch(client):
    alice = make_creator("alice")
    corpus = make_corpus(3)
    corpus.owner = alice
    corpus.save()
    client.force_login(alice)
    add = reverse("admin:annotation_judgmentstudy_add")
    assert "Neutralized: Says it more weakly" in client.get(add).content.decode()
    bad = filled_form(corpus, marks_errors="on", error_scheme="Odd\nOdd")
    assert "stands there twice" in client.post(add, bad).content.decode()
    client.post(add, filled_form(corpus, marks_errors="on", error_scheme="Odd: reads oddly"))
    study = JudgmentStudy.objects.get()
    assert study.judging.error_scheme == [{"slug": "odd", "name": "Odd", "meaning": "reads oddly"}]
    overview = reverse("admin:annotation_judgmentstudy_overview", args=[study.pk])
    assert "reads oddly" in client.get(overview).content.decode()
    change = reverse("admin:annotation_judgmentstudy_change", args=[study.pk])
    assert "Odd: reads oddly" in client.get(change).content.decode()
    client.post(change, filled_form(corpus, error_scheme="Odd: reads oddly") | no_members())
    study.judging.refresh_from_db()
    assert study.judging.error_scheme == []
    assert set(study.judging.wording) == set(ASPECTS)


def test_passages_leave_as_a_table_and_over_http(study, task, client):
    submit_judgment(task=task, ratings=answers(), errors=SentErrors({"misread": ["1", "2"]}))
    client.force_login(study.owner)
    name = "admin:annotation_judgmentstudy_export"
    response = client.get(reverse(name, args=[study.pk, "errors.csv"]))
    text = b"".join(response.streaming_content).decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["category"], row["start"], row["end"]) == ("misread", "5", "14")
    assert (row["passage"], row["producer"]) == ("read book", task.item.producer)
    assert (row["annotator"], "ann" in row.values()) == ("1", False)
    zipped = b"".join(client.get(reverse(name, args=[study.pk, "judgments.zip"])).streaming_content)
    assert b"errors.csv" in zipped
    api = APIClient()
    address = f"/api/v1/studies/{study.public_id}/errors/"
    api.force_authenticate(make_user("charlie"))
    assert api.get(address).status_code == 404
    api.force_authenticate(study.owner)
    found = api.get(address, {"category": "misread"}).json()
    (same,) = found["results"] if isinstance(found, dict) else found
    assert {key: str(value) for key, value in same.items()} == row
    assert not api.get(address, {"category": "invented"}).json()["results"]
