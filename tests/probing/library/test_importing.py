"""Templates and word lists from files, and the commands of all four kinds."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.library.library_export import stream_example, stream_library
from annotation.library.library_kind import Action
from annotation.models import SocialGroup
from probing.library.kinds import KINDS
from probing.library.template_kind import TemplateKind
from probing.library.word_list_kind import WordListKind
from probing.models import Template, TemplateSet, WordList
from tests.annotation.library.files import lines, plan, read, store, told

pytestmark = pytest.mark.django_db

TEMPLATES, WORDS = TemplateKind(), WordListKind()


def bring(kind, *rows: str, **options):
    return store(kind, lines(*rows), **options)


def test_templates_are_added_to_sets_and_changed_with_history():
    bring(
        TEMPLATES,
        "slug,text,sets",
        "few-groups,Few {plural} are {trait}.,mine; cao-2022-table-4",
        "that-group-is-trait,That {singular} was {trait}.,mine",
    )
    few = Template.objects.get(slug="few-groups")
    assert {chosen.slug for chosen in few.sets.all()} == {"mine", "cao-2022-table-4"}
    that = Template.objects.get(slug="that-group-is-trait")
    assert that.text == "That {singular} was {trait}."
    assert [record.text for record in that.history.all()] == ["That {singular} was {trait}."]
    assert set(TemplateSet.objects.get(slug="mine").templates.all()) == {few, that}


def test_a_template_may_take_the_text_that_another_gives_up():
    bring(
        TEMPLATES,
        "slug,text",
        "all-groups-are-trait,All {plural} were {trait}.",
        "most-groups-are-trait,All {plural} are {trait}.",
    )
    assert Template.objects.get(slug="most-groups-are-trait").text == "All {plural} are {trait}."


def test_bad_templates_are_told_with_what_is_expected():
    found = plan(
        TEMPLATES,
        "slug,text",
        "a,",
        "b,All {groups} are {trait}.",
        "c,All {plural} and {plural} are {trait}.",
        "d,All people are {trait}.",
        "e,All {singular} are {trait}.",
        "f,All {plural} are {trait}.",
        "g,Few {plural} are {trait}.",
        "h,Few {plural} are {trait}.",
        "i,{plural} are {trait}.",
    )
    said = told(found)
    assert [(plan.slug, plan.action) for plan in found.entries if plan.slug == "g"] == [
        ("g", Action.ADDED)
    ]
    for part in (
        "Line 2: “text” is empty, expected one sentence with {singular}",
        "Line 3: “text” is “All {groups} are {trait}.”. The template 'All {groups} are {trait}.' "
        "holds '{groups}'.",
        "Line 4: “text” is “All {plural} and {plural} are {trait}.”. The template 'All {plural} "
        "and {plural} are {trait}.' has 2 group slots",
        "Line 5: “text” is “All people are {trait}.”. The template 'All people are {trait}.' has "
        "no group slot",
        "Line 6: “all” does not go with {singular}, expected {plural}. It reads “All nurse are "
        "___.”.",
        "Line 7: “All {plural} are {trait}.” is the text of “all-groups-are-trait” already",
        "Line 9: “Few {plural} are {trait}.” is the text of “g” already",
        "Line 10: {plural} begins the sentence, expected {Plural}, with a capital.",
    ):
        assert any(line.startswith(part) for line in said), (part, said)
    assert len(found.of(Action.REFUSED)) == 8


def test_word_lists_are_read_row_by_row():
    bring(
        WORDS,
        "slug,title,license,citation,word",
        "mild,Mild words,CC0,Made up,dang",
        "mild,,,,hot   mess",
        "other,Other words,MIT,,heck",
        "mild,Mild words,,,-ish",
    )
    mild = WordList.objects.get(slug="mild")
    assert (mild.words, mild.title, mild.license) == (
        ["dang", "hot mess", "-ish"],
        "Mild words",
        "CC0",
    )
    done = bring(WORDS, "slug,title", "mild,Mild words of all sorts")
    assert [entry.action for entry in done.entries] == [Action.CHANGED]
    mild.refresh_from_db()
    assert (mild.words, mild.title) == (["dang", "hot mess", "-ish"], "Mild words of all sorts")
    bring(WORDS, "slug,words", "mild,dang", "mild,blast")
    mild.refresh_from_db()
    assert (mild.words, mild.history.count()) == (["dang", "blast"], 3)


def test_a_cell_with_several_words_is_split():
    done = bring(WORDS, "slug,title,license,words", "mild,Mild words,CC0,dang; hot  mess ;heck;")
    assert done.problems == []
    assert WordList.objects.get(slug="mild").words == ["dang", "hot mess", "heck"]
    found = plan(WORDS, "slug,words", 'mild,"dang, heck"', "mild,dang|heck", "mild,oh; OH")
    assert told(found) == [
        "Line 2: “dang, heck” holds several words, or a comma: separate words by semicolons.",
        "Line 3: “dang|heck” holds several words, or a comma: separate words by semicolons.",
        "Line 4: “OH” comes twice, expected every word once.",
    ]


def test_bad_rows_of_word_lists_are_told_by_their_lines():
    found = plan(
        WORDS,
        "slug,title,license,citation,word",
        "mild,Mild words,CC0,,dang",
        "mild,Other title,,,DANG",
        "mild,,,,",
        "bare,,,,heck",
        "long,Long,CC0,," + "x" * 81,
    )
    assert told(found) == [
        "Line 3: “title” is “Other title”, but was “Mild words” before.",
        "Line 3: “DANG” comes twice, expected every word once.",
        "Line 4: “words” is empty, expected a word.",
        "Line 5: “title” is empty, expected what the list is called; needed on its first row.",
        "Line 5: “license” is empty, expected its license or what was agreed; needed on its first "
        "row.",
        f"Line 6: “{'x' * 59}…” has 81 characters, expected 80 at most.",
    ]


@pytest.mark.parametrize("kind", [TEMPLATES, WORDS])
def test_what_is_exported_is_imported_unchanged_and_makes_the_same_elsewhere(kind):
    WordList.objects.create(
        slug="odd", title="Odd, “so”", license="CC0", words=["=a", "'-b", "two words", 'a "c"']
    )
    WordList.objects.create(slug="cited", title="X", license="Y", citation="A\nB", words=["a"])
    content = b"".join(stream_library(kind))
    found = read(kind, content, "library.csv")
    assert {entry.action for entry in found.entries} == {Action.UNCHANGED}
    before = kind.stored()
    TemplateSet.objects.all().delete()
    kind.model._default_manager.all().delete()
    store(kind, content)
    assert kind.stored() == before


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_kind_has_an_example_that_can_be_imported(kind):
    content = b"".join(stream_example(kind))
    found = read(kind, content, "example.csv")
    assert {entry.action for entry in found.entries} == {Action.ADDED}
    assert not found.remarks
    assert all(len(row) == len(kind.columns) for row in kind.example)


def run(*arguments: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_commands_write_a_file_and_take_it_back(kind: str, tmp_path: Path):
    file = tmp_path / "example.csv"
    run("export_library", kind, "--example", "--output", file)
    n = len(read(KINDS[kind], file.read_bytes(), "x.csv").entries)
    out, _err = run("import_library", file, "--kind", kind, "--dry-run")
    assert f"{n} added, 0 changed, 0 unchanged" in out
    assert "Nothing was stored." in out
    before = KINDS[kind].model._default_manager.count()
    out, err = run("import_library", file, "--kind", kind)
    assert f"{n} added, 0 changed, 0 unchanged imported" in out
    assert "Left out" not in err
    assert KINDS[kind].model._default_manager.count() == before + n
    out, _err = run("export_library", kind)
    assert KINDS[kind].example[0][0] in out


def test_the_command_names_every_bad_row_and_stores_nothing(tmp_path: Path):
    file = tmp_path / "groups.csv"
    file.write_text("slug,singular,plural\nnurse,nurse,nurses\nasian-2,asian man,asian men\n")
    err = StringIO()
    with pytest.raises(CommandError, match=r"1 place is bad\. Mend them, or leave them out"):
        call_command("import_library", str(file), "--kind", "groups", stderr=err)
    assert "Line 3: “asian” is written with a capital, “Asian”." in err.getvalue()
    assert not SocialGroup.objects.filter(slug="nurse").exists()
    with pytest.raises(CommandError):
        call_command("import_library", str(file), "--kind", "groups", "--dry-run", stderr=err)
    out, left_out = run("import_library", file, "--kind", "groups", "--skip-bad-rows")
    assert "+ nurse" in out
    assert "Left out: Line 3" in left_out
    _out, remarks = run("import_library", file, "--kind", "groups", "--as-written")
    assert "Warning: Line 3: “asian” is written with a capital" in remarks
    assert SocialGroup.objects.filter(slug="asian-2").exists()
    for wrong in (tmp_path / "no.csv", tmp_path):
        with pytest.raises(CommandError, match="cannot be read"):
            call_command("import_library", str(wrong), "--kind", "groups")
