"""Interfaces of language models that answer questions: chat turns, answers, log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from probing.lm.text_protocols import GenerationSettings, TextTokenizer

#: How a score was obtained (methods.md §10.4): from a softmax over the whole vocabulary, from the
#: log-probabilities of the k likeliest tokens, or from answers that were drawn. Scores of
#: different tiers are never averaged.
Access = Literal["full", "top_k", "sampled"]
ACCESS_TIERS: tuple[Access, ...] = ("full", "top_k", "sampled")


@dataclass(frozen=True)
class Question:
    """One turn of a chat of its own.

    Attributes
    ----------
    user : what the user says.
    system : the system message; empty sends none.
    opening : how the assistant's turn begins; the answer continues it. Not every server allows it.
    thinking : the most tokens that a model may write to itself before it answers; 0 turns that off
        where its chat template has a switch for it.
    schema : JSON schema that a server is asked to keep the answer to; local models do without.
    raw : whether a local model is asked in plain text although it has a chat template.
    """

    user: str
    system: str = ""
    opening: str = ""
    thinking: int = 0
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    raw: bool = False


@dataclass(frozen=True)
class AnswerToken:
    """One token of an answer.

    Attributes
    ----------
    text : as the server spells it, white space included.
    likeliest : (token, ln P) of the likeliest tokens at its place, highest first; tokens that are
        no whole characters may read alike.
    """

    text: str
    likeliest: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Answer:
    """What a model answered.

    Attributes
    ----------
    text : without the opening, and without white space at either end.
    finish : ``stop``, ``length`` (cut at `max_new_tokens`), or ``refused``.
    tokens : of the answer in order; None where no log-probabilities were asked for or told.
    reasoning : tokens that the model wrote before its answer and kept to itself.
    thought : that reasoning, if it is reported.
    n_tokens : tokens written, reasoning included; None if they are not counted.
    """

    text: str
    finish: Literal["stop", "length", "refused"]
    tokens: tuple[AnswerToken, ...] | None = None
    reasoning: int = 0
    thought: str = ""
    n_tokens: int | None = None


@runtime_checkable
class AnsweringModel(TextTokenizer, Protocol):
    """A model that answers: behind a server, or a local one that writes (ability ``answer``).

    A local model is asked through the chat template of its tokenizer, where there is one.
    """

    def answer(
        self,
        questions: Sequence[Question],
        settings: GenerationSettings,
        *,
        seeds: Sequence[int],
        top: int = 0,
        bias: Mapping[int, float] | None = None,
    ) -> list[Answer]:
        """Return one answer per question, in order.

        Parameters
        ----------
        top : asks for the log-probabilities of so many likeliest tokens at each place. Servers
            tell as many as they will, perhaps none; local models tell none here.
        bias : token id → what is added to its logit; for servers alone.

        Raises GenerationSettingsError for an opening that the model or server does not take.
        """
