"""The benchmark of researchers' pages: what it fills is what the survey would have stored."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import GroupAssignment, Rating, Study, Submission
from tools.bench.pages import fill, list_pages, measure_page

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
    for name, address in list_pages(large):
        first, second = measure_page(client, name, address)
        assert second.figures["queries"] <= first.figures["queries"]
