"""Every list of researchers is searched, told apart when empty, read in pages; several rows at once
are changed only where each may be."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Instrument, SocialGroup
from evaluation.models import Report, ReportStatus
from probing.models import Run
from tests.annotation.counterparts.studies import make_corpus
from tests.annotation.survey.guises import make_pairs
from tests.evaluation.reports.surveys import make_scored_run

pytestmark = pytest.mark.django_db
LARGEST_PAGE = 100
#: It only leads to the studies.
WITHOUT_LIST = {Instrument}
admin.autodiscover()  # before the tests are collected
LISTS = [model for model in admin.site._registry if model not in WITHOUT_LIST]


def log_in(name: str, **options: bool) -> Client:
    user = User.objects.create_user(name, is_staff=True, **options)
    rooms = ["annotation", "probing", "evaluation"]
    user.user_permissions.set(Permission.objects.filter(content_type__app_label__in=rooms))
    client = Client()
    client.force_login(user)
    return client


def address_of(model: type) -> str:
    opts = model._meta  # type: ignore[attr-defined]
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")


def act(client: Client, model: type, action: str, *keys: int, **more: str):  # type: ignore[no-untyped-def]
    sent = {"action": action, "_selected_action": [*keys], **more}
    return client.post(address_of(model), sent)


@pytest.mark.parametrize("model", LISTS, ids=lambda model: model._meta.label)
def test_every_list_is_searched_and_says_when_nothing_fits(model: type) -> None:
    client = log_in("super", is_superuser=True)
    listed = admin.site._registry[model]
    assert listed.search_fields, "people look for a row by its words"
    assert listed.list_per_page <= LARGEST_PAGE
    response = client.get(address_of(model), {"q": "no-such-thing-anywhere"})
    assert response.status_code == 200
    assert "No entry fits this search" in response.content.decode()


def test_chosen_entries_of_the_library_leave_as_a_file_that_comes_in_again() -> None:
    chosen = SocialGroup.objects.filter(slug__in=["elderly", "teenager"])
    response = act(
        log_in("ann"), SocialGroup, "export_selected", *chosen.values_list("pk", flat=True)
    )
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    assert {row["slug"] for row in csv.DictReader(io.StringIO(text))} == {"elderly", "teenager"}


def test_the_filters_of_runs_name_no_corpus_of_others() -> None:
    ann, ben = log_in("ann"), log_in("ben")
    ours = make_corpus(name="Posts of ours", owner=User.objects.get(username="ann"))
    run = make_scored_run(created_by=User.objects.get(username="ann"))
    Run.objects.filter(pk=run.pk).update(corpus=ours)
    assert "Posts of ours" in ann.get(address_of(Run)).content.decode()
    assert "Posts of ours" not in ben.get(address_of(Run)).content.decode()


def test_corpora_are_shared_and_deleted_by_their_owners_alone() -> None:
    ann, ben = log_in("ann"), log_in("ben")
    owner = User.objects.get(username="ann")
    corpus = make_corpus(name="Posts", owner=owner)
    act(ann, Corpus, "share", corpus.pk)
    corpus.refresh_from_db()
    assert corpus.is_shared
    shared, made = corpus.history.all()
    assert (shared.is_shared, shared.history_user, made.is_shared) == (True, owner, False)
    act(ben, Corpus, "stop_sharing", corpus.pk)
    corpus.refresh_from_db()
    assert corpus.is_shared
    told = ben.get(address_of(Corpus)).content.decode()
    assert "1 corpus is not yours to change." in told
    asked = act(ben, Corpus, "delete_selected", corpus.pk).content.decode()
    assert "is not yours to delete" in asked
    act(ben, Corpus, "delete_selected", corpus.pk, post="yes")
    assert Corpus.objects.filter(pk=corpus.pk).exists()
    asked = act(ann, Corpus, "delete_selected", corpus.pk).content.decode()
    assert "Posts" in asked
    assert Corpus.objects.filter(pk=corpus.pk).exists()
    act(ann, Corpus, "delete_selected", corpus.pk, post="yes")
    assert not Corpus.objects.filter(pk=corpus.pk).exists()


def test_reports_are_deleted_after_a_question_and_never_those_of_others() -> None:
    ann, ben = log_in("ann"), log_in("ben")
    owner = User.objects.get(username="ann")
    corpus = make_corpus(name="Posts", owner=owner)
    Corpus.objects.update(is_shared=True)
    common = {"kind": "dataset", "corpus": corpus, "created_by": owner}
    report = Report.objects.create(
        title="One", status=ReportStatus.FINAL, inputs={}, result={}, **common
    )
    built = Report.objects.create(title="Two", status=ReportStatus.BUILDING, **common)
    keys = (report.pk, built.pk)
    assert "is not yours to delete" in act(ben, Report, "delete_selected", *keys).content.decode()
    act(ben, Report, "delete_selected", report.pk, post="yes")
    assert "is being built" in act(ann, Report, "delete_selected", *keys).content.decode()
    act(ann, Report, "delete_selected", *keys, post="yes")
    assert Report.objects.count() == 2
    assert "One" in act(ann, Report, "delete_selected", report.pk).content.decode()
    act(ann, Report, "delete_selected", report.pk, post="yes")
    assert list(Report.objects.all()) == [built]


def test_reports_are_built_again_and_refusals_are_told() -> None:
    ann = log_in("ann")
    owner = User.objects.get(username="ann")
    full = make_pairs(owner=owner)
    empty = make_corpus(name="Texts alone", owner=owner)
    common = {"kind": "dataset", "status": ReportStatus.FINAL, "created_by": owner}
    rows = [
        Report.objects.create(title=c.name, corpus=c, inputs={}, result={}, **common)
        for c in (full, empty)
    ]
    act(ann, Report, "rebuild_selected", *(row.pk for row in rows))
    assert Report.objects.filter(corpus=full).count() == 2
    assert Report.objects.filter(corpus=empty).count() == 1
    told = ann.get(address_of(Report)).content.decode()
    assert "Being built again: 1." in told
    assert "has no pair to describe" in told


def test_the_list_of_chosen_runs_is_downloaded() -> None:
    run = make_scored_run()
    response = act(log_in("super", is_superuser=True), Run, "export_selected", run.pk)
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["run"], row["measure"], row["model"]) == (str(run.pk), run.measure, run.model.name)
    assert json.loads(row["parameters"]) == run.parameters
