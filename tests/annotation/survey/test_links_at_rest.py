"""Links of earlier versions, whose tokens were stored as they are, go on working once encrypted."""

from __future__ import annotations

import importlib

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator
from annotation.models.tokens import new_resume_token, new_token
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db
MIGRATION = importlib.import_module("annotation.migrations.0038_encrypted_links")


def store(table: str, key: int, **plain: str) -> None:
    with connection.cursor() as cursor:
        for name, text in plain.items():
            cursor.execute(f"UPDATE {table} SET {name} = %s WHERE id = %s", [text, key])  # noqa: S608


def read(table: str, *names: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608
        return [text for row in cursor.fetchall() for text in row]


def test_links_of_an_earlier_version_open_after_the_migration() -> None:
    submission = make_submission(make_study())
    study = make_writing_study(launched=False)
    place = Annotator.objects.create(study=study, number=77)
    token, resume, invited = new_token(), new_resume_token(), new_token()
    store("annotation_submission", submission.pk, token=token, resume_token=resume)
    store("annotation_annotator", place.pk, invitation_token=invited)
    MIGRATION.encrypt_tokens(apps, None)
    stored = [
        *read("annotation_submission", "token", "resume_token"),
        *read("annotation_annotator", "invitation_token"),
    ]
    assert not {token, resume, invited} & set(stored)
    assert all(text.startswith("e1.") for text in stored)
    client = Client()
    assert client.get(reverse("survey:own", args=[token])).status_code == 200
    assert client.get(reverse("survey:page", args=[token])).status_code == 200
    assert client.get(reverse("survey:page", args=[resume])).status_code == 200
    assert client.get(reverse("annotators:join", args=[invited])).status_code == 200
    for name in ("survey:own", "survey:page"):
        assert client.get(reverse(name, args=[new_token()])).status_code == 404
