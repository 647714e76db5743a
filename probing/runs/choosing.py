"""What a run works on, from the names that a page, a request or a command gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.models import Corpus, Split
from probing.measures.base import AnyMeasure, ResultKind, StimuliValue
from probing.measures.stimuli import Stimuli
from probing.measures.text_measure import TextMeasure
from probing.measures.text_stimuli import TextStimuli
from probing.models import LanguageModel
from probing.runs.defaults import default_prompts, default_templates
from probing.runs.errors import RunError
from probing.runs.stimuli import DEFAULT_GROUPS, load_stimuli
from probing.runs.text_stimuli import load_text_stimuli


@dataclass(frozen=True)
class StimuliChoice:
    """Names of what a run works on; each measure reads those of its own kind of stimuli.

    Attributes
    ----------
    groups, templates, traits : slugs of the library, of entries or sets. Without templates those
        that the measure's paper found best, without traits all of them.
    corpus : of measures on texts; the caller has made sure that its user may see it.
    prompts : slugs; without any, the usual one for the kind of model.
    sources : takes only pairs drawn from these; empty takes all.
    limit, examples : how many pairs at most, and how many examples before each text.
    """

    groups: Sequence[str] = (DEFAULT_GROUPS,)
    templates: Sequence[str] = ()
    traits: Sequence[str] | None = None
    corpus: Corpus | None = None
    prompts: Sequence[str] = ()
    sources: Sequence[str] = ()
    limit: int | None = None
    examples: int = 0


def choose_stimuli(
    *, measure: AnyMeasure, model: LanguageModel, choice: StimuliChoice, seed: int
) -> StimuliValue:
    """Return the stimuli of ``choice`` as ``measure`` needs them. Queries of their selector.

    Raises :class:`RunError` naming each field that is wrong.
    """
    try:
        load = LOADERS[measure.stimuli_type]
    except KeyError:
        raise RunError.at("measure", f"{measure.title} cannot be chosen here.") from None
    return load(measure, model, choice, seed)


def _groups(measure: AnyMeasure, model: LanguageModel, choice: StimuliChoice, seed: int) -> Stimuli:
    return load_stimuli(
        groups=choice.groups,
        templates=choice.templates or default_templates(measure=measure.name, model=model),
        traits=choice.traits,
    )


def _texts(
    measure: AnyMeasure, model: LanguageModel, choice: StimuliChoice, seed: int
) -> TextStimuli:
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
        prompts=(choice.prompts or default_prompts(model)) if measure.uses_prompts else (),
        sources=choice.sources or None,
        limit=choice.limit,
        examples=choice.examples,
        seed=seed,
        split=Split.TRAINING if trains else Split.EVALUATION,
    )


#: A measure of another kind of stimuli needs a line here.
LOADERS: dict[type, Callable[[AnyMeasure, LanguageModel, StimuliChoice, int], StimuliValue]] = {
    Stimuli: _groups,
    TextStimuli: _texts,
}
