"""Words that end a prompt, by a server's completions that echo it with log-probabilities.

The server reads the prompt with the word behind it and tells ln P of every token: a softmax over
the whole vocabulary, and by the chain rule the probability of a word of any number of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from probing.lm.chat_errors import RefusedError, UnsupportedOptionError, read_logprob
from probing.lm.errors import LanguageModelError, ServerError, UnknownServedModelError
from probing.lm.server_connection import Reply, ServerConnection

if TYPE_CHECKING:
    from openai import OpenAI

#: Prompts of one request.
PER_REQUEST = 32
#: How tokenizers write the space before a word, where a server tells raw tokens.
_SPACES = str.maketrans({"Ġ": " ", "▁": " "})


class NoEchoError(LanguageModelError):
    """The server has no completions that echo their prompts with log-probabilities."""


@dataclass(frozen=True)
class EchoedWord:
    """ln P of the tokens of a word that ends a prompt; none where they cannot be told apart."""

    logprobs: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.logprobs)


class EchoedEndings(ServerConnection):
    """A served model that is asked for completions."""

    def echoed_words(
        self, prompts: Sequence[str], words: Sequence[str]
    ) -> list[list[EchoedWord | None]]:
        """Return, per prompt, what the server tells of each word behind it.

        None where it refuses the prompt. Raises :class:`NoEchoError` where it tells no echoed
        log-probabilities, and what keeps a server from answering.
        """
        asks = [
            partial(self._echo, prompt, words[begin : begin + PER_REQUEST])
            for prompt in prompts
            for begin in range(0, len(words), PER_REQUEST)
        ]
        found = self.ask_all(asks)
        size = -(-len(words) // PER_REQUEST)
        return [
            [word for part in found[begin : begin + size] for word in part]
            for begin in range(0, len(found), size)
        ]

    def _echo(
        self, prompt: str, words: Sequence[str], client: OpenAI
    ) -> Reply[list[EchoedWord | None]]:
        endings = [f" {word}" for word in words]

        def request() -> Any:
            return client.completions.create(
                model=self.served_name,
                prompt=[prompt + ending for ending in endings],
                max_tokens=0,
                temperature=0,
                echo=True,
                logprobs=1,
            )

        try:
            made = self.attempt(request, client)
        except RefusedError:
            return Reply([None] * len(words), 0)
        except UnsupportedOptionError as error:
            raise NoEchoError(self._lacks(str(error))) from None
        except UnknownServedModelError as error:
            if self.served_name in self._offered(client):
                raise NoEchoError(self._lacks("it has no completions")) from None
            raise error from None
        choices = sorted(made.choices, key=lambda choice: choice.index)
        if len(choices) != len(words):
            raise ServerError(
                f"The server {self.device} answered {len(choices)} of {len(words)} prompts. Try "
                "again, or look at its log."
            )
        if any(one.logprobs is None or not one.logprobs.tokens for one in choices):
            raise NoEchoError(self._lacks("it tells none"))
        spent = made.usage.total_tokens if made.usage else 0
        written = (made.usage.completion_tokens or 0) if made.usage else 0
        read = [_read(one, ending) for one, ending in zip(choices, endings, strict=True)]
        return Reply(list(read), spent, written)

    def _offered(self, client: OpenAI) -> list[str]:
        try:
            return self.attempt(lambda: [model.id for model in client.models.list()], client)
        except LanguageModelError:
            return []

    def _lacks(self, why: str) -> str:
        return f"The server {self.device} gives no log-probabilities of echoed completions ({why})."


def _read(choice: Any, ending: str) -> EchoedWord:
    """Return the tokens at the end that spell the ending; none where one reaches across."""
    spelled = ""
    values: list[float] = []
    told = zip(choice.logprobs.tokens, choice.logprobs.token_logprobs, strict=True)
    for token, value in reversed(list(told)):
        if len(spelled) >= len(ending):
            break
        if value is None:
            return EchoedWord(())
        spelled = token.translate(_SPACES) + spelled
        values.append(read_logprob(value))
    return EchoedWord(tuple(reversed(values)) if spelled == ending else ())
