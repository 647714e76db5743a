"""A small corpus of sentences, and requests for runs that read groups in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.corpora.corpus_import import import_corpus
from annotation.models import Corpus
from probing.measures.registry import get_measure
from probing.models import LanguageModel, Run
from probing.runs.creation import create_run
from probing.runs.sentence_files import listed_sentences
from probing.runs.stimuli_loading import StimuliChoice, choose_stimuli

GROUPS = ("man", "woman", "teenager", "elderly")
TRAITS = ("poor-wealthy", "cold-warm")

#: Everything but the elderly occurs, every word more than once.
SENTENCES = (
    "The man was warm to his friend.",
    "Some men are poor.",
    "The woman was cold and the man was not.",
    "Many women are wealthy.",
    "That woman is warm.",
    "The teenager is poor.",
    "Teenagers like a cold drink on a warm day.",
    "A wealthy man lives there.",
    "It was a cold day.",
    "Wealthy people and poor people met.",
)


def write_sentences(folder: Path, *sentences: str) -> Path:
    """Return a file with one sentence a line; the usual ones without any."""
    file = folder / "sentences.txt"
    file.write_text("\n".join(sentences or SENTENCES) + "\n", encoding="utf-8")
    return file


def make_text_corpus(
    sentences: tuple[str, ...] = SENTENCES, *, owner: User | None = None, name: str = "Sentences"
) -> Corpus:
    """A corpus of single texts, imported as a researcher does; from “blogs” and “forums” in turn.

    A text of the training split holds the word that the others lack.
    """
    rows = ["text\tsource\tsplit\tvariety"]
    rows += [
        f"{text}\t{('blogs', 'forums')[number % 2]}\tevaluation\t{('AAL', 'WME')[number % 2]}"
        for number, text in enumerate(sentences)
    ]
    rows.append("All elderly people are here.\tblogs\ttraining\tAAL")
    result = import_corpus(
        content="\n".join(rows).encode(),
        file_name="texts.tsv",
        name=name,
        license="CC0",
        owner=owner,
    )
    assert result.corpus is not None
    return result.corpus


def make_sentence_run(
    model: LanguageModel,
    *,
    sentences: tuple[str, ...] = SENTENCES,
    corpus: Corpus | None = None,
    groups: tuple[str, ...] = GROUPS,
    traits: tuple[str, ...] | None = TRAITS,
    seed: int = 7,
    **parameters: Any,
) -> Run:
    """Create a run of CEAT as the interfaces do, on a corpus or on these sentences."""
    given = None if corpus else listed_sentences(sentences, name="Ten sentences")
    stimuli = choose_stimuli(
        measure=get_measure("ceat"),
        model=model,
        choice=StimuliChoice(groups=groups, traits=traits, corpus=corpus, sentences=given),
        seed=seed,
        parameters=parameters,
    )
    return create_run(
        measure="ceat",
        model=model,
        stimuli=stimuli,
        parameters=parameters,
        seed=seed,
        created_by=None,
        corpus=corpus,
    )
