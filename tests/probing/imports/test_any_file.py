"""Files as strangers have them: of other kinds than they say, of several sheets, of Qualtrics."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    BadImportError,
    ImportKind,
    ImportRequest,
    import_file,
    import_kinds,
    plan_import,
)
from annotation.models import Rating
from tests.annotation.imports.test_rating_tables import ABOUT, LONG, stored
from tests.tokens import header_for

pytestmark = pytest.mark.django_db

ADDRESS = "admin:probing_run_import"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8
#: As Qualtrics exports three scales of one matrix, asked about the group of an embedded field.
QUALTRICS = (
    "ResponseId,group,Q7_1,Q7_2,Q7_3\n"
    'Response ID,group,How do you see them? - cold - warm,"How do you see them? - poor - wealthy",'
    "How do you see them? - left to right\n"
    '"{""ImportId"":""_recordId""}","{""ImportId"":""group""}","{""ImportId"":""QID7_1""}",'
    '"{""ImportId"":""QID7_2""}","{""ImportId"":""QID7_3""}"\n'
    "R_1,women,7,1,4\n"
    "R_2,man,4,,4\n"
)


@pytest.fixture
def boss() -> User:
    return User.objects.create_superuser("boss")


@pytest.fixture
def client(boss: User) -> Client:
    client = Client()
    client.force_login(boss)
    return client


@pytest.fixture
def api(boss: User) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header_for(boss))
    return client


def look(client: Client, kind: str, name: str, content: bytes, **fields: Any) -> Any:
    address = f"{reverse(ADDRESS)}?kind={kind}"
    return client.post(address, {"file": SimpleUploadedFile(name, content), **fields})


def carried(page: Any) -> dict[str, str]:
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def needed(kind: ImportKind) -> dict[str, str]:
    return {option.name: "x" for option in kind.options if option.choices is None}


@pytest.mark.parametrize("kind", sorted(import_kinds()))
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("image.csv", PNG),
        ("image.tsv", PNG),
        ("damaged.csv", b"gr\xf6\xffup\xe9\x81,\xc3\xa9\na,b\n"),
        ("halves.jsonl", b'{"\\ud800": 1}\n'),
    ],
)
def test_what_is_no_text_table_says_so(kind: str, name: str, content: bytes) -> None:
    with pytest.raises(TableFileError, match="not a text table"):
        import_kinds()[kind].rows(ImportRequest(content, name))


@pytest.mark.parametrize("kind", sorted(import_kinds()))
def test_the_page_shows_no_error_of_its_own_for_an_image(client: Client, kind: str) -> None:
    page = look(client, kind, "image.csv", PNG, **needed(import_kinds()[kind]))
    assert page.status_code == 422
    assert "The file is not a text table. It begins like an image." in page.text


def test_the_command_and_http_say_what_is_no_text_table(tmp_path: Path, api: APIClient) -> None:
    file = tmp_path / "image.csv"
    file.write_bytes(PNG)
    with pytest.raises(CommandError, match="not a text table"):
        call_command("import_results", "ratings", str(file), **ABOUT)
    asked = {
        "kind": "ratings",
        "file_name": "a.csv",
        "options": ABOUT,
        "content": "\x01\x02\x03\x04" * 9,
    }
    assert "not a text table" in api.post("/api/v1/imports/", asked, format="json").text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_byte_order_mark_is_read(encoding: str) -> None:
    request = ImportRequest(LONG.encode(encoding), "a.csv", ABOUT)
    assert plan_import(import_kinds()["ratings"], request).counts["ratings"] == 3


def test_questions_of_qualtrics_name_the_scales(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text(QUALTRICS)
    out = io.StringIO()
    call_command("import_results", "ratings", str(file), scale="1-7", stdout=out, **ABOUT)
    assert stored() == {
        ("woman", "cold-warm", 100.0),
        ("woman", "poor-wealthy", 0.0),
        ("man", "cold-warm", 50.0),
    }


def test_a_wide_column_is_mapped_to_a_scale_by_command_and_http(
    tmp_path: Path, api: APIClient
) -> None:
    bare = QUALTRICS.splitlines()
    content = "\n".join([bare[0], *bare[3:]])
    file = tmp_path / "q.csv"
    file.write_text(content)
    said = ["cold – warm=Q7_1", "poor-wealthy=Q7_2"]
    call_command("import_results", "ratings", str(file), scale="1-7", map=said, **ABOUT)
    assert len(stored()) == 3
    asked = {
        "kind": "ratings",
        "file_name": "q.csv",
        "content": content,
        "options": {**ABOUT, "scale": "1-7"},
        "columns": {"cold – warm": "Q7_1"},
        "dry_run": True,
    }
    assert api.post("/api/v1/imports/", asked, format="json").json()["counts"]["ratings"] == 2
    asked["columns"] = {"left – right": "Q7_1"}
    refused = api.post("/api/v1/imports/", asked, format="json")
    assert "“left – right” is not known, expected person, group" in refused.text


def test_the_page_offers_scales_with_questions(client: Client) -> None:
    page = look(client, "ratings", "q.csv", QUALTRICS.encode(), scale="1-7", **ABOUT)
    assert "3 ratings" in page.text
    assert "How do you see them? - left to right" in page.text
    chosen = ["person", "group", "poor – wealthy", "", "cold – warm"]
    posted = {f"column-{place}": name for place, name in enumerate(chosen)}
    posted |= {"scale": "1-7", **ABOUT}
    address = f"{reverse(ADDRESS)}?kind=ratings"
    page = client.post(address, {**carried(page), **posted, "preview": ""})
    assert '<option value="poor – wealthy" selected>' in page.text
    client.post(address, {**carried(page), **posted, "import": ""})
    assert ("woman", "cold-warm", 50.0) in stored()
    assert Rating.objects.count() == 4


def test_two_columns_of_one_scale_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text("person,group,cold – warm,cold-warm\np1,women,1,2\n")
    with pytest.raises(CommandError, match="both hold “cold – warm”"):
        call_command("import_results", "ratings", str(file), **ABOUT)


def workbook() -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    assert book.active is not None
    book.active.title = "Read me"
    book.active.append(["Our data", "of 2026"])
    for title, end in (("Data", 80), ("Old data", 10)):
        sheet = book.create_sheet(title)
        sheet.append(["person", "group", "trait", "rating"])
        sheet.append(["p1", "women", "cold-warm", end])
    book.save(file)
    return file.getvalue()


def test_the_sheet_that_fits_is_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    file = tmp_path / "book.xlsx"
    file.write_bytes(workbook())
    err = io.StringIO()
    call_command("import_results", "ratings", str(file), stderr=err, **ABOUT)
    assert "Of the sheets “Read me”, “Data”, “Old data”, “Data” was read." in err.getvalue()
    assert stored() == {("woman", "cold-warm", 80.0)}
    call_command("import_results", "ratings", str(file), sheet="Old data", **ABOUT)
    assert ("woman", "cold-warm", 10.0) in stored()
    with pytest.raises(CommandError, match="There is no sheet “New”"):
        call_command("import_results", "ratings", str(file), sheet="New", **ABOUT)


def test_the_page_lists_the_sheets(client: Client) -> None:
    page = look(client, "ratings", "book.xlsx", workbook(), **ABOUT)
    assert '<option value="Data" selected>Data</option>' in page.text
    again = {**carried(page), "sheet": "Old data", "column-0": "person", **ABOUT}
    page = client.post(f"{reverse(ADDRESS)}?kind=ratings", {**again, "preview": ""})
    assert '<option value="Old data" selected>Old data</option>' in page.text
    assert "1 rating<" in page.text


def test_the_page_keeps_a_file_if_only_a_field_is_missing(client: Client) -> None:
    page = look(client, "norms", "n.csv", b"label,percent\nlazy,75\n")
    assert page.status_code == 422
    page = look(client, "judgments", "j.csv", b"pair,variety\np0,WME\n")
    assert page.status_code == 422
    assert carried(page)["file_name"] == "j.csv"
    assert carried(page)["content"]
    assert 'name="column-1"' in page.text


SCORES = "group,trait,value\nwoman,cold-warm,1.5\nman,cold-warm,2\n"
MADE = {"model": "gpt-4", "revision": "2023", "measure": "set", "obtained": "Their appendix."}


def written_otherwise(content: str) -> bytes:
    """The same rows in another order, with other line ends and separators."""
    heading, *rows = content.splitlines()
    return "\r\n".join([heading, *reversed(rows), ""]).replace(",", ";").encode("utf-16")


@pytest.mark.parametrize(
    ("kind", "content", "about"),
    [
        ("ratings", LONG, ABOUT),
        ("scores", SCORES, MADE),
    ],
)
def test_a_preview_says_that_the_same_rows_were_imported_before(
    tmp_path: Path, client: Client, api: APIClient, kind: str, content: str, about: dict[str, str]
) -> None:
    import_file(import_kinds()[kind], ImportRequest(content.encode(), "a.csv", about))
    again = written_otherwise(content)
    page = look(client, kind, "b.csv", again, **about)
    assert "The same rows were imported before" in page.text
    assert 'name="import"' not in page.text
    file = tmp_path / "b.csv"
    file.write_bytes(again)
    with pytest.raises(CommandError, match="imported before"):
        call_command("import_results", kind, str(file), dry_run=True, **about)
    asked = {"kind": kind, "file_name": "b.csv", "content": content, "options": about}
    tried = api.post("/api/v1/imports/", {**asked, "dry_run": True}, format="json")
    assert (tried.status_code, "imported before" in tried.text) == (400, True)


def test_a_preview_says_which_norms_are_replaced(client: Client) -> None:
    file = b"study_key,label,percent,source\nold,lazy,75,A (1933)\nnew,loud,35,B\n"
    import_file(import_kinds()["norms"], ImportRequest(file, "n.csv"))
    assert "is here already, with the same" in look(client, "norms", "n.csv", file).text
    page = look(client, "norms", "n.csv", file.replace(b"lazy,75", b"lazy,74"))
    assert "“old” is here already, and is replaced" in html.unescape(page.text)


MIXED = "person,Group,trait,rating\np1,women,cold-warm,80\np2,Martians,cold-warm,=1+1\np3,man\n"


def read_bad_rows(content: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content)))


def test_bad_rows_come_back_with_their_reasons_and_are_imported_when_mended(
    tmp_path: Path, client: Client, api: APIClient
) -> None:
    """Every fault of a row is named, in the file's own words for its columns."""
    page = look(client, "ratings", "a.csv", MIXED.encode(), **ABOUT)
    address = f"{reverse(ADDRESS)}?kind=ratings"
    kept = {**carried(page), **ABOUT, "bad-rows": ""}
    sent = b"".join(client.post(address, kept).streaming_content).decode("utf-8-sig")
    heading, martian, short = read_bad_rows(sent)
    assert heading == ["import_line", "import_problem", "person", "Group", "trait", "rating"]
    assert "“Group” is “Martians”" in martian[1]
    assert "“rating” is “=1+1”" in martian[1]
    assert (martian[-1], short[:2]) == (
        "'=1+1",
        ["4", "has 2 cells, expected 4 as in the heading."],
    )
    file, bad = tmp_path / "a.csv", tmp_path / "bad.csv"
    file.write_text(MIXED)
    call_command("import_results", "ratings", str(file), bad_rows=bad, skip_bad_rows=True, **ABOUT)
    assert bad.read_text(encoding="utf-8-sig").splitlines() == sent.splitlines()
    mended = sent.replace("Martians", "men").replace("'=1+1", "20").partition('4,"has')[0]
    asked = {"kind": "ratings", "file_name": "a.csv", "content": mended, "options": ABOUT}
    done = api.post("/api/v1/imports/", asked, format="json")
    assert (done.status_code, done.json().get("warnings")) == (201, []), done.text
    tried = api.post(
        "/api/v1/imports/",
        {**asked, "content": MIXED.replace("p1", "p9"), "dry_run": True},
        format="json",
    )
    assert read_bad_rows(tried.json()["bad_rows"])[1] == martian


