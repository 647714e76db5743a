"""Ratings of one's own as a table, from the command line; columns of any name."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, Study
from probing.models import Score

pytestmark = pytest.mark.django_db

ABOUT = {"title": "Our ratings", "citation": "Our lab, 2026."}
LONG = (
    "person,group,trait,rating\n"
    "p1,women,cold – warm,80\n"
    "p1,man,cold-warm,40\n"
    "p2,woman,poor - wealthy,10.5\n"
)
WIDE = "Participant;group;cold – warm;poor-wealthy;age\np1;women;7;1;30\np2;man;4;;31\n"


def bring(folder: Path, content: str | bytes, name: str = "r.csv", **options: Any) -> str:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    out, err = io.StringIO(), io.StringIO()
    call_command("import_results", "ratings", str(file), stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def stored() -> set[tuple[str, str, float]]:
    found = Rating.objects.values_list("assignment__group__slug", "scale__slug", "value")
    return {(group, scale, float(value)) for group, scale, value in found}


def test_a_row_for_each_rating_becomes_a_closed_study(tmp_path: Path) -> None:
    said = bring(tmp_path, LONG, **ABOUT)
    assert "2 people, 2 groups, 2 trait scales, 3 ratings imported" in said
    assert stored() == {
        ("woman", "cold-warm", 80.0),
        ("man", "cold-warm", 40.0),
        ("woman", "poor-wealthy", 10.5),
    }
    study = Study.objects.get()
    assert (study.title, study.origin, study.status) == ("Our ratings", "imported", "closed")
    assert "Our lab, 2026." in study.source


def test_a_column_for_each_trait_pair_on_a_scale_of_seven(tmp_path: Path) -> None:
    """100 · (7 − 1)/6 = 100; 100 · (4 − 1)/6 = 50."""
    said = bring(tmp_path, WIDE, scale="1-7", **ABOUT)
    assert "Nothing is read from: age." in said
    assert stored() == {
        ("woman", "cold-warm", 100.0),
        ("woman", "poor-wealthy", 0.0),
        ("man", "cold-warm", 50.0),
    }


def test_columns_of_other_names_are_named_with_map(tmp_path: Path) -> None:
    headed = LONG.replace("person,group,trait,rating", "who,Q1,Q2,Q7")
    with pytest.raises(CommandError) as refused:
        bring(tmp_path, headed, **ABOUT)
    message = str(refused.value)
    for part in ("There is no column “person”", "“who”, “Q1”, “Q2”, “Q7”", "--map", "Needed: "):
        assert part in message
    bring(tmp_path, headed, map=["person=who", "group=Q1", "trait=Q2", "rating=Q7"], **ABOUT)
    assert len(stored()) == 3


def test_a_file_without_a_heading_has_numbered_columns(tmp_path: Path) -> None:
    bare = LONG.partition("\n")[2]
    bring(tmp_path, bare, map=["person=1", "group=2", "trait=3", "rating=4"], **ABOUT)
    assert len(stored()) == 3


def workbook() -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    assert book.active is not None
    for line in LONG.splitlines():
        book.active.append(line.split(","))
    book.save(file)
    return file.getvalue()


#: Decimal commas, and other names for columns, poles, and a minus that is no hyphen.
STRANGE = """Participant ID;Target group;Item;Response
p1;women;Cold—Warm;80
p2;man;cold / warm;40,0
p2;Woman;poor vs. wealthy;10,5
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", LONG.encode("utf-16")),
        ("r.csv", LONG.encode("windows-1252")),
        ("r.tsv", LONG.replace(",", "\t").encode()),
        ("r.xlsx", workbook()),
        ("r.csv", STRANGE.encode()),
        (
            "r.json",
            json.dumps(
                [
                    dict(zip(("person", "group", "trait", "rating"), line.split(","), strict=True))
                    for line in LONG.splitlines()[1:]
                ]
            ).encode(),
        ),
    ],
)
def test_every_common_kind_of_file_is_read(tmp_path: Path, name: str, content: bytes) -> None:
    bring(tmp_path, content, name, **ABOUT)
    assert len(stored()) == 3


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("p3,women,cold-warm,101", "“rating” is “101”, expected 0 to 100"),
        ("p3,women,cold-warm,", "“rating” is empty"),
        ("p3,women,cold-warm,much", "“rating” is “much”, expected a number"),
        ("p3,Martians,cold-warm,5", "import_library --kind groups"),
        ("p3,women,warm – cold,5", "poles exchanged"),
        ("p3,women,slow – fast,5", "import_library --kind trait-pairs"),
        ("p1,women,cold-warm,5", "the same rating stands on line 2"),
        (",women,cold-warm,5", "“person” is empty"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_stored(tmp_path: Path, row: str, fault: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text(f"{LONG}{row}\n")
    err = io.StringIO()
    with pytest.raises(CommandError, match="1 place is bad"):
        call_command("import_results", "ratings", str(file), stderr=err, **ABOUT)
    assert f"Line 5: {fault}" in err.getvalue() or fault in err.getvalue()
    assert not Study.objects.exists()


def test_a_table_needs_a_title_and_a_source_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="title: Enter it: a table does not say it"):
        bring(tmp_path, LONG)
    with pytest.raises(CommandError, match="scale: It is “7-1”"):
        bring(tmp_path, LONG, scale="7-1", **ABOUT)


def test_scores_take_map_too_and_its_mistakes_are_named(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("group,trait,value,Q7\nwomen,cold-warm,9,1.5\n")
    made = {"model": "gpt-4", "measure": "set", "obtained": "Their table."}

    def scores(*columns: str) -> None:
        given = {"map": list(columns), "stdout": io.StringIO(), "stderr": io.StringIO()}
        call_command("import_results", "scores", str(file), **made, **given)

    with pytest.raises(CommandError, match="“ratng” is not known, expected group, trait, value"):
        scores("ratng=Q7")
    with pytest.raises(CommandError, match=r"There is no column “Q8”\. The columns are “group”"):
        scores("value=Q8")
    with pytest.raises(CommandError, match="names no column, expected FIELD=COLUMN"):
        scores("value")
    scores("value=Q7")
    assert {score.value for score in Score.objects.all()} == {1.5}
