"""Texts drawn per source, as Deas et al. (2023) §3.1–3.2 drew 50 and 12 of each dataset."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from annotation.models import Overlap, Study, Text, WritingTask
from tests.annotation.counterparts.studies import make_corpus, make_writing_study
from tests.annotation.studies.people import make_user
from tests.tokens import header_for

pytestmark = pytest.mark.django_db


def test_every_source_gives_its_number_and_its_common_texts() -> None:
    corpus = make_corpus(26)
    Text.objects.filter(slug__lte="text-011").update(source="letters")
    study = make_writing_study(
        "ann", "ben", corpus=corpus, n_texts=6, common_texts=2, per_source=True, shared_percent=50
    )
    tasks = WritingTask.objects.filter(study=study)
    drawn = Counter(Text.objects.filter(writing_tasks__in=tasks).distinct().values_list("source"))
    assert set(drawn.values()) == {6}
    assert {name for (name,) in drawn} == {"letters", "posts", "interviews"}
    common = Counter(tasks.filter(overlap=Overlap.COMMON).values_list("text__source", "annotator"))
    assert set(common.values()) == {2}
    assert len(common) == 6  # three sources by two annotators


def test_a_source_with_fewer_texts_is_refused_before_anything_is_stored() -> None:
    corpus = make_corpus(20)
    with pytest.raises(ValidationError, match="expected 1 to 10: one source has no more"):
        make_writing_study("ann", corpus=corpus, n_texts=11, common_texts=2, per_source=True)
    with pytest.raises(ValidationError, match="expected at most the 5"):
        make_writing_study("ann", corpus=corpus, n_texts=5, common_texts=6, per_source=True)
    assert not Study.objects.exists()


def test_the_command_makes_the_draft() -> None:
    corpus = make_corpus(20)
    out = io.StringIO()
    known = ("--title", "Spring", "--contact", "lab@example.org", "--per-source", "--by-features")
    arguments = (corpus.name, *known, "--texts", "9", "--common", "3", "--seed", "7")
    call_command("create_writing_study", *arguments, stdout=out)
    design = Study.objects.get().writing
    assert (design.n_texts, design.common_texts, design.seed) == (9, 3, 7)
    assert design.per_source
    assert design.weighted_by_features
    assert "is a draft" in out.getvalue()
    with pytest.raises(CommandError, match="expected 1 to 10"):
        call_command("create_writing_study", corpus.name, *known, "--texts", "62")
    with pytest.raises(CommandError, match="No corpus is called"):
        call_command("create_writing_study", "none", *known)


def test_the_api_makes_the_draft_for_those_who_see_the_corpus() -> None:
    alice, mallory = make_user("alice"), make_user("mallory")
    corpus = make_corpus(20, owner=alice)
    for user in (alice, mallory):
        user.user_permissions.add(Permission.objects.get(codename="add_writingstudy"))
    asked = {
        "title": "Spring",
        "contact_email": "lab@example.org",
        "corpus": corpus.public_id,
        "n_texts": 9,
        "common_texts": 3,
        "per_source": True,
    }

    def post(user, **changes):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=header_for(user))
        return client.post("/api/v1/writing-studies/", {**asked, **changes}, format="json")

    assert post(mallory).status_code == 400
    assert post(alice, n_texts=11).status_code == 400
    assert not Study.objects.exists()
    assert post(alice).status_code == 201
    study = Study.objects.get()
    assert (study.owner, study.writing.per_source) == (alice, True)
    bob = make_user("bob")
    bob.user_permissions.clear()
    assert post(bob).status_code == 403