def test_http_takes_a_workbook_as_it_is(api: APIClient) -> None:
    asked = {
        "kind": "ratings",
        "file": SimpleUploadedFile("book.xlsx", workbook()),
        "options": json.dumps(ABOUT),
        "sheet": "Old data",
    }
    done = api.post("/api/v1/imports/", asked, format="multipart")
    assert done.status_code == 201, done.text
    assert stored() == {("woman", "cold-warm", 10.0)}
    wrong = api.post("/api/v1/imports/", {"kind": "ratings", "options": "{"}, format="multipart")
    assert "not JSON" in wrong.text
    assert "file_name" in api.post("/api/v1/imports/", {"kind": "ratings"}, format="json").text


def test_other_true_labels_and_an_empty_group_are_told() -> None:
    lines = (
        "sent,group,text,producer,predicted,run\n"
        "0,a,x,m,0,1\n0,b,y,m,0,1\n{},a,x,m,0,2\n0,b,y,m,0,2\n"
    )
    kind, options = import_kinds()["predictions"], {"data_set": "x"}
    with pytest.raises(TableFileError, match="has other true labels than run “1” of “m”"):
        plan_import(kind, ImportRequest(lines.format(1).encode(), "a.csv", options))
    empty = lines.format(0).replace("0,a,x,m,0,1", "0,,x,m,0,1")
    with pytest.raises(BadImportError) as caught:
        plan_import(kind, ImportRequest(empty.encode(), "a.csv", options))
    assert str(caught.value.plan.problems[0]) == "Line 2: “group” is empty, expected a text."


def test_a_workbook_without_a_sheet_is_refused() -> None:
    """As damage leaves it: the list of its sheets is empty."""
    sink = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook())) as whole,
        zipfile.ZipFile(sink, "w") as damaged,
    ):
        for name in whole.namelist():
            part = whole.read(name)
            if name == "xl/workbook.xml":
                part = re.sub(rb"<sheets>.*</sheets>", b"<sheets></sheets>", part, flags=re.DOTALL)
            damaged.writestr(name, part)
    with pytest.raises(TableFileError, match="workbook without a sheet"):
        import_kinds()["ratings"].sniff(ImportRequest(sink.getvalue(), "a.xlsx"))
