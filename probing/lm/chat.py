"""Chat models behind any server with OpenAI's protocol.

Hosted services, vLLM, Ollama and ``transformers serve`` alike. The key is read from an environment
variable when a request is made; it is never stored, and no message or log line holds it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from probing.lm.chat_errors import (
    ErrorBodyError,
    RefusedError,
    UnsupportedOptionError,
    read_logprob,
    require_choices,
)
from probing.lm.echoed_endings import EchoedEndings
from probing.lm.errors import GenerationSettingsError, RequestRefusedError, ServerError
from probing.lm.question_protocols import Answer, AnswerToken, Question
from probing.lm.reasoning_blocks import split_reasoning
from probing.lm.served_token_ids import ServedTokenIds
from probing.lm.server_batches import ServedBatches
from probing.lm.server_connection import Reply
from probing.lm.text_protocols import Generation, GenerationSettings

if TYPE_CHECKING:
    from openai import OpenAI

    from probing.lm.server_abilities import ServerAbilities
    from probing.lm.server_batches import BatchBook

T = TypeVar("T")

#: Characters of UTF-8 that make a token, roughly, where nobody but the server can count them.
_BYTES_PER_TOKEN = 4
#: Tokens that a chat's wrapping adds to a prompt, roughly.
_WRAPPING = 8
#: The protocol takes no more stop texts; any others are found here.
_MOST_STOPS = 4
_LARGEST_SEED = 2**31
#: How servers say that an answer was cut off, or that a filter ended it.
_CUT = ("length", "max_tokens", "MAX_TOKENS", "model_length")
_REFUSING = ("content_filter", "refusal", "safety", "SAFETY")
#: Numbers of likeliest tokens that are asked for in turn: some servers tell fewer, or none.
_FEWER_TOP = 5
#: What vLLM and SGLang need in order to continue the assistant's turn; others ignore or refuse it.
_CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
#: How servers say that they do not know an option, in lower case.
_UNKNOWN_WORDS = (
    *("unsupported", "not support", "unknown", "unrecognized", "unexpected", "not permitted"),
    *("not allowed", "only the default", "not accepted", "invalid field", "additional properties"),
)


class ChatFacts:
    """What can be said about a chat model without asking its server."""

    #: A chat model writes and may tell likely tokens; no server tells how likely a whole text is.
    abilities = frozenset({"generate", "answer", "end_word"})
    kind: Literal["chat"] = "chat"
    #: The server alone knows, and refuses what is too long.
    max_length: int | None = None

    def __init__(self, seen: ServerAbilities | None = None) -> None:
        #: What was seen of the server when it was tried; None if it was not.
        self.seen = seen

    def count_tokens(self, text: str) -> int:
        """Return an estimate: a token for four bytes, and a little for the chat's wrapping."""
        return math.ceil(len(text.encode()) / _BYTES_PER_TOKEN) + _WRAPPING


