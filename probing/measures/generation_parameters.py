"""Parameters of counterpart generation, with defaults for each kind of model.

Deas et al. (2023), Appendix E.2: temperature 0.7 for GPT models; beams of 3 and no repeated
3-grams for BART and T5.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from probing.lm.text_protocols import GenerationSettings, TextTokenizer
from probing.measures.base import Problem, in_words
from probing.measures.prompting import OpenedParameters, ThinkingParameters

PAPER_TEMPERATURE = 0.7
PAPER_BEAMS = 3
PAPER_NGRAM = 3


class CounterpartParameters(OpenedParameters, ThinkingParameters):
    """Parameters of counterpart generation."""

    directions: Literal["both", "to_target", "to_source"] = Field(
        "both",
        description="Into which variety texts are rewritten: the corpus's target variety, its "
        "source variety, or each into the other.",
        json_schema_extra=in_words(
            {
                "both": "both",
                "to_target": "into the target variety",
                "to_source": "into the source variety",
            }
        ),
    )
    prompt_choice: Literal["given", "lowest_perplexity"] = Field(
        "given",
        title="Choice of the prompt",
        description="Whether the one prompt that was chosen is used, or of several the one that "
        "has the lowest mean perplexity under the model itself (Gonen et al. 2022), which chat "
        "models cannot tell.",
        json_schema_extra=in_words(
            {"given": "the one that is chosen", "lowest_perplexity": "the one of lowest perplexity"}
        ),
    )
    perplexity_texts: int = Field(
        100,
        ge=1,
        le=10000,
        title="Texts that prompts are compared on",
        description="How many texts are drawn to compare the prompts on.",
    )
    temperature: float | None = Field(
        None,
        ge=0,
        le=2,
        description="Of sampling; 0 takes the likeliest token. Without a value 0.7 for causal and "
        "chat models, and beam search without sampling for sequence to sequence models.",
    )
    beams: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Width of the beam search. Without a value 3 for sequence to sequence models, "
        "and 1 for all others or where a temperature is given.",
    )
    no_repeat_ngram: int | None = Field(
        None,
        ge=0,
        le=20,
        title="Size of n-grams that never repeat",
        description="0 allows all repetitions. Without a value 3 for sequence to sequence models, "
        "and 0 for all others.",
    )
    max_new_tokens: int = Field(
        128,
        ge=1,
        le=8192,
        title="Most tokens written",
        description="A counterpart that ends there is kept, and marked as cut. Causal models read "
        "the prompt and write within one limit of length.",
    )
    first_line_only: bool = Field(
        False,
        description="Whether only the first line of what the model writes is kept. White space at "
        "both ends is always removed; nothing else is changed.",
    )
    pairs_per_shard: int = Field(
        20,
        ge=1,
        le=10000,
        description="How many texts one unit of work covers. The counterparts do not depend on it.",
    )


def generation_settings(parameters: CounterpartParameters, lm: TextTokenizer) -> GenerationSettings:
    """Return the settings for this kind of model, with the paper's values where none is given."""
    seq2seq = lm.kind == "seq2seq"
    sampled = parameters.temperature is not None and parameters.temperature > 0
    beams = parameters.beams or (PAPER_BEAMS if seq2seq and not sampled else 1)
    ngram = parameters.no_repeat_ngram
    temperature = parameters.temperature
    if temperature is None:
        temperature = 0.0 if beams > 1 or seq2seq else PAPER_TEMPERATURE
    return GenerationSettings(
        max_new_tokens=parameters.max_new_tokens,
        temperature=temperature,
        beams=beams,
        no_repeat_ngram=(PAPER_NGRAM if seq2seq else 0) if ngram is None else ngram,
    )


def settings_problems(parameters: CounterpartParameters, lm: TextTokenizer) -> list[Problem]:
    """Return which settings do not go together, or not with this kind of model."""
    settings = generation_settings(parameters, lm)
    found = []
    if settings.beams > 1 and settings.temperature > 0:
        message = (
            f"beams is {settings.beams} and temperature {settings.temperature:g}: a beam search "
            "does not sample. Set beams to 1 or temperature to 0."
        )
        found.append(Problem("parameter beams", message, True))
    if lm.kind == "chat" and settings.beams > 1:
        message = f"beams is {settings.beams}, expected 1: servers of chat models have no beams."
        found.append(Problem("parameter beams", message, True))
    if lm.kind == "chat" and settings.no_repeat_ngram:
        message = (
            f"no_repeat_ngram is {settings.no_repeat_ngram}, expected 0: servers of chat models "
            "cannot forbid repetitions."
        )
        found.append(Problem("parameter no_repeat_ngram", message, True))
    return found


def describe_settings(settings: GenerationSettings) -> str:
    """Return the settings in words, for the record of a run."""
    if settings.beams > 1:
        way = f"beam search of width {settings.beams}"
    elif settings.temperature > 0:
        way = f"sampling at temperature {settings.temperature:g}"
    else:
        way = "the likeliest token at each step"
    ngram = settings.no_repeat_ngram
    repeats = f", no repeated {ngram}-grams" if ngram else ""
    return f"{way}{repeats}, at most {settings.max_new_tokens} tokens"
