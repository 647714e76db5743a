"""Imports of corpora: all rows or none, into a new corpus or one that is there."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from annotation.corpora.bodies import hash_body
from annotation.corpora.corpus_import import BadRowsError, import_corpus
from annotation.models import Corpus, Split, Text, TextPair
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db

PAIRS = (
    "id,AAL,WME,source,context,split\n"
    "one,He be late,He is usually late,CORAAL,They talk.,\n"
    ",They ain’t here,They are not here,CORAAL,,training\n"
    "three,She gone,She is gone,Lyrics,,\n"
    "four,She left,She is gone,Lyrics,,\n"
).encode()
FACTS = {"name": "Small pairs", "license": "CC BY 4.0"}


def take(content: bytes = PAIRS, file_name: str = "pairs.csv", **options):
    return import_corpus(content=content, file_name=file_name, **{**FACTS, **options})


def nothing_is_stored() -> bool:
    return not any(model.objects.exists() for model in (Corpus, Text, TextPair))


def test_pairs_are_stored_with_a_shared_counterpart_once():
    alice = make_user("alice")
    result = take(owner=alice, user=alice, access_note="Researchers only.")
    corpus = result.corpus
    assert corpus is not None
    assert (result.n_texts, result.n_pairs, result.n_skipped) == (7, 4, 0)
    assert result.by_source == {
        ("CORAAL", "evaluation"): 1,
        ("CORAAL", "training"): 1,
        ("Lyrics", "evaluation"): 2,
    }
    assert (corpus.owner, corpus.license, corpus.access_note) == (
        alice,
        "CC BY 4.0",
        "Researchers only.",
    )
    pair = corpus.pairs.get(slug="one")
    assert (pair.source_text.slug, pair.target_text.slug) == ("one-aal", "one-wme")
    assert pair.source_text.context == "They talk."
    assert pair.target_text.context == ""
    assert pair.study is None
    assert pair.source_text.body_hash == hash_body("He  be\nlate")
    assert {p.target_text.slug for p in corpus.pairs.filter(slug__in=["three", "four"])} == {
        "three-wme"
    }
    unnamed = corpus.pairs.exclude(slug__in=["one", "three", "four"]).get()
    assert unnamed.slug == "pair-0001"
    assert unnamed.source_text.split == unnamed.target_text.split == Split.TRAINING


def test_the_history_tells_the_file_and_who_imported_it():
    alice = make_user("alice")
    corpus = take(user=alice).corpus
    assert corpus is not None
    digest = hashlib.sha256(PAIRS).hexdigest()[:16]
    entries = [corpus.history.get(), *(text.history.get() for text in corpus.texts.all())]
    assert len(entries) == 8
    assert {entry.history_change_reason for entry in entries} == {
        f"Imported pairs.csv, SHA-256 {digest}…"
    }
    assert {entry.history_user for entry in entries} == {alice}


def test_spans_are_stored():
    line = '{"text": "the old man left", "spans": [{"start": 0, "end": 11, "kind": "NP"}]}'
    take(line.encode(), "texts.jsonl")
    assert Text.objects.get().spans == [{"start": 0, "end": 11, "kind": "NP"}]


def test_bad_rows_stop_the_import():
    with pytest.raises(BadRowsError, match="2 of 6 rows are bad") as caught:
        take(PAIRS + b"five,He be late,,,,\nsix,Alone,,,,\n")
    assert [problem.line for problem in caught.value.problems] == [6, 7]
    assert nothing_is_stored()


def test_bad_rows_can_be_left_out():
    result = take(PAIRS + b"five,He be late,,,,\nsix,Alone,,,,\n", skip_bad_rows=True)
    assert (result.n_pairs, result.n_skipped) == (4, 2)
    assert TextPair.objects.count() == 4


def test_a_file_without_a_good_row_is_refused_even_so():
    with pytest.raises(ValidationError, match="no row is left"):
        take(b"AAL,WME\na,\n", skip_bad_rows=True)
    assert nothing_is_stored()


def test_a_dry_run_counts_and_keeps_nothing():
    result = take(dry_run=True)
    assert (result.corpus, result.n_texts, result.n_pairs) == (None, 7, 4)
    assert nothing_is_stored()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": " "}, "name"),
        ({"license": ""}, "license"),
        ({"target_variety": "aal"}, "target_variety"),
        ({"name": "n" * 161}, "name"),
    ],
)
def test_facts_are_checked_by_field(options, field):
    with pytest.raises(ValidationError) as caught:
        take(**options)
    assert field in caught.value.message_dict
    assert nothing_is_stored()


def test_a_name_is_given_once():
    take()
    with pytest.raises(ValidationError) as caught:
        take()
    assert "name" in caught.value.message_dict
    assert Corpus.objects.count() == 1


def test_more_texts_come_into_a_corpus_with_their_own_names():
    corpus = take().corpus
    assert corpus is not None
    more = b"AAL,WME\nWe been knew,She is gone\n"
    result = import_corpus(content=more, file_name="more.csv", into=corpus)
    assert (result.corpus, result.n_texts, result.n_pairs) == (corpus, 1, 1)
    pair = corpus.pairs.latest("pk")
    assert (pair.slug, pair.target_text.slug) == ("pair-0008", "three-wme")


def test_what_is_in_the_corpus_already_is_a_bad_row():
    corpus = take().corpus
    rows = (
        "id,text,variety,split\n"
        ",He be late,AAL,\n"
        "one,New,AAL,\n"
        "new,They are not here,WME,training\n"
        "newer,They ain’t  here.,AAL,\n"
        "newest,They ain’t here,WME,\n"
    )
    with pytest.raises(BadRowsError) as caught:
        import_corpus(content=rows.encode(), file_name="more.csv", into=corpus)
    assert [str(problem) for problem in caught.value.problems] == [
        "Line 2: the same text in AAL stands in the corpus already, expected it once.",
        "Line 3: the id “one” stands in the corpus already, expected one of its own.",
        "Line 4: the same text in WME stands in the corpus already, expected it once.",
        "Line 6: the text in WME is for evaluation, but it stands in the corpus already for "
        "training; training texts are never evaluated.",
    ]


def test_names_of_a_pairs_texts_never_clash():
    rows = b"id,AAL,WME\nx,a,b\nx-aal,c,d\n"
    corpus = take(rows).corpus
    assert corpus is not None
    slugs = sorted(corpus.texts.values_list("slug", flat=True))
    assert slugs == ["x-aal-2", "x-aal-aal", "x-aal-wme", "x-wme"]


def test_the_command_imports_and_reports(tmp_path: Path):
    make_user("alice")
    file = tmp_path / "pairs.csv"
    file.write_bytes(PAIRS)
    out = io.StringIO()
    options = {"name": "Pairs", "license": "CC0", "owner": "alice", "source_variety": "AAL"}
    call_command("import_corpus", file, dry_run=True, stdout=out, **options)
    assert "7 texts, 4 pairs, 0 rows left out. Nothing was stored." in out.getvalue()
    assert nothing_is_stored()
    call_command("import_corpus", file, stdout=out, **options)
    corpus = Corpus.objects.get()
    assert corpus.owner is not None
    assert (corpus.owner.username, corpus.is_shared) == ("alice", False)
    assert "CORAAL, training: 1" in out.getvalue()

    file.write_bytes(b"text\nHe be late\nSomething new\n")
    errors = io.StringIO()
    with pytest.raises(CommandError, match="1 of 2 rows are bad"):
        call_command("import_corpus", file, into="Pairs", stdout=out, stderr=errors)
    assert errors.getvalue().startswith("Line 2: the same text in AAL")
    call_command(
        "import_corpus", file, into=corpus.public_id, skip_bad_rows=True, stdout=out, stderr=errors
    )
    assert corpus.texts.count() == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "A new corpus needs --name"),
        ({"name": "x"}, "A new corpus needs --license"),
        ({"name": "x", "license": "y", "owner": "nobody"}, "No user is called “nobody”"),
        ({"into": "nothing"}, "No corpus is called “nothing”"),
        ({"into": "nothing", "name": "x"}, "leave out what describes it"),
        ({"name": "x", "license": "y", "target_variety": "AAL"}, "target_variety: Both"),
    ],
)
def test_the_command_says_what_it_needs(tmp_path: Path, options, message):
    file = tmp_path / "pairs.csv"
    file.write_bytes(PAIRS)
    with pytest.raises(CommandError, match=message):
        call_command("import_corpus", file, **options)
    assert nothing_is_stored()


def test_the_command_names_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_corpus", tmp_path / "none.csv", name="x", license="y")


def test_command_names_its_own_options_for_columns_that_it_does_not_know(tmp_path: Path):
    file = tmp_path / "pairs.csv"
    file.write_text("version 1,version 2\nhe be working,he is usually working\n")
    place = ("import_corpus", str(file), "--name", "Named", "--licence", "CC0")
    with pytest.raises(CommandError, match="--map source_text=COLUMN and --no-heading"):
        call_command(*place)
    call_command(
        *place,
        "--map",
        "source_text=version 1",
        "--map",
        "target_text=version 2",
        stdout=io.StringIO(),
    )
    assert Corpus.objects.get().license == "CC0"
