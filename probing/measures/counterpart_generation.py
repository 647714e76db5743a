"""Counterpart generation: a model rewrites texts of one variety in the other.

Deas et al. (2023), §4 and Appendix E.2. The result is a counterpart for every text, stored like
those of people, so that every metric treats both alike. What a model writes is stripped of white
space at both ends, and cut to its first line only where a parameter says so.

Deas et al. (2023), Appendix E.2: temperature 0.7 for GPT models; beams of 3 and no repeated
3-grams for BART and T5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from annotation.common.lazy import pd
from probing.lm.errors import GenerationSettingsError
from probing.lm.question_protocols import Answer, Question
from probing.lm.text_protocols import Generation, GenerationSettings, TextGenerator, TextTokenizer
from probing.measures.aggregation import complete_rows
from probing.measures.answer_reading import keepable, said_rows
from probing.measures.base import (
    COUNTERPART_COLUMNS,
    Cost,
    Frames,
    Problem,
    ResultKind,
    ShardPlan,
    in_words,
)
from probing.measures.prompt_choice import (
    PromptChoice,
    choose_prompt,
    draw_sample,
    fill_prompt,
    other_variety,
)
from probing.measures.prompting import (
    OpenedParameters,
    ThinkingParameters,
    as_question,
    complete_prompting,
    count_prompt,
    prompting_of,
    prompting_problems,
    write,
)
from probing.measures.prompts import PromptError
from probing.measures.streams import named_seed
from probing.measures.text_measure import (
    TextMeasure,
    chunks,
    directions,
    length_problem,
    one_by_one_where_too_long,
    shard_pairs,
    shard_title,
    text_of,
    text_problems,
    too_long,
)
from probing.measures.text_stimuli import TextStimuli

# --- Parameters of counterpart generation, with defaults for each kind of model -------------------

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


EMPTY = "the model wrote nothing"
REFUSED = "the model or its server refused"


class CounterpartGeneration(TextMeasure[CounterpartParameters]):
    """What a model writes when it is asked for a text in another variety."""

    name = "counterpart_generation"
    title = "Counterpart generation"
    citation = (
        "Deas, Grieser, Kleiner, Patton, Turcan and McKeown (2023), Evaluation of African American "
        "Language Bias in Natural Language Generation, §4 and Appendix E.2; choice of the prompt "
        "after Gonen et al. (2022)"
    )
    abilities = frozenset({"generate"})
    Parameters = CounterpartParameters
    result = ResultKind.COUNTERPARTS
    takes_examples = True
    before = {"prompting": "raw"}

    def complete(
        self, parameters: CounterpartParameters, lm: TextTokenizer
    ) -> CounterpartParameters:
        """Return the parameters with how this model is asked."""
        return complete_prompting(parameters, lm)

    def plan(
        self, stimuli: TextStimuli, parameters: CounterpartParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return one shard for each direction and chunk of pairs.

        Every text is rewritten with a seed of its own, made of the run's seed, its pair and the
        direction.
        """
        items = rewritings(stimuli, parameters)
        sample = (
            draw_sample(items, size=parameters.perplexity_texts, seed=seed)
            if measures_prompts(stimuli, parameters)
            else []
        )
        shards: list[ShardPlan] = []
        for variety in directions(stimuli, parameters.directions):
            pairs = [slug for slug, wanted in items if wanted == variety]
            for chunk in chunks(pairs, parameters.pairs_per_shard):
                payload = {
                    "variety": variety,
                    "pairs": list(chunk),
                    "seeds": [named_seed(seed, slug, variety) for slug in chunk],
                    "sample": [list(item) for item in sample],
                }
                title = shard_title(chunk, f"Into {variety}")
                shards.append(ShardPlan(len(shards), title, payload))
        return shards

    def problems(
        self, stimuli: TextStimuli, parameters: CounterpartParameters, lm: TextTokenizer
    ) -> list[Problem]:
        """Check prompts, settings and lengths; a text that does not fit is named, never cut."""
        found = [*text_problems(stimuli), *_prompt_problems(stimuli, parameters, lm)]
        found += [*settings_problems(parameters, lm), *prompting_problems(parameters, lm)]
        if any(problem.fatal for problem in found):
            return found
        items = rewritings(stimuli, parameters)
        new = _new_tokens(parameters, lm)
        try:
            longer = [
                f"{slug} into {variety}"
                for slug, variety in items
                if too_long(
                    _prompt_tokens(slug, variety, stimuli, parameters, lm), lm.max_length, new=new
                )
            ]
        except GenerationSettingsError as error:  # of a chat template
            return [*found, Problem("parameter system_message", str(error), True)]
        found += length_problem(longer, len(items), "counterpart")
        if merged := len(directions(stimuli, parameters.directions)) * len(stimuli.pairs) - len(
            items
        ):
            pairs = "1 pair shares its" if merged == 1 else f"{merged} pairs share their"
            message = (
                f"{pairs} {stimuli.target_variety} text with another pair; it is rewritten once."
            )
            found.append(Problem("corpus", message, False))
        return found

    def estimate(
        self, stimuli: TextStimuli, parameters: CounterpartParameters, lm: TextTokenizer
    ) -> Cost:
        """Count a text that is written, and one that is scored to compare prompts, as one pass.

        Tokens are those read, and at most those written; with several prompts the longest counts.
        """
        items = rewritings(stimuli, parameters)
        plan = self.plan(stimuli, parameters)
        sample = [(slug, variety) for slug, variety in plan[0].payload["sample"]] if plan else []
        scored = [
            lm.count_tokens(_prompt(prompt.slug, slug, variety, stimuli, shots=False))
            for prompt in stimuli.prompts
            for slug, variety in sample
        ]
        most = parameters.max_new_tokens + parameters.thinking_tokens
        written = [
            _prompt_tokens(slug, variety, stimuli, parameters, lm) + most for slug, variety in items
        ]
        return Cost(
            len(plan),
            len(written) + len(scored),
            sum(written) + sum(scored),
            written=len(written) * most,
        )

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: TextStimuli,
        parameters: CounterpartParameters,
        lm: TextGenerator,
    ) -> pd.DataFrame:
        """Return one row per text.

        Columns: those of counterparts, then prompt, perplexities (JSON by slug, empty where none
        were measured), perplexity_n, settings, finish, n_tokens, answer (as it
        came), reasoning (tokens), and thought (hidden reasoning).
        """
        pairs, variety = shard_pairs(payload, stimuli), payload["variety"]
        sample = [(slug, into) for slug, into in payload["sample"]]
        choice = (
            choose_prompt(stimuli, sample, lm)  # type: ignore[arg-type] # has text_logprob too
            if sample
            else PromptChoice(stimuli.prompts[0], {}, 0)
        )
        settings = generation_settings(parameters, lm)
        asked = [
            as_question(
                fill_prompt(
                    choice.prompt,
                    text_of(pair, other_variety(variety, stimuli), stimuli).body,
                    variety,
                    stimuli,
                ),
                parameters,
            )
            for pair in pairs
        ]
        written = _write(asked, payload["seeds"], settings, parameters, lm)
        shared = {
            "prompt": choice.prompt.slug,
            "perplexities": json.dumps(dict(choice.perplexities)),
            "perplexity_n": choice.n,
            "settings": describe_settings(settings),
        }
        rows = []
        for pair, answer in zip(pairs, written, strict=True):
            body, reason = _read(answer, parameters)
            known = None if isinstance(answer, str) else answer
            rows.append(
                {
                    "pair": pair.slug,
                    "variety": variety,
                    "body": body,
                    "reason": reason,
                    **shared,
                    "finish": known.finish if known else "too_long",
                    "n_tokens": known.n_tokens if known else None,
                    "answer": keepable(known.text) if known else "",
                    "reasoning": getattr(known, "reasoning", 0),
                    "thought": keepable(known.thought) if known else "",
                }
            )
        frame = pd.DataFrame(rows)
        return frame.astype({"n_tokens": "Int64"})

    def said(self, stimuli: TextStimuli, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return what was written; texts that are too long to be asked about are left out."""
        rows = rows[rows["finish"] != "too_long"]
        outcome = [
            "refused"
            if finish == "refused"
            else "answered"
            if not reason
            else "cut_off"
            if finish == "length"
            else "unreadable"
            for finish, reason in zip(rows["finish"], rows["reason"], strict=True)
        ]
        names = {"variety": "group", "pair": "item", "reason": "why"}
        names |= {"reasoning": "reasoning_tokens", "thought": "reasoning"}
        return said_rows(rows.assign(outcome=outcome, repeat=0), names)

    def aggregate(
        self, stimuli: TextStimuli, parameters: CounterpartParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return every counterpart, in the order of the stimuli."""
        cells = rewritings(stimuli, parameters)
        rows = complete_rows(shard_frames, ["pair", "variety"], cells)
        return rows.reset_index()[list(COUNTERPART_COLUMNS)]

    def remarks(
        self, stimuli: TextStimuli, parameters: CounterpartParameters, shard_frames: Frames
    ) -> list[str]:
        """Say how texts were written, which prompt was chosen and why, and what is missing."""
        rows = pd.concat(shard_frames, ignore_index=True)
        found = [f"Written with {settings}." for settings in sorted(rows["settings"].unique())]
        found += _choice_remarks(rows)
        if stimuli.examples:
            named = ", ".join(pair.slug for pair in stimuli.examples)
            found.append(f"Before each text come {len(stimuli.examples)} examples: {named}.")
        unread = rows["finish"] == "too_long"
        if unread.any():
            found.append(
                f"{unread.sum()} of {len(rows)} texts were longer than the model reads and have "
                "no counterpart."
            )
        reasons = rows.loc[~unread & (rows["reason"] != ""), "reason"]
        for reason, number in reasons.value_counts().items():
            found.append(f"{number} of {len(rows)} counterparts: {reason}.")
        return found


def _write(
    asked: Sequence[Question],
    seeds: Sequence[int],
    settings: GenerationSettings,
    parameters: CounterpartParameters,
    lm: TextGenerator,
) -> list[Answer | Generation | str]:
    """Return what the model writes, or why it cannot be asked, in the order of the questions."""
    new, how = _new_tokens(parameters, lm), prompting_of(parameters, lm)
    found: list[Answer | Generation | str] = [
        too_long(count_prompt(lm, one, how), lm.max_length, new=new) for one in asked
    ]
    fitting = [place for place, reason in enumerate(found) if not reason]

    def say(some: Sequence[int]) -> list[Answer] | list[Generation]:
        own = [seeds[place] for place in some]
        return write(lm, [asked[place] for place in some], settings, own, how)

    written: list[Any] = one_by_one_where_too_long(say, fitting)
    for place, answer in zip(fitting, written, strict=True):
        found[place] = answer
    return found


def _new_tokens(parameters: CounterpartParameters, lm: TextTokenizer) -> int:
    """Return how many tokens of what a model reads are left to what it writes."""
    most = parameters.max_new_tokens + parameters.thinking_tokens
    return most if lm.kind == "causal" else 0


def rewritings(stimuli: TextStimuli, parameters: CounterpartParameters) -> list[tuple[str, str]]:
    """Return (pair, variety to be written) of every text; a text that pairs share comes once."""
    items = []
    for variety in directions(stimuli, parameters.directions):
        seen = set()
        for pair in stimuli.pairs:
            asked = text_of(pair, other_variety(variety, stimuli), stimuli).slug
            if asked not in seen:
                seen.add(asked)
                items.append((pair.slug, variety))
    return items


def measures_prompts(stimuli: TextStimuli, parameters: CounterpartParameters) -> bool:
    """Return whether the prompts' perplexities decide."""
    return parameters.prompt_choice == "lowest_perplexity" and len(stimuli.prompts) > 1


def _read(answer: Answer | Generation | str, parameters: CounterpartParameters) -> tuple[str, str]:
    """Return the counterpart and what is to be said of it."""
    if isinstance(answer, str):
        return "", answer
    # No database keeps the character 0 in a text.
    body = answer.text.replace("\0", "").strip()
    first, line_break, _ = body.partition("\n")
    whole_line = parameters.first_line_only and bool(line_break)
    if parameters.first_line_only:
        body = first.rstrip()
    if answer.finish == "refused":
        return "", REFUSED
    if not body:
        return "", EMPTY
    if answer.finish == "length" and not whole_line:
        return body, f"cut after {parameters.max_new_tokens} tokens"
    return body, ""


def _choice_remarks(rows: pd.DataFrame) -> list[str]:
    found = []
    for (prompt, values, n), _ in rows.groupby(
        ["prompt", "perplexities", "perplexity_n"], sort=True
    ):
        measured = json.loads(str(values))
        if not measured:
            continue
        listed = ", ".join(
            f"{slug} {value:.4g}"
            for slug, value in sorted(measured.items(), key=lambda item: item[1])
        )
        found.append(
            f"The prompt {prompt} has the lowest mean perplexity over {n} filled prompts: {listed}."
        )
    used = sorted(rows["prompt"].unique())
    if len(used) > 1:
        found.append(
            f"The workers chose different prompts ({', '.join(used)}), whose perplexities differ "
            "by less than their rounding. Choose one prompt and create a new run."
        )
    return found


def _prompt_problems(
    stimuli: TextStimuli, parameters: CounterpartParameters, lm: TextTokenizer
) -> list[Problem]:
    found = []
    if not stimuli.prompts:
        found.append(Problem("prompts", "No prompt is chosen, expected at least one.", True))
    for prompt in stimuli.prompts:
        try:
            _ = prompt.parsed
        except PromptError as error:
            found.append(Problem("prompts", f"{prompt.slug}: {error}", True))
    if parameters.prompt_choice == "given" and len(stimuli.prompts) > 1:
        message = (
            f"{len(stimuli.prompts)} prompts are chosen, expected one. Choose one, or let the "
            "lowest perplexity decide (prompt_choice=lowest_perplexity)."
        )
        found.append(Problem("prompts", message, True))
    if measures_prompts(stimuli, parameters) and "text_logprob" not in lm.abilities:
        message = (
            f"prompt_choice is lowest_perplexity, but a {lm.kind} model does not say how likely a "
            "prompt is. Choose one prompt yourself (prompt_choice=given)."
        )
        found.append(Problem("parameter prompt_choice", message, True))
    if parameters.prompt_choice == "lowest_perplexity" and len(stimuli.prompts) == 1:
        message = "There is one prompt, so no perplexity decides."
        found.append(Problem("prompts", message, False))
    return found


def _prompt(
    prompt: str, slug: str, variety: str, stimuli: TextStimuli, *, shots: bool = True
) -> str:
    chosen = next(entry for entry in stimuli.prompts if entry.slug == prompt)
    text = text_of(stimuli.pair(slug), other_variety(variety, stimuli), stimuli).body
    return fill_prompt(chosen, text, variety, stimuli, shots=shots)


def _prompt_tokens(
    slug: str,
    variety: str,
    stimuli: TextStimuli,
    parameters: CounterpartParameters,
    lm: TextTokenizer,
) -> int:
    """Return the tokens of the text's longest prompt."""
    how = prompting_of(parameters, lm)
    return max(
        count_prompt(lm, as_question(_prompt(prompt.slug, slug, variety, stimuli), parameters), how)
        for prompt in stimuli.prompts
    )
