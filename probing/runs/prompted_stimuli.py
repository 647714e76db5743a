"""Selector: labelled templates and lexicons with wordings that ask for a class, and examples."""

from __future__ import annotations

from collections.abc import Sequence

from probing.library.labelled_files import stored_texts
from probing.measures.class_prompt_library import DEMONSTRATION_SET, FEW_SHOT, ZERO_SHOT
from probing.measures.class_prompts import ClassPrompt
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import Demonstration, PromptedStimuli, draw_shots, vars_of
from probing.measures.prompts import PromptError
from probing.measures.stimuli import StimuliError
from probing.models import LabelledTextSet, Prompt, PromptPurpose
from probing.runs.errors import RunError
from probing.runs.probe_stimuli import find_entries
from probing.runs.stimuli import require_known

DEFAULT_EXAMPLES = DEMONSTRATION_SET[0]


def load_prompted_stimuli(
    probes: ProbeStimuli,
    *,
    prompts: Sequence[str] = (),
    examples: int = 0,
    examples_from: str = DEFAULT_EXAMPLES,
    seeds: Sequence[int] = (0,),
) -> PromptedStimuli:
    """Return the sentences with wordings, and demonstrations drawn for every seed. Two queries.

    prompts : slugs; without any the paper's, zero-shot or few-shot
    examples : demonstrations before each text, as many of each class
    examples_from : slug of a set of labelled texts

    Raises :class:`RunError` naming unknown slugs, prompts that ask for something else, and a class
    that the demonstrations lack.
    """
    if examples < 0:
        raise RunError.at("examples", f"The number of examples is {examples}, expected 0 or more.")
    wordings = _wordings(prompts or [FEW_SHOT if examples else ZERO_SHOT])
    if not examples:
        return PromptedStimuli(**vars_of(probes), wordings=wordings)
    (chosen,) = find_entries(LabelledTextSet, [examples_from])
    # Texts to validate and test with are shown to no model.
    shown = [one for one in stored_texts(chosen) if one.split in ("", "train")]
    texts = [Demonstration(one.text, one.label) for one in shown]
    try:
        shots = draw_shots(texts, examples, seeds, probes.classes)
    except StimuliError as error:
        raise RunError.at("examples", f"“{chosen.slug}”: {error}") from error
    return PromptedStimuli(**vars_of(probes), wordings=wordings, shots=shots)


def _wordings(slugs: Sequence[str]) -> tuple[ClassPrompt, ...]:
    known = {one.slug: one for one in Prompt.objects.filter(purpose=PromptPurpose.CLASSES)}
    wanted = list(dict.fromkeys(slugs))
    require_known("prompts", "prompt that asks for a class", wanted, known)
    try:
        return tuple(ClassPrompt(slug, known[slug].text) for slug in wanted)
    except PromptError as error:  # a text that went into the library round the validation
        raise RunError.at("prompts", str(error)) from error