class ChatModel(ChatFacts, EchoedEndings, ServedTokenIds, ServedBatches):
    """A chat model; every question is a chat of its own.

    Parameters
    ----------
    seen : what was seen of the server before; without, every call finds out for itself.
    book : remembers batches; without one, every question is asked by itself.
    options : of :class:`ServerConnection`.
    """

    def __init__(
        self,
        base_url: str,
        served_name: str,
        *,
        seen: ServerAbilities | None = None,
        book: BatchBook | None = None,
        **options: Any,
    ) -> None:
        ServedBatches.__init__(self, base_url, served_name, **options)
        self.book = book
        ChatFacts.__init__(self, seen)
        #: How many likeliest tokens the server tells, once it has refused more.
        self._most_top: int | None = None
        #: What it said when it refused to tell any.
        self.no_logprobs = ""
        #: Options that it does not take, with its words.
        self.refused: dict[str, str] = {}
        self.length_option = "max_tokens"
        self.opening_options: Mapping[str, bool] = _CONTINUE
        #: The model's name in the latest answer.
        self.answers_as = ""
        if seen is not None and not seen.away:
            self.least_written = seen.least_written
            self.per_request = seen.per_request
            self.length_option = seen.length_option
            self.refused |= seen.refused
            if seen.plain_prefill:
                self.opening_options = {}
            if seen.logprobs.works is False:
                self._most_top, self.no_logprobs = 0, seen.logprobs.said

    def generate(
        self, prompts: Sequence[str], settings: GenerationSettings, *, seeds: Sequence[int]
    ) -> list[Generation]:
        """Return one text per prompt, in order; what the server refuses is ``refused``.

        Every prompt is a message without a system message. Seeds are sent along; servers may
        ignore them.

        Raises
        ------
        GenerationSettingsError
            Beams or n-grams, which the protocol does not know.
        ServerAwayError, AccessDeniedError, UnknownServedModelError, ServerError
            What keeps the server from answering, after all attempts.
        ContextTooLongError
            The server finds a prompt too long.
        SpendCapError
            The budget is used up; texts that came in before are lost to this call.
        """
        _check(settings, len(prompts), len(seeds))
        self._batch([Question(prompt) for prompt in prompts], settings, seeds)
        return self.ask_all(
            [
                partial(self._generate, prompt, settings, seed % _LARGEST_SEED)
                for prompt, seed in zip(prompts, seeds, strict=True)
            ]
        )

    def answer(
        self,
        questions: Sequence[Question],
        settings: GenerationSettings,
        *,
        seeds: Sequence[int],
        top: int = 0,
        bias: Mapping[int, float] | None = None,
    ) -> list[Answer]:
        """Return one answer per question; see :class:`AnsweringModel`. Raises as `generate`."""
        _check(settings, len(questions), len(seeds))
        self._batch(questions, settings, seeds, top, bias)
        return self.ask_all(
            [
                partial(self._answer, question, settings, seed % _LARGEST_SEED, top, bias or {})
                for question, seed in zip(questions, seeds, strict=True)
            ]
        )

    def _batch(
        self,
        questions: Sequence[Question],
        settings: GenerationSettings,
        seeds: Sequence[int],
        top: int = 0,
        bias: Mapping[int, float] | None = None,
    ) -> None:
        """Have questions answered in a batch, if this run asks in batches."""
        if self.book is None:
            return
        requests = []
        for question, seed in zip(questions, seeds, strict=True):
            body = self._body(question, settings, seed % _LARGEST_SEED, top, bias or {})
            body |= body.pop("extra_body", {})
            requests.append((body, "" if "seed" in body else str(seed % _LARGEST_SEED)))
        self.ask_in_batch(requests)

    def _generate(
        self, prompt: str, settings: GenerationSettings, seed: int, client: OpenAI
    ) -> Reply[Generation]:
        question = Question(prompt)
        try:
            made = self._complete(question, settings, seed, client)
        except RefusedError as refusal:
            return Reply(Generation(str(refusal), None, "refused"), self.count_tokens(prompt))
        text, finish, thought = _read_text(made, settings)
        written = made.usage.completion_tokens if made.usage else None
        return self._reply(Generation(text, written, finish, thought), made, question, text)

    def _answer(
        self,
        question: Question,
        settings: GenerationSettings,
        seed: int,
        top: int,
        bias: Mapping[int, float],
        client: OpenAI,
    ) -> Reply[Answer]:
        try:
            made = self._complete(question, settings, seed, client, top=top, bias=bias)
        except RefusedError as refusal:
            spent = self.count_tokens(question.user)
            return Reply(Answer(str(refusal), "refused"), spent)
        text, finish, thought = _read_text(made, settings)
        if question.opening:  # some servers give the opening back
            text = text.removeprefix(question.opening.strip()).strip()
        reasoning = _reasoning(made) or (self.count_tokens(thought) if thought else 0)
        answer = Answer(text, finish, _read_tokens(made), reasoning, thought)
        return self._reply(answer, made, question, text)

    def _complete(
        self,
        question: Question,
        settings: GenerationSettings,
        seed: int,
        client: OpenAI,
        *,
        top: int = 0,
        bias: Mapping[int, float] | None = None,
    ) -> Any:
        """Return the server's answer, without the options that it turns out not to take."""
        without: dict[str, str] = {}
        while True:
            body = self._body(question, settings, seed, top, bias or {})
            for option in without.keys() & body.keys():
                del body[option]
            if "logprobs" in without:
                body.pop("top_logprobs", None)
            try:
                made = self.attempt(partial(self._send, body, seed, client), client)
            except (UnsupportedOptionError, RequestRefusedError) as error:
                said = error.said if isinstance(error, RequestRefusedError) else str(error)
                if self._adapts(said, body):
                    continue
                lacking = _named_option(said, body)
                # A refusal that names nothing may be about what fewest servers know.
                if lacking is None and "logprobs" in body and not question.opening:
                    lacking = "logprobs"
                if lacking is not None:
                    without[lacking] = said
                    continue
                if isinstance(error, RequestRefusedError):
                    raise
                if question.opening:
                    raise GenerationSettingsError(
                        f"The server {self.device} does not let the assistant's turn be begun "
                        f"({said}). Ask without an opening."
                    ) from None
                raise ServerError(
                    f"The server {self.device} does not accept the request ({said})."
                ) from None
            if "logprobs" in without:
                self._most_top, self.no_logprobs = 0, without.pop("logprobs")
            self.refused |= without
            self.answers_as = str(getattr(made, "model", None) or "")
            return made

    def _body(
        self,
        question: Question,
        settings: GenerationSettings,
        seed: int,
        top: int,
        bias: Mapping[int, float],
    ) -> dict[str, Any]:
        messages = [{"role": "user", "content": question.user}]
        if question.system:
            messages.insert(0, {"role": "system", "content": question.system})
        body: dict[str, Any] = {
            "model": self.served_name,
            "messages": messages,
            "temperature": settings.temperature,
            "seed": seed,
            self.length_option: settings.max_new_tokens + question.thinking,
        }
        if question.opening:
            messages.append({"role": "assistant", "content": question.opening})
            body["extra_body"] = self.opening_options
        if settings.stop:
            body["stop"] = list(settings.stop[:_MOST_STOPS])
        if question.schema:
            form = {"name": "answer", "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if bias:
            body["logit_bias"] = {str(token): value for token, value in bias.items()}
        told = top if self._most_top is None else min(top, self._most_top)
        if told:
            body |= {"logprobs": True, "top_logprobs": told}
        return {name: value for name, value in body.items() if name not in self.refused}

    def _send(self, body: Mapping[str, Any], seed: int, client: OpenAI) -> Any:
        from probing.lm.server_answers import DRAW_HEADER

        send: Callable[..., Any] = client.chat.completions.create
        headers = {} if "seed" in body else {DRAW_HEADER: str(seed)}
        made = send(**body, extra_headers=headers)
        if require_choices(made).choices[0].message is None:
            raise ErrorBodyError(made)
        return made

    def _adapts(self, said: str, body: Mapping[str, Any]) -> bool:
        """Whether the request is to be made again in other words, after what the server said."""
        renamed = "max_completion_tokens"
        if "max_tokens" in body and (renamed in said or _is_unknown(said, "max_tokens")):
            # Newer models of some services want another name for the same option.
            self.length_option = renamed
            return True
        if "logprob" in said and body.get("top_logprobs", 0) > _FEWER_TOP:
            self._most_top = _FEWER_TOP
            return True
        return False

    def _reply(self, value: T, made: Any, question: Question, text: str) -> Reply[T]:
        """Return the value with the tokens of question and answer, as told or by an estimate."""
        if source := self.came_from:  # a batch counts what it cost when it is collected
            return Reply(value, 0, reused=source == "kept")
        if made.usage and made.usage.total_tokens is not None:
            written = int(made.usage.completion_tokens or 0)
            return Reply(value, int(made.usage.total_tokens), written)
        written = self.count_tokens(text)
        return Reply(value, self.count_tokens(question.system + question.user) + written, written)


def _is_unknown(said: str, option: str) -> bool:
    """Whether a server says that it does not know an option, rather than a value of it."""
    return bool(re.search(rf"\b{option}\b", said)) and any(
        words in said.lower() for words in _UNKNOWN_WORDS
    )


def _named_option(said: str, body: Mapping[str, Any]) -> str | None:
    """Return the option of a request that can be left out and that a server refuses by name."""
    if "logprobs" in body and "logprob" in said:
        return "logprobs"
    return next(
        (one for one in ("seed", "temperature") if one in body and _is_unknown(said, one)), None
    )


def _read_text(
    made: Any, settings: GenerationSettings
) -> tuple[str, Literal["stop", "length", "refused"], str]:
    """Return what was written up to the first stop text, how it ended, and the reasoning before.

    Servers tell reasoning apart from the answer, under either of two names, or leave its marks.
    """
    choice = made.choices[0]
    refusal = getattr(choice.message, "refusal", None)
    text = refusal or _plain(choice.message.content)
    if refusal or choice.finish_reason in _REFUSING:
        return text.strip(), "refused", ""
    text, thought, closed = split_reasoning(text)
    told = (getattr(choice.message, name, None) for name in ("reasoning_content", "reasoning"))
    thought = next((one.strip() for one in told if isinstance(one, str) and one.strip()), thought)
    cut = min((at for one in settings.stop if (at := text.find(one)) >= 0), default=None)
    whole = closed and (choice.finish_reason not in _CUT or cut is not None)
    return text[:cut].strip(), "stop" if whole else "length", thought


def _plain(content: object) -> str:
    """Return the text of a message; of one in parts, those that are no reasoning."""
    if isinstance(content, list):
        parts = [one for one in content if isinstance(one, dict) and one.get("type") == "text"]
        return "".join(str(one.get("text", "")) for one in parts)
    return content if isinstance(content, str) else ""


def _read_tokens(made: Any) -> tuple[AnswerToken, ...] | None:
    """Return the tokens with the likeliest at their places; None where the server tells none."""
    told = getattr(made.choices[0], "logprobs", None)
    if told is None or not told.content:
        return None
    return tuple(
        AnswerToken(
            one.token,
            tuple(
                (other.token, value)
                for other in one.top_logprobs or (one,)
                if math.isfinite(value := read_logprob(other.logprob))
            ),
        )
        for one in told.content
    )


def _reasoning(made: Any) -> int:
    details = getattr(made.usage, "completion_tokens_details", None) if made.usage else None
    return int(getattr(details, "reasoning_tokens", None) or 0)


def _check(settings: GenerationSettings, n: int, n_seeds: int) -> None:
    if settings.beams > 1 or settings.no_repeat_ngram:
        raise GenerationSettingsError(
            f"beams is {settings.beams} and no_repeat_ngram {settings.no_repeat_ngram}, but "
            "servers of chat models know neither. Set beams to 1 and no_repeat_ngram to 0."
        )
    if settings.max_new_tokens < 1 or settings.temperature < 0:
        raise GenerationSettingsError(
            f"max_new_tokens is {settings.max_new_tokens} and temperature "
            f"{settings.temperature:g}, expected at least 1 and 0."
        )
    if n_seeds != n:
        raise GenerationSettingsError(
            f"There are {n_seeds} seeds for {n} prompts, expected one each."
        )
