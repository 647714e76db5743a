"""What a server does when it is tried, and what runs then ask of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from probing.lm.chat import ChatModel
from probing.lm.chat_errors import read_error
from probing.lm.chat_limits import ChatLimits, RetryableError
from probing.lm.errors import RequestRefusedError
from probing.lm.question_protocols import Question
from probing.lm.server_abilities import ServerAbilities, try_server
from probing.lm.text_protocols import GenerationSettings
from tests.ports import free_port
from tests.probing.lm.test_hostile_servers import say, serve

QUICK = ChatLimits(requests_per_minute=0, attempts=2, timeout_seconds=5, first_wait=0.01)
SETTINGS = GenerationSettings(max_new_tokens=4, temperature=0.5)


class Odd:
    """A server in a few lines: each option of a case makes it odd in one way."""

    def __init__(self, **odd: Any) -> None:
        self.odd, self.asked = odd, list[dict[str, Any]]()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        status, body = 404, {"error": {"message": "no such page"}}
        if path.endswith("/models") and not self.odd.get("no_list"):
            status, body = 200, {"object": "list", "data": [{"id": "m", "object": "model"}]}
        elif path.endswith("/batches") and self.odd.get("batches"):
            status, body = 200, {"object": "list", "data": []}
        elif handler.command == "POST":
            asked = json.loads(handler.body)
            self.asked.append(asked)
            refused = self.refusal(asked)
            if refused:
                status, body = self.odd.get("status", 400), {"error": {"message": refused}}
            elif path.endswith("/chat/completions"):
                status, body = 200, self.chat(asked)
            elif path.endswith("/completions") and "echo" in self.odd:
                status, body = 200, self.complete(asked)
        say(json.dumps(body).encode(), status, Content_Type="application/json")(handler)

    def refusal(self, asked: dict[str, Any]) -> str:
        for option, words in self.odd.get("refuses", {}).items():
            if option in asked:
                return words
        if self.odd.get("one_prompt") and len(asked.get("prompt", "")) > 1:
            return "prompt must be a string"
        if self.odd.get("least_one") and asked.get("max_tokens") == 0:
            return "must be 1 or more"
        return ""

    def chat(self, asked: dict[str, Any]) -> dict[str, Any]:
        begun = asked["messages"][-1]["role"] == "assistant"
        text = " five, six" if begun and self.odd.get("prefill") else "Yes"
        if "response_format" in asked and self.odd.get("schema"):
            text = '{"rating": 90}'
        most = min(asked.get("top_logprobs", 0), self.odd.get("top", 20))
        top = [{"token": f"t{n}", "logprob": -1.0 - n} for n in range(most)]
        told = {"content": [{"token": "t0", "logprob": -1.0, "top_logprobs": top}]}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": told if most else None,
                  "message": {"role": "assistant", "content": text}}  # fmt: skip
        return {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice],
                "model": self.odd.get("model", "m"), "usage": self.odd.get("usage")}  # fmt: skip

    def complete(self, asked: dict[str, Any]) -> dict[str, Any]:
        choices = []
        for index, prompt in enumerate(asked["prompt"]):
            tokens = re.findall(r" ?[^ ]+", prompt)
            values = [None, *(-1.0 - len(token) / 7 - n for n, token in enumerate(tokens[1:]))]
            tokens, values = self.odd["echo"](tokens, values)
            told = {"tokens": tokens, "token_logprobs": values, "top_logprobs": None}
            choices.append({"index": index, "text": "".join(map(str, tokens)), "logprobs": told,
                            "finish_reason": "length"})  # fmt: skip
        return {"id": "1", "object": "text_completion", "created": 1, "model": "m",
                "choices": choices}  # fmt: skip


def plain(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return tokens, values


def early(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return tokens, [*values[1:], None]


def early_and_filled(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return tokens, [*values[1:], -0.5]


def last_alone(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return [" next"], [-0.5]


def one_more(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return [*tokens, " next"], [*values, -0.5]


def begun(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return ["<s>", *tokens], [None, -0.1, *values[1:]]


def letters(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    spelled = list("".join(tokens))
    return spelled, [None, *(-0.1 * (ord(one) % 7 + 1) for one in spelled[1:])]


def short(tokens: list[Any], values: list[Any]) -> tuple[list[Any], list[Any]]:
    return tokens, values[:-1]


def see(**odd: Any) -> ServerAbilities:
    server = Odd(**odd)
    with serve(server) as host:
        return try_server(ChatModel(f"http://{host}/v1", "m", limits=QUICK))


def test_a_server_that_does_all_is_seen_to() -> None:
    seen = see(echo=plain, prefill=True, schema=True, batches=True)
    for field in ("chat", "echo", "logprobs", "prefill", "json_schema", "batches"):
        assert getattr(seen, field).works is True, field
    assert (seen.access(), seen.access(completions=False)) == ("full", "top_k")
    assert seen.most_top == 20
    assert seen.refused == {}


@pytest.mark.parametrize("echo", [plain, one_more, begun, letters])
def test_an_echo_in_its_place_gives_full_access(
    echo: Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]],
) -> None:
    assert see(echo=echo).access() == "full"


@pytest.mark.parametrize("echo", [early, early_and_filled, last_alone, short])
def test_an_echo_out_of_its_place_is_not_used(
    echo: Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]],
) -> None:
    seen = see(echo=echo)
    assert seen.echo.works is False
    assert re.search("echo|log-probabilit", seen.echo.said)
    assert seen.access() == "top_k"


def test_a_server_that_must_write_is_let_write_one_token() -> None:
    seen = see(echo=one_more, least_one=True)
    assert (seen.access(), seen.least_written) == ("full", 1)


def test_a_server_that_takes_one_prompt_at_a_time_is_asked_so() -> None:
    seen = see(echo=one_more, one_prompt=True)
    assert (seen.access(), seen.per_request, seen.least_written) == ("full", 1, 1)
    assert see(echo=early, one_prompt=True).access() == "top_k"


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    "words", ["logprobs is not supported by this model", "Bad Request", "Extra: ['logprobs']"]
)
def test_without_log_probabilities_answers_are_drawn(status: int, words: str) -> None:
    """Also if the server does not say which option it does not take."""
    seen = see(refuses={"logprobs": words}, status=status)
    assert seen.access() == "sampled"
    assert words in seen.logprobs.said
    assert words in seen.echo.said
    assert "it has no completions" in see().echo.said


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("seed", "Unsupported parameter: 'seed'"),
        ("seed", "[{'loc': ['body', 'seed'], 'msg': 'Extra inputs are not permitted'}]"),
        ("temperature", "'temperature' does not support 0.5. Only the default (1) value is."),
    ],
)
def test_an_option_that_a_server_does_not_take_is_left_out(option: str, words: str) -> None:
    server = Odd(refuses={option: words})
    with serve(server) as host:
        seen = try_server(ChatModel(f"http://{host}/v1", "m", limits=QUICK))
        assert seen.refused == {option: f"400: {words.rstrip('.')}"}
        server.asked.clear()
        chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK, seen=seen)
        assert chat.answer([Question("Why?")], SETTINGS, seeds=[1])[0].text == "Yes"
    assert [option in body for body in server.asked] == [False]


def test_a_value_that_a_server_refuses_is_not_left_out_unsaid() -> None:
    server = Odd(refuses={"temperature": "temperature must be at most 0.2"})
    with serve(server) as host:
        chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK)
        with pytest.raises(RequestRefusedError, match=r"at most 0\.2"):
            chat.answer([Question("Why?")], SETTINGS, seeds=[1])


@pytest.mark.parametrize(
    "words", ["Use 'max_completion_tokens' instead.", "Unknown field: max_tokens"]
)
def test_the_length_has_the_name_that_the_server_knows(words: str) -> None:
    seen = see(refuses={"max_tokens": words})
    assert seen.length_option == "max_completion_tokens"


def test_fewer_likeliest_tokens_are_counted() -> None:
    assert see(top=5).most_top == 5


def test_another_name_in_the_answers_is_noted() -> None:
    assert see(model="m-2026-01-01").answers_as == "m-2026-01-01"
    assert see().answers_as == ""


def test_what_is_ignored_is_not_taken_for_done() -> None:
    seen = see()
    assert seen.prefill.works is None
    assert "“Yes”" in seen.prefill.said
    assert seen.json_schema.works is False
    assert seen.batches.works is False


def test_a_server_that_is_away_is_said_to_be() -> None:
    seen = try_server(ChatModel(f"http://127.0.0.1:{free_port()}/v1", "m", limits=QUICK))
    assert "cannot be reached" in seen.away
    assert seen.access() is None
    assert seen.lines() == [f"The server could not be tried: {seen.away}"]


def test_every_finding_is_a_line() -> None:
    lines = see(echo=one_more, least_one=True, refuses={"seed": "unknown seed"}).lines()
    assert lines[0].startswith("Access: full")
    assert "Completions write at least one token: max_tokens=0 is not taken." in lines
    assert "It does not take a seed (400: unknown seed)." in lines


def test_an_opening_that_comes_back_is_no_part_of_the_answer() -> None:
    message = {"role": "assistant", "content": "My rating is 70"}
    body = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    with serve(say(json.dumps(body).encode(), Content_Type="application/json")) as host:
        chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK)
        asked = [Question("Why?", opening="My rating is")]
        assert chat.answer(asked, SETTINGS, seeds=[1])[0].text == "70"


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, 1.5),
        ({"retry-after": "DATE"}, 15, 21),
        ({"retry-after": "soon"}, None, None),
    ],
)
def test_a_wait_is_read_in_all_its_forms(
    headers: dict[str, str], least: float | None, most: float | None
) -> None:
    import httpx2
    import openai

    stamp = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 20))
    told = {name: stamp if value == "DATE" else value for name, value in headers.items()}
    response = httpx2.Response(429, headers=told, request=httpx2.Request("POST", "http://h/"))
    read = read_error(
        openai.RateLimitError("busy", response=response, body=None),
        host="h", served_name="m", key_variable="", key="", offered=list,
    )  # fmt: skip
    assert isinstance(read, RetryableError)
    if least is None or most is None:
        assert read.after is None
    else:
        assert read.after is not None
        assert least <= read.after <= most


def test_a_garbled_answer_is_asked_for_again() -> None:
    count: list[int] = []
    good = {"choices": [{"index": 0, "message": {"content": "70"}, "finish_reason": "stop"}]}

    def act(handler: BaseHTTPRequestHandler) -> None:
        count.append(1)
        body = b'{"choices": [{"ind' if len(count) == 1 else json.dumps(good).encode()
        say(body, Content_Type="application/json")(handler)

    with serve(act) as host:
        chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK)
        assert chat.answer([Question("Why?")], SETTINGS, seeds=[1])[0].text == "70"
    assert len(count) == 2
