"""How a prompt is put to a model: as it stands, or as a turn of a chat through its own template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, TypeVar

from pydantic import Field

from probing.lm.errors import GenerationSettingsError
from probing.lm.question_protocols import Answer, Question
from probing.lm.text_protocols import Generation, GenerationSettings
from probing.measures.base import MeasureParameters, Problem, in_words

_HOW = in_words(
    {
        "auto": "in a chat where the model has a template",
        "chat": "in a chat",
        "raw": "as it stands",
    }
)


class PromptingParameters(MeasureParameters):
    """How a prompt is put to a model."""

    prompting: Literal["auto", "chat", "raw"] = Field(
        "auto",
        title="How a prompt is put",
        description="As a turn of a chat through the model's own template (chat), as it stands "
        "(raw), or in a chat where the model has a template (auto). The run keeps which.",
        json_schema_extra=_HOW,
    )
    system_message: str | None = Field(
        None, max_length=4000, description="In a chat. Without a value none is sent."
    )


class OpenedParameters(PromptingParameters):
    """And how the answer begins: with a text."""

    opening: str | None = Field(
        None,
        max_length=500,
        title="Beginning of the answer",
        description="Begins the assistant's turn of a chat, such as “My rating is”. Some servers "
        "refuse it.",
    )


def begun_with_last_words() -> Any:
    """Return the field `opening` of measures whose prompts have words to begin an answer with."""
    return Field(
        None,
        title="Begin the assistant's turn",
        description="In a chat, the last words of the prompt begin the answer. Without a value "
        "yes for causal models, and no for served ones, some of which refuse it.",
        json_schema_extra={"empty": "where the model is a local one"},
    )


class LastWordsParameters(PromptingParameters):
    """And whether the answer begins with the last words of the prompt."""

    opening: bool | None = begun_with_last_words()


class BatchParameters(MeasureParameters):
    """Whether a server is asked in batches."""

    batches: bool = Field(
        False,
        title="Ask in batches",
        description="Sends the questions to the model's server in batches, at half price; answers "
        "come within a day. For servers that have them.",
    )


class ThinkingParameters(BatchParameters):
    """How much a model may write to itself before its answer."""

    thinking_tokens: int = Field(
        0,
        ge=0,
        le=32_768,
        title="Most tokens of hidden reasoning",
        description="In a chat, beside those of the answer. 0 turns reasoning off where the "
        "model's chat template has a switch. Text between marks such as <think> is kept "
        "apart from the answer.",
    )


P = TypeVar("P", bound=PromptingParameters)


class Prompted(Protocol):
    """Parameters that say how a prompt is put, whatever their field is called."""

    @property
    def prompting(self) -> Literal["auto", "chat", "raw"]: ...


def complete_prompting(parameters: P, lm: Any) -> P:
    """Return the parameters with what was left to the model; of a served one its server decides."""
    found: dict[str, Any] = {}
    if lm.kind != "chat":
        found["prompting"] = prompting_of(parameters, lm)
    if isinstance(parameters, LastWordsParameters) and parameters.opening is None:
        found["opening"] = may_begin(parameters, lm)
    return parameters.model_copy(update=found)


def may_begin(parameters: Prompted, lm: Any) -> bool:
    """Return whether an answer of this model may be begun."""
    return lm.kind == "causal" and prompting_of(parameters, lm) == "chat"


def prompting_of(parameters: Prompted, lm: Any) -> Literal["chat", "raw"]:
    """Return how a prompt is put to this model."""
    if parameters.prompting != "auto":
        return parameters.prompting
    return "chat" if lm.kind == "chat" or getattr(lm, "has_chat_template", False) else "raw"


def prompting_problems(parameters: Prompted, lm: Any, *, plain: bool = False) -> list[Problem]:
    """Return what does not go together, and how prompts are put where that was left to the model.

    plain : whether a question to a model without a template has a plain form
    """
    raw = prompting_of(parameters, lm) == "raw"
    templated = getattr(lm, "has_chat_template", lm.kind == "chat")
    if raw:
        asked = ("thinking_tokens",) if plain else ("system_message", "opening", "thinking_tokens")
        given = [name for name in asked if _given(parameters, name)]
        if given and lm.kind != "chat":
            why = "has no chat template" if not templated else "is asked without its chat template"
            message = (
                f"The model {why} and takes no {' or '.join(given)}. Leave {given[0]} out"
                f"{', or set prompting to “chat”' if templated else ''}."
            )
            return [Problem(f"parameter {given[0]}", message, True)]
    elif _given(parameters, "thinking_tokens") and _given(parameters, "opening"):
        message = "An answer that is begun has no reasoning before it. Leave one of the two out."
        return [Problem("parameter opening", message, True)]
    elif not templated and not plain:
        message = "Its tokenizer has no chat template. Set prompting to “raw” or “auto”."
        return [Problem("parameter prompting", message, True)]
    if not templated or lm.kind == "chat":
        return []
    try:
        switch = lm.reasoning_switch
    except GenerationSettingsError as error:
        return [Problem("model", str(error), True)]
    values = parameters.model_dump()  # type: ignore[attr-defined] # a model
    told = describe_prompting(values | {"prompting": "raw" if raw else "chat"})
    return [Problem("prompting", f"{told} {_SWITCHES[switch] if not raw else ''}".strip(), False)]


_SWITCHES = {
    "template": "Its template has a switch for reasoning.",
    "closed": "Its template begins a block of reasoning, which is closed empty unless "
    "thinking_tokens allows some.",
    "none": "",
}


def describe_prompting(parameters: Mapping[str, Any]) -> str:
    """Return how prompts were put, in a sentence or two; empty where a run's record says nothing.

    parameters : of a run, as it keeps them
    """
    how = parameters.get("prompting", parameters.get("form"))
    if how == "raw":
        return "Prompts are put as they stand, without a chat template."
    if how != "chat":
        return ""
    system, opening = parameters.get("system_message"), parameters.get("opening")
    thinking = parameters.get("thinking_tokens")
    parts = [
        f"the system message “{system}”" if system else "no system message",
        "the last words of the prompt as the beginning of the answer"
        if opening is True
        else f"the answer begun with “{opening}”"
        if opening
        else "no beginning of the answer",
        f"at most {thinking:,} tokens of reasoning" if thinking else "reasoning off",
    ]
    return f"Prompts are put through the model's chat template, with {', '.join(parts)}."


def as_question(prompt: str, parameters: Any) -> Question:
    """Return a prompt as a turn of a chat, with what the parameters say of the answer."""
    opening = parameters.opening
    return Question(
        prompt,
        parameters.system_message or "",
        opening if isinstance(opening, str) else "",
        getattr(parameters, "thinking_tokens", 0),
    )


def write(
    lm: Any,
    questions: Sequence[Question],
    settings: GenerationSettings,
    seeds: Sequence[int],
    how: Literal["chat", "raw"],
) -> list[Answer] | list[Generation]:
    """Return what a model writes to questions, or after them as they stand."""
    found: list[Answer] | list[Generation]
    if how == "chat":
        found = lm.answer(questions, settings, seeds=seeds)
    else:
        found = lm.generate([as_it_stands(one) for one in questions], settings, seeds=seeds)
    return found


def as_it_stands(question: Question) -> str:
    """Return a prompt without a chat: what begins its answer follows in a line of its own."""
    return "\n".join(filter(None, (question.user, question.opening)))


def count_prompt(lm: Any, question: Question, how: Literal["chat", "raw"]) -> int:
    """Return the tokens that a prompt takes as it is put, an estimate for served models."""
    if lm.kind == "chat":
        return int(lm.count_tokens(question.system + question.user + question.opening))
    if how == "raw":
        return int(lm.count_tokens(as_it_stands(question)))
    return int(lm.count_question(question))


def begin_with_last_line(question: Question) -> Question:
    """Return a question whose last line begins the answer."""
    user, line_break, last = question.user.rpartition("\n")
    return replace(question, user=user, opening=last) if line_break else question


def _given(parameters: Any, name: str) -> bool:
    return bool(getattr(parameters, name, None))
