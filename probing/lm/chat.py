"""Chat models behind any server with OpenAI's protocol.

Hosted services, vLLM, Ollama and ``transformers serve`` alike. The key is read from an environment
variable when a request is made; it is never stored, and no message or log line holds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from probing.lm.chat_errors import (
    ErrorBodyError,
    RefusedError,
    UnsupportedOptionError,
    read_logprob,
    require_choices,
)
from probing.lm.echoed_endings import EchoedEndings
from probing.lm.errors import GenerationSettingsError, ServerError
from probing.lm.question_protocols import Answer, AnswerToken, Question
from probing.lm.reasoning_blocks import split_reasoning
from probing.lm.served_token_ids import ServedTokenIds
from probing.lm.server_connection import Reply
from probing.lm.text_protocols import Generation, GenerationSettings

if TYPE_CHECKING:
    from openai import OpenAI

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


class ChatFacts:
    """What can be said about a chat model without asking its server."""

    #: A chat model writes and may tell likely tokens; no server tells how likely a whole text is.
    abilities = frozenset({"generate", "answer", "end_word"})
    kind: Literal["chat"] = "chat"
    #: The server alone knows, and refuses what is too long.
    max_length: int | None = None

    def count_tokens(self, text: str) -> int:
        """Return an estimate: a token for four bytes, and a little for the chat's wrapping."""
        return math.ceil(len(text.encode()) / _BYTES_PER_TOKEN) + _WRAPPING


class ChatModel(ChatFacts, EchoedEndings, ServedTokenIds):
    """A chat model; every question is a chat of its own."""

    #: How many likeliest tokens the server tells, once it has refused more.
    _most_top: int | None = None
    #: What it said when it refused to tell any.
    no_logprobs = ""
    _length_option = "max_tokens"

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
        return self.ask_all(
            [
                partial(self._answer, question, settings, seed % _LARGEST_SEED, top, bias or {})
                for question, seed in zip(questions, seeds, strict=True)
            ]
        )

    def _generate(
        self, prompt: str, settings: GenerationSettings, seed: int, client: OpenAI
    ) -> Reply[Generation]:
        question = Question(prompt)
        try:
            made = self._complete(question, {}, settings, seed, client)
        except RefusedError as refusal:
            return Reply(Generation(str(refusal), None, "refused"), self.count_tokens(prompt))
        except UnsupportedOptionError as error:
            raise self._not_accepted(error) from None
        text, finish = _read_text(made, settings)
        written = made.usage.completion_tokens if made.usage else None
        return Reply(Generation(text, written, finish), *self._spent(made, question, text))

    def _answer(
        self,
        question: Question,
        settings: GenerationSettings,
        seed: int,
        top: int,
        bias: Mapping[int, float],
        client: OpenAI,
    ) -> Reply[Answer]:
        options: dict[str, Any] = {}
        if bias:
            options["logit_bias"] = {str(token): value for token, value in bias.items()}
        while True:
            told = top if self._most_top is None else min(top, self._most_top)
            asked = {"logprobs": True, "top_logprobs": told} if told else {}
            try:
                made = self._complete(question, options | asked, settings, seed, client)
            except RefusedError as refusal:
                spent = self.count_tokens(question.user)
                return Reply(Answer(str(refusal), "refused"), spent)
            except UnsupportedOptionError as error:
                if not told or "logprob" not in str(error):
                    raise self._not_accepted(error) from None
                self._most_top = _FEWER_TOP if told > _FEWER_TOP else 0
                self.no_logprobs = str(error)
                continue
            text, finish = _read_text(made, settings)
            answer = Answer(text, finish, _read_tokens(made), _reasoning(made))
            return Reply(answer, *self._spent(made, question, text))

    def _complete(
        self,
        question: Question,
        options: Mapping[str, Any],
        settings: GenerationSettings,
        seed: int,
        client: OpenAI,
    ) -> Any:
        messages = [{"role": "user", "content": question.user}]
        if question.system:
            messages.insert(0, {"role": "system", "content": question.system})
        more: dict[str, Any] = dict(options)
        if question.opening:
            messages.append({"role": "assistant", "content": question.opening})
            more["extra_body"] = _CONTINUE
        if settings.stop:
            more["stop"] = list(settings.stop[:_MOST_STOPS])
        send: Callable[..., Any] = client.chat.completions.create

        def request() -> Any:
            made = send(
                model=self.served_name,
                messages=messages,
                temperature=settings.temperature,
                seed=seed,
                **more,
                **{self._length_option: settings.max_new_tokens},
            )
            if require_choices(made).choices[0].message is None:
                raise ErrorBodyError(made)
            return made

        try:
            return self.attempt(request, client)
        except UnsupportedOptionError as error:
            renamed = "max_completion_tokens"
            if renamed in str(error) and self._length_option != renamed:
                # Newer models of some services want another name for the same option.
                self._length_option = renamed
                return self.attempt(request, client)
            if question.opening and "logprob" not in str(error):
                raise GenerationSettingsError(
                    f"The server {self.device} does not let the assistant's turn be begun "
                    f"({error}). Ask without an opening."
                ) from None
            raise

    def _not_accepted(self, error: Exception) -> ServerError:
        return ServerError(f"The server {self.device} does not accept the request ({error}).")

    def _spent(self, made: Any, question: Question, text: str) -> tuple[int, int]:
        """Return the tokens of question and answer together, and those of the answer."""
        if made.usage:
            return int(made.usage.total_tokens), int(made.usage.completion_tokens or 0)
        written = self.count_tokens(text)
        return self.count_tokens(question.system + question.user) + written, written


def _read_text(
    made: Any, settings: GenerationSettings
) -> tuple[str, Literal["stop", "length", "refused"]]:
    """Return what was written up to the first stop text, and how it ended."""
    choice = made.choices[0]
    refusal = getattr(choice.message, "refusal", None)
    text = refusal or _plain(choice.message.content)
    if refusal or choice.finish_reason in _REFUSING:
        return text.strip(), "refused"
    text, _, closed = split_reasoning(text)
    cut = min((at for one in settings.stop if (at := text.find(one)) >= 0), default=None)
    whole = closed and (choice.finish_reason not in _CUT or cut is not None)
    return text[:cut].strip(), "stop" if whole else "length"


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
