"""Labeled templates and lexicons: what files give, what is refused, page and command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import BadImportError
from probing.library.labeled_files import stored_groups, stored_templates, stored_texts
from probing.measures.lexicon_library import LEXICONS
from probing.measures.probe_stimuli import ProbeStimuli
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet
from probing.runs.errors import RunError
from probing.runs.rating_stimuli import load_probe_stimuli
from tests.probing.library.brought import bring

pytestmark = pytest.mark.django_db

RACE = LEXICONS[0].groups
TEMPLATES = "text,label\nThe {adj} man won.,2\nThe {adj} man lost.,0\n"
LEXICON = "group,role,adj\nold,,old\nold,,elderly\nyoung,,young\nnone,unmarked,\n"


def parse(text: str, **options: Any) -> Any:
    return stored_templates(bring("labeled-templates", text, **options))


def refused(*arguments: Any, **options: Any) -> str:
    """Return what an import says that stores nothing."""
    with pytest.raises((BadImportError, TableFileError)) as caught:
        bring(*arguments, **options)
    plan = getattr(caught.value, "plan", None)
    return "\n".join([str(caught.value), *map(str, plan.problems if plan else ())])


def send_page(client: Client, address: str, content: str, **values: str) -> tuple[str, Any]:
    """Return the preview of a file on its page, and the answer to its import."""
    given = {"title": "Wins", "slug": "wins", "license": "CC0", **values}
    file = SimpleUploadedFile("wins.csv", content.encode())
    page = client.post(address, {**given, "file": file}, follow=True).text
    carried = re.findall(r'type="hidden" name="(content|file_name)" value="([^"]*)"', page)
    sent = {**given, **dict(carried), "import": ""}
    return page, client.post(address, sent, follow=True)


def samples(content: str) -> list[tuple[str, int, str]]:
    rows = (line.split("\t") for line in content.splitlines())
    return sorted((text, int(label), group) for label, _, group, text in rows)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "n"), [("Regard.csv", 101), ("NS-Prompts.csv", 888)])
def test_published_templates_are_read(shared_dir: Path, name: str, n: int) -> None:
    """Three rows of NS-Prompts have no placeholder with a name."""
    content = (shared_dir / "data" / "fpr_gap" / name).read_bytes()
    if n == 888:
        _, *bad = refused("labeled-templates", content, name).splitlines()
        assert [line.split(":")[0] for line in bad] == ["Line 672", "Line 765", "Line 830"]
    entry = bring("labeled-templates", content, name, skip_bad_rows=n == 888)
    assert len(entry.templates) == n


@pytest.mark.shared
@pytest.mark.parametrize(("name", "n"), [("amazon", 60), ("regard", 101)])
def test_templates_behind_the_released_samples_expand_to_them(
    shared_dir: Path, name: str, n: int
) -> None:
    content = (shared_dir / "data" / "fpr_gap" / f"{name}_samples.tsv").read_bytes()
    entry = bring("labeled-templates", content, f"{name}_samples.tsv", words="race")
    assert len(entry.templates) == n
    expanded = ProbeStimuli(stored_templates(entry), RACE).sentences
    assert sorted((s.text, s.label, s.group) for s in expanded) == samples(content.decode())


def test_labels_are_collapsed_while_a_file_is_read() -> None:
    found = parse("template,sent\nThe {x} man.,somewhat negative\n", labels="sst5")
    assert [(one.text, one.label) for one in found] == [("The {x} man.", 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,label\nThe {x} man.,7\n", "Labels outside of the map: “7”"),
        ("text,label\nThe man.,1\n", "no placeholder"),
        ("text,label\n,1\n", "“text” is empty"),
        ("text,label\nThe {x}.,1\nThe {x}.,0\n", "another label than on line 2"),
        ("text,label\nThe {x}.,1\nThe {x}.,1\n", "stands on line 2"),
        ("text,label\nThe {x}.\n", "has 1 cells"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_taken(text: str, message: str) -> None:
    assert message in refused("labeled-templates", text).splitlines()[1]


@pytest.mark.parametrize("text", ["words\nx\n", "text,mood\nThe {x}.,1\n", "", "text,label\n"])
def test_files_of_another_shape_are_refused(text: str) -> None:
    assert refused("labeled-templates", text)


def test_a_lexicon_has_several_words_for_a_group() -> None:
    old, young, none = stored_groups(bring("lexicon", LEXICON))
    assert old.filler_names == ("old", "elderly")
    assert (young.role, none.role, none.filler_names) == ("group", "unmarked", ("no word",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("group,adj\nold,\n", "no word"),
        ("group,adj\n,old\n", "“group” is empty, expected the name of a group"),
        ("group,role,adj\nold,hero,old\n", "expected one of: group, placebo, unmarked"),
        ("group,role,adj\nold,,old\nold,placebo,aged\n", "was “group” before"),
        ("group,adj\nold,old\nold,old\n", "already"),
    ],
)
def test_bad_rows_of_a_lexicon_are_named(text: str, message: str) -> None:
    assert message in refused("lexicon", text).splitlines()[1]
    assert "no column for a placeholder" in refused("lexicon", "group,name\nold,Old\n")


def import_both(folder: Path) -> None:
    for kind, name, text in (("templates", "wins", TEMPLATES), ("lexicon", "age", LEXICON)):
        file = folder / f"{name}.csv"
        file.write_text(text, encoding="utf-8")
        call_command("import_stimuli", file, kind=kind, slug=name, license="CC0")


def test_the_command_stores_what_runs_are_made_of(tmp_path: Path) -> None:
    import_both(tmp_path)
    stimuli = load_probe_stimuli(templates=["wins"], lexicons=["age", "placebo"])
    texts = [sentence.text for sentence in stimuli.sentences]
    assert texts[:4] == [
        "The old man won.",
        "The elderly man won.",
        "The young man won.",
        "The man won.",
    ]
    assert len(texts) == 2 * (4 + 20)
    assert stimuli.name == "wins"


def test_a_placeholder_without_a_lexicon_is_named(tmp_path: Path) -> None:
    import_both(tmp_path)
    with pytest.raises(RunError, match=r"no column for \{adj\} in “The \{adj\} man"):
        load_probe_stimuli(templates=["wins"], lexicons=["race"])
    with pytest.raises(RunError, match="no lexicon of groups “ages”"):
        load_probe_stimuli(templates=["wins"], lexicons=["ages"])
    with pytest.raises(RunError, match="Choose a set, such as"):
        load_probe_stimuli(templates=[])


def test_a_bad_file_stores_nothing(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("text,label\nThe {x} man.,9\n", encoding="utf-8")
    before = LabeledTemplateSet.objects.count()
    with pytest.raises(CommandError, match="1 place is bad"):
        call_command("import_stimuli", file, kind="templates", slug="bad", license="CC0")
    file.write_text(TEMPLATES, encoding="utf-8")
    with pytest.raises(CommandError):
        call_command("import_stimuli", file, kind="templates", slug="not a slug", license="CC0")
    assert LabeledTemplateSet.objects.count() == before


@pytest.fixture
def client(db: None) -> Client:
    user = User.objects.create_user("alice", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="probing"))
    client = Client()
    client.force_login(user)
    return client


def test_a_set_is_imported_on_its_page_and_replaced(client: Client) -> None:
    add = reverse("admin:probing_labeledtemplateset_add")
    address = client.get(add).url
    assert client.get(add, follow=True).status_code == 200
    preview, _ = send_page(client, address, "text,label\nThe man.,1\n")
    assert "Line 2: There is no placeholder" in preview
    send_page(client, address, TEMPLATES)
    stored = LabeledTemplateSet.objects.get(slug="wins")
    assert [one["label"] for one in stored.templates] == [2, 0]
    assert stored.history.get().history_user.username == "alice"
    change = reverse("admin:probing_labeledtemplateset_change", args=[stored.pk])
    assert "The {adj} man lost." in client.get(change).text
    again = "text,label\nThe {adj} cat.,1\nNo.,1\n"
    _, answer = send_page(client, address, again, skip_bad_rows="on")
    assert "already exists" in answer.text
    preview, _ = send_page(client, address, again, skip_bad_rows="on", replace="on", title="")
    assert "Line 3: There is no placeholder" in preview
    stored.refresh_from_db()
    assert [one["text"] for one in stored.templates] == ["The {adj} cat."]
    assert (stored.title, stored.history.count()) == ("Wins", 2)


def test_a_lexicon_is_shown_with_its_words(client: Client) -> None:
    race = GroupLexicon.objects.get(slug="race")
    page = client.get(reverse("admin:probing_grouplexicon_change", args=[race.pk])).text
    assert "american indian, alaska native, native american" in page
    assert client.get(reverse("admin:probing_grouplexicon_changelist")).status_code == 200


PAIRS = (
    "pair,group,text,label\n1,AAL,he be late,0\n1,WME,he is usually late,0\n"
    "2,AAL,she be workin,1\n2,WME,she is usually working,1\n"
)


def test_pairs_in_two_varieties_become_templates_and_a_lexicon(tmp_path: Path, capsys: Any) -> None:
    """Every pair is a template, so that gaps are resampled over pairs; nothing names a group."""
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS, encoding="utf-8")
    call_command(
        *("import_stimuli", str(file), "--kind", "pairs", "--slug", "dialect", "--license", "CC0")
    )
    assert "“dialect” (dialect): 2 pairs, 2 groups imported" in capsys.readouterr().out
    stimuli = load_probe_stimuli(templates=["dialect"], lexicons=["dialect"])
    assert [(s.text, s.template, s.group, s.filler, s.label) for s in stimuli.sentences] == [
        ("he be late", "dialect-0001", "aal", "AAL", 0),
        ("he is usually late", "dialect-0001", "wme", "WME", 0),
        ("she be workin", "dialect-0002", "aal", "AAL", 1),
        ("she is usually working", "dialect-0002", "wme", "WME", 1),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PAIRS.replace("2,WME", "3,WME"), "The pair “2” has no text of WME"),
        (PAIRS.replace("late,0\n2", "late,1\n2"), "Line 3: The pair “1” has two labels"),
        (PAIRS.replace("1,WME", "1,AAL"), "Line 3: The pair “1” has a text of “AAL” already"),
        (PAIRS.split("2,AAL")[0].replace("1,WME", "2,AAL"), "The file has one group"),
        ("pair,text,label\n1,a,0\n", "no column “group”"),
    ],
)
def test_pairs_that_are_none_are_refused(text: str, message: str) -> None:
    assert message in refused("text-pairs", text, "p.csv")


def test_first_names_signal_a_group_without_naming_it() -> None:
    stimuli = load_probe_stimuli(templates=["everyday-names"], lexicons=["names"])
    # 24 templates with 18 names each of two groups.
    assert len(stimuli.sentences) == 24 * 18 * 2
    texts = [sentence.text for sentence in stimuli.sentences]
    assert "Nobody was pleased with Lakisha’s sloppy work." in texts
    with pytest.raises(RunError, match=r"no column for \{name\}"):
        load_probe_stimuli(templates=["everyday-names"], lexicons=["race"])


# --- Labeled texts ------------------------------------------------------------------------------

SST5 = (
    "sentence\tlabel\tsplit\nIt is bad .\tvery negative\ttrain\nSo so .\t2\tdev\nGood !\t4\ttest\n"
)


def test_labeled_texts_are_read_with_their_splits() -> None:
    entry = bring("labeled-texts", SST5, "sst5.tsv", labels="sst5")
    assert [(one.text, one.label, one.split) for one in stored_texts(entry)] == [
        ("It is bad .", 0, "train"),
        ("So so .", 1, "validation"),
        ("Good !", 2, "test"),
    ]
    plain = bring("labeled-texts", "text,label\nGood.,2\nBad.,0\n", slug="plain")
    assert plain.texts == [{"text": "Good.", "label": 2}, {"text": "Bad.", "label": 0}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,label\nGood.,9\n", "Line 2: Labels outside of the map: “9” \\(1\\)"),
        ("words,label\nGood.,2\n", "no column “text”"),
        ("text,mood\nGood.,2\n", "no column “label”"),
        ("text,label\n", "holds no row"),
        ("", "is empty"),
        ("text,label\n ,2\n", "Line 2: “text” is empty"),
        ("text,label,split\nGood.,2,later\n", "Line 2: “split” is “later”, expected train"),
        (
            "text,label,split\nGood.,2,train\nGood.,2,test\n",
            "Line 3: The text stands on line 2 in the split train",
        ),
    ],
)
def test_bad_labeled_texts_store_nothing(
    tmp_path: Path, capsys: Any, db: None, content: str, message: str
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(CommandError) as refused:
        call_command("import_stimuli", file, kind="texts", slug="bad", license="CC0")
    assert re.search(message, str(refused.value) + capsys.readouterr().err)
    assert not LabeledTextSet.objects.filter(slug="bad").exists()


def test_labeled_texts_are_imported_on_their_page(client: Client) -> None:
    address = client.get(reverse("admin:probing_labeledtextset_add")).url
    facts = {"title": "Stars", "slug": "stars", "labels": "sst5"}
    content = SST5.replace("\t", ",")
    preview, _ = send_page(client, address, content.replace("very negative", "awful"), **facts)
    assert "Line 2: Labels outside of the map: “awful”" in preview
    assert not LabeledTextSet.objects.filter(slug="stars").exists()
    send_page(client, address, content, **facts)
    stored = LabeledTextSet.objects.get(slug="stars")
    assert stored.texts[0] == {"text": "It is bad .", "label": 0, "split": "train"}
    assert [one["label"] for one in stored.texts] == [0, 1, 2]
    page = client.get(reverse("admin:probing_labeledtextset_change", args=[stored.pk])).text
    assert "It is bad ." in page
    assert "validation" in page
    assert client.get(reverse("admin:probing_labeledtextset_changelist")).status_code == 200


DIALECT = "pair,group,text,label\n1,AAL,She be late.,1\n1,WME,She is late.,1\n"


def test_pairs_come_by_page_with_their_lexicon_or_not_at_all(client: Client) -> None:
    address = f"{reverse('admin:probing_run_import')}?kind=text-pairs"
    GroupLexicon.objects.create(slug="taken", title="Taken", license="CC0", groups=[])
    before = LabeledTemplateSet.objects.count()
    lacking, _ = send_page(client, address, DIALECT + "2,AAL,He be.,1\n", slug="d")
    assert "has no text of WME" in lacking
    taken, _ = send_page(client, address, DIALECT, slug="taken")
    assert "already exists" in taken
    assert LabeledTemplateSet.objects.count() == before
    assert send_page(client, address, DIALECT, slug="dialect")[1].status_code == 200
    entry = LabeledTemplateSet.objects.get(slug="dialect")
    assert [one["text"] for one in entry.templates] == ["{pair_0001}"]
    words = GroupLexicon.objects.get(slug="dialect")
    assert [group["name"] for group in words.groups] == ["AAL", "WME"]


def test_pairs_need_the_right_to_add_a_lexicon(client: Client) -> None:
    address = f"{reverse('admin:probing_run_import')}?kind=text-pairs"
    user = User.objects.get()
    user.user_permissions.set(Permission.objects.filter(codename="add_labeledtemplateset"))
    file = SimpleUploadedFile("pairs.csv", DIALECT.encode())
    given = {"slug": "dialect", "license": "CC0", "file": file}
    assert client.post(address, given).status_code == 403


def test_labeled_texts_come_over_http_whole_or_not_at_all(client: Client) -> None:
    address = "/api/v1/imports/"

    def faults(response: Any) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for fault in response.json()["errors"]:
            found.setdefault(fault["field"], []).append(fault["message"])
        return found

    def send(content: str, kind: str = "labeled-texts", **changes: Any) -> Any:
        body = {"kind": kind, "file_name": "t.csv", "content": content}
        own = {name: changes.pop(name) for name in ("skip_bad_rows", "dry_run") if name in changes}
        body |= {name: changes.pop(name) for name in ("file_name",) if name in changes}
        options = {"slug": "mine", "license": "CC0", **changes}
        sent = {**body, **own, "options": options}
        return client.post(address, sent, content_type="application/json")

    good = "text,label\nFine.,2\nBad.,0\n"
    refused = send(good + "Odd.,9\n,1\n")
    assert refused.status_code == 400
    first, *lines = faults(refused)["content"]
    assert first == "Nothing was imported: 2 places are bad."
    assert [line.split(":")[0] for line in lines] == ["Line 4", "Line 5"]
    assert "ends in .csv or .tsv" in faults(send(good, file_name="t.pdf"))["content"][0]
    assert list(faults(send(good, slug="not a slug"))) == ["slug"]
    assert list(faults(send(good, kind="labeled-templates", words="nowhere"))) == ["words"]
    dry = send(good, dry_run=True)
    assert (dry.status_code, dry.json()["stored"], dry.json()["counts"]) == (
        200,
        False,
        {"texts": 2},
    )
    assert not LabeledTextSet.objects.filter(slug="mine").exists()
    done = send(good + "Odd.,9\n", skip_bad_rows=True)
    assert done.status_code == 201
    assert len(done.json()["problems"]) == 1
    assert [one["text"] for one in LabeledTextSet.objects.get(slug="mine").texts] == [
        "Fine.",
        "Bad.",
    ]
    assert list(faults(send(good))) == ["slug"]  # taken
    assert send(DIALECT, kind="text-pairs", slug="dialect").json()["counts"]["groups"] == 2
    GroupLexicon.objects.create(slug="half", title="Half", license="CC0", groups=[])
    assert list(faults(send(DIALECT, kind="text-pairs", slug="half"))) == ["slug"]
    assert not LabeledTemplateSet.objects.filter(slug="half").exists()
    assert {"texts", "lexicon"} <= {
        one["kind"]
        for one in client.get("/api/v1/stimuli/").json()
        if one["slug"] in {"mine", "dialect"}
    }
    User.objects.get().user_permissions.clear()
    assert send(good, slug="other").status_code == 403


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "Q1;label\nCafé.;2\nBad.;0\n".encode("windows-1252")),
        ("t.json", '[{"Q1": "Café.", "label": 2}, {"Q1": "Bad.", "label": 0}]'.encode()),
    ],
)
def test_texts_of_other_programs_are_read_with_columns_of_any_name(
    tmp_path: Path, capsys: Any, db: None, name: str, content: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    common = ("import_stimuli", str(file), "--kind", "texts", "--slug", "mine", "--license", "CC0")
    with pytest.raises(CommandError, match="There is no column “Q9”"):
        call_command(*common, "--map", "text=Q9")
    call_command(*common, "--map", "text=Q1")
    assert {one["text"] for one in LabeledTextSet.objects.get(slug="mine").texts} == {
        *("Café.", "Bad."),
    }
    assert ("Windows-1252" in capsys.readouterr().err) == (name == "t.csv")
