"""The list of all models is made for the pages that show it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin import AdminSite, site
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from probing.measures.registry import MEASURES
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


def test_a_window_with_a_list_is_called_as_the_list(admin_client: Client):
    for model, name in (("annotation_study", "Studies"), ("probing_run", "Runs")):
        page = admin_client.get(reverse(f"admin:{model}_changelist")).text
        title = page.partition("<title>")[2].partition("</title>")[0]
        assert title.split() == [name, "|", "Stereoscope"]


@pytest.mark.django_db
def test_a_log_in_that_fails_says_so_once_and_in_our_words(client: Client):
    sent = {"username": "nobody", "password": "wrong"}
    page = client.post(reverse("admin:login"), sent).text
    assert page.count("do not match a researcher’s account") == 1
    assert "Please" not in page


@pytest.mark.django_db
def test_a_form_with_errors_says_what_was_stored(admin_client: Client):
    page = admin_client.post(reverse("admin:probing_languagemodel_add"), {"location": ""}).text
    assert "Some fields need another value." in page
    assert "Nothing was stored." in page
    assert "Please correct" not in page


def test_researchers_find_their_way_back_from_where_nothing_is(admin_client: Client):
    missing = reverse("admin:annotation_study_overview", args=[999_999])
    lost = admin_client.get(missing)
    assert lost.status_code == 404
    assert f'href="{reverse("admin:index")}"' in lost.text
    assert "take part in a study" not in lost.text
    # A stranger is told of neither.
    stranger = Client().get("/nothing/here/")
    assert reverse("admin:index") not in stranger.text
    assert "take part in a study" in stranger.text


def test_annotators_find_their_way_back_to_their_studies(db):
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    lost = client.get("/annotate/nothing00000/judge/")
    assert lost.status_code == 404
    assert f'href="{reverse("annotators:home")}"' in lost.text
    assert "take part in a study" not in lost.text


def test_researchers_without_a_right_are_told_whom_to_ask(db):
    client = Client()
    client.force_login(User.objects.create_user("bob", is_staff=True))
    refused = client.get(reverse("admin:probing_languagemodel_add"))
    assert refused.status_code == 403
    assert "Ask the owner of the study, or an administrator." in refused.text
    assert f'href="{reverse("admin:index")}"' in refused.text
    assert "take part in a study" not in refused.text


def test_a_choice_says_what_is_to_be_chosen(admin_client: Client):
    run = admin_client.get(reverse("admin:probing_run_add") + "?measure=set").text
    assert "Choose a model" in run
    report = admin_client.get(reverse("admin:evaluation_report_add") + "?kind=alignment").text
    assert "Choose a study" in report
    assert "---------" not in run + report


def test_no_form_begins_with_a_row_of_hyphens(admin_client: Client):
    runs = reverse("admin:probing_run_add")
    addresses = [
        f"{reverse('admin:annotation_study_add')}?kind=guise_rating",
        reverse("admin:annotation_writingstudy_add"),
        reverse("admin:annotation_judgmentstudy_add"),
        reverse("admin:annotation_study_begin", args=["copy"]),
        *(f"{runs}?measure={name}" for name in MEASURES),
    ]
    pages = {address: admin_client.get(address) for address in addresses}
    assert {page.status_code for page in pages.values()} == {200}
    assert [address for address, page in pages.items() if "---------" in page.text] == []
