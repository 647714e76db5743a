"""The first page after the log-in. alice owns the study, charlie is an outsider."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from annotation.studies.creation import create_study

pytestmark = pytest.mark.django_db


def _study(owner: User) -> None:
    create_study(title="Group ratings, spring", owner=owner, contact_email="team@example.edu")


def test_empty_platform_says_what_to_do_next(client):
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("admin:index")).content.decode()
    for text in ("No study yet", "No run yet", "No report yet", "import_abc_ratings"):
        assert text in page


def test_owner_sees_the_study_and_outsider_does_not(client):
    alice = User.objects.create_user("alice", is_staff=True)
    charlie = User.objects.create_user("charlie", is_staff=True)
    _study(alice)
    client.force_login(alice)
    assert "Group ratings, spring" in client.get(reverse("admin:index")).content.decode()
    client.force_login(charlie)
    assert "Group ratings, spring" not in client.get(reverse("admin:index")).content.decode()


def test_queries_do_not_grow_with_the_number_of_studies(client, django_assert_max_num_queries):
    alice = User.objects.create_user("alice", is_staff=True)
    alice.user_permissions.add(Permission.objects.get(codename="view_run"))
    client.force_login(alice)
    for _ in range(5):
        _study(alice)
    # Session, user and permissions, then one query each for studies, runs and reports.
    with django_assert_max_num_queries(9):
        client.get(reverse("admin:index"))
