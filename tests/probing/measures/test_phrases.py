"""Noun and verb phrases by a spaCy pipeline that is trained on the spot, on a few sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from probing.measures.span_prediction import (
    PipelineError,
    find_phrases,
    load_pipeline,
    pipeline_title,
)

spacy = pytest.importorskip("spacy")

# Words, universal parts of speech, heads and relations, annotated by hand.
SENTENCES = [
    ("he be cooking dinner", "PRON AUX VERB NOUN", [2, 2, 2, 2], "nsubj aux ROOT dobj"),
    (
        "she is working late .",
        "PRON AUX VERB ADV PUNCT",
        [2, 2, 2, 2, 2],
        "nsubj aux ROOT advmod punct",
    ),
    ("the dog sees a cat", "DET NOUN VERB DET NOUN", [1, 2, 2, 4, 2], "det nsubj ROOT det dobj"),
    ("they sleep", "PRON VERB", [1, 1], "nsubj ROOT"),
]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger of parts of speech and a parser that know these sentences by heart."""
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("morphologizer")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    examples = []
    for text, tags, heads, relations in SENTENCES:
        words = text.split(" ")
        known = Doc(
            nlp.vocab,
            words=words,
            pos=tags.split(" "),
            heads=heads,
            deps=relations.split(" "),
            sent_starts=[True] + [False] * (len(words) - 1),
        )
        examples.append(Example(Doc(nlp.vocab, words=words), known))
    spacy.util.fix_random_seed(0)
    nlp.initialize(lambda: examples)
    for _ in range(60):
        nlp.update(examples)
    folder = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(folder)
    return folder


def phrases(pipeline: Path, text: str) -> dict[str, list[str]]:
    found = find_phrases(load_pipeline(str(pipeline)), text)
    return {kind: [text[start:end] for start, end in spans] for kind, spans in found.items()}


def test_verb_phrases_begin_with_the_auxiliary_and_end_with_the_object(pipeline: Path) -> None:
    assert phrases(pipeline, "he be cooking dinner") == {
        "noun_phrase": ["he", "dinner"],
        "verb_phrase": ["be cooking dinner"],
    }
    assert phrases(pipeline, "the dog sees a cat") == {
        "noun_phrase": ["the dog", "a cat"],
        "verb_phrase": ["sees a cat"],
    }


def test_punctuation_at_the_end_belongs_to_no_phrase(pipeline: Path) -> None:
    assert phrases(pipeline, "she is working late .")["verb_phrase"] == ["is working late"]


def test_a_pipeline_says_its_name_and_version(pipeline: Path) -> None:
    assert spacy.__version__ in pipeline_title(load_pipeline(str(pipeline)))


def test_what_cannot_find_phrases_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="There is no spaCy pipeline “nowhere”"):
        load_pipeline("nowhere")
    spacy.blank("en").to_disk(tmp_path / "empty")
    with pytest.raises(PipelineError, match=r"has no parser \(it has: nothing\)"):
        load_pipeline(str(tmp_path / "empty"))
