"""Every error of a server has its own words, and never the key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from probing.lm.chat import ChatModel
from probing.lm.chat_limits import ChatLimits
from probing.lm.errors import LanguageModelError, ServerAwayError
from probing.lm.question_protocols import Question
from probing.lm.text_protocols import GenerationSettings
from tests.ports import free_port
from tests.probing.lm.test_hostile_servers import Act, say, serve

KEY = "sk-only-for-this-test-0123456789"
SETTINGS = GenerationSettings(max_new_tokens=4, temperature=0.0)
QUICK = ChatLimits(requests_per_minute=0, attempts=1, timeout_seconds=5)
WORDS = "the flux is low"


def ask(host: str, top: int = 0, variable: str = "") -> tuple[str, str]:
    chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK, key_variable=variable)
    answer = chat.answer([Question("Why?")], SETTINGS, seeds=[1], top=top)[0]
    return answer.text, answer.finish


def error_of(act: Act, variable: str = "") -> str:
    with serve(act) as host, pytest.raises(LanguageModelError) as raised:
        ask(host, variable=variable)
    return str(raised.value)


BODIES = [
    json.dumps({"error": {"message": WORDS}}),
    json.dumps({"error": WORDS}),
    json.dumps({"message": WORDS, "object": "error"}),
    json.dumps({"detail": WORDS}),
    json.dumps({"detail": [{"loc": ["body", "n"], "msg": WORDS}]}),
    WORDS,
    f"<html><head><style>p {{}}</style></head><body><h1>Bad</h1>\n<p>{WORDS}</p></body></html>",
]


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 405, 413, 422, 429, 500, 501, 503])
@pytest.mark.parametrize("body", BODIES)
def test_an_error_has_the_words_of_the_server(status: int, body: str) -> None:
    kind = "application/json" if body.startswith("{") else "text/html"
    said = error_of(say(body.encode(), status, Content_Type=kind))
    assert WORDS in said
    assert "<" not in said
    assert status == 200 or str(status) in said


def test_words_of_a_server_are_cut_to_a_line() -> None:
    said = error_of(say(b"so long\n" * 1000, 500, Content_Type="text/plain"))
    assert len(said) < 500
    assert "\n" not in said


@pytest.mark.parametrize("status", [200, 400, 401, 404, 422, 500])
def test_no_error_has_a_piece_of_the_key(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    words = f"Bearer {KEY}, key={KEY[:12]}****{KEY[-8:]} is wrong"
    body = json.dumps({"error": {"message": words}}).encode()
    said = error_of(say(body, status, Content_Type="application/json"), "TEST_SERVER_KEY")
    assert "is wrong" in said
    assert not any(KEY[at : at + 6] in said for at in range(len(KEY) - 5))


def test_a_connection_error_says_what_happened() -> None:
    with pytest.raises(ServerAwayError, match="refused"):
        ask(f"127.0.0.1:{free_port()}")


def chatted(finish: str = "stop", logprobs: object = None, **message: object) -> Act:
    choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": logprobs}
    body = {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]}
    return say(json.dumps(body).encode(), Content_Type="application/json")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (chatted(content="<think>40</think>70"), ("70", "stop")),
        (chatted(content="<think>One could say 85"), ("", "length")),
        (chatted(content="70", reasoning_content="40 or 50"), ("70", "stop")),
        (chatted("length", content=None, reasoning_content="40 or 50"), ("", "length")),
        (
            chatted(content=[{"type": "thinking", "thinking": []}, {"type": "text", "text": "70"}]),
            ("70", "stop"),
        ),
        (chatted("max_tokens", content="7"), ("7", "length")),
        (chatted("refusal", content="70"), ("70", "refused")),
    ],
)  # fmt: skip
def test_an_answer_is_what_follows_the_reasoning(act: Act, expected: tuple[str, str]) -> None:
    with serve(act) as host:
        assert ask(host) == expected


@pytest.mark.parametrize(
    "message",
    [
        {"content": "70", "reasoning_content": "40 or 50"},
        {"content": "70", "reasoning": "40 or 50"},
        {"content": "70", "reasoning": None, "reasoning_content": "40 or 50"},
        {"content": "<think>40 or 50</think>70"},
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(message: dict[str, Any]) -> None:
    with serve(chatted(**message)) as host:
        chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK)
        (answer,) = chat.answer([Question("Why?")], SETTINGS, seeds=[1])
        (written,) = chat.generate(["Why?"], SETTINGS, seeds=[1])
    assert (answer.text, answer.thought) == (written.text, written.thought) == ("70", "40 or 50")
    assert answer.reasoning > 0


@pytest.mark.parametrize("stand_in", [-9999.0, -9999, -100.0, -1e9])
def test_a_number_that_stands_for_none_is_not_told(stand_in: float) -> None:
    top = [{"token": "kind", "logprob": -0.5}, {"token": "lazy", "logprob": stand_in}]
    told = {"content": [{"token": "kind", "logprob": -0.5, "top_logprobs": top}]}
    with serve(chatted(content="kind", logprobs=told)) as host:
        chat = ChatModel(f"http://{host}/v1", "m", limits=QUICK)
        answer = chat.answer([Question("Why?")], SETTINGS, seeds=[1], top=2)[0]
    assert answer.tokens
    assert answer.tokens[0].likeliest == (("kind", -0.5),)
