"""Norms: imported from CSV by command and page; a bad file stores nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.models import Norm
from evaluation.norms.norm_import import NormFileError, import_norms

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
    assert sizes == {"favourability": 84, "prestige": 860}
    assert "katz: 12 values" in capsys.readouterr().out
    call_command("import_norms", *sorted(map(str, folder.glob("*.csv"))))
    assert Norm.objects.count() == 7


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"adjective,percent,source\nlazy,many,A\n", "Enter a number"),
        (b"adjective,percent,source\nlazy,175,A\n", "from 0 to 100"),
        (b"adjective,percent,source\nlazy,1,A\nlazy,2,A\n", "comes twice"),
        (b"adjective,percent,source\n,1,A\n", "1 to 200 characters"),
        (b"adjective,percent,source\nlazy,1,\n", "Name the study"),
        (b"adjective,year,percent,source\nlazy,old,1,A\n", "a year such as"),
        (b"adjective,percent\nlazy,1\n", "names no source"),
        (b"word,percent,source\nlazy,1,A\n", "no column says of what"),
        (b"adjective,share,source\nlazy,1,A\n", "Head the column"),
        (b"adjective,percent,source\n", "holds no row"),
    ],
)
def test_a_bad_file_says_what_to_enter_and_stores_nothing(content: bytes, message: str) -> None:
    with pytest.raises(NormFileError) as caught:
        import_norms(content=content, file_name="norms.csv")
    said = " ".join([str(caught.value), *map(str, caught.value.problems)])
    assert message in said
    assert not Norm.objects.exists()


def test_the_command_names_the_file_and_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(b"adjective,percent,source\nlazy,many,A\n")
    with pytest.raises(CommandError, match=r"bad\.csv: Nothing was imported: 1 rows"):
        call_command("import_norms", str(file))
    assert "Line 2" in capsys.readouterr().err


def test_norms_are_imported_and_shown_on_their_page() -> None:
    user = User.objects.create_user("alice", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="evaluation"))
    client = Client()
    client.force_login(user)
    add = reverse("admin:evaluation_norm_add")
    bad = client.post(add, {"file": SimpleUploadedFile("n.csv", b"a,b\n1,2\n")})
    assert "Head the column of its values" in bad.text
    page = client.post(add, {"file": SimpleUploadedFile("n.csv", GOOD)}, follow=True)
    assert "The norms of the file are stored." in page.text
    old, new = Norm.objects.order_by("year")
    assert old.history.get().history_user == user
    change = client.get(reverse("admin:evaluation_norm_change", args=[new.pk]))
    assert "loud 35.6" in change.text
