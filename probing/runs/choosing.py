"""What a run works on, from the names that a page, a request or a command gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Corpus, Split
from probing.measures.base import AnyMeasure, ResultKind, StimuliValue
from probing.measures.ceat import CeatParameters
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.measures.stimuli import Stimuli
from probing.measures.text_measure import TextMeasure
from probing.measures.text_stimuli import TextStimuli
from probing.models import LanguageModel
from probing.runs.defaults import default_prompts, default_templates
from probing.runs.errors import RunError
from probing.runs.fitting import explain_misfit
from probing.runs.parameters import validate_parameters
from probing.runs.sentence_files import GivenSentences
from probing.runs.sentence_stimuli import corpus_sentences, load_sentence_stimuli
from probing.runs.stimuli import DEFAULT_GROUPS, load_stimuli
from probing.runs.text_stimuli import load_text_stimuli


@dataclass(frozen=True)
class StimuliChoice:
    """Names of what a run works on; each measure reads those of its own kind of stimuli.

    Attributes
    ----------
    groups, templates, traits : slugs of the library, of entries or sets. Without templates those
        that the measure's paper found best, without traits all of them.
    corpus : of measures on texts or sentences; the caller has made sure that its user may see it.
    sentences : instead of a corpus, for measures on sentences.
    variety : takes only the corpus's texts in it; empty takes both; for measures on sentences.
    prompts : slugs; without any, the usual one for the kind of model.
    sources : takes only pairs, or texts, drawn from these; empty takes all.
    limit, examples : how many pairs at most, and how many examples before each text.
    """

    groups: Sequence[str] = (DEFAULT_GROUPS,)
    templates: Sequence[str] = ()
    traits: Sequence[str] | None = None
    corpus: Corpus | None = None
    sentences: GivenSentences | None = None
    variety: str = ""
    prompts: Sequence[str] = ()
    sources: Sequence[str] = ()
    limit: int | None = None
    examples: int = 0


@dataclass(frozen=True)
class Asked:
    """What a loader gets: the request as it was made, not yet looked up."""

    measure: AnyMeasure
    model: LanguageModel
    choice: StimuliChoice
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)


def choose_stimuli(
    *,
    measure: AnyMeasure,
    model: LanguageModel,
    choice: StimuliChoice,
    seed: int,
    parameters: Mapping[str, Any] | None = None,
) -> StimuliValue:
    """Return the stimuli of ``choice`` as ``measure`` needs them. Queries of their selector.

    Of the ``parameters`` some say which stimuli are needed, such as sentences per word.

    Raises :class:`RunError` naming each field that is wrong.
    """
    try:
        load = LOADERS[measure.stimuli_type]
    except KeyError:
        raise RunError.at("measure", f"{measure.title} cannot be chosen here.") from None
    return load(Asked(measure, model, choice, seed, parameters or {}))


def _groups(asked: Asked) -> Stimuli:
    choice = asked.choice
    return load_stimuli(
        groups=choice.groups,
        templates=choice.templates
        or default_templates(measure=asked.measure.name, model=asked.model),
        traits=choice.traits,
    )


def _sentences(asked: Asked) -> SentenceStimuli:
    choice, title = asked.choice, asked.measure.title
    if misfit := explain_misfit(title=title, abilities=asked.measure.abilities, model=asked.model):
        raise RunError.at("model", misfit)  # before a large file is read for nothing
    parameters = validate_parameters(asked.measure, asked.parameters)
    if not isinstance(parameters, CeatParameters):
        raise TypeError(f"{asked.measure.name} does not say how many sentences it takes")
    if choice.corpus is not None and choice.sentences is not None:
        raise RunError.at(
            "sentences", "A corpus and a file of sentences are given, expected one of the two."
        )
    given = choice.sentences
    if choice.corpus is not None:
        given = corpus_sentences(choice.corpus, variety=choice.variety, sources=choice.sources)
    if given is None:
        raise RunError.at(
            "corpus",
            f"{title} reads groups and adjectives in sentences. Choose a corpus, or give a file "
            "of sentences.",
        )
    return load_sentence_stimuli(
        given,
        groups=choice.groups,
        traits=choice.traits,
        adjectives=parameters.adjectives,
        per_word=parameters.sentences_per_word,
        seed=asked.seed,
    )


def _texts(asked: Asked) -> TextStimuli:
    measure, choice = asked.measure, asked.choice
    if not isinstance(measure, TextMeasure):
        raise TypeError(f"{measure.name} has stimuli of texts, but is no measure of texts")
    if choice.corpus is None:
        raise RunError.at(
            "corpus", f"{measure.title} works on the texts of a corpus. Choose a corpus."
        )
    if choice.prompts and not measure.uses_prompts:
        raise RunError.at("prompts", f"{measure.title} asks nothing in words, so takes no prompt.")
    if choice.examples and not measure.takes_examples:
        raise RunError.at("examples", f"{measure.title} shows no examples, so takes none.")
    trains = measure.result is ResultKind.TRAINED_MODEL
    return load_text_stimuli(
        choice.corpus,
        prompts=(choice.prompts or default_prompts(asked.model)) if measure.uses_prompts else (),
        sources=choice.sources or None,
        limit=choice.limit,
        examples=choice.examples,
        seed=asked.seed,
        split=Split.TRAINING if trains else Split.EVALUATION,
    )


#: A measure of another kind of stimuli needs a line here.
LOADERS: dict[type, Callable[[Asked], StimuliValue]] = {
    Stimuli: _groups,
    SentenceStimuli: _sentences,
    TextStimuli: _texts,
}
