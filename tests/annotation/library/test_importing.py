"""Groups and trait pairs from files: what is added, changed, left as it is, refused."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    BadImportError,
    ImportRequest,
    StalePlanError,
    import_kinds,
    plan_import,
)
from annotation.imports.library_entries import Groups
from annotation.library.library_export import stream_example, stream_library
from annotation.library.library_kind import Action, escape_cell, restore_cell
from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup, TraitPair
from annotation.studies.creation import create_study
from tests.annotation.library.files import GROUPS, TRAITS, lines, plan, read, store, told

pytestmark = pytest.mark.django_db

HEAD = "slug,singular,plural,plural_capitalised,modifier,domains,components,sets"


def bring(kind, *rows: str, **options):
    return store(kind, lines(*rows), **options)


def test_new_groups_are_added_with_sets_components_and_history():
    user = User.objects.create_user("alice")
    bring(
        GROUPS,
        HEAD,
        "swedish--nurse,Swedish nurse,Swedish nurses,Swedish nurses,,"
        "nationality; socioeconomic,swedish; nurse,mine",
        "nurse,nurse,nurses,,,Socioeconomic,,mine; cao-2022-table-3",
        "swedish,Swedish person,Swedish people,Swedish people,Swedish,nationality,,",
        user=user,
    )
    nurse = SocialGroup.objects.get(slug="nurse")
    assert (nurse.plural_capitalised, nurse.domains) == ("Nurses", ["socioeconomic"])
    assert {chosen.slug for chosen in nurse.sets.all()} == {"mine", "cao-2022-table-3"}
    assert GroupSet.objects.get(slug="mine").title == "Mine"
    pair = SocialGroup.objects.get(slug="swedish--nurse")
    components = pair.component_links.values_list("position", "component__slug")
    assert list(components) == [(1, "swedish"), (2, "nurse")]
    first = nurse.history.get()
    assert first.history_user == user
    assert first.history_change_reason.startswith("Imported entries.csv, SHA-256 ")


def test_an_entry_is_changed_in_the_columns_of_the_file_alone():
    before = SocialGroup.objects.get(slug="elderly")
    done = bring(GROUPS, "slug,plural", "elderly,older people", "deaf,Deaf people")
    assert [entry.action for entry in done.entries] == [Action.CHANGED, Action.UNCHANGED]
    assert [(c.column, c.before, c.after) for c in done.entries[0].changes] == [
        ("plural", "elderly people", "older people"),
        ("plural_capitalised", "Elderly people", "Older people"),
    ]
    after = SocialGroup.objects.get(slug="elderly")
    assert (after.plural, after.plural_capitalised) == ("older people", "Older people")
    assert (after.pk, after.singular, after.modifier) == (before.pk, "elderly person", "elderly")
    assert after.sets.count() == before.sets.count() == 3
    assert after.history.count() == 1
    assert not SocialGroup.objects.get(slug="deaf").history.exists()


def test_a_capitalized_plural_that_the_file_gives_is_taken_at_its_word():
    found = plan(GROUPS, "slug,plural,plural_capitalised", "elderly,older people,Elderly people")
    assert told(found) == [
        "Line 2: The capitalized plural is “Elderly people”, expected the plural with a capital "
        "first letter, “Older people”. It reads “Elderly people should be …”."
    ]


def test_an_entry_that_somebody_else_adds_meanwhile_is_previewed_again(monkeypatch):
    # The same moment twice is hard to meet: here the other one comes right before the writing.
    store_now = Groups.kind.store

    def late(**given):
        SocialGroup.objects.create(
            slug="nurse", singular="nurse", plural="nurses", plural_capitalised="Nurses"
        )
        store_now(**given)

    monkeypatch.setattr(Groups.kind, "store", late)
    with pytest.raises(StalePlanError):
        bring(GROUPS, "slug,singular,plural", "nurse,nurse,nurses", "monk,monk,monks")
    assert not SocialGroup.objects.filter(slug="monk").exists()


def test_a_column_of_sets_says_all_sets_of_an_entry():
    bring(GROUPS, "slug,sets", "deaf,", "elderly,mine")
    assert not SocialGroup.objects.get(slug="deaf").sets.exists()
    assert [s.slug for s in SocialGroup.objects.get(slug="elderly").sets.all()] == ["mine"]


def test_all_bad_rows_are_told_and_nothing_is_stored():
    rows = (
        HEAD,
        "nurse,nurse,nurses,,,socioeconomic,,",  # good
        "Two words,nurse,nurses,,,,,",
        ",nurse,nurses,,,,,",
        "monk,monk,,,,religion,,",
        "asian-2,asian person,asian people,,,race,,",
        "tall,tall person,tall people,,tall,height,,",
        "nurse,nurse,nurses,,,,,",
        "pair--x,a,b,,,,asian; nobody,",
        "old--young,old young person,old young people,,,,elderly; elderly,",
        "asian--black--man,Asian Black man,Asian Black men,,,,asian; asian--black,",
        "one,two",
        "long,%s,nurses,,,,," % ("x" * 121),
        "worker,workers people,workers,,,,,",
        "lone--nurse,lone nurse,lone nurses,,,,,",
    )
    found = plan(GROUPS, *rows)
    assert told(found) == [
        "Line 3: “slug” is “Two words”, expected letters, digits, hyphens and underscores.",
        "Line 4: “slug” is empty, expected the name that data go by.",
        "Line 5: The plural is missing, expected one, such as “monks”.",
        "Line 6: “asian” is written with a capital, “Asian”. It reads “That asian person is …”.",
        "Line 7: “domains” is “height”. Expected a list of names out of: "
        "gender, race, religion, socioeconomic, age, disability, politics, nationality.",
        "Line 8: “nurse” stands on line 2 already.",
        "Line 9: “components” names “nobody”, but there is no such group, neither in the library "
        "nor among the file's good rows.",
        "Line 10: “components” names elderly; elderly, expected two different groups, such as "
        "“asian; teenager”.",
        "Line 11: “components” names “asian--black”, but there is no such group, neither in the "
        "library nor among the file's good rows.",
        "Line 12: has 2 cells, expected 8 as in the heading.",
        "Line 13: “singular” is “%s…”. Ensure this value has at most 120 characters (it has 121)."
        % ("x" * 59),
        "Line 14: “workers people” is a plural, expected a singular. It reads "
        "“That workers people is …”.",
        "Line 15: “slug” is “lone--nurse”, but two hyphens in a row stand between the components "
        "of a paired group, and this one has none.",
    ]
    with pytest.raises(BadImportError):
        bring(GROUPS, *rows)
    assert not SocialGroup.objects.filter(slug="nurse").exists()


def test_bad_rows_are_left_out_on_demand_with_what_rests_on_them():
    done = bring(
        GROUPS,
        HEAD,
        "asian-2,asian person,asian people,,asian,race,,",
        "asian-2--nurse,Asian nurse,Asian nurses,,,,asian-2; nurse,",
        "nurse,nurse,nurses,,,,,",
        skip_bad_rows=True,
    )
    assert [plan.slug for plan in done.of(Action.ADDED)] == ["nurse"]
    assert [plan.slug for plan in done.of(Action.REFUSED)] == ["asian-2", "asian-2--nurse"]
    assert SocialGroup.objects.filter(slug="nurse").exists()
    assert not SocialGroup.objects.filter(slug__startswith="asian-2").exists()


def test_what_the_check_of_english_refuses_is_taken_as_written_on_demand():
    row = "asian-2,asian person,asian people,,,race,,"
    assert plan(GROUPS, HEAD, row).of(Action.REFUSED)
    found = plan(GROUPS, HEAD, row, as_written=True)
    assert found.of(Action.ADDED)
    assert any("“Asian”" in str(remark) for remark in found.remarks)
    # What is missing stays missing.
    assert plan(GROUPS, HEAD, "x,,nurses,,,,,", as_written=True).of(Action.REFUSED)


def test_a_component_of_others_cannot_become_a_pair():
    create_paired_groups(group_set=GroupSet.objects.get(slug="cao-2022-human-study"))
    found = plan(GROUPS, "slug,components", "asian,black; man")
    assert "“asian” is a component of “asian--" in told(found)[0]
    found = plan(GROUPS, "slug,components", "lesbian,asian--man; deaf")
    assert "names “asian--man”, a paired group, expected a single one" in told(found)[0]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "a.csv", "The file is empty"),
        (b"slug,plural\n", "a.csv", "holds no row"),
        (b"singular,plural\nx,y\n", "a.csv", "no column “slug”"),
        (b"slug,Slug\nx,y\n", "a.csv", "twice"),
        (b'slug,plural\nx,"y\n', "a.csv", "breaks off at line 2"),
        (b"slug,plural\nx,y\n", "a.pdf", r"ends in .*\.xlsx or .* \.json or \.jsonl"),
        (b"\xff\xfes\x00l", "a.csv", "broken UTF-16"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(content, name, message):
    with pytest.raises(TableFileError, match=message):
        read(GROUPS, content, name)


def test_columns_that_are_not_known_are_named_and_not_read():
    found = plan_import(
        import_kinds()["groups"], ImportRequest(b"slug,height,set,sets\nelderly,2,a,b\n", "e.csv")
    )
    assert found.warnings[0] == "Nothing is read from: height, set."
    assert found.data.entries[0].values["sets"] == ("b",)


def test_tsv_semicolons_marks_and_other_names_of_columns_are_read():
    tsv = "\ufeffSlug\tSingular\tPlural\tCapitalized plural\tSet\nnurse\tnurse\tnurses\t\tmine\n"
    found = read(GROUPS, tsv.encode(), "a.tsv")
    assert found.entries[0].values["sets"] == ("mine",)
    assert found.new_sets == ["mine"]
    german = "slug;singular;plural;domains\nnurse;nurse;nurses;age\n"
    found = read(GROUPS, german.encode(), "a.csv")
    assert found.of(Action.ADDED)


def test_bytes_that_are_no_text_refuse_their_row_alone():
    content = (
        b"slug,singular,plural\nnee,n\xc3\xa9e,n\xc3\xa9es\ncafe,caf\xe9 owner,caf\xe9 owners\n"
    )
    found = read(GROUPS, content, "a.csv")
    assert [plan.slug for plan in found.of(Action.ADDED)] == ["nee"]
    assert told(found) == [
        "Line 3: “singular” is not UTF-8 text. Save the file as UTF-8.",
        "Line 3: “plural” is not UTF-8 text. Save the file as UTF-8.",
    ]


def test_a_file_as_excel_saves_it_is_read_and_says_so():
    content = "slug,singular,plural\ncafe,café owner,café owners\n".encode("windows-1252")
    found = read(GROUPS, content, "a.csv")
    assert [plan.values["singular"] for plan in found.of(Action.ADDED)] == ["café owner"]
    assert "was read as Windows-1252" in found.notices[0]


def test_json_with_lists_and_columns_of_other_names_are_read(tmp_path):
    rows = [{"key": "nurse", "singular": "nurse", "plural": "nurses", "sets": ["a", "b"]}]
    file = tmp_path / "groups.json"
    file.write_text(json.dumps(rows))
    with pytest.raises(CommandError, match=r"no column “slug”"):
        call_command("import_library", str(file), kind="groups")
    call_command("import_library", str(file), kind="groups", map=["slug=key"], stdout=StringIO())
    found = SocialGroup.objects.get(slug="nurse")
    assert set(found.sets.values_list("slug", flat=True)) == {"a", "b"}


@pytest.mark.parametrize("kind", [GROUPS, TRAITS])
def test_what_is_exported_is_imported_unchanged(kind):
    create_paired_groups(group_set=GroupSet.objects.get(slug="cao-2022-human-study"))
    # Whatever stands in the library by now comes back as it is.
    SocialGroup.objects.filter(slug="deaf").update(modifier="=deaf, \"so\"; 'quoted'")
    TraitPair.objects.filter(slug="cold-warm").update(low="Cold")
    content = b"".join(stream_library(kind))
    found = read(kind, content, "library.csv")
    assert {entry.action for entry in found.entries} == {Action.UNCHANGED}
    assert len(found.entries) == kind.model._default_manager.count()


@pytest.mark.parametrize("kind", [GROUPS, TRAITS])
def test_an_exported_library_makes_the_same_one_elsewhere(kind):
    create_paired_groups(group_set=GroupSet.objects.get(slug="cao-2022-human-study"))
    content = b"".join(stream_library(kind))
    before = kind.stored()
    GroupSet.objects.all().delete()
    SocialGroup.objects.exclude(component_links=None).delete()
    SocialGroup.objects.all().delete()
    TraitPair.objects.all().delete()
    store(kind, content)
    assert kind.stored() == before


@pytest.mark.parametrize("kind", [GROUPS, TRAITS])
def test_the_example_file_can_be_imported(kind):
    found = read(kind, b"".join(stream_example(kind)), "example.csv")
    assert {entry.action for entry in found.entries} == {Action.ADDED}
    assert not found.remarks


@pytest.mark.parametrize("text", ["=1+1", "-ish", "'-ish", "''=x", "'plain", "plain", " @x", ""])
def test_cells_that_look_like_formulas_come_back(text):
    assert restore_cell(escape_cell(text)) == text
    assert not escape_cell(text).startswith(("=", "+", "-", "@"))


def test_a_preview_that_no_longer_holds_is_not_stored():
    rows = ("slug,plural", "elderly,older people")

    def digest() -> str:
        return plan_import(import_kinds()["groups"], ImportRequest(lines(*rows), "e.csv")).digest

    before = digest()
    SocialGroup.objects.filter(slug="elderly").update(plural="aged people")
    with pytest.raises(StalePlanError):
        bring(GROUPS, *rows, expected_digest=before)
    assert SocialGroup.objects.get(slug="elderly").plural == "aged people"
    bring(GROUPS, *rows, expected_digest=digest())
    assert SocialGroup.objects.get(slug="elderly").plural == "older people"


def test_the_same_file_twice_changes_nothing_more():
    rows = (HEAD, "nurse,nurse,nurses,,,socioeconomic,,mine")
    bring(GROUPS, *rows)
    again = bring(GROUPS, *rows)
    assert [plan.action for plan in again.entries] == [Action.UNCHANGED]
    assert SocialGroup.objects.get(slug="nurse").history.count() == 1


def test_trait_pairs_are_added_behind_all_others_and_changed():
    bring(
        TRAITS,
        "slug,low,high,dimension,low_synonyms,high_synonyms",
        "lazy-hardworking,lazy,hardworking,Agency,idle; sluggish,",
        "rude-polite,rude,polite,communion,,courteous",
        "cold-warm,cold,warm,communion,icy,friendly; kind; loving",
    )
    again = plan(TRAITS, "slug,position", "cold-warm,", "lazy-hardworking,")
    assert [entry.action for entry in again.entries] == [Action.UNCHANGED] * 2
    lazy = TraitPair.objects.get(slug="lazy-hardworking")
    assert (lazy.low_synonyms, lazy.high_synonyms) == (["idle", "sluggish"], [])
    assert (lazy.position, lazy.dimension) == (17, "agency")
    assert TraitPair.objects.get(slug="rude-polite").position == 18
    cold = TraitPair.objects.get(slug="cold-warm")
    assert (cold.low_synonyms, cold.position, cold.history.count()) == (["icy"], 13, 1)


def test_own_trait_pairs_enter_no_study_by_themselves():
    bring(TRAITS, "slug,low,high,dimension", "lazy-busy,lazy,busy,agency")
    study = create_study(title="Spring", owner=None, contact_email="lab@example.org")
    scales = study.instruments.get().scales.values_list("slug", flat=True)
    assert (len(scales), scales[0], scales[15]) == (
        16,
        "powerless-powerful",
        "egotistic-altruistic",
    )


def test_bad_trait_pairs_are_told_with_what_is_expected():
    found = plan(
        TRAITS,
        "slug,low,high,dimension,low_synonyms,high_synonyms,position",
        "a,lazy,,agency,,,",
        "b,lazy,Lazy,agency,,,",
        "c,lazy,busy,courage,,,",
        "d,lazy,busy,agency,idle; Idle,,",
        "e,lazy,busy,agency,idle,idle,",
        "f,l@zy,busy,agency,,,",
        "g,lazy,busy,agency,,,first",
        "h,american,foreign,beliefs,,,",
    )
    assert told(found) == [
        "Line 2: “high” is empty, expected the adjective of pole 100.",
        "Line 3: Both poles are “lazy”, expected two opposite adjectives.",
        "Line 4: “dimension” is “courage”. Value 'courage' is not a valid choice.",
        "Line 5: “Idle” comes twice for the low pole, expected once.",
        "Line 6: “idle” stands for both poles, expected for one.",
        "Line 7: “l@zy” is no adjective, expected letters, hyphens and single spaces.",
        "Line 8: “position” is “first”. “first” value must be an integer.",
        "Line 9: “american” is written with a capital as a name, “American”. It reads “All people "
        "are american.”.",
    ]
