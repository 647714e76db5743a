"""Runs that read groups in sentences: through the engine, from a corpus or a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from probing.measures.ceat import CORPUS
from probing.measures.registry import MEASURES
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.models import LanguageModel, Run, RunStatus
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.sentence_files import listed_sentences, open_sentences
from probing.runs.stimuli_loading import StimuliChoice, choose_stimuli
from probing.runs.text_stimuli import corpus_sentences
from probing.runs.worker import work
from tests.probing.runs.fixtures import few_stimuli, scores_of
from tests.probing.runs.sentence_fixtures import (
    GROUPS,
    SENTENCES,
    TRAITS,
    make_sentence_run,
    make_text_corpus,
)

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

CEAT = MEASURES["ceat"]


def finished(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


# --- through the engine ---------------------------------------------------------------------------


@pytest.mark.services
@pytest.mark.parametrize("checkpoint", ["tiny-bert", "tiny-roberta"])
def test_a_run_scores_every_group_that_occurs_and_says_why_another_has_no_score(
    checkpoints: Path, checkpoint: str
) -> None:
    run = finished(make_sentence_run(register_model(location=str(checkpoints / checkpoint))))
    assert run.shard_count == len(GROUPS)
    scores = scores_of(run)
    for group in GROUPS:
        for trait in TRAITS:
            value, reason, n = scores["pair_score", group, trait, CORPUS]
            assert scores["pair_score", group, trait, ""] == (value, reason, n)
            if group == "elderly":
                assert (value, n) == (None, 0)
                assert reason == "the group does not occur in the corpus"
            else:
                # Two means of numbers with standard deviation s differ by 2s·√(n−1)/√n at most.
                assert value is not None
                assert abs(value) < 2
                assert n > 2
    # SENTENCES by eye: the man stands in 4, “cold” in 3 and “warm” in 3: 4 × (3 + 3) cosines.
    assert scores["pair_score", "man", "cold-warm", ""][2] == 4 * (3 + 3)
    assert any("“elderly people” does not occur in “Ten sentences”" in note for note in run.notices)
    assert any("out of 10 of “Ten sentences”" in note for note in run.notices)


def test_the_sample_has_the_stated_size_and_depends_on_the_seed_alone(bert: LanguageModel) -> None:
    def drawn(seed: int) -> Any:
        run = make_sentence_run(bert, seed=seed, sentences_per_word=2)
        return run.stimuli["contexts"]

    first = drawn(1)
    assert {len(sample["drawn"]) for key, sample in first.items() if key != "group:elderly"} == {2}
    assert first["group:man"]["n_found"] == 4
    assert drawn(1) == first
    assert any(drawn(seed) != first for seed in range(2, 6))


def test_lists_of_adjectives_are_drawn_for_and_have_p_values(bert: LanguageModel) -> None:
    # Table A7: cold, unfriendly, unkind, aloof against warm, friendly, kind, loving.
    words = ["unfriendly", "unkind", "aloof", "friendly", "kind", "loving"]
    sentences = (*SENTENCES, *(f"They are {word} people." for word in words))
    run = finished(
        make_sentence_run(
            bert,
            sentences=sentences,
            traits=("cold-warm",),
            adjectives="lists",
            draws=100,
            p_value="permutation",
        )
    )
    scores = scores_of(run)
    value, _, n = scores["pair_score", "man", "cold-warm", ""]
    assert value is not None
    assert n == 100
    p, _, _ = scores["p_value", "man", "cold-warm", ""]
    assert p is not None
    assert 0 <= p <= 1
    assert ("p_value", "elderly", "cold-warm", "") not in scores


def test_a_dry_run_counts_what_is_read_and_tells_the_time_after_a_first_run(
    bert: LanguageModel,
) -> None:
    run = make_sentence_run(bert)
    stimuli = choose_stimuli(
        measure=CEAT,
        model=bert,
        choice=StimuliChoice(
            groups=GROUPS, traits=TRAITS, sentences=listed_sentences(SENTENCES, name="x")
        ),
        seed=7,
    )
    tried = dry_run(measure="ceat", model=bert, stimuli=stimuli, parameters={})
    assert tried.cost is not None
    assert tried.cost.shards == 4
    # By eye: man 4, woman 3, teenager 2; poor 3, wealthy 3, cold 3, warm 3.
    assert tried.cost.forward_passes == 4 + 3 + 2 + 3 + 3 + 3 + 3
    assert tried.seconds is None
    finished(run)
    again = dry_run(measure="ceat", model=bert, stimuli=stimuli, parameters={})
    assert again.seconds is not None


# --- where the sentences come from ----------------------------------------------------------------


def test_a_corpus_gives_its_lines_without_the_training_split() -> None:
    corpus = make_text_corpus((*SENTENCES[:3], "One line.\\nStill one."))
    assert list(corpus_sentences(corpus).sentences)[:3] == list(SENTENCES[:3])
    assert not any("elderly" in line for line in corpus_sentences(corpus).sentences)
    corpus.texts.filter(body=SENTENCES[0]).update(body="A man.\nA woman.\r\n\nThe end.")
    assert [line for line in corpus_sentences(corpus).sentences if line][:3] == [
        "A man.",
        "A woman.",
        "The end.",
    ]


def test_varieties_and_sources_of_a_corpus_are_chosen() -> None:
    corpus = make_text_corpus()
    evens, odds = list(SENTENCES[::2]), list(SENTENCES[1::2])
    assert list(corpus_sentences(corpus, variety="AAL").sentences) == evens
    assert list(corpus_sentences(corpus, sources=["forums"]).sentences) == odds


@pytest.mark.parametrize(
    ("options", "where", "said"),
    [
        ({"variety": "SAE"}, "variety", "AAL or WME"),
        ({"sources": ["letters"]}, "sources", "“blogs”, “forums”"),
    ],
)
def test_varieties_and_sources_that_are_not_there_are_named(
    options: dict[str, Any], where: str, said: str
) -> None:
    with pytest.raises(RunError) as caught:
        corpus_sentences(make_text_corpus(), **options)
    assert [problem.where for problem in caught.value.problems] == [where]
    assert said in str(caught.value)


def test_a_run_on_a_corpus_names_it(bert: LanguageModel) -> None:
    corpus = make_text_corpus()
    run = make_sentence_run(bert, corpus=corpus)
    assert run.corpus == corpus
    assert run.stimuli["source"]["name"] == "Sentences"
    assert run.stimuli["source"]["n_sentences"] == len(SENTENCES)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "A man.\n\n  A woman. \r\n"),
        ("a.TXT", "\ufeffA man.\nA woman."),
        ("a.tsv", 'id\tsentence\n1\tA man.\n\n2\t"A woman."'),
        ("a.csv", 'id;text\n1;A man.\n2;"A woman."\n'),
        ("a.csv", 'text,id\n"A man.",1\n"A\nwoman.",2\n'),
        ("a.jsonl", '{"text": "A man.", "id": 3}\n\n"A woman."\n'),
        ("a.ndjson", '{"sentence": "A man."}\n{"sentence": "A\\nwoman."}'),
    ],
)
def test_files_of_all_kinds_are_read(name: str, content: str) -> None:
    given = open_sentences(io.BytesIO(content.encode()), file_name=f"some/folder/{name}")
    assert given.name == name
    assert [text.strip('"') for text in given.sentences] == ["A man.", "A woman."]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "A man.\nA wöman.\n".encode("windows-1252")),
        ("a.csv", "id\ttext\n1\tA man.\n2\tA wöman.\n".encode("utf-16")),
        ("a.csv", "Q7;id\nA man.;1\nA wöman.;2\n".encode()),
        ("a.json", json.dumps([{"Q7": "A man."}, {"Q7": "A wöman."}]).encode()),
        ("a.jsonl", b'{"Q7": "A man.", "text": "x"}\n{"Q7": "A w\\u00f6man."}'),
    ],
)
def test_common_encodings_and_columns_of_other_names_are_read(name: str, content: bytes) -> None:
    column = "Q7" if b"Q7" in content else ""
    given = open_sentences(io.BytesIO(content), file_name=name, column=column)
    assert list(given.sentences) == ["A man.", "A wöman."]
    assert ["Windows-1252" in notice for notice in given.notices] == [True] * (
        b"\xf6man.\n" in content
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", b"x", ".jsonl"),
        ("a", b"x", "cannot be read"),
        ("a.txt", "A mön.\n".encode() + "A wöman.".encode("latin-1"), "Line 2 is in another"),
        ("a.txt", "A mön.\n".encode("latin-1") + "A wöman.".encode(), "Line 2 is in another"),
        ("a.txt", b"\xff\xfeA\x00 ", "broken UTF-16"),
        ("a.json", b"[", "not JSON"),
        ("a.txt", b"A man.\nA \x00 woman.", "Line 2 holds a control character"),
        ("a.txt", b"x" * 10_001, "10,001 characters"),
        ("a.tsv", b"A man.\tx\n", "expected a column"),
        ("a.tsv", b"id\ttext\n1\tA man.\n2\n", "Line 3 has 1 cells, expected 2"),
        ("a.csv", b'id,text\n1,"A man.\n', "quotation mark"),
        ("a.jsonl", b'{"text": "A man."}\n{', "Line 2 is not JSON"),
        ("a.jsonl", b'{"body": "A man."}', "expected a text"),
        ("a.jsonl", b'{"text": 3}', "expected a text"),
        ("a.jsonl", b'{"text": "a\\ud800"}', "control character"),
    ],
)
def test_what_is_no_sentence_is_named_with_its_line(name: str, content: bytes, said: str) -> None:
    with pytest.raises(RunError) as caught:
        list(open_sentences(io.BytesIO(content), file_name=name).sentences)
    assert [problem.where for problem in caught.value.problems] == ["sentences"]
    assert said in str(caught.value)


# --- what is refused before any work starts -------------------------------------------------------


def refusal(model: LanguageModel, sentences: tuple[str, ...], **parameters: Any) -> RunError:
    with pytest.raises(RunError) as caught:
        make_sentence_run(model, sentences=sentences, **parameters)
    assert not Run.objects.exists()
    return caught.value


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        ((), "“Ten sentences” holds no sentences"),
        (("", "   "), "holds no sentences"),
        (("It is cold.", "It is warm."), "None of the groups occurs in the 2 sentences"),
        (("The man is warm.", "A man."), "No trait has sentences for all adjectives"),
        (("The man is here.", "It is warm.", "It is cold."), "say too little"),
    ],
)
def test_sentences_from_which_nothing_could_be_scored_are_refused(
    bert: LanguageModel, sentences: tuple[str, ...], said: str
) -> None:
    error = refusal(bert, sentences)
    assert [problem.where for problem in error.problems] == ["sentences"]
    assert said in str(error)


def test_sentences_that_are_all_too_long_count_as_none(bert: LanguageModel) -> None:
    long = "very " * 70
    error = refusal(bert, tuple(f"{text} {long}" for text in SENTENCES))
    assert "None of the groups" in str(error)


def test_a_corpus_without_texts_is_refused(bert: LanguageModel) -> None:
    corpus = make_text_corpus()
    corpus.texts.filter(split="evaluation").delete()
    with pytest.raises(RunError, match="no text to read sentences from") as caught:
        make_sentence_run(bert, corpus=corpus)
    assert caught.value.problems[0].where == "corpus"


def test_neither_or_both_of_corpus_and_file_are_refused(bert: LanguageModel) -> None:
    for choice, where in (
        (StimuliChoice(groups=GROUPS), "corpus"),
        (
            StimuliChoice(
                groups=GROUPS,
                corpus=make_text_corpus(),
                sentences=listed_sentences(SENTENCES, name="x"),
            ),
            "sentences",
        ),
    ):
        with pytest.raises(RunError) as caught:
            choose_stimuli(measure=CEAT, model=bert, choice=choice, seed=0)
        assert [problem.where for problem in caught.value.problems] == [where]


def test_a_model_that_gives_no_embeddings_is_refused_before_a_file_is_read() -> None:
    def unread() -> Any:
        raise AssertionError("the file was read")
        yield ""

    model = register_model(location="http://localhost:11434/v1", served_name="llama3.2")
    choice = StimuliChoice(groups=GROUPS, sentences=listed_sentences(unread(), name="x"))
    with pytest.raises(
        RunError, match=r"needs a masked, causal, or .*; “llama3\.2” is chat"
    ) as caught:
        choose_stimuli(measure=CEAT, model=model, choice=choice, seed=0)
    assert caught.value.problems[0].where == "model"


def test_stimuli_of_another_kind_or_for_other_parameters_are_refused(bert: LanguageModel) -> None:
    with pytest.raises(RunError, match="works on groups in sentences, but got groups and templ"):
        create_run(
            measure="ceat",
            model=bert,
            stimuli=few_stimuli(),
            parameters={},
            seed=0,
            created_by=None,
        )
    run = make_sentence_run(bert)
    stimuli = SentenceStimuli.from_json(run.stimuli)
    for parameters, where in (
        ({"adjectives": "lists"}, "parameter adjectives"),
        ({"sentences_per_word": 5}, "parameter sentences_per_word"),
    ):
        tried = dry_run(measure="ceat", model=bert, stimuli=stimuli, parameters=parameters)
        assert [problem.where for problem in tried.fatal] == [where]


def test_draws_of_single_adjectives_carry_a_warning(bert: LanguageModel) -> None:
    run = make_sentence_run(bert, combination="draws", draws=50)
    assert any("+√2 or −√2" in note for note in run.notices)
