"""The benchmark of a participant's first pages."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.models import Study
from tools.bench.landing import measure_visits
from tools.bench.pages import fill

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_visits_start_and_are_timed(admin_user: User) -> None:
    fill(admin_user, submissions=20, beside=0)
    study = Study.objects.get(title="Large study")
    before = study.submissions.count()
    row = measure_visits(study, visits=1)
    assert list(row.figures) == ["landing, ms", "start, ms", "first page, ms"]
    assert all(row.figures.values())
    assert study.submissions.count() == before + 11  # ten warm up
