"""Decided counterparts become pairs of the corpus: once, without doubles, and can change."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from annotation.corpora.corpus_import import import_corpus
from annotation.corpora.gold_pairs import GoldItem, add_gold_pairs
from annotation.models import Corpus, Counterpart, Split, Study, StudyKind, Text, TextPair

pytestmark = pytest.mark.django_db

TEXTS = "id,text,split\na,He be late,\nb,They ain’t here,\nc,She gone,\nd,We been knew,training\n"


@pytest.fixture
def corpus() -> Corpus:
    made = import_corpus(
        content=TEXTS.encode(), file_name="texts.csv", name="Texts", license="CC0"
    ).corpus
    assert made is not None
    return made


@pytest.fixture
def study() -> Study:
    return make_study("Writing")


def make_study(title: str) -> Study:
    return Study.objects.create(title=title, kind=StudyKind.COUNTERPART_WRITING)


def items(corpus: Corpus, **bodies: str) -> list[GoldItem]:
    return [GoldItem(corpus.texts.get(slug=name), body) for name, body in bodies.items()]


def settle(corpus: Corpus, study: Study, **bodies: str):
    return add_gold_pairs(corpus=corpus, study=study, items=items(corpus, **bodies))


def targets(corpus: Corpus) -> dict[str, str]:
    return {pair.source_text.slug: pair.target_text.body for pair in corpus.pairs.all()}


def test_counterparts_become_pairs_of_the_study(corpus, study):
    result = settle(corpus, study, a="He is usually late", d="We have known it long")
    assert result.added == ["a", "d"]
    assert targets(corpus) == {"a": "He is usually late", "d": "We have known it long"}
    target = Text.objects.get(slug="a-wme")
    assert (target.variety, target.source, target.split) == ("WME", "", Split.EVALUATION)
    assert Text.objects.get(slug="d-wme").split == Split.TRAINING
    assert {pair.study for pair in corpus.pairs.all()} == {study}


def test_a_repeat_changes_nothing(corpus, study):
    settle(corpus, study, a="Late", b="Not here")
    before = list(TextPair.objects.values()), list(Text.objects.values())
    result = settle(corpus, study, a="Late", b=" Not  here ")
    assert result.unchanged == ["a", "b"]
    assert (list(TextPair.objects.values()), list(Text.objects.values())) == before


def test_equal_counterparts_are_one_text(corpus, study):
    settle(corpus, study, a="Gone", c="Gone")
    assert corpus.texts.filter(variety="WME").count() == 1
    assert corpus.pairs.count() == 2


def test_another_decision_replaces_the_counterpart(corpus, study):
    settle(corpus, study, a="Late", c="Late")
    result = settle(corpus, study, a="He is late")
    assert result.replaced == ["a"]
    # c still has it; then nobody does, and the text goes.
    assert targets(corpus) == {"a": "He is late", "c": "Late"}
    assert settle(corpus, study, c="").removed == ["c"]
    assert targets(corpus) == {"a": "He is late"}
    assert not corpus.texts.filter(body="Late").exists()


def test_a_text_that_something_refers_to_stays(corpus, study):
    settle(corpus, study, a="Late")
    late = corpus.texts.get(body="Late")
    Counterpart.objects.create(text=late, variety="AAL", body="x", model="m@1", run="r")
    settle(corpus, study, a="")
    assert corpus.texts.filter(pk=late.pk).exists()


def test_imported_texts_are_used_and_never_deleted(corpus, study):
    import_corpus(content=b"text,variety\nLate,WME\n", file_name="w.csv", into=corpus)
    settle(corpus, study, a="Late")
    assert corpus.pairs.get().target_text.slug == "text-0005"
    settle(corpus, study, a="")
    assert corpus.texts.filter(slug="text-0005").exists()


def test_pairs_of_others_are_left_alone(corpus, study):
    settle(corpus, study, a="Late")
    result = settle(corpus, make_study("Another"), a="Tardy", b="Not here")
    assert list(result.refused) == ["a"]
    assert result.added == ["b"]
    assert targets(corpus)["a"] == "Late"


def test_training_texts_are_never_evaluated(corpus, study):
    settle(corpus, study, d="Known")
    result = settle(corpus, study, a="Known", b="We been knew", c="Gone")
    assert list(result.refused) == ["a", "b"]
    assert "other split" in result.refused["a"]
    assert set(targets(corpus)) == {"c", "d"}


def test_what_does_not_belong_is_refused_whole(corpus, study):
    settle(corpus, study, a="Late")
    late = corpus.texts.get(body="Late")
    for wrong in (
        [GoldItem(late, "x")],
        [*items(corpus, b="x"), *items(corpus, b="y")],
    ):
        with pytest.raises(ValidationError):
            add_gold_pairs(corpus=corpus, study=study, items=wrong)
    assert corpus.pairs.count() == 1


def test_the_number_of_queries_does_not_grow_with_unchanged_items(
    corpus, study, django_assert_max_num_queries
):
    settle(corpus, study, a="Late", b="Not here", c="Gone")
    same = items(corpus, a="Late", b="Not here", c="Gone")
    # Savepoint and release, the lock, the texts, the pairs.
    with django_assert_max_num_queries(5):
        add_gold_pairs(corpus=corpus, study=study, items=same)
