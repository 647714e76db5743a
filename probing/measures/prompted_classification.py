"""Language models that are asked for the class of a sentence: Kohankhaki et al., §3.4.

Two measures share their stimuli. `PromptedClassification` has the model write and looks for the
first class in what it wrote; where there is none, one is drawn and marked. `LabelLikelihood` takes
the likeliest of the classes' names instead (*ours*), so that nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.errors import LanguageModelError, ServerError
from probing.lm.question_protocols import Question
from probing.lm.text_protocols import EndWordModel, GenerationSettings, TextGenerator, TextTokenizer
from probing.measures.answer_reading import keepable, outcome_of, said_rows
from probing.measures.answer_words import spelled_answers, word_logprobs
from probing.measures.base import Frames, Problem, in_words
from probing.measures.class_prompts import find_class
from probing.measures.prompted_measure import (
    CITATION,
    PromptedMeasure,
    PromptedParameters,
    Repeat,
    answer_prompt,
    put_question,
    way_of,
)
from probing.measures.prompted_stimuli import PromptedStimuli
from probing.measures.prompting import ThinkingParameters, as_it_stands, prompting_of, write
from probing.measures.served_access import seen_access
from probing.measures.streams import named_seed, named_stream

if TYPE_CHECKING:
    from probing.lm.echoed_endings import EchoedEndings


class GeneratedParameters(PromptedParameters, ThinkingParameters):
    """Parameters of prompted classification, with the paper's values."""

    temperature: float = Field(
        0.8,
        ge=0,
        le=2,
        description="Of sampling, for answers and reasoning; 0 takes the likeliest token.",
    )
    answer_tokens: int = Field(
        3,
        ge=1,
        le=1024,
        title="Most tokens of an answer",
        description="Where the answer ends. Chat models may need more before they name a class.",
    )
    reasoning_tokens: int = Field(
        64,
        ge=1,
        le=4096,
        title="Most tokens of reasoning",
        description="Where the reasoning ends, if the wording asks for one.",
    )


class LikelihoodParameters(PromptedParameters):
    """Parameters of label likelihoods."""

    calibration: Literal["none", "empty_text"] = Field(
        "none",
        description="Whether each class’s likelihood is divided by the one that it has after an "
        "empty text (Zhao et al. 2021, Calibrate Before Use), so that a model’s preference for a "
        "word does not count.",
        json_schema_extra=in_words({"none": "none", "empty_text": "by an empty text"}),
    )


