"""What a server of language models does and does not do, as seen when it was tried.

Protocols are promises: servers ignore options, refuse them, or tell numbers that belong elsewhere.
A few small requests show which tier of access a model has before a run rests on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from probing.lm.chat_limits import ChatLimits
from probing.lm.echoed_endings import PER_REQUEST, NoEchoError
from probing.lm.errors import (
    AccessDeniedError,
    LanguageModelError,
    ServerAwayError,
    ServerError,
    UnknownServedModelError,
)
from probing.lm.question_protocols import Access, Answer, Question
from probing.lm.text_protocols import GenerationSettings

if TYPE_CHECKING:
    from probing.lm.chat import ChatModel

#: The prompt whose echo is laid over the text, and words behind it that begin differently.
_ECHOED, _ENDINGS = "The person is", ("kind", "loud", "slow", "brave")
_BEGUN, _GOES_ON = "one, two, three, four,", "five"
_SCHEMA = {
    "type": "object",
    "properties": {"rating": {"type": "integer"}},
    "required": ["rating"],
    "additionalProperties": False,
}
_SAID = 300
#: A trial is short, since a person waits for it.
TRIAL_LIMITS = ChatLimits(
    requests_per_minute=0, timeout_seconds=30, attempts=2, first_wait=0.5, longest_wait=5
)
#: Options of a request that a server may do without, in the words of a reader.
OPTIONS = {"seed": "a seed", "temperature": "a temperature"}


class Seen(BaseModel):
    """Whether a server does something (None: it could not be told), and what it said."""

    model_config = ConfigDict(frozen=True)

    works: bool | None = None
    said: str = ""


class ServerAbilities(BaseModel):
    """What was seen of a served model.

    Attributes
    ----------
    tried_at : when, in UTC.
    away : why nothing could be seen; empty otherwise.
    answers_as : the model's name in its answers, which may differ from the one asked for.
    chat : answers a question.
    echo : completions give back a prompt with the log-probability of each of its tokens.
    logprobs : a chat tells the log-probabilities of the likeliest tokens.
    prefill : a chat goes on with an answer that was begun.
    plain_prefill : without being asked to by an option.
    json_schema : an answer keeps to a JSON schema.
    batches : has endpoints for batches.
    refused : options that it does not take, with its words.
    most_top : how many likeliest tokens it tells.
    least_written : how many tokens a completion has at least.
    per_request : how many prompts it takes in one request for completions.
    length_option : its name for the most tokens of an answer.
    """

    model_config = ConfigDict(frozen=True)

    tried_at: str = ""
    away: str = ""
    answers_as: str = ""
    chat: Seen = Seen()
    echo: Seen = Seen()
    logprobs: Seen = Seen()
    prefill: Seen = Seen()
    plain_prefill: bool = False
    json_schema: Seen = Seen()
    batches: Seen = Seen()
    refused: dict[str, str] = {}
    most_top: int = 0
    least_written: int = 0
    per_request: int = PER_REQUEST
    length_option: str = "max_tokens"

    def access(self, *, completions: bool = True) -> Access | None:
        """Return the highest tier that was seen, of chats alone unless ``completions``."""
        if completions and self.echo.works:
            return "full"
        if self.logprobs.works:
            return "top_k"
        return "sampled" if self.chat.works else None

    def lines(self) -> list[str]:
        """Return what was seen in sentences, for pages and the command line."""
        if self.away:
            return [f"The server could not be tried: {self.away}"]
        tiers = {
            "full": "full (echoed completions tell the log-probability of every token)",
            "top_k": f"top_k (a chat tells the {self.most_top} likeliest tokens)",
            "sampled": "sampled (answers are drawn, no log-probabilities are reported)",
            None: "none",
        }
        found = [f"Access: {tiers[self.access()]}."]
        names = {
            "chat": "Chat",
            "echo": "Echoed completions",
            "logprobs": "Log-probabilities in a chat",
            "prefill": "Begun answers",
            "json_schema": "JSON schema",
            "batches": "Batches",
        }
        words = {True: "yes", False: "no", None: "not known"}
        for field, name in names.items():
            seen: Seen = getattr(self, field)
            said = f" ({seen.said})" if seen.said else ""
            found.append(f"{name}: {words[seen.works]}{said}.")
        if self.least_written:
            found.append("Completions write at least one token: max_tokens=0 is not taken.")
        if self.per_request == 1:
            found.append("It takes one prompt in a request for completions.")
        if self.length_option != "max_tokens":
            found.append(f"It calls the most tokens of an answer {self.length_option}.")
        for option, said in self.refused.items():
            found.append(f"It does not take {OPTIONS.get(option, option)} ({said}).")
        if self.answers_as:
            found.append(f"It answers as “{self.answers_as}”.")
        return found


def try_server(chat: ChatModel) -> ServerAbilities:
    """Ask a served model up to a dozen small questions, and return what was seen.

    Never raises for what the server does; whatever keeps it from answering at all is in ``away``.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        answer = _ask(chat, Question("Is water wet? Answer with yes or no."), top=20)
    except LanguageModelError as error:
        away = isinstance(error, ServerAwayError | AccessDeniedError | UnknownServedModelError)
        echo = Seen() if away else _see(lambda: _echo(chat))
        if not echo.works:
            return ServerAbilities(tried_at=now, away=str(error)[: 2 * _SAID])
        chatting = Seen(works=False, said=str(error)[:_SAID])
        return ServerAbilities(
            tried_at=now,
            chat=chatting,
            echo=echo,
            least_written=chat.least_written,
            per_request=chat.per_request,
        )
    told = len(answer.tokens[0].likeliest) if answer.tokens else 0
    return ServerAbilities(
        tried_at=now,
        answers_as="" if chat.answers_as in ("", chat.served_name) else chat.answers_as[:160],
        chat=Seen(works=True),
        logprobs=Seen(works=bool(told), said="" if told else chat.no_logprobs[:_SAID]),
        echo=_see(lambda: _echo(chat)),
        prefill=(prefill := _see(lambda: _prefill(chat))),
        plain_prefill=bool(prefill.works) and not chat.opening_options,
        json_schema=_see(lambda: _schema(chat)),
        batches=_see(chat.require_batches),
        refused={name: said[:_SAID] for name, said in chat.refused.items() if name in OPTIONS},
        most_top=told,
        least_written=chat.least_written,
        per_request=chat.per_request,
        length_option=chat.length_option,
    )


