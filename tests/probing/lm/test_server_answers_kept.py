"""Answers of servers are kept by what was asked, and nothing else is."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from probing.lm.chat import ChatModel
from probing.lm.chat_limits import ChatLimits
from probing.lm.errors import LanguageModelError
from probing.lm.question_protocols import Question
from probing.lm.server_answers import AnswerStore, answer_key
from probing.lm.text_protocols import GenerationSettings
from tests.probing.lm.test_hostile_servers import Act, say, serve
from tests.probing.lm.test_server_abilities import Odd

QUICK = ChatLimits(requests_per_minute=0, attempts=1, timeout_seconds=5)
WARM = GenerationSettings(max_new_tokens=4, temperature=1.0)
COLD = GenerationSettings(max_new_tokens=4, temperature=0.0)


def ask(
    host: str, store: AnswerStore | None, question: str = "Why?", seed: int = 1, **options: Any
) -> str:
    settings = options.pop("settings", WARM)
    name = options.pop("name", "m")
    chat = ChatModel(f"http://{host}/v1", name, limits=QUICK, answers=store, **options)
    return chat.answer([Question(question)], settings, seeds=[seed])[0].text


def test_the_same_call_is_made_once(tmp_path: Path) -> None:
    server, store = Odd(), AnswerStore(tmp_path)
    with serve(server) as host:
        assert ask(host, store) == ask(host, store) == ask(host, AnswerStore(tmp_path)) == "Yes"
        assert len(server.asked) == 1
        ask(host, None)
    assert len(server.asked) == 2
    count, size = store.size()
    assert (count, size > 100) == (1, True)
    assert store.empty() == 1
    assert store.size() == (0, 0)


@pytest.mark.parametrize(
    "other", [{"question": "How?"}, {"seed": 2}, {"settings": COLD}, {"name": "n"}]
)
def test_another_call_is_made(tmp_path: Path, other: dict[str, Any]) -> None:
    server, store = Odd(), AnswerStore(tmp_path)
    with serve(server) as host:
        ask(host, store)
        ask(host, store, **other)
    assert len(server.asked) == 2


def test_another_server_is_asked(tmp_path: Path) -> None:
    first, second, store = Odd(), Odd(), AnswerStore(tmp_path)
    with serve(first) as one, serve(second) as other:
        ask(one, store)
        ask(other, store)
    assert len(first.asked) == len(second.asked) == 1


def test_draws_stay_apart_where_a_server_takes_no_seed(tmp_path: Path) -> None:
    server, store = Odd(refuses={"seed": "unknown option: seed"}), AnswerStore(tmp_path)
    with serve(server) as host:
        for seed in (1, 2, 1):
            ask(host, store, seed=seed)
    sent = [body for body in server.asked if "seed" not in body]
    assert len(sent) == 2


def test_a_draw_without_a_number_has_no_key() -> None:
    assert answer_key("u", {"model": "m"}) is None
    assert answer_key("u", {"model": "m", "temperature": 1.0}) is None
    keys = {
        answer_key("u", {"temperature": 1.0, "seed": 1}),
        answer_key("u", {"temperature": 1.0, "seed": 2}),
        answer_key("u", {"temperature": 0}),
        answer_key("v", {"temperature": 0}),
        answer_key("u", {"temperature": 1.0}, "1"),
    }
    assert len(keys - {None}) == 5


BAD = [
    say(b'{"error": {"message": "overloaded"}}', Content_Type="application/json"),
    say(b'{"choices": []}', Content_Type="application/json"),
    say(b"<html>busy</html>", Content_Type="text/html"),
    say(b'{"choices": [{"ind', Content_Type="application/json"),
    say(b'{"error": "no"}', 500, Content_Type="application/json"),
]


@pytest.mark.parametrize("act", BAD)
def test_no_error_is_kept(tmp_path: Path, act: Act) -> None:
    store = AnswerStore(tmp_path)
    with serve(act) as host, pytest.raises(LanguageModelError):
        ask(host, store)
    assert store.size() == (0, 0)


def test_no_key_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither from the request, nor from a server that repeats it."""
    monkeypatch.setenv("TEST_SERVER_KEY", "sk-only-for-this-test")
    store, server = AnswerStore(tmp_path), Odd()
    with serve(server) as host:
        ask(host, store, key_variable="TEST_SERVER_KEY")
    kept = [store.read(file.name.removesuffix(".gz")) or b"" for file in tmp_path.rglob("*.gz")]
    assert len(kept) == 1
    assert b"sk-only" not in kept[0]

    def repeat(handler: BaseHTTPRequestHandler) -> None:
        message = {"content": handler.headers["Authorization"]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        say(body, Content_Type="application/json")(handler)

    with serve(repeat) as host:
        ask(host, store, key_variable="TEST_SERVER_KEY")
    assert store.size()[0] == 1


def test_a_damaged_file_is_asked_for_again(tmp_path: Path) -> None:
    server, store = Odd(), AnswerStore(tmp_path)
    with serve(server) as host:
        ask(host, store)
        for file in tmp_path.rglob("*.gz"):
            file.write_bytes(file.read_bytes()[:20])
        assert ask(host, store) == "Yes"
    assert len(server.asked) == 2


def test_an_answer_that_cannot_be_kept_is_used_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is paid for. A file lies where the folder should be, as if the disk were full."""
    place = tmp_path / "answers"
    place.write_text("no folder")
    server = Odd()
    with serve(server) as host:
        assert ask(host, AnswerStore(place)) == "Yes"
    assert len(server.asked) == 1
    assert "an answer is not kept" in caplog.text


@pytest.mark.parametrize("damage", range(0, 60, 3))
def test_a_damaged_file_is_asked_for_anew(tmp_path: Path, damage: int) -> None:
    server, store = Odd(), AnswerStore(tmp_path)
    with serve(server) as host:
        ask(host, store)
        (file,) = tmp_path.rglob("*.gz")
        content = bytearray(file.read_bytes())
        content[damage] ^= 0xFF
        file.write_bytes(content)
        assert ask(host, store) == "Yes"


def test_a_file_of_a_process_that_was_killed_is_removed_with_the_others(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.keep("ab" * 32, b"{}")
    (kept,) = tmp_path.rglob("*.gz")
    begun = kept.parent / "begun.part"
    begun.write_bytes(b"half")
    assert store.size()[0] == 1
    assert store.empty() == 1
    assert not begun.exists()
