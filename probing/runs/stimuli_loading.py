"""Loads the stimuli of a run from the names that a page, a request or a command gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any

from annotation.models import Corpus, Split, Study
from probing.lm.errors import LanguageModelError
from probing.measures.base import AnyMeasure, ResultKind, StimuliValue
from probing.measures.ceat import CeatParameters
from probing.measures.classifier_fine_tuning import ClassifierTuningParameters
from probing.measures.guise_library import DEFAULT_ATTRIBUTES
from probing.measures.guise_parameters import MatchedGuiseParameters
from probing.measures.guise_stimuli import GuiseStimuli
from probing.measures.labeled_texts import LabeledTexts
from probing.measures.lexicon_library import DEFAULT_LEXICONS
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_measure import PromptedParameters
from probing.measures.prompted_stimuli import PromptedStimuli
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.measures.stimuli import Stimuli
from probing.measures.text_measure import TextMeasure
from probing.measures.text_stimuli import TextStimuli
from probing.models import LanguageModel, ModelKind
from probing.runs.errors import RunError
from probing.runs.guise_stimuli import load_guise_stimuli
from probing.runs.loaded_models import load_facts
from probing.runs.model_compatibility import compatibility_error
from probing.runs.parameters import find_measure, validate_parameters
from probing.runs.rating_stimuli import load_labeled_texts, load_probe_stimuli, load_rating_stimuli
from probing.runs.sentence_files import GivenSentences
from probing.runs.stimuli import DEFAULT_GROUPS, default_prompts, default_templates, load_stimuli
from probing.runs.text_stimuli import (
    DEFAULT_EXAMPLES,
    corpus_sentences,
    load_prompted_stimuli,
    load_sentence_stimuli,
    load_text_stimuli,
)


@dataclass(frozen=True)
class StimuliChoice:
    """Names of what a run works on; each measure reads those of its own kind of stimuli.

    Attributes
    ----------
    groups, templates, traits : slugs of the library, of entries or sets. Without templates those
        that the measure's paper found best, without traits all of them. For classification sets
        of labeled templates, and lexicons; for direct ratings slugs of the study's own.
    study : whose question is asked; the caller has made sure that its user may see it.
    corpus : of measures on texts or sentences; the caller has made sure that its user may see it.
    sentences : instead of a corpus, for measures on sentences.
    variety : takes only the corpus's texts in it; empty takes both; for measures on sentences.
    varieties : two of a corpus that has more, the first guise first, for matched guise probing.
    prompts : slugs; without any, the usual one for the kind of model, or for the attributes.
    sources : takes only pairs, or texts, drawn from these; empty takes all.
    attributes : slug of the word list whose words end the prompts, for matched guise probing.
    terms : instead of a corpus, names of two groups such as “Black/White”, each once per pair.
    limit, per_source, examples : how many pairs at most, in all or from each source, and how many
        examples before each text.
    texts : slug of a set of labeled texts, for fine-tuning a classifier.
    examples_from : slug of the labeled texts that examples of prompted classification come from.
    """

    groups: Sequence[str] = (DEFAULT_GROUPS,)
    templates: Sequence[str] = ()
    traits: Sequence[str] | None = None
    study: Study | None = None
    corpus: Corpus | None = None
    sentences: GivenSentences | None = None
    variety: str = ""
    varieties: Sequence[str] = ()
    prompts: Sequence[str] = ()
    sources: Sequence[str] = ()
    attributes: str = DEFAULT_ATTRIBUTES
    terms: Sequence[str] = ()
    limit: int | None = None
    per_source: int | None = None
    examples: int = 0
    texts: str = ""
    examples_from: str = DEFAULT_EXAMPLES

    @classmethod
    def of(cls, given: Mapping[str, Any], **found: Any) -> StimuliChoice:
        """Return the choice of what was given under the names of its fields, and what was found.

        found : what was looked up or put together; it stands instead of what was given
        """
        named = {one.name: given[one.name] for one in fields(cls) if one.name in given}
        return cls(**(named | found))


@dataclass(frozen=True)
class StimuliRequest:
    """What a loader gets: the names that were chosen, not yet looked up."""

    measure: AnyMeasure
    model: LanguageModel
    choice: StimuliChoice
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)


def run_request(
    *,
    measure: str,
    model: LanguageModel,
    choice: StimuliChoice,
    seed: int,
    parameters: Mapping[str, Any],
    dtype: str = "",
) -> dict[str, Any]:
    """Return the arguments that `create_run` and `dry_run` share, with the stimuli looked up.

    Raises :class:`RunError` for an unknown measure, and as :func:`choose_stimuli` does.
    """
    known: Any = {"model": model, "parameters": parameters}
    stimuli = choose_stimuli(measure=find_measure(measure), choice=choice, seed=seed, **known)
    chosen = {"measure": measure, "stimuli": stimuli, "corpus": choice.corpus, "dtype": dtype}
    return chosen | known


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
    return load(StimuliRequest(measure, model, choice, seed, parameters or {}))


def _groups(request: StimuliRequest) -> Stimuli:
    choice = request.choice
    return load_stimuli(
        groups=choice.groups,
        templates=choice.templates
        or default_templates(measure=request.measure.name, model=request.model),
        traits=choice.traits,
    )


def _sentences(request: StimuliRequest) -> SentenceStimuli:
    choice, title = request.choice, request.measure.title
    if misfit := compatibility_error(
        title=title, abilities=request.measure.abilities, model=request.model
    ):
        raise RunError.at("model", misfit)  # before a large file is read for nothing
    parameters = validate_parameters(request.measure, request.parameters)
    if not isinstance(parameters, CeatParameters):
        raise TypeError(f"{request.measure.name} does not say how many sentences it takes")
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
        seed=request.seed,
    )


def _texts(request: StimuliRequest) -> TextStimuli:
    measure, choice = request.measure, request.choice
    if not isinstance(measure, TextMeasure):
        raise TypeError(f"{measure.name} has stimuli of texts, but is not a measure of texts")
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
        prompts=(choice.prompts or _usual_prompts(request)) if measure.uses_prompts else (),
        sources=choice.sources or None,
        limit=choice.limit,
        per_source=choice.per_source,
        examples=choice.examples,
        seed=request.seed,
        split=Split.TRAINING if trains else Split.EVALUATION,
    )


def _usual_prompts(request: StimuliRequest) -> tuple[str, ...]:
    """Return the prompts of a run for which none is chosen, by how its model is asked."""
    measure, model = request.measure, request.model
    chat = model.kind == ModelKind.CHAT
    if not chat and "prompting" in measure.Parameters.model_fields:
        with suppress(LanguageModelError):  # which the dry run tells
            chat = bool(load_facts(model, measure.abilities).has_chat_template)
    raw = request.parameters.get("prompting") == "raw"
    return default_prompts(model, chat=chat and not raw)


def _guises(request: StimuliRequest) -> GuiseStimuli:
    choice = request.choice
    parameters = validate_parameters(request.measure, request.parameters)
    if not isinstance(parameters, MatchedGuiseParameters):
        raise TypeError(f"{request.measure.name} does not say which texts it compares")
    return load_guise_stimuli(
        choice.corpus,
        terms=choice.terms,
        attributes=choice.attributes,
        prompts=choice.prompts,
        varieties=choice.varieties,
        sources=choice.sources or None,
        limit=choice.limit,
        paired=parameters.matching == "paired",
        noise=parameters.noise_rate if parameters.first_guise == "noise" else None,
        seed=request.seed,
    )


def _probes(request: StimuliRequest) -> ProbeStimuli:
    choice = request.choice
    # Callers begin with the groups of other measures, which are no lexicons.
    lexicons = DEFAULT_LEXICONS if list(choice.groups) == [DEFAULT_GROUPS] else choice.groups
    return load_probe_stimuli(templates=choice.templates, lexicons=lexicons)


def _labeled_texts(request: StimuliRequest) -> LabeledTexts:
    parameters = validate_parameters(request.measure, request.parameters)
    if not isinstance(parameters, ClassifierTuningParameters):
        raise TypeError(f"{request.measure.name} does not say how its texts are split")
    return load_labeled_texts(
        request.choice.texts,
        validation_share=parameters.validation_share,
        test_share=parameters.test_share,
        seed=request.seed,
    )


def _ratings(request: StimuliRequest) -> RatingStimuli:
    choice = request.choice
    # Callers begin with the groups of other measures; here all of the study are usual.
    groups = () if list(choice.groups) == [DEFAULT_GROUPS] else choice.groups
    return load_rating_stimuli(choice.study, groups=groups, traits=choice.traits)


def _prompted(request: StimuliRequest) -> PromptedStimuli:
    choice = request.choice
    parameters = validate_parameters(request.measure, request.parameters)
    if not isinstance(parameters, PromptedParameters):
        raise TypeError(f"{request.measure.name} does not say how often it asks")
    return load_prompted_stimuli(
        _probes(request),
        prompts=choice.prompts,
        examples=choice.examples,
        examples_from=choice.examples_from,
        seeds=[request.seed + place for place in range(parameters.repeats)],
    )


#: A measure of another kind of stimuli needs a line here.
LOADERS: dict[type, Callable[[StimuliRequest], StimuliValue]] = {
    Stimuli: _groups,
    SentenceStimuli: _sentences,
    TextStimuli: _texts,
    GuiseStimuli: _guises,
    ProbeStimuli: _probes,
    LabeledTexts: _labeled_texts,
    RatingStimuli: _ratings,
    PromptedStimuli: _prompted,
}
