"""Chat models behind a real server on the local host, also when it misbehaves."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from probing.lm import (
    AccessDeniedError,
    ContextTooLongError,
    GenerationSettings,
    GenerationSettingsError,
    ServerAwayError,
    ServerError,
    SpendCapError,
    TextGenerator,
    UnknownServedModelError,
    load_text_model,
)
from probing.lm.chat import ChatModel
from probing.lm.chat_limits import ChatLimits
from tests.openai_server import SERVED_NAME, Fault, OpenAIServer, serve_openai
from tests.ports import free_port
from tests.waiting import wait_until

KEY = "sk-only-for-this-test-0123456789"
PROMPTS = ["he be", "They should be", "She is", "People who say", "What are"]
SETTINGS = GenerationSettings(max_new_tokens=8, temperature=0.7)
QUICK = ChatLimits(
    requests_per_minute=0, timeout_seconds=60, attempts=3, first_wait=0.02, longest_wait=0.5
)

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def running(checkpoints: Path) -> Iterator[OpenAIServer]:
    with serve_openai(checkpoints / "tiny-gpt2") as server:
        yield server


@pytest.fixture
def server(running: OpenAIServer) -> OpenAIServer:
    """The server with nothing asked yet and no fault ahead."""
    running.forget()
    return running


def connect(server: OpenAIServer, **options: Any) -> ChatModel:
    return ChatModel(
        server.base_url, options.pop("served_name", SERVED_NAME), **{"limits": QUICK, **options}
    )


def test_a_chat_model_writes_what_the_served_model_writes(
    server: OpenAIServer, checkpoints: Path
) -> None:
    """Expected: the checkpoint behind the server, asked directly with the same seeds."""
    chat = connect(server)
    assert isinstance(chat, TextGenerator)
    assert (chat.kind, chat.abilities, chat.max_length) == (
        "chat",
        {"generate", "answer", "end_word"},
        None,
    )
    here = load_text_model(checkpoints / "tiny-gpt2", threads=1)
    seeds = [3, 1, 4, 1, 5]
    assert chat.generate(PROMPTS, SETTINGS, seeds=seeds) == here.generate(  # type: ignore[union-attr]
        PROMPTS, SETTINGS, seeds=seeds
    )
    assert sorted(server.prompts) == sorted(PROMPTS)
    sent = server.requests[0]
    assert (sent["max_tokens"], sent["temperature"]) == (8, 0.7)
    assert [message["role"] for message in sent["messages"]] == ["user"]
    assert chat.generate([], SETTINGS, seeds=[]) == []


def test_stop_texts_are_sent_and_what_follows_them_is_left_out(server: OpenAIServer) -> None:
    settings = replace(SETTINGS, temperature=0.0, max_new_tokens=20, stop=(".",))
    found = connect(server).generate(["They should be"], settings, seeds=[0])[0]
    assert server.requests[0]["stop"] == ["."]
    assert found.finish == "stop"
    assert found.text
    assert "." not in found.text
    # A server that knows no stop texts writes on; what follows is left out here.
    server.faults.append(Fault(answer={"message": {"role": "assistant", "content": "a. b"}}))
    assert connect(server).generate(["x"], settings, seeds=[0])[0].text == "a"


def test_what_a_filter_refuses_is_kept_as_refused(server: OpenAIServer) -> None:
    server.faults.extend(
        [
            Fault(answer={"finish_reason": "content_filter"}),
            Fault(answer={"message": {"role": "assistant", "refusal": "I cannot.", "content": ""}}),
            Fault(status=400, body={"code": "content_filter", "message": "filtered"}),
        ]
    )
    chat = connect(server, limits=replace(QUICK, concurrency=1))
    found = chat.generate(PROMPTS[:4], SETTINGS, seeds=range(4))
    assert [one.finish for one in found[:3]] == ["refused"] * 3
    assert found[1].text == "I cannot."
    assert found[3].finish in ("stop", "length")


@pytest.mark.parametrize(
    "fault",
    [Fault(status=429, retry_after=0.05), Fault(status=500), Fault(status=503), Fault(close=True)],
)
def test_a_passing_failure_is_tried_again(server: OpenAIServer, fault: Fault) -> None:
    server.faults.extend([fault, fault])
    found = connect(server).generate(["She is"], SETTINGS, seeds=[1])
    assert found[0].text
    assert len(server.requests) == 3


def test_the_server_says_how_long_to_wait(server: OpenAIServer) -> None:
    server.faults.append(Fault(status=429, retry_after=0.4))
    connect(server).generate(["She is"], SETTINGS, seeds=[1])
    assert server.began[1] - server.began[0] >= 0.4


def test_a_silent_server_is_given_up_after_all_attempts(server: OpenAIServer) -> None:
    server.faults.extend([Fault(hang=0.6)] * 2)
    chat = connect(server, limits=replace(QUICK, timeout_seconds=0.2, attempts=2))
    with pytest.raises(ServerAwayError, match="gave no answer in time"):
        chat.generate(["She is"], SETTINGS, seeds=[1])
    # The second one may still be on its way; no later test shall count it.
    wait_until(lambda: len(server.requests) >= 2)


def test_a_server_that_stays_broken_is_given_up_with_its_own_words(server: OpenAIServer) -> None:
    server.faults.extend([Fault(status=500, body={"message": "out of memory"})] * 3)
    with pytest.raises(ServerError, match="500: out of memory"):
        connect(server).generate(["She is"], SETTINGS, seeds=[1])
    assert len(server.requests) == 3


def test_an_exhausted_account_is_not_asked_again(server: OpenAIServer) -> None:
    server.faults.append(Fault(status=429, body={"code": "insufficient_quota"}))
    with pytest.raises(ServerError, match="429"):
        connect(server).generate(["She is"], SETTINGS, seeds=[1])
    assert len(server.requests) == 1


def test_a_server_that_is_away_is_named() -> None:
    port = free_port()
    chat = ChatModel(f"http://127.0.0.1:{port}/v1", SERVED_NAME, limits=QUICK)
    with pytest.raises(ServerAwayError, match=f"127.0.0.1:{port} cannot be reached"):
        chat.generate(["She is"], SETTINGS, seeds=[1])


def test_an_unknown_model_is_answered_with_those_on_offer(server: OpenAIServer) -> None:
    with pytest.raises(UnknownServedModelError) as raised:
        connect(server, served_name="gpt-none").generate(["She is"], SETTINGS, seeds=[1])
    assert "'gpt-none'" in str(raised.value)
    assert f"'{SERVED_NAME}', 'other'" in str(raised.value)


def test_a_key_is_read_from_its_variable_and_never_told(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serve_openai(checkpoints / "tiny-gpt2", key=KEY) as server:
        chat = connect(server, key_variable="TEST_SERVER_KEY")
        monkeypatch.delenv("TEST_SERVER_KEY", raising=False)
        with pytest.raises(AccessDeniedError, match="TEST_SERVER_KEY is not set"):
            chat.generate(["She is"], SETTINGS, seeds=[1])
        monkeypatch.setenv("TEST_SERVER_KEY", KEY)
        assert chat.generate(["She is"], SETTINGS, seeds=[1])[0].text
        monkeypatch.setenv("TEST_SERVER_KEY", KEY[::-1])
        told = ""
        try:
            chat.generate(["She is"], SETTINGS, seeds=[1])
        except AccessDeniedError:
            told = traceback.format_exc()  # what a failed shard keeps
        assert "TEST_SERVER_KEY" in told
        with pytest.raises(AccessDeniedError, match="It wants a key"):
            connect(server).generate(["She is"], SETTINGS, seeds=[1])
    for text in (told, caplog.text, str(vars(chat))):
        assert KEY not in text
        assert KEY[::-1] not in text


def test_a_key_that_a_server_repeats_is_blotted_out(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    server.faults.append(Fault(status=422, body={"message": f"bad request with {KEY}"}))
    with pytest.raises(ServerError) as raised:
        connect(server, key_variable="TEST_SERVER_KEY").generate(["x"], SETTINGS, seeds=[1])
    assert KEY not in str(raised.value)
    assert "bad request with …" in str(raised.value)


def test_a_prompt_that_the_server_finds_too_long_is_named_as_such(server: OpenAIServer) -> None:
    body = {"code": "context_length_exceeded", "message": "maximum context length is 64 tokens"}
    server.faults.append(Fault(status=400, body=body))
    with pytest.raises(ContextTooLongError, match="64 tokens"):
        connect(server).generate(["She is"], SETTINGS, seeds=[1])


def test_a_model_that_wants_another_name_for_the_length_gets_it(server: OpenAIServer) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server.faults.append(Fault(status=400, body={"message": said}))
    chat = connect(server, limits=replace(QUICK, concurrency=1))
    chat.generate(PROMPTS[:2], SETTINGS, seeds=[1, 2])
    names = ["max_tokens", "max_completion_tokens", "max_completion_tokens"]
    assert [name for body in server.requests for name in names[:2] if name in body] == names


def test_requests_keep_the_rate(server: OpenAIServer) -> None:
    """600 a minute are one every 0.1 s; how many wait at a time changes nothing."""
    chat = connect(server, limits=replace(QUICK, requests_per_minute=600, concurrency=3))
    asked = time.monotonic()
    chat.generate(PROMPTS, SETTINGS, seeds=range(5))
    assert max(server.began) - asked >= 4 * 0.1


class FixedBudget:
    """A budget in memory."""

    def __init__(self, most: int) -> None:
        self.most, self.spent = most, 0

    def require(self) -> None:
        if self.spent >= self.most:
            raise SpendCapError(f"{self.spent} tokens are spent, the budget allows {self.most}.")

    def spend(self, tokens: int, written: int = 0) -> None:
        self.spent += tokens


def test_a_budget_stops_the_writing_and_counts_what_the_server_counts(
    server: OpenAIServer, checkpoints: Path
) -> None:
    here = load_text_model(checkpoints / "tiny-gpt2", threads=1)
    budget = FixedBudget(most=20)
    chat = connect(server, limits=replace(QUICK, concurrency=1), budget=budget)
    # Eight tokens are written and three or so read for each prompt: two use up 20 tokens.
    with pytest.raises(SpendCapError, match="the budget allows 20"):
        chat.generate(PROMPTS, SETTINGS, seeds=range(5))
    assert len(server.requests) == 2
    read = sum(here.count_tokens(prompt) for prompt in PROMPTS[:2])
    assert budget.spent == read + 16


@pytest.mark.parametrize(
    "settings",
    [
        GenerationSettings(beams=3, temperature=0),
        GenerationSettings(no_repeat_ngram=3),
        GenerationSettings(max_new_tokens=0),
    ],
)
def test_settings_that_the_protocol_does_not_know_are_refused(
    server: OpenAIServer, settings: GenerationSettings
) -> None:
    with pytest.raises(GenerationSettingsError):
        connect(server).generate(["She is"], settings, seeds=[1])
    assert not server.requests


def test_what_is_no_such_server_is_said(server: OpenAIServer) -> None:
    wrong = ChatModel(server.base_url.removesuffix("/v1"), SERVED_NAME, limits=QUICK)
    with pytest.raises(UnknownServedModelError, match="ends in /v1"):
        wrong.generate(["She is"], SETTINGS, seeds=[1])