def _see(trial: Callable[[], Seen | None]) -> Seen:
    try:
        return trial() or Seen(works=True)
    except LanguageModelError as error:
        return Seen(works=False, said=str(error)[:_SAID].rstrip("."))


def _ask(chat: ChatModel, question: Question, *, top: int = 0, most: int = 4) -> Answer:
    settings = GenerationSettings(max_new_tokens=most, temperature=0)
    return chat.answer([question], settings, seeds=[0], top=top)[0]


def _echo(chat: ChatModel) -> None:
    try:
        words = chat.echoed_words([_ECHOED], _ENDINGS)[0]
    except (ServerError, NoEchoError):
        if chat.per_request == 1:
            raise
        # Some servers take one prompt in a request, and write without end for max_tokens=0.
        before = chat.per_request, chat.least_written
        chat.per_request = chat.least_written = 1
        try:
            _echo(chat)
        except LanguageModelError:
            chat.per_request, chat.least_written = before
        else:
            return
        raise
    if any(word is None or not word.logprobs for word in words):
        raise ServerError("No word could be told from the prompt before it")


def _prefill(chat: ChatModel) -> Seen | None:
    question = Question("Count from one to six in words.", opening=_BEGUN)
    try:
        answer = _ask(chat, question, most=6)
    except LanguageModelError:
        if not chat.opening_options:
            raise
        asked, chat.opening_options = chat.opening_options, {}
        seen = _see(lambda: _prefill(chat))
        if not seen.works:  # what is not asked for is not taken for granted
            chat.opening_options = asked
            raise
        return seen
    if answer.text.lower().lstrip(" ,.:").startswith(_GOES_ON):
        return None
    return Seen(said=f"taken, but “{answer.text[:60]}” does not show that it goes on")


def _schema(chat: ChatModel) -> Seen | None:
    question = Question("How warm is fire, from 0 to 100?", schema=_SCHEMA)
    text = _ask(chat, question, most=40).text
    try:
        if isinstance(json.loads(text)["rating"], int):
            return None
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return Seen(works=False, said=f"it answers “{text[:60]}”")


def read_abilities(stored: Any) -> ServerAbilities | None:
    """Return the abilities in a model's record, None if it was never tried."""
    return ServerAbilities.model_validate(stored) if stored else None
