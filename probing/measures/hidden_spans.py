"""Spans that masked span prediction hides: one for each text, condition and trial.

Deas et al. (2023), §4: spans of words, length ~ Poisson(2), position uniform over the words; noun
phrases and verb phrases by themselves. No code is released, so the details are ours: a length of 0
is drawn again (a zero-truncated Poisson), a length is at most one word less than the text, and the
start is uniform over the positions at which the span fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from annotation.common.lazy import np
from probing.lm.text_protocols import SpanContext
from probing.measures.base import MeasureParameters, Problem, in_words
from probing.measures.phrases import Offsets, find_phrases, load_pipeline, pipeline_title
from probing.measures.streams import named_stream
from probing.measures.text_measure import NAMED_TEXTS, all_texts, text_of
from probing.measures.text_stimuli import TextStimuli, TextStimulus

_WORD = re.compile(r"\S+")


def word_offsets(text: str) -> list[Offsets]:
    """Return where each word begins and ends; a word is a run without white space."""
    return [match.span() for match in _WORD.finditer(text)]


def draw_length(n_words: int, *, mean: float, rng: np.random.Generator) -> int:
    """Draw a length from Poisson(`mean`) without 0, at most `n_words` - 1.

    Raises ValueError for fewer than two words, of which none can be hidden with context left.
    """
    if n_words < 2:
        raise ValueError(f"a text of {n_words} words has no span with a word of context")
    length = 0
    while length == 0:
        length = int(rng.poisson(mean))
    return min(length, n_words - 1)


def draw_random_span(text: str, *, mean: float, rng: np.random.Generator) -> Offsets | None:
    """Draw the offsets of a span of whole words; None where the text has fewer than two."""
    words = word_offsets(text)
    if len(words) < 2:
        return None
    length = draw_length(len(words), mean=mean, rng=rng)
    first = int(rng.integers(len(words) - length + 1))
    return words[first][0], words[first + length - 1][1]


def admissible(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """Return the spans without the white space at their ends, sorted, each once.

    Empty ones and those that leave no word of context are left out.
    """
    kept = set()
    for start, end in spans:
        inside = text[start:end]
        begin = start + len(inside) - len(inside.lstrip())
        stop = begin + len(inside.strip())
        if begin < stop and (text[:begin] + text[stop:]).strip():
            kept.add((begin, stop))
    return sorted(kept)


def draw_phrase(text: str, spans: Sequence[Offsets], *, rng: np.random.Generator) -> Offsets | None:
    """Draw one of the admissible spans, each as likely; None where there is none."""
    choices = admissible(text, spans)
    return choices[int(rng.integers(len(choices)))] if choices else None


def hide(text: str, span: Offsets) -> SpanContext:
    """Return the text with the span at `span` hidden."""
    start, end = span
    return SpanContext(before=text[:start], span=text[start:end], after=text[end:])


Condition = Literal["random", "noun_phrase", "verb_phrase", "given"]

PHRASES = ("noun_phrase", "verb_phrase")


class SpanPredictionParameters(MeasureParameters):
    """Parameters of masked span prediction."""

    conditions: tuple[Condition, ...] = Field(
        ("random",),
        min_length=1,
        title="Hidden spans",
        description="Which spans are hidden, each condition by itself: runs of words of random "
        "length and place (random), noun phrases, verb phrases, or the spans of the kind “given” "
        "that were imported with the corpus (given).",
        json_schema_extra=in_words(
            {
                "random": "words at random",
                "noun_phrase": "noun phrases",
                "verb_phrase": "verb phrases",
                "given": "imported with the corpus",
            }
        ),
    )
    trials: int = Field(
        5,
        ge=1,
        le=100,
        description="How often every text is tried, each time with another span drawn.",
    )
    mean_length: float = Field(
        2.0,
        gt=0,
        le=50,
        title="Mean of the length",
        description="Mean of the Poisson distribution that random lengths are drawn from, in "
        "words; 0 is drawn again and one word of context always stays.",
    )
    pipeline: str | None = Field(
        None,
        max_length=500,
        title="spaCy pipeline",
        description="Name or folder of the spaCy pipeline that finds noun and verb phrases on the "
        "workers. Without one, the phrases that were imported with the corpus are taken.",
    )
    normalise: bool = Field(
        True,
        title="Renormalise the entropy",
        description="Whether the probabilities of the five likeliest spans are divided by their "
        "sum before the entropy is taken, so that it is at most ln 5.",
    )
    pairs_per_shard: int = Field(
        20,
        ge=1,
        le=10000,
        description="How many pairs one unit of work covers. The scores do not depend on it.",
    )


@dataclass(frozen=True)
class HiddenSpan:
    """One text in one condition and trial, with what is hidden or why nothing can be."""

    pair: str
    variety: str
    condition: str
    trial: int
    context: SpanContext | None
    reason: str


def phrase_origin(parameters: SpanPredictionParameters) -> str:
    """Return in words where noun and verb phrases come from."""
    if not set(parameters.conditions) & set(PHRASES):
        return ""
    if parameters.pipeline is None:
        return "imported with the corpus"
    return f"found by {pipeline_title(load_pipeline(parameters.pipeline))}"


def hidden_spans(
    pair: str, text: TextStimulus, variety: str, parameters: SpanPredictionParameters, seed: int
) -> list[HiddenSpan]:
    """Draw the spans of one text in every condition and trial."""

    cells = []
    for condition in parameters.conditions:
        spans = _phrases(text, condition, parameters)
        for trial in range(parameters.trials):
            rng = named_stream(seed, pair, variety, condition, trial)
            if condition == "random":
                drawn = draw_random_span(text.body, mean=parameters.mean_length, rng=rng)
            else:
                drawn = draw_phrase(text.body, spans, rng=rng)
            context = None if drawn is None else hide(text.body, drawn)
            reason = _no_span(condition) if drawn is None else ""
            cells.append(HiddenSpan(pair, variety, condition, trial, context, reason))
    return cells


def _phrases(
    text: TextStimulus, condition: str, parameters: SpanPredictionParameters
) -> list[Offsets]:
    if condition in PHRASES and parameters.pipeline is not None:
        return find_phrases(load_pipeline(parameters.pipeline), text.body)[condition]
    return [(span.start, span.end) for span in text.spans if span.kind == condition]


def _no_span(condition: str) -> str:
    if condition == "random":
        return "the text has fewer than two words"
    words = {"given": "given span"}.get(condition, condition.replace("_", " "))
    return f"the text has no {words} with context around it"


def missing_spans(
    stimuli: TextStimuli, condition: str, parameters: SpanPredictionParameters
) -> list[Problem]:
    """Return the remark on texts without a span of the condition; fatal where none has any."""
    if condition in PHRASES and parameters.pipeline is not None:
        return []  # found on the workers
    texts = [(f"{pair.slug} ({v})", text_of(pair, v, stimuli)) for pair, v in all_texts(stimuli)]
    without = [
        name
        for name, text in texts
        if not (
            len(word_offsets(text.body)) > 1
            if condition == "random"
            else admissible(text.body, _phrases(text, condition, parameters))
        )
    ]
    if not without:
        return []
    remedy = ""
    if condition != "random":
        remedy = f" Import spans of the kind “{condition}” with the corpus"
        remedy += ", or name a spaCy pipeline." if condition in PHRASES else "."
    more = len(without) - NAMED_TEXTS
    names = ", ".join(without[:NAMED_TEXTS]) + (f" and {more} more" if more > 0 else "")
    return [
        Problem(
            "parameter conditions",
            f"{condition}: {len(without)} of {len(texts)} texts have no such span and get no "
            f"score: {names}.{remedy}",
            len(without) == len(texts),
        )
    ]
