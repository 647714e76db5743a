"""The list of all models is made for the pages that show it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin import AdminSite, site
from django.test import Client
from django.urls import reverse

from stereoscope.admin_site import ResearcherSite


@pytest.mark.parametrize("page", ["admin:index", "admin:annotation_study_changelist"])
def test_a_page_does_not_make_the_list_that_it_does_not_show(
    page: str, admin_client: Client, monkeypatch: pytest.MonkeyPatch
):
    made: list[Any] = []
    plain = AdminSite._build_app_dict

    def count(self: AdminSite, *given: Any) -> Any:
        made.append(given)
        return plain(self, *given)

    monkeypatch.setattr(AdminSite, "_build_app_dict", count)
    assert isinstance(site, ResearcherSite)
    assert admin_client.get(reverse(page)).status_code == 200
    assert made == []


def test_the_page_of_an_app_shows_its_models(admin_client: Client):
    shown = admin_client.get(reverse("admin:app_list", args=["annotation"]))
    assert shown.status_code == 200
    assert reverse("admin:annotation_study_changelist") in shown.text


def test_there_is_no_page_of_an_app_without_models(admin_client: Client):
    there = reverse("admin:app_list", args=["annotation"])
    assert admin_client.get(there.replace("annotation", "sessions")).status_code == 404