class PromptedClassification(PromptedMeasure[GeneratedParameters]):
    """The first class that a model names when it is asked for the class of a sentence."""

    name = "prompted_classification"
    title = "Prompted classification of counterfactual sentences"
    abilities = frozenset({"generate"})
    Parameters = GeneratedParameters

    def way(self, stimuli: PromptedStimuli, parameters: GeneratedParameters) -> str:
        return way_of(stimuli)

    def own_problems(
        self, stimuli: PromptedStimuli, parameters: GeneratedParameters, lm: TextTokenizer
    ) -> Iterator[Problem]:
        if parameters.temperature == 0 and parameters.repeats > 1 and not stimuli.shots:
            message = (
                "At temperature 0 and without demonstrations all repeats say the same. One is "
                "enough."
            )
            yield Problem("parameter repeats", message, False)

    def tokens_written(self, stimuli: PromptedStimuli, parameters: GeneratedParameters) -> int:
        reasoned = any(wording.reasons for wording in stimuli.wordings)
        written = parameters.answer_tokens + parameters.thinking_tokens
        return written + (parameters.reasoning_tokens if reasoned else 0)

    def passes(self, stimuli: PromptedStimuli) -> int:
        return 2 if any(wording.reasons for wording in stimuli.wordings) else 1

    def answers(
        self,
        asked: Sequence[Question],
        places: Sequence[int],
        repeat: Repeat,
        stimuli: PromptedStimuli,
        parameters: GeneratedParameters,
        lm: TextGenerator,
    ) -> dict[str, Any]:
        """Return the class, whether an answer named one, the answer, and the reasoning before it.

        Where it named none, or the model refused, a class is drawn: §3.4.
        """
        how = prompting_of(parameters, lm)

        def say(questions: Sequence[Question], tokens: int, stage: str) -> list[Any]:
            settings = GenerationSettings(tokens, parameters.temperature)
            own = [named_seed(repeat.seed, stage, repeat.name, place) for place in places]
            return list(write(lm, questions, settings, own, how))

        chain: list[Any] = [None] * len(places)
        if repeat.wording.reasons:
            texts = [stimuli.sentences[place].text for place in places]
            steps = [
                replace(
                    put_question(repeat.wording.reasoning_prompt(text, repeat.labels), parameters),
                    thinking=0,
                )
                for text in texts
            ]
            thoughts = chain = say(steps, parameters.reasoning_tokens, "reasoning")
            asked = [
                put_question(
                    repeat.wording.answer_prompt(text, repeat.labels, thought.text), parameters
                )
                for text, thought in zip(texts, thoughts, strict=True)
            ]
        written = say(asked, parameters.answer_tokens, "answer")
        named = [
            None if answer.finish == "refused" else find_class(answer.text, stimuli.classes)
            for answer in written
        ]
        drawn = [
            int(
                named_stream(repeat.seed, "fallback", repeat.name, place).integers(
                    len(stimuli.classes)
                )
            )
            if found is None
            else found
            for place, found in zip(places, named, strict=True)
        ]
        return {
            "predicted": drawn,
            "matched": [found is not None for found in named],
            "answer": [keepable(answer.text) for answer in written],
            "outcome": [
                "answered" if found is not None else outcome_of(answer, readable=False)
                for answer, found in zip(written, named, strict=True)
            ],
            "reasoning": [
                sum(getattr(one, "reasoning", 0) for one in (step, answer))
                for step, answer in zip(chain, written, strict=True)
            ],
            "thought": [
                keepable("\n\n".join(filter(None, _reasoning_of(step, answer))))
                for step, answer in zip(chain, written, strict=True)
            ],
        }

    def said(self, stimuli: PromptedStimuli, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return the answers with their sentences."""
        sentences = [stimuli.sentences[place] for place in rows["sentence"]]
        ended = rows["matched"].map({True: "answered", False: "unreadable"})
        told = rows.assign(
            group=[one.group for one in sentences],
            item=[one.text for one in sentences],
            why=rows["matched"].map({True: "", False: "named no class"}),
            outcome=rows.get("outcome", ended),  # runs from before have none
        )
        names = {"wording": "prompt", "reasoning": "reasoning_tokens", "thought": "reasoning"}
        return said_rows(told, names)

    def remarks(
        self,
        stimuli: PromptedStimuli,
        parameters: GeneratedParameters,
        shard_frames: Frames,
    ) -> list[str]:
        """Say how many answers named no class."""
        without = sum(int((~frame["matched"]).sum()) for frame in shard_frames)
        total = sum(map(len, shard_frames))
        if not without:
            return []
        return [
            f"{without:,} of {total:,} answers ({without / total:.1%}) named no class; one was "
            "drawn for each, which makes gaps smaller. Reports have bounds."
        ]


def _reasoning_of(step: Any, answer: Any) -> tuple[str, ...]:
    """Return what was thought before an answer: in words that were asked for, or hidden."""
    asked = () if step is None else (step.thought, step.text)
    return (*asked, answer.thought)


class LabelLikelihood(PromptedMeasure[LikelihoodParameters]):
    """The likeliest of the classes' names after the question."""

    name = "label_likelihood"
    title = "Label likelihoods of counterfactual sentences"
    citation = f"{CITATION}; calibration after Zhao et al. (2021), Calibrate Before Use"
    abilities = frozenset({"end_word"})
    Parameters = LikelihoodParameters

    def way(self, stimuli: PromptedStimuli, parameters: LikelihoodParameters) -> str:
        kind = "likelihoods" if parameters.calibration == "none" else "calibrated likelihoods"
        return f"{way_of(stimuli)}, {kind}"

    def seeds(self, parameters: LikelihoodParameters, seed: int) -> list[int]:
        return [seed]  # nothing is drawn but demonstrations

    def own_problems(
        self, stimuli: PromptedStimuli, parameters: LikelihoodParameters, lm: Any
    ) -> Iterator[Problem]:
        if any(wording.reasons for wording in stimuli.wordings):
            message = (
                "A prompt with {reasoning} needs a model that writes. Choose another prompt, or "
                "the measure prompted_classification."
            )
            yield Problem("prompts", message, True)
            return
        if lm.kind == "chat":
            access = seen_access(lm, completions=True)
            why = f" It does not: {lm.seen.echo.said}." if access not in (None, "full") else ""
            message = "The server must offer completions that echo their prompts, as vLLM does."
            yield Problem("model", f"{message}{why}", bool(why))
            return
        for one in stimuli.wordings:
            try:
                words = [one.answer_word(name) for name in stimuli.classes]
                if prompting_of(parameters, lm) == "chat":
                    prompt = one.answer_prompt("", stimuli.classes)
                    asked = put_question(prompt, parameters)
                    spelled_answers(lm, asked, words, opened=bool(parameters.opening))
                    continue
                lm.open_ends([one.answer_prompt("", stimuli.classes)], words)
            except LanguageModelError as error:
                yield Problem("prompts", str(error), True)

    def answers(
        self,
        asked: Sequence[Question],
        places: Sequence[int],
        repeat: Repeat,
        stimuli: PromptedStimuli,
        parameters: LikelihoodParameters,
        lm: EndWordModel | EchoedEndings,
    ) -> dict[str, Any]:
        """Return the likeliest class, and the classes' shares of the likelihood."""
        words = [repeat.wording.answer_word(name) for name in stimuli.classes]
        found = _endings(asked, words, parameters, lm)
        if parameters.calibration == "empty_text":
            empty = put_question(answer_prompt(repeat, "", stimuli), parameters)
            found = found - _endings([empty], words, parameters, lm)
        likely = np.exp(found - found.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        shares = {f"p_{name}": likely[:, n] for n, name in enumerate(stimuli.classes)}
        return {"predicted": found.argmax(axis=1), **shares}


def _endings(
    asked: Sequence[Question],
    words: Sequence[str],
    parameters: LikelihoodParameters,
    lm: EndWordModel | EchoedEndings,
) -> np.ndarray:
    """Return ln P of every word after every prompt, (n_prompts, n_words).

    Raises ServerError where a server refuses a prompt, or its tokens reach across the word.
    """
    prompts = [as_it_stands(one) for one in asked]
    if isinstance(lm, EndWordModel):
        if prompting_of(parameters, lm) == "chat":
            return word_logprobs(lm, asked, words, opened=bool(parameters.opening))
        return lm.end_logprobs(lm.open_ends(prompts, words))
    rows = lm.echoed_words(prompts, words)
    for prompt, row in zip(prompts, rows, strict=True):
        if any(one is None or not one.logprobs for one in row):
            raise ServerError(
                f"The server tells no probabilities of {', '.join(words)} after “{prompt[-60:]}”. "
                "Use another prompt, or the measure prompted_classification."
            )
    return np.array([[one.total for one in row if one is not None] for row in rows])
