"""Words that end a prompt, by a server's completions that echo it with log-probabilities.

The server reads the prompt with the word behind it and tells ln P of every token: a softmax over
the whole vocabulary, and by the chain rule the probability of a word of any number of tokens.
Every token is laid over the text that was sent; nothing is read from an echo that does not fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from probing.lm.chat_errors import (
    RefusedError,
    UnsupportedOptionError,
    quote,
    read_logprob,
    require_choices,
)
from probing.lm.errors import (
    EchoError,
    LanguageModelError,
    RequestRefusedError,
    ServerError,
    UnknownServedModelError,
)
from probing.lm.server_connection import Reply, ServerConnection

if TYPE_CHECKING:
    from openai import OpenAI

#: Prompts of one request.
PER_REQUEST = 32
#: How tokenizers write the space before a word, where a server tells raw tokens.
_SPACES = str.maketrans({"Ġ": " ", "Ċ": "\n", "▁": " "})
#: Tokens before a text that are no part of it, such as <s>, <|begin_of_text|> and [CLS].
_SPECIAL = re.compile(r"<[^<>]*>|\[[A-Z]+\]|")
#: Tokens that are no whole characters: bytes:\\xe2\\x80 (OpenAI), <0xE2> (SentencePiece), � (vLLM).
_BYTES = re.compile(r"\\x([0-9a-fA-F]{2})")
_ONE_BYTE = re.compile(r"<0x([0-9a-fA-F]{2})>")
_UNKNOWN = re.compile("(\ufffd)")
#: How tokenizers of bytes spell those that are no printable character: ’ as âĢĻ.
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_SPELLED_BYTES = {chr(one): one for one in _PRINTABLE} | {
    chr(256 + place): one for place, one in enumerate(sorted({*range(256)} - {*_PRINTABLE}))
}
#: ln P of the same tokens of a prompt differs by less between the texts of one request.
_NOISE = 1.0


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

    #: How many tokens the server must write at least; one, once it has refused to write none.
    least_written = 0
    #: How many prompts the server takes in one request.
    per_request = PER_REQUEST

    def echoed_words(
        self, prompts: Sequence[str], words: Sequence[str]
    ) -> list[list[EchoedWord | None]]:
        """Return, per prompt, what the server tells of each word behind it.

        None where it refuses the prompt. Raises :class:`NoEchoError` where it tells no echoed
        log-probabilities, and what keeps a server from answering.
        """
        asks = [
            partial(self._echo, prompt, words[begin : begin + self.per_request])
            for prompt in prompts
            for begin in range(0, len(words), self.per_request)
        ]
        found = self.ask_all(asks)
        size = -(-len(words) // self.per_request)
        rows = [
            [echo for part in found[begin : begin + size] for echo in part]
            for begin in range(0, len(found), size)
        ]
        try:
            for row in rows:
                _check_places([echo for echo in row if echo is not None])
        except EchoError as error:
            raise self._misplaced(error) from None
        return [[None if echo is None else EchoedWord(echo.values) for echo in row] for row in rows]

    def _echo(self, prompt: str, words: Sequence[str], client: OpenAI) -> Reply[list[Echo | None]]:
        endings = [f" {word}" for word in words]

        def request(written: int) -> Any:
            made = client.completions.create(
                model=self.served_name,
                prompt=[prompt + ending for ending in endings],
                max_tokens=written,
                temperature=0,
                echo=True,
                logprobs=1,
            )
            return require_choices(made)

        try:
            try:
                made = self.attempt(partial(request, self.least_written), client)
            except (RequestRefusedError, UnsupportedOptionError):
                if self.least_written:
                    raise
                made = self.attempt(partial(request, 1), client)
                self.least_written = 1
        except RefusedError:
            return Reply([None] * len(words), 0)
        except RequestRefusedError as error:
            raise NoEchoError(self._lacks(error.said)) from None
        except UnsupportedOptionError as error:
            raise NoEchoError(self._lacks(str(error))) from None
        except UnknownServedModelError as error:
            offered = self._offered(client)
            if not offered or self.served_name in offered:
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
        for choice, ending in zip(choices, endings, strict=True):
            came = "".join(map(str, choice.logprobs.tokens)).translate(_SPACES)
            if not any(prompt.strip() in text for text in (choice.text or "", came)):
                told = quote(f"“{prompt + ending}” was sent, “{choice.text or came}” came back")
                raise NoEchoError(self._lacks(f"it echoes no prompt: {told}"))
        try:
            found: list[Echo | None] = [
                read_echo(choice.logprobs.tokens, choice.logprobs.token_logprobs, prompt, ending)
                for choice, ending in zip(choices, endings, strict=True)
            ]
        except EchoError as error:
            raise self._misplaced(error) from None
        if self.came_from == "kept":
            return Reply(found, 0, reused=True)
        spent = (made.usage.total_tokens or 0) if made.usage else 0
        written = (made.usage.completion_tokens or 0) if made.usage else 0
        return Reply(found, spent, written)

    def _offered(self, client: OpenAI) -> list[str]:
        try:
            return self.attempt(lambda: [model.id for model in client.models.list()], client)
        except LanguageModelError:
            return []

    def _misplaced(self, error: EchoError) -> EchoError:
        return EchoError(
            f"The echo of the server {self.device} does not fit the text that was sent: "
            f"{error}. Its log-probabilities cannot be used. Update the server, or use another."
        )

    def _lacks(self, why: str) -> str:
        return f"The server {self.device} gives no log-probabilities of echoed completions ({why})."


@dataclass(frozen=True)
class Echo:
    """What an echo tells: tokens of the prompt and of its ending, with ln P of both.

    None of the ending where a token reaches across its beginning.
    """

    before: tuple[str, ...]
    before_values: tuple[float | None, ...]
    tokens: tuple[str, ...] = ()
    values: tuple[float, ...] = ()


def read_echo(tokens: Sequence[Any], values: Sequence[Any], prompt: str, ending: str) -> Echo:
    """Return the tokens of a prompt and its ending, and what is told of each.

    Tokens that the server wrote behind the text are left out. Raises :class:`EchoError` where
    tokens and text differ, a token has no value, or a value stands at another token.
    """
    if not isinstance(values, list) or len(values) != len(tokens):
        count = len(values) if isinstance(values, list) else "no"
        raise EchoError(f"it has {len(tokens)} tokens and {count} log-probabilities")
    sent = (prompt + ending).encode()
    ends = _lay_over([str(token) for token in tokens], sent)
    first = next(place for place, end in enumerate(ends) if end)
    # Nothing is known of the first token of all. A null elsewhere is a value out of its place.
    for place in range(1, len(ends)):
        if values[place] is None and ends[place]:
            raise EchoError(f"there is no log-probability of “{tokens[place]}” (token {place + 1})")
    if values[first] is not None and None in values[first:]:
        raise EchoError(
            f"the first token “{tokens[first]}” has a log-probability, the last one has none"
        )
    numbers = [None if one is None else read_logprob(one) for one in values[: len(ends)]]
    begins = [0, *ends[:-1]]
    edge = len(prompt.encode())
    if edge not in begins:
        return Echo((), ())
    cut = begins.index(edge)
    told = tuple(number for number in numbers[cut:] if number is not None)
    return Echo(tuple(tokens[:cut]), tuple(numbers[:cut]), tuple(tokens[cut : len(ends)]), told)


def _lay_over(tokens: Sequence[str], sent: bytes) -> list[int]:
    """Return where in the text each token ends, in bytes, until the text does.

    Tokens of which not every byte is known leave several places open, until later ones fit.
    """
    reached = [{0}]
    for token in tokens:
        after = {end for at in reached[-1] for end in _reach(token, sent, at)}
        if not after:
            break
        reached.append(after)
    last = max((place for place, some in enumerate(reached) if len(sent) in some), default=0)
    if not last:
        at = max(reached[-1])
        came = tokens[len(reached) - 1] if len(reached) <= len(tokens) else "nothing more"
        text = sent[at : at + 40].decode(errors="replace")
        raise EchoError(f"after {at} bytes came “{came}” for “{text}”")
    ends = [len(sent)]
    for place in range(last, 1, -1):
        ends.append(
            max(at for at in reached[place - 1] if ends[-1] in _reach(tokens[place - 1], sent, at))
        )
    return ends[::-1]


def _reach(token: str, sent: bytes, at: int) -> set[int]:
    """Return where a token can end that begins at a place of the text."""
    found = {0} if at == 0 and _SPECIAL.fullmatch(token) else set()
    if at < len(sent) and not token:  # its character is told with the last of its tokens
        found.add(at)
    spelled = {
        token.encode("utf-8", "surrogatepass"),
        token.translate(_SPACES).encode("utf-8", "surrogatepass"),
    }
    if all(one in _SPELLED_BYTES for one in token):
        spelled.add(bytes(_SPELLED_BYTES[one] for one in token))
    if at == 0:  # SentencePiece begins a text with a space of its own
        spelled |= {one.removeprefix(b" ") for one in spelled}
    if token.startswith("bytes:"):
        plain = _BYTES.sub(lambda one: chr(int(one[1], 16)), token.removeprefix("bytes:"))
        spelled.add(plain.encode("latin-1", "ignore"))
    if one_byte := _ONE_BYTE.fullmatch(token):
        spelled.add(bytes([int(one_byte[1], 16)]))
    found |= {at + len(one) for one in spelled if one and sent.startswith(one, at)}
    if "\ufffd" in token:
        places = {at}
        for part in _UNKNOWN.split(token.translate(_SPACES)):
            if part == "\ufffd":  # one to four bytes that are no letter of ASCII
                places = {
                    end
                    for begin in places
                    for end in range(begin + 1, min(begin + 4, len(sent)) + 1)
                    if min(sent[begin:end]) > 0x7F
                }
            else:
                places = {
                    one + len(part.encode())
                    for one in places
                    if sent.startswith(part.encode(), one)
                }
        found |= places
    return found


def _check_places(echoes: Sequence[Echo]) -> None:
    """Raise :class:`EchoError` where values stand one place too early or too late in all echoes.

    The prompt is the same in all of them, so that its tokens have the same values, and the first
    tokens of different words have not.
    """
    whole = [one for one in echoes if one.tokens]
    for one in whole[1:]:
        if one.before == whole[0].before and one.before:
            first, other = whole[0].before_values[-1], one.before_values[-1]
            if first is not None and other is not None and abs(first - other) > _NOISE:
                raise EchoError(
                    f"the same token “{one.before[-1]}” of the prompt has the log-probability "
                    f"{first:g} before “{whole[0].tokens[0]}” and {other:g} before "
                    f"“{one.tokens[0]}”, as if values stood one place too early"
                )
    told = {one.tokens[0]: one.values[0] for one in whole if one.values}
    if len(told) > 2 and len(set(told.values())) == 1 and math.isfinite(next(iter(told.values()))):
        raise EchoError(
            f"“{'”, “'.join(told)}” all have the log-probability {next(iter(told.values())):g}, as "
            "if values stood one place too late"
        )
