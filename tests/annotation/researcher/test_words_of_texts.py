"""Where people rate texts, researchers read of texts, not of groups."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.annotation.survey.guises import make_guise_study, rate_by_variety

pytestmark = pytest.mark.django_db


def test_forms_and_overview_of_a_study_of_speakers_speak_of_texts(client: Client) -> None:
    study = make_guise_study(quota_per_group=4)
    rate_by_variety(study, people=2)
    client.force_login(User.objects.create_superuser("alice"))

    def read(name: str, *args: int, query: str = "") -> str:
        return client.get(reverse(f"admin:annotation_study_{name}", args=args) + query).text

    for form in (read("add", query="?kind=guise_rating"), read("change", study.pk)):
        assert "Quota per text" in form
        assert "Offer only texts that still need ratings" in form
        assert "have rated a text" in form
        assert "Quota per group" not in form
        assert "rated a group" not in form
    assert "New study of the speakers of texts</h1>" in read("add", query="?kind=guise_rating")
    overview = read("overview", study.pk)
    assert "Rated a first text" in overview
    assert "Accepted ratings by text" in overview
    assert "a first group" not in overview


def test_the_settings_of_a_study_of_groups_speak_of_groups(client: Client) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    page = client.get(reverse("admin:annotation_study_add")).text
    assert "Offer only groups that still need ratings" in page
