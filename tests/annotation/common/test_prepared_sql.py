"""Prepared statements find and store what Django’s own would."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.models import Count, F, Q, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.common.prepared_sql import PreparedInsert, PreparedQuery, PreparedUpdate
from annotation.models import (
    PageEvent,
    PanelSettings,
    Participant,
    SocialGroup,
    Study,
    Submission,
    Wording,
)
from annotation.studies.creation import create_study

pytestmark = pytest.mark.django_db


def studies(title: str, currency: str) -> QuerySet[Study]:
    found = Study.objects.filter(title=title, kind="abc_survey", currency=currency)
    return found.select_related("panel_settings").annotate(slots=F("quota_per_group"))


@pytest.fixture
def study() -> Study:
    for title in ("One", "Another"):
        create_study(title=title, owner=None, contact_email="lab@example.org")
    return Study.objects.get(title="One")


def values(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_rows_are_those_of_the_queryset(study: Study) -> None:
    PanelSettings.objects.update_or_create(study=study, defaults={"panel_study_id": "abc"})
    (wanted,) = studies("One", study.currency)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        (found,) = PreparedQuery(studies).all("One", study.currency)
        assert values(found.panel_settings) == values(wanted.panel_settings)
    assert len(asked) == 1
    assert values(found) == values(wanted)
    assert found == wanted
    assert found.slots == study.quota_per_group  # type: ignore[attr-defined]  # annotated


def test_each_run_takes_its_own_values(study: Study) -> None:
    query = PreparedQuery(studies)
    assert [query.get(title, study.currency).title for title in ("One", "Another")] == [
        "One",
        "Another",
    ]
    assert query.first("One", "XXX") is None
    assert query.all("No such study", study.currency) == []
    with pytest.raises(Study.DoesNotExist):
        query.get("No such study", study.currency)


def test_a_row_that_a_join_does_not_find_is_known_to_be_missing(study: Study) -> None:
    PanelSettings.objects.all().delete()
    found = PreparedQuery(studies).get("One", study.currency)
    with CaptureQueriesContext(connection) as asked, pytest.raises(PanelSettings.DoesNotExist):
        _ = found.panel_settings
    assert not asked


def test_order_and_limits_hold_and_numbers_are_values_too() -> None:
    query = PreparedQuery(
        lambda least: SocialGroup.objects.filter(pk__gte=least).order_by("-pk")[:3]
    )
    wanted = list(SocialGroup.objects.order_by("-pk")[:3])
    assert query.all(wanted[-1].pk) == wanted
    assert query.all(wanted[0].pk) == wanted[:1]


def test_a_moment_and_rows_of_values_are_prepared_too(study: Study) -> None:
    Study.objects.filter(title="Another").update(closed_at=datetime(2026, 1, 1, tzinfo=UTC))
    query = PreparedQuery(
        lambda now, currency: (
            Study.objects.filter(currency=currency)
            .values("currency")
            .annotate(over=Count("pk", filter=Q(closed_at__lt=now)), n=Count("pk"))
            .order_by()
        )
    )
    for year, over in ((2025, 0), (2027, 1)):
        moment = datetime(year, 1, 1, tzinfo=UTC)
        assert query.all(moment, study.currency) == [
            {"currency": study.currency, "over": over, "n": 2}
        ]


def test_rows_are_inserted_with_one_query_and_the_defaults_of_the_rest(study: Study) -> None:
    instrument = study.instruments.get()
    row = {"instrument_id": instrument.pk, "language": "la", "text": "Quid?"}
    with CaptureQueriesContext(connection) as asked:
        PreparedInsert(Wording).insert([row | {"key": "a"}, row | {"key": "b", "text": ""}])
    assert len(asked) == 1
    stored = instrument.wordings.filter(language="la").order_by("key")
    assert list(stored.values_list("key", "text")) == [("a", "Quid?"), ("b", "")]


def test_values_are_stored_as_a_model_stores_them(study: Study) -> None:
    """A JSON value, a moment and an empty one, read back by the model."""
    participant = Participant.objects.create()
    submission = Submission.objects.create(
        study=study, instrument=study.instruments.get(), participant=participant
    )
    now = timezone.now()
    row = {"submission_id": submission.pk, "step_index": 3, "step_kind": "rating"}
    PreparedInsert(PageEvent).insert(
        [row | {"submitted_at": now, "opened_at": None, "client": {"device": "“phone”"}}]
    )
    event = PageEvent.objects.get()
    assert (event.submitted_at, event.opened_at) == (now, None)
    assert (event.client, event.language) == ({"device": "“phone”"}, "")


def test_named_fields_alone_are_saved_and_a_row_that_is_gone_is_told(study: Study) -> None:
    update = PreparedUpdate(Study, "title", "closed_at")
    study.title, study.closed_at, study.contact_email = "New", timezone.now(), "new@example.org"
    with CaptureQueriesContext(connection) as asked:
        update.save(study)
    assert len(asked) == 1
    stored = Study.objects.get(pk=study.pk)
    assert (stored.title, stored.closed_at) == (study.title, study.closed_at)
    assert stored.contact_email == "lab@example.org"
    study.pk = 10**6
    with pytest.raises(DatabaseError, match="its row is gone"):
        update.save(study)
