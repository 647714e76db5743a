"""Norms: imported from tables by command, HTTP, and page; a bad file stores nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import BadImportError, ImportRequest, import_file, import_kinds
from evaluation.models import Norm
from tests.tokens import header_for

pytestmark = pytest.mark.django_db

GOOD = b"study_key,year,adjective,percent,source\nold,1933,lazy,75,A (1933)\nnew,2012,loud,35.6,B\n"


@pytest.mark.shared
def test_the_published_norms_are_imported(shared_dir: Path, capsys: pytest.CaptureFixture) -> None:
    """Numbers of rows as in the files: 12 of 1933, 84 adjectives, 860 titles."""
    folder = shared_dir / "data" / "norms"
    call_command("import_norms", *sorted(map(str, folder.glob("*.csv"))))
    katz = Norm.objects.get(slug="katz")
    assert (katz.kind, katz.year, len(katz.values)) == ("percent", 1933, 12)
    assert katz.values["lazy"] == 75
    assert "Katz and Braly 1933" in katz.citation
    assert katz.title == "Katz and Braly 1933"
    assert "two sub-sample percentages" in Norm.objects.get(slug="madon").note
    sizes = {norm.kind: len(norm.values) for norm in Norm.objects.exclude(kind="percent")}
    assert sizes == {"favorability": 84, "prestige": 860}
    assert "5 norms, 153 values imported" in capsys.readouterr().out
    call_command("import_norms", *sorted(map(str, folder.glob("*.csv"))))
    assert Norm.objects.count() == 7


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"adjective,percent,source\nlazy,many,A\n", "expected a number"),
        (b"adjective,percent,source\nlazy,175,A\n", "from 0 to 100"),
        (b"adjective,percent,source\nlazy,1,A\nlazy,2,A\n", "comes twice"),
        (b"adjective,percent,source\n,1,A\n", "“adjective” is empty"),
        (b"adjective,percent,source\nlazy,1,\n", "“source” is empty, expected a text"),
        (b"adjective,year,percent,source\nlazy,old,1,A\n", "“year” is “old”, expected a number"),
        (b"adjective,percent\nlazy,1\n", "no column “source”"),
        (b"word,percent,source\nlazy,1,A\n", "no column “label”"),
        (b"adjective,share,source\nlazy,1,A\n", "Head the column"),
        (b"adjective,percent,source\n", "holds no row"),
    ],
)
def test_a_bad_file_says_what_to_enter_and_stores_nothing(content: bytes, message: str) -> None:
    with pytest.raises((BadImportError, TableFileError)) as caught:
        import_file(import_kinds()["norms"], ImportRequest(content, "norms.csv"))
    plan = getattr(caught.value, "plan", None)
    said = " ".join([str(caught.value), *map(str, plan.problems if plan else ())])
    assert message in said
    assert not Norm.objects.exists()


def test_the_command_names_the_file_and_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(b"adjective,percent,source\nlazy,many,A\n")
    with pytest.raises(CommandError, match=r"Nothing was imported: 1 place"):
        call_command("import_norms", str(file))
    assert "Line 2" in capsys.readouterr().err


def test_columns_of_other_names_and_encodings_are_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(
        "Wort;Anteil;Quelle\nträge;1,234;A (1933)\nlaut;20;A (1933)\n".encode("cp1252")
    )
    named = ("label=Wort", "percent=Anteil", "source=Quelle")
    with pytest.raises(CommandError, match="Nothing was imported: 1 place"):
        call_command("import_norms", str(file), map=named)
    call_command("import_norms", str(file), map=named, skip_bad_rows=True)
    file.write_bytes(file.read_bytes().replace(b"1,234", b"12,5"))
    call_command("import_norms", str(file), map=named)
    norm = Norm.objects.get()
    assert (norm.slug, norm.values) == ("mine", {"träge": 12.5, "laut": 20.0})
    assert norm.history.count() == 2


def test_norms_come_over_http_for_those_with_the_right() -> None:
    user = User.objects.create_user("alice", is_staff=True)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header_for(user))
    asked = {"kind": "norms", "file_name": "n.csv", "content": "word,Q1,source\nlazy,75,A\n"}
    asked["columns"] = {"label": "word", "percent": "Q1"}
    assert client.post("/api/v1/imports/", asked, format="json").status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="add_norm"))
    done = client.post("/api/v1/imports/", asked, format="json")
    assert (done.status_code, done.json()["counts"]) == (201, {"norms": 1, "values": 1})
    assert Norm.objects.get(slug=done.json()["public_id"]).values == {"lazy": 75}


def test_norms_are_imported_and_shown_on_their_page() -> None:
    user = User.objects.create_user("alice", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="evaluation"))
    client = Client()
    client.force_login(user)
    add = reverse("admin:evaluation_norm_add")
    assert client.get(add).url == f"{reverse('admin:probing_run_import')}?kind=norms"
    page = client.get(add, follow=True)
    bad = client.post(
        client.get(add).url, {"file": SimpleUploadedFile("n.csv", b"label,source\n1,2\n")}
    )
    assert "Head the column of its values" in bad.text
    address = client.get(add).url
    page = client.post(address, {"file": SimpleUploadedFile("n.csv", GOOD)})
    assert "2 values" in page.text
    carried = re.findall(
        r'<input type="hidden" name="(content|file_name)" value="([^"]*)"', page.text
    )
    page = client.post(address, {**dict(carried), "import": ""}, follow=True)
    assert "Imported: Norms old, new, 2 norms, 2 values." in page.text
    old, new = Norm.objects.order_by("year")
    assert old.history.get().history_user == user
    change = client.get(reverse("admin:evaluation_norm_change", args=[new.pk]))
    assert "loud 35.6" in change.text
