"""A report that was built before a withdrawal says so everywhere, and can be built anew."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import DataDecision
from annotation.survey.withdrawal import withdraw_submission
from evaluation.models import Report
from evaluation.reports.building import build_report
from evaluation.reports.requesting import request_report
from evaluation.reports.selectors import visible_reports

pytestmark = pytest.mark.django_db

FEW = {"resamples": 100, "splits": 100}
MARK = "Built before a withdrawal"


@pytest.fixture
def alice() -> User:
    return User.objects.create_superuser("alice")


@pytest.fixture
def report(alice, rated_study, scored_run) -> Report:
    waiting = request_report(
        kind="alignment", study=rated_study(owner=alice), runs=[scored_run()], parameters=FEW
    )
    built = build_report(report_id=waiting.pk)
    assert built is not None
    return built


def test_a_report_that_used_withdrawn_answers_says_so_and_is_rebuilt(client, alice, report) -> None:
    client.force_login(alice)
    address = reverse("reports:page", args=[report.public_id])
    gallery = reverse("admin:evaluation_report_changelist")
    excluded, accepted = report.study.submissions.all()[:2]
    excluded.data_decision = DataDecision.EXCLUDED
    excluded.save()
    withdraw_submission(submission=excluded)  # no report ever rested on it
    assert MARK not in client.get(address).content.decode()
    withdraw_submission(submission=accepted)
    assert MARK in client.get(address).content.decode()
    assert MARK in client.get(gallery).content.decode()
    api = APIClient()
    api.force_authenticate(alice)
    assert api.get("/api/v1/reports/").json()["results"][0]["n_withdrawn"] == 1
    rebuilt = client.post(f"{address}rebuild/")
    assert rebuilt.status_code == 302
    anew = Report.objects.latest("pk")
    assert anew.parameters == report.parameters
    assert build_report(report_id=anew.pk) is not None
    marks = dict(visible_reports(alice).values_list("pk", "n_withdrawn"))
    assert marks == {report.pk: 1, anew.pk: 0}
    # It rests on other data: one person fewer.
    assert Report.objects.get(pk=anew.pk).inputs != Report.objects.get(pk=report.pk).inputs


def test_who_may_not_ask_for_reports_cannot_rebuild_one(client, report) -> None:
    bob = User.objects.create_user("bob", is_staff=True)
    report.study.memberships.create(user=bob)
    client.force_login(bob)
    address = reverse("reports:rebuild", args=[report.public_id])
    assert client.post(address).status_code == 403
    assert Report.objects.count() == 1
