"""Which pairs and counterparts are drawn, and who is known to have written one."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.exceptions import ValidationError

from annotation.judgments.questions import HUMAN, draw_items, find_writers, list_producers
from annotation.models import Adjudication, Counterpart, Split, StudyKind
from tests.annotation.annotators.people import make_account, make_annotated_study
from tests.annotation.judgments.corpora import (
    RUNS,
    add_counterpart,
    make_corpus,
    make_pair,
    make_study,
    make_text,
    write_counterpart,
)

pytestmark = pytest.mark.django_db
FIRST, SECOND = RUNS


def test_every_producer_is_judged_in_both_directions():
    """4 pairs, 2 directions, 2 models and people: 24 counterparts."""
    draw = draw_items(make_study(make_corpus(4)).judging)
    assert len(draw.pairs) == 4
    counts = Counter((one.producer, one.variety) for one in draw.items)
    assert counts == {
        (producer, variety): 4 for producer in (HUMAN, *RUNS.values()) for variety in ("AAL", "WME")
    }
    for one in draw.items:
        assert one.text.variety != one.variety
    human = [one for one in draw.items if one.producer == HUMAN and one.variety == "AAL"]
    assert {one.body for one in human} == {one.pair.source_text.body for one in human}
    assert {one.text for one in human} == {one.pair.target_text for one in human}


def test_the_seed_draws_the_pairs():
    corpus = make_corpus(12)
    drawn = [
        [pair.slug for pair in draw_items(make_study(corpus, n_texts=4, seed=seed).judging).pairs]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_texts_for_training_are_never_drawn():
    corpus = make_corpus(2)
    make_pair(corpus, 9, split=Split.TRAINING)
    draw = draw_items(make_study(corpus, n_texts=3).judging)
    assert draw.eligible == 2
    assert [(one.n, one.reason) for one in draw.left_out] == [
        (1, "texts for training, which are never judged")
    ]


def test_incomplete_pairs_are_left_out_and_the_reason_says_whose_counterpart_is_missing():
    corpus = make_corpus(3)
    incomplete = make_pair(corpus, 7, runs=[FIRST])
    add_counterpart(incomplete.source_text, "WME", SECOND, "")  # asked, but nothing came
    add_counterpart(incomplete.target_text, "AAL", SECOND, "dey read")
    draw = draw_items(make_study(corpus).judging)
    assert incomplete not in draw.pairs
    assert [(one.n, one.reason) for one in draw.left_out] == [
        (1, f"no WME counterpart by {RUNS[SECOND]} (run {SECOND})")
    ]


def test_incomplete_pairs_can_be_drawn_too_and_what_is_missing_is_counted():
    corpus = make_corpus(1)
    make_pair(corpus, 7, runs=[FIRST])
    draw = draw_items(make_study(corpus, complete=False).judging)
    assert (draw.eligible, draw.missing, draw.left_out) == (2, 2, [])
    assert len(draw.items) == 6 + 4


def test_of_pairs_with_the_same_counterpart_one_is_drawn():
    corpus = make_corpus(1)
    target = corpus.pairs.get().target_text
    make_pair(corpus, 2, target=target)
    draw = draw_items(make_study(corpus).judging)
    assert len(draw.pairs) == 1
    assert [one.reason for one in draw.left_out] == ["the same WME text as another pair"]


def test_the_draw_asks_three_times_and_the_writers_two(django_assert_num_queries):
    design = make_study(make_corpus(6)).judging
    _ = design.corpus
    with django_assert_num_queries(3):
        draw = draw_items(design)
    with django_assert_num_queries(2):
        find_writers(draw.pairs)


def test_producers_are_found_with_what_they_wrote():
    corpus = make_corpus(2, runs=[FIRST])
    make_text(corpus, "alone", "AAL", "they been here")
    add_counterpart(corpus.texts.get(slug="alone"), "WME", SECOND, "They have been here.")
    found = {one.run: (one.model, dict(one.into)) for one in list_producers(corpus)}
    assert found == {
        FIRST: (RUNS[FIRST], {"AAL": 2, "WME": 2}),
        SECOND: (RUNS[SECOND], {"WME": 1}),
    }


def test_writers_are_those_who_wrote_refused_or_decided_either_text_anywhere():
    corpus = make_corpus(4)
    first, second, third, fourth = corpus.pairs.order_by("pk")
    ann = write_counterpart("ann", first.source_text).user
    ben = write_counterpart("ben", second.target_text).user  # the way back counts too
    dora = make_account("dora")
    Adjudication.objects.create(
        study=make_annotated_study(), text=third.source_text, body="gold", decided_by=dora
    )
    # The same words in another corpus, and a text that could not be interpreted.
    twin = make_corpus(1, name="Copies", runs=[])
    text = make_text(twin, "copy", "AAL", f"  {fourth.source_text.body} ")
    eve = write_counterpart("eve", text).user
    Counterpart.objects.filter(text=text).update(
        body="", not_interpretable=True, reason="unknown word"
    )
    writers = find_writers([first, second, third, fourth])
    assert writers == {
        first.pk: {ann.pk},
        second.pk: {ben.pk},
        third.pk: {dora.pk},
        fourth.pk: {eve.pk},
    }


def test_a_design_without_anybody_to_judge_is_refused():
    with pytest.raises(ValidationError, match="include the human counterparts"):
        make_study(make_corpus(1), runs=[], include_human=False)


def test_an_unknown_run_is_refused_by_name():
    with pytest.raises(ValidationError, match="is stored from: zzzz9999zzzz"):
        make_study(make_corpus(1), runs=["zzzz9999zzzz"])


def test_a_model_that_wrote_one_direction_alone_needs_another_run_or_incomplete_pairs():
    corpus = make_corpus(2, runs=[FIRST])
    add_counterpart(corpus.pairs.first().source_text, "WME", SECOND, "They read.")
    with pytest.raises(ValidationError, match="tiny-gpt@9e1d wrote nothing into AAL"):
        make_study(corpus)
    assert make_study(corpus, complete=False).kind == StudyKind.COUNTERPART_JUDGMENT
