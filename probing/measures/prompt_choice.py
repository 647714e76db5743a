"""Filling prompts, and choosing the wording with the lowest perplexity.

Gonen et al. (2022): of several wordings of the same task, take the one whose filled prompts have
the lowest mean perplexity under the model that will answer them. Deas et al. (2023), §4.1, chose
the names of the varieties in this way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.common.lazy import np
from probing.lm.cache import BoundedCache
from probing.lm.text_protocols import TextScorer
from probing.measures.prompts import variety_name
from probing.measures.streams import named_stream
from probing.measures.text_measure import one_by_one_where_too_long, text_of, varieties
from probing.measures.text_stimuli import PromptStimulus, TextStimuli


class RememberingScorer(TextScorer, Protocol):
    """A scorer with a memory for what many shards share."""

    @property
    def cache(self) -> BoundedCache:
        """A bounded memory that lives as long as the model."""


@dataclass(frozen=True)
class PromptChoice:
    """The wording that is used, and how it was found.

    Attributes
    ----------
    prompt : the chosen wording.
    perplexities : mean perplexity of each wording's filled prompts, by slug; empty if none was
        measured.
    n : texts that went into every mean; those that do not fit with some wording are left out
        for all of them.
    """

    prompt: PromptStimulus
    perplexities: Mapping[str, float]
    n: int


def fill_prompt(
    prompt: PromptStimulus, text: str, variety: str, stimuli: TextStimuli, *, shots: bool = True
) -> str:
    """Return the prompt that asks for `text` in `variety`, after the examples if there are any.

    An example is the prompt filled with its text, a space and its counterpart, and an empty line.
    """
    source, target = _names(prompt, variety, stimuli)
    parts = []
    for pair in stimuli.examples if shots else ():
        answer = text_of(pair, variety, stimuli).body
        asked = text_of(pair, other_variety(variety, stimuli), stimuli).body
        shown = prompt.parsed.fill(text=asked, source=source, target=target)
        parts.append(f"{shown} {answer}\n\n")
    return "".join(parts) + prompt.parsed.fill(text=text, source=source, target=target)


def other_variety(variety: str, stimuli: TextStimuli) -> str:
    """Return the variety that is rewritten to get a text in `variety`."""
    source, target = varieties(stimuli)
    return source if variety == target else target


def draw_sample(items: Sequence[tuple[str, str]], *, size: int, seed: int) -> list[tuple[str, str]]:
    """Draw (pair, variety) items that the wordings are compared on, in their order."""

    rng = named_stream(seed, "prompt choice")
    chosen = rng.permutation(len(items))[:size]
    return [items[place] for place in sorted(chosen)]


def choose_prompt(
    stimuli: TextStimuli, sample: Sequence[tuple[str, str]], lm: RememberingScorer
) -> PromptChoice:
    """Return the wording of the lowest mean perplexity; of equal ones the first.

    Both directions count together, so that both are asked in the same wording. The examples of
    few-shot prompts are left out: they would be the same for all. Raises ValueError where no
    text fits with every wording.
    """
    key = ("prompt choice", stimuli.content_hash(), tuple(sample))
    return lm.cache.get_or_compute(key, lambda: _choose(stimuli, sample, lm))


def _choose(
    stimuli: TextStimuli, sample: Sequence[tuple[str, str]], lm: TextScorer
) -> PromptChoice:
    columns = []
    for prompt in stimuli.prompts:
        filled = [
            fill_prompt(prompt, _asked(slug, variety, stimuli), variety, stimuli, shots=False)
            for slug, variety in sample
        ]
        scored = one_by_one_where_too_long(lm.token_logprobs, filled)
        columns.append([_perplexity(logs) for logs in scored])
    values = np.array(columns, dtype=np.float64)  # (n_prompts, n_texts)
    complete = np.isfinite(values).all(axis=0)
    if not complete.any():
        raise ValueError(
            f"None of the {len(sample)} texts that the prompts are compared on fits with every "
            "prompt. Choose shorter prompts or texts, or a prompt yourself."
        )
    means = values[:, complete].mean(axis=1)
    return PromptChoice(
        prompt=stimuli.prompts[int(np.argmin(means))],
        perplexities={
            prompt.slug: float(mean) for prompt, mean in zip(stimuli.prompts, means, strict=True)
        },
        n=int(complete.sum()),
    )


def _perplexity(logprobs: np.ndarray | str) -> float:
    # Exp of minus the mean; a text without a scored token has none.
    if isinstance(logprobs, str) or len(logprobs) == 0:
        return float("nan")
    return float(np.exp(-np.mean(logprobs)))


def _asked(slug: str, variety: str, stimuli: TextStimuli) -> str:
    return text_of(stimuli.pair(slug), other_variety(variety, stimuli), stimuli).body


def _names(prompt: PromptStimulus, variety: str, stimuli: TextStimuli) -> tuple[str, str]:
    names = prompt.variety_names
    return (variety_name(names, other_variety(variety, stimuli)), variety_name(names, variety))
