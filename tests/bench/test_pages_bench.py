"""The benchmark of researchers' pages: what it fills is what the survey would have stored."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import GroupAssignment, Rating, Study, Submission
from tools.bench.pages import (
    fill,
    list_addresses,
    measure_flags,
    measure_page,
    measure_report,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_copies_of_visits_are_whole_and_every_page_answers(admin_user: User) -> None:
    fill(admin_user, submissions=60, beside=2)
    large = Study.objects.get(title="Large study")
    n = large.submissions.count()
    assert n >= 60
    assert Study.objects.count() == 3
    for submission in (large.submissions.first(), large.submissions.last()):
        assert submission.checks.exists()
        assert submission.pages.count() == len(submission.instrument.flow)
        assert submission.assignments.filter(is_repeat=False).count() == 4
    assert Submission.objects.values("token").distinct().count() == n
    assert Rating.objects.count() == GroupAssignment.objects.count() * 16
    client = Client()
    client.force_login(admin_user)
    measured = {}
    for name, address in list_addresses(large):
        if views := list(measure_page(client, name, address)):
            first, second = views
            assert second.figures["queries"] <= first.figures["queries"] + 1, name
            measured[name] = second.figures["queries"]
    # Every list and every page of a study is among them, without anybody naming them here.
    assert {
        *("index", "annotation_study_changelist", "annotation_study_overview"),
        *("annotation_study_flags", "annotation_submission_queue", "annotation_instrument_change"),
        *("evaluation_report_changelist", "probing_run_add", "auth_user_changelist"),
    } <= set(measured)
    assert max(measured.values()) < 80, sorted(measured.items(), key=lambda one: -one[1])[:3]
    assert measure_flags(large).figures["queries"] == 0
    report = measure_report(large, admin_user)
    assert report.case.startswith("alignment report")
    assert report.seconds > 0
