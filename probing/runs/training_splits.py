"""Keeps training and evaluation texts apart, by split and by wording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from annotation.corpora.bodies import hash_body
from annotation.models import Corpus, Split, Text, TextPair
from probing.measures.base import AnyMeasure, Problem, ResultKind
from probing.measures.guise_stimuli import GuiseStimuli, GuiseText
from probing.measures.text_stimuli import PairStimulus, TextStimuli, TextStimulus
from probing.models import LanguageModel, Run

NAMED = 5
# Below the smallest number of variables that a database allows in one query.
SLUGS_PER_QUERY = 400


def split_problems(
    measure: AnyMeasure, model: LanguageModel, stimuli: Any, corpus: Corpus | None
) -> list[Problem]:
    """Return why a run of ``measure`` would mix training and evaluation; all are fatal."""
    if not isinstance(stimuli, TextStimuli | GuiseStimuli):
        return []
    if measure.result is not ResultKind.TRAINED_MODEL or isinstance(stimuli, GuiseStimuli):
        return evaluation_problems(model, stimuli)
    if corpus is None:
        return [_fatal("A training names the corpus of its pairs. Choose the corpus.")]
    return training_problems(corpus, stimuli)


def training_problems(corpus: Corpus, stimuli: TextStimuli) -> list[Problem]:
    """Return why these pairs of ``corpus`` must not be trained on.

    A pair has to be of the training split on both sides, and none of its bodies, white space
    aside, may be that of a text to evaluate. Two queries and one per 400 pairs.
    """
    found = []
    training = _slugs_in_training(corpus, [pair.slug for pair in stimuli.pairs])
    evaluated_pairs = [pair.slug for pair in stimuli.pairs if pair.slug not in training]
    if evaluated_pairs:
        found.append(
            _fatal(
                f"{_named(evaluated_pairs, 'pair')} not in the training split of “{corpus.name}”. "
                "Only training pairs may be trained on."
            )
        )
    evaluated = dict(
        Text.objects.filter(corpus=corpus, split=Split.EVALUATION).values_list("body_hash", "slug")
    )
    shared = [
        f"{text.slug} (as {evaluated[hash_body(text.body)]})"
        for text in _texts(stimuli.pairs)
        if hash_body(text.body) in evaluated
    ]
    if shared:
        found.append(
            _fatal(
                f"{_named(shared, 'training text')} word for word a text to evaluate. Training "
                "texts are never evaluated: take it out of one of the two splits."
            )
        )
    return found


def evaluation_problems(model: LanguageModel, stimuli: TextStimuli | GuiseStimuli) -> list[Problem]:
    """Return which texts ``model`` was trained on, so that they must not be evaluated with it.

    Looks through the trainings of the model and of those it was trained from. Two queries for
    each of them, none for a model that was not trained here.
    """
    seen = _hashes_trained_on(model)
    if not seen:
        return []
    texts: Iterable[TextStimulus | GuiseText] = (
        [*stimuli.first, *stimuli.second]
        if isinstance(stimuli, GuiseStimuli)
        else _texts(stimuli.pairs)
    )
    shared = [text.slug for text in texts if hash_body(text.body) in seen]
    if not shared:
        return []
    return [
        _fatal(
            f"{_named(list(dict.fromkeys(shared)), 'text')} among those that “{model.name}” was "
            "trained on. Training texts are never evaluated: choose other texts."
        )
    ]


def _hashes_trained_on(model: LanguageModel) -> set[str]:
    found: set[str] = set()
    trained: LanguageModel | None = model
    while trained is not None and trained.training_run:
        runs = Run.objects.filter(public_id=trained.training_run)
        for stimuli in runs.values_list("stimuli", flat=True):
            pairs = TextStimuli.from_json(stimuli).pairs
            found |= {hash_body(text.body) for text in _texts(pairs)}
        trained = trained.trained_from
    return found


def _slugs_in_training(corpus: Corpus, slugs: list[str]) -> set[str]:
    training = TextPair.objects.filter(
        corpus=corpus, source_text__split=Split.TRAINING, target_text__split=Split.TRAINING
    )
    found: set[str] = set()
    for begin in range(0, len(slugs), SLUGS_PER_QUERY):
        some = slugs[begin : begin + SLUGS_PER_QUERY]
        found |= set(training.filter(slug__in=some).values_list("slug", flat=True))
    return found


def _texts(pairs: Iterable[PairStimulus]) -> Iterator[TextStimulus]:
    for pair in pairs:
        yield pair.source
        yield pair.target


def _named(names: list[str], noun: str) -> str:
    """Return how many there are and the first of them, with the verb."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    listed = ", ".join(names[:NAMED]) + more
    one = len(names) == 1
    return f"{len(names)} {noun}{'' if one else 's'} ({listed}) {'is' if one else 'are'}"


def _fatal(message: str) -> Problem:
    return Problem(where="corpus", message=message, fatal=True)
