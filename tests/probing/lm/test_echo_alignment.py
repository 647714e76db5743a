"""Echoes are laid over the text that was sent, token by token; the server is a real one."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from probing.lm.chat import ChatModel
from probing.lm.chat_limits import ChatLimits
from probing.lm.echoed_endings import EchoedWord, NoEchoError, read_echo
from probing.lm.errors import EchoError, ServerError
from tests.probing.lm.test_hostile_servers import Act, say, serve

PROMPT, WORDS = "A person who says they be late is", ["lazy", "kind", "loud"]
Told = tuple[list[str], list[Any]]
Change = Callable[[list[str], list[Any]], Told]


def logprob(before: str, token: str) -> float:
    """Return a made-up ln P from -1 to -5 that follows from the text alone."""
    return -1.0 - (zlib.crc32(f"{before}\0{token}".encode()) % 4000) / 1000


def echo(change: Change, *, least: int = 0, null_first: bool = True) -> Act:
    """Return how a server echoes its prompts, after what `change` does to tokens and values."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        body = handler.asked  # type: ignore[attr-defined]
        if body["max_tokens"] < least:
            error = {"message": f"max_tokens must be at least {least}, got 0."}
            say(json.dumps({"error": error}).encode(), 400)(handler)
            return
        choices = []
        for index, prompt in enumerate(body["prompt"]):
            tokens = re.findall(r" ?[^ ]+", prompt) + [" next"] * body["max_tokens"]
            values: list[Any] = [
                logprob("".join(tokens[:place]), token) for place, token in enumerate(tokens)
            ]
            if null_first:
                values[0] = None
            tokens, values = change(tokens, values)
            told = {"tokens": tokens, "token_logprobs": values, "text_offset": []}
            choices.append({"index": index, "text": "".join(tokens), "logprobs": told})
        answer = {"id": "c", "object": "text_completion", "model": "m", "choices": choices}
        say(json.dumps(answer).encode(), Content_Type="application/json")(handler)

    return act


def ask(act: Act) -> list[EchoedWord | None]:
    def read(handler: BaseHTTPRequestHandler) -> None:
        handler.asked = json.loads(handler.body)  # type: ignore[attr-defined]
        act(handler)

    with serve(read) as host:
        limits = ChatLimits(requests_per_minute=0, attempts=1, timeout_seconds=5)
        chat = ChatModel(f"http://{host}/v1", "m", limits=limits)
        return chat.echoed_words([PROMPT], WORDS)[0]


RIGHT = [pytest.approx(logprob(PROMPT, f" {word}")) for word in WORDS]


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize(
    "change",
    [
        lambda tokens, values: (tokens, values),
        lambda tokens, values: (tokens, [-3.0, *values[1:]]),  # after a beginning of its own
        lambda tokens, values: (["<s>", *tokens], [None, -3.0, *values[1:]]),
        lambda tokens, values: ([one.replace(" ", "Ġ") for one in tokens], values),
        lambda tokens, values: ([f"▁{one.strip()}" for one in tokens], values),
    ],
)
def test_an_echo_that_fits_is_read(change: Change, least: int) -> None:
    """Also with a token that the server had to write, which is left out."""
    found = ask(echo(change, least=least))
    assert [word.total for word in found if word] == RIGHT


@pytest.mark.parametrize("null_first", [True, False])
@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize(
    "change",
    [
        lambda tokens, values: (tokens, [None, *values[:-1]]),  # late
        lambda tokens, values: (tokens, [*values[1:], None]),  # early
        lambda tokens, values: (tokens, values[1:]),  # one value is missing
        lambda tokens, values: (tokens, values[:-1]),
        lambda tokens, values: (tokens, None),
        lambda tokens, values: (tokens, [*values[:3], None, *values[4:]]),
        lambda tokens, values: (tokens[:7], values[:7]),  # short
        lambda tokens, values: ([*tokens[:2], *tokens[3:]], [*values[:2], *values[3:]]),
        lambda tokens, values: ([*tokens[:3], " not", *tokens[4:]], values),
    ],
)
def test_no_value_is_read_from_an_echo_that_does_not_fit(
    change: Change, least: int, null_first: bool
) -> None:
    with pytest.raises((EchoError, NoEchoError), match="echo"):
        ask(echo(change, least=least, null_first=null_first))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda tokens, values: (tokens, [-2.0, *values[:-1]]), "too late"),
        (lambda tokens, values: (tokens, [*values[1:], -2.0]), "too early"),
    ],
)
def test_values_out_of_place_show_without_a_null(change: Change, what: str) -> None:
    with pytest.raises(EchoError, match=what):
        ask(echo(change, null_first=False))


def test_a_server_that_echoes_nothing_is_told_apart() -> None:
    with pytest.raises(NoEchoError, match=r"it echoes no prompt: .* “ next” came back"):
        ask(echo(lambda tokens, values: (tokens[-1:], values[-1:]), least=1))


@pytest.mark.parametrize(
    "tokens",
    [
        ["é", "t", "é", " \ufffd", "\ufffd", " is", " ñ", "u"],
        ["é", "t", "é", " ", "", "€", " is", " ñ", "u"],
        ["bytes:\\xc3\\xa9", "t", "é", "bytes: \\xe2\\x82", "bytes:\\xac", " is", " ñu"],
        ["Ã©", "t", "Ã©", "ĠâĤ¬", " is", "ĠÃ±", "u"],
        ["<s>", "<0xC3>", "<0xA9>", "t", "é", " €", " is", " ", "<0xC3>", "<0xB1>", "u"],
    ],
)
def test_tokens_that_are_no_whole_characters_are_laid_over_the_text(tokens: list[str]) -> None:
    values = [None, *(-float(place) for place in range(1, len(tokens)))]
    found = read_echo(tokens, values, "été € is", " ñu")
    begin = tokens.index(" is") + 1
    assert found.tokens == tuple(tokens[begin:])
    assert found.values == tuple(-float(place) for place in range(begin, len(tokens)))


def test_a_token_across_the_end_of_the_prompt_tells_nothing() -> None:
    assert read_echo(["They", " are lazy"], [None, -1.0], "They are", " lazy").values == ()


def test_an_error_in_an_answer_with_status_200_is_quoted() -> None:
    act = say(b'{"error": {"message": "no memory left"}}', Content_Type="application/json")
    with pytest.raises(ServerError, match="no memory left"):
        ask(act)
