"""Links open what they are for; what the database holds of them opens nothing."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client

from annotation.models import Annotator
from annotation.models.tokens import new_token
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db
PAGES = {
    "annotation_submission": ("token", ["/w/{}/", "/r/{}/"]),
    "annotation_annotator": ("invitation_token", ["/annotate/join/{}/"]),
}


def test_a_link_opens_and_what_is_stored_of_it_does_not() -> None:
    submission = make_submission(make_study())
    place = Annotator.objects.create(study=make_writing_study(launched=False), number=77)
    client = Client()
    for row, (table, (name, pages)) in zip((submission, place), PAGES.items(), strict=True):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {name} FROM {table} WHERE id = %s", [row.pk])  # noqa: S608
            ((stored,),) = cursor.fetchall()
        token = getattr(row, name)
        assert token not in stored
        for page in pages:
            assert client.get(page.format(token)).status_code == 200
            # Neither as it is, nor its last part, nor what nobody has.
            for wrong in (stored, stored.rsplit(".", 1)[-1], new_token()):
                assert client.get(page.format(wrong)).status_code == 404
