"""Whether a server still answers with the same model."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from probing.lm.chat import ChatModel
from probing.lm.server_fingerprint import PROMPTS, check_fingerprint, take_fingerprint
from probing.models import LanguageModel, Run
from probing.runs.language_models import register_model
from probing.runs.served_models import describe_server, prepare_server, watch_server
from tests.probing.lm.test_hostile_servers import say, serve
from tests.probing.lm.test_server_abilities import QUICK


class Weights:
    """A server whose answers and log-probabilities follow from a version of its weights."""

    def __init__(self) -> None:
        self.version: dict[str, int] = {}
        self.shift, self.unsteady, self.asked = 0.0, set[str](), 0

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        if not handler.path.endswith("/chat/completions"):
            say(b'{"error": {"message": "no such page"}}', 404)(handler)
            return
        asked = json.loads(vars(handler)["body"])
        prompt = asked["messages"][-1]["content"]
        self.asked += prompt in PROMPTS
        seed = f"{prompt}{self.version.get(prompt, 0)}"
        if prompt in self.unsteady:
            seed += str(self.asked)
        number = zlib.crc32(seed.encode())
        top = [{"token": "a", "logprob": -(number % 100) / 50 + self.shift}]
        told = {"content": [{"token": "a", "logprob": -1.0, "top_logprobs": top}]}
        message = {"role": "assistant", "content": f"answer {number}"}
        choice = {"index": 0, "finish_reason": "stop", "message": message,
                  "logprobs": told if asked.get("logprobs") else None}  # fmt: skip
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [choice]}  # fmt: skip
        say(json.dumps(body).encode(), Content_Type="application/json")(handler)

    def change(self, n: int) -> None:
        """Answer the first ``n`` prompts in another way."""
        for prompt in PROMPTS[:n]:
            self.version[prompt] = self.version.get(prompt, 0) + 1


@pytest.fixture
def weights() -> Weights:
    return Weights()


@pytest.fixture
def chat(weights: Weights) -> Iterator[ChatModel]:
    with serve(weights) as host:
        yield ChatModel(f"http://{host}/v1", "m", limits=QUICK)


def test_the_same_model_is_not_called_changed(weights: Weights, chat: ChatModel) -> None:
    taken = take_fingerprint(chat)
    assert (taken.steady, weights.asked) == (20, 40)
    seen = check_fingerprint(chat, taken)
    assert (seen.differing, seen.has_changed, weights.asked) == (0, False, 60)
    assert "0 of 20 prompts were answered differently." in seen.lines()[-1]


@pytest.mark.parametrize(("n", "changed"), [(1, False), (2, False), (3, True), (20, True)])
def test_three_other_answers_are_a_change(
    weights: Weights, chat: ChatModel, n: int, changed: bool
) -> None:
    taken = take_fingerprint(chat)
    weights.change(n)
    seen = check_fingerprint(chat, taken)
    assert (seen.differing, seen.has_changed) == (n, changed)
    after = check_fingerprint(chat, seen)
    # After a change its answers are the new measure; without one those of before stay.
    assert after.differing == (0 if changed else n)
    assert len(after.changed_at) == changed


@pytest.mark.parametrize(("shift", "changed"), [(0.1, False), (0.3, True)])
def test_other_log_probabilities_of_the_same_texts_are_a_change(
    weights: Weights, chat: ChatModel, shift: float, changed: bool
) -> None:
    """As after a quantization, which leaves most texts alone."""
    taken = take_fingerprint(chat)
    weights.shift = -shift
    assert check_fingerprint(chat, taken).has_changed == changed


def test_prompts_without_a_steady_answer_say_nothing(weights: Weights, chat: ChatModel) -> None:
    weights.unsteady = set(PROMPTS[:12])
    taken = take_fingerprint(chat)
    assert taken.steady == 8
    assert check_fingerprint(chat, taken).differing == 0
    weights.unsteady = set(PROMPTS[:18])
    unsteady = take_fingerprint(chat)
    weights.change(20)
    seen = check_fingerprint(chat, unsteady)
    assert not seen.has_changed
    assert "a change can't be noticed" in seen.lines()[0]


@pytest.mark.django_db
def test_a_run_compares_a_watched_model_once_a_day(weights: Weights, settings: Any) -> None:
    with serve(weights) as host:
        settings.MODEL_SERVER_HOSTS = [host.partition(":")[0]]
        model = register_model(location=f"http://{host}/v1", served_name="m")
        run = Run.objects.create(model=model, measure="direct_rating", parameters={}, stimuli={})
        before = weights.asked
        prepare_server(run)
        assert weights.asked == before, "what nobody watches costs nothing"
        out = StringIO()
        call_command("models", model.name, watch=True, stdout=out)
        assert "Watched since" in out.getvalue()
        weights.change(20)
        model.refresh_from_db()
        run = Run.objects.get()
        prepare_server(run)
        assert not Run.objects.get().notices, "it was compared today"
        stored = dict(model.fingerprint or {})
        stored["checked_at"] = (datetime.now(UTC) - timedelta(days=2)).isoformat()
        LanguageModel.objects.update(fingerprint=stored)
        prepare_server(Run.objects.get())
        (notice,) = Run.objects.get().notices
        assert notice.startswith("model: The served model has changed: noticed on ")
        model.refresh_from_db()
        assert any("has changed" in line for line in describe_server(model))
        assert watch_server(model).differing == 0


@pytest.mark.django_db
def test_a_server_that_is_away_leaves_what_was_kept(weights: Weights, settings: Any) -> None:
    with serve(weights) as host:
        settings.MODEL_SERVER_HOSTS = [host.partition(":")[0]]
        model = register_model(location=f"http://{host}/v1", served_name="m")
        kept = watch_server(model)
    with pytest.raises(CommandError, match="server"):
        call_command("models", model.name, watch=True, stdout=StringIO())
    model.refresh_from_db()
    assert model.fingerprint == kept.model_dump(mode="json")
