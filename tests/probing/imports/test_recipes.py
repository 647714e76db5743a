"""Columns that were chosen once, kept under a name, and used again by command, HTTP, and page."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import ImportRecipe, Rating
from tests.annotation.imports.test_rating_tables import ABOUT, stored
from tests.probing.imports.test_any_file import ADDRESS, api, boss, carried, client, look

__all__ = ["api", "boss", "client"]  # fixtures
pytestmark = pytest.mark.django_db

OWN = "who,about,Q1,Q2\np1,women,80,1\np2,men,20,2\n"
AGAIN = OWN.replace("80", "70")
SAID = {"person": "who", "group": "about", "cold – warm": "Q1"}


def test_a_mapping_is_saved_and_used_again_by_command(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(OWN)
    said = [f"{what}={column}" for what, column in SAID.items()]
    call_command("import_results", "ratings", file, map=said, save_recipe="Ours", **ABOUT)
    file.write_text(AGAIN)
    call_command("import_results", "ratings", file, recipe="Ours", **ABOUT)
    assert ("woman", "cold-warm", 70.0) in stored()
    with pytest.raises(CommandError, match=r"no recipe “Theirs” .* there are “Ours”"):
        call_command("import_results", "ratings", file, recipe="Theirs", **ABOUT)
    with pytest.raises(CommandError, match="nothing to save"):
        call_command("import_results", "ratings", file, save_recipe="Empty", **ABOUT)
    with pytest.raises(CommandError, match="no recipe “Ours”"):
        call_command("import_results", "scores", file, recipe="Ours", obtained="x")


def test_a_refused_file_and_a_dry_run_save_no_recipe(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(OWN.replace("80", "800"))
    said = [f"{what}={column}" for what, column in SAID.items()]
    how = {"map": said, "save_recipe": "Ours", **ABOUT}
    with pytest.raises(CommandError):
        call_command("import_results", "ratings", file, **how)
    assert not ImportRecipe.objects.exists()
    file.write_text(OWN)
    call_command("import_results", "ratings", file, dry_run=True, **how)
    assert not ImportRecipe.objects.exists()


def test_what_is_said_beside_a_recipe_comes_first(tmp_path: Path) -> None:
    ImportRecipe.objects.create(kind="ratings", name="Ours", columns=SAID)
    file = tmp_path / "a.csv"
    file.write_text(OWN)
    said = ["poor – wealthy=Q1"]
    call_command("import_results", "ratings", file, recipe="Ours", map=said, **ABOUT)
    assert {trait for _, trait, _ in stored()} == {"poor-wealthy"}


def test_a_mapping_is_saved_and_used_again_over_http(api: APIClient) -> None:
    asked = {"kind": "ratings", "file_name": "a.csv", "options": ABOUT, "dry_run": True}
    said = {"content": OWN, "columns": SAID, "save_recipe": "Ours"}
    assert api.post("/api/v1/imports/", asked | said, format="json").status_code == 200
    assert not ImportRecipe.objects.exists()  # a dry run stores nothing
    done = {**asked, **said, "dry_run": False}
    assert api.post("/api/v1/imports/", done, format="json").status_code == 201
    kinds = {one["name"]: one["recipes"] for one in api.get("/api/v1/imports/").json()}
    assert (kinds["ratings"], kinds["scores"]) == (["Ours"], [])
    answer = api.post(
        "/api/v1/imports/", asked | {"content": AGAIN, "recipe": "Ours"}, format="json"
    )
    assert answer.json()["counts"]["ratings"] == 2
    answer = api.post("/api/v1/imports/", asked | {"content": AGAIN, "recipe": "No"}, format="json")
    assert answer.status_code == 400
    assert "no recipe “No”" in answer.text


def test_a_mapping_is_saved_and_used_again_on_the_page(client: Client, boss: User) -> None:
    address = f"{reverse(ADDRESS)}?kind=ratings"
    page = look(client, "ratings", "a.csv", OWN.encode(), **ABOUT)
    chosen = {f"column-{place}": what for place, what in enumerate((*SAID, ""))}
    client.post(address, {**carried(page), **chosen, **ABOUT, "save_recipe": "Ours", "import": ""})
    assert ImportRecipe.objects.get().columns == SAID
    assert Rating.objects.count() == 2
    page = look(client, "ratings", "b.csv", AGAIN.encode(), **ABOUT)
    assert '<option value="Ours"' in page.text
    page = client.post(address, {**carried(page), **ABOUT, "recipe": "Ours", "preview": ""})
    assert '<option value="cold – warm" selected>' in page.text
    assert "2 ratings" in page.text
    shown = {"column-0": "person", "column-1": "group", "column-2": "cold – warm", "column-3": ""}
    about = {**ABOUT, "recipe": "Ours", "recipe_seen": "Ours"}
    client.post(address, {**carried(page), **shown, **about, "import": ""})
    assert ("woman", "cold-warm", 70.0) in stored()
