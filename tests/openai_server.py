"""A server of language models on the local host, for tests without a network.

It speaks OpenAI's protocol over real HTTP, chat and completions, and really writes, with a tiny
checkpoint; its log-probabilities are those of the checkpoint. It can be told to be busy, broken,
slow or gone, and not to know what some servers do not know. A hosted service cannot stand in its
place: tests run where nothing outside can be reached, and services do not fail when told to.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from probing.lm import load_text_model
from probing.lm.causal import CausalModel
from tests.batch_endpoints import BatchEndpoints
from tests.served_writer import ServedWriter

SERVED_NAME = "tiny-chat"


@dataclass(frozen=True)
class Fault:
    """What the server does instead of answering one request.

    Attributes
    ----------
    status : answers with this status.
    body : the error's fields, such as ``{"code": "insufficient_quota"}``.
    retry_after : seconds, sent along as a header.
    hang : seconds of silence before it answers as usual.
    close : drops the connection without a word.
    answer : replaces fields of the first choice, as in ``{"finish_reason": "content_filter"}``.
    """

    status: int | None = None
    body: dict[str, Any] = field(default_factory=dict)
    retry_after: float | None = None
    hang: float = 0.0
    close: bool = False
    answer: dict[str, Any] = field(default_factory=dict)


@dataclass
class OpenAIServer:
    """The running server, as the test sees it.

    Attributes
    ----------
    base_url : with ``/v1``.
    requests : the bodies of all requests so far, in order of arrival.
    began : when each of them came, in seconds of a monotonic clock.
    faults : what happens to the next requests, one each; afterwards the server answers.
    refuses, ignores : options that it answers with 400, or silently does without: ``logprobs``,
        ``logit_bias``, ``opening``, ``echo``, ``completions``, ``tokenize``.
    most_top : how many likeliest tokens it tells; it refuses more.
    raw_logprobs : whether the log-probabilities of a biased request are those without the bias.
    batches : its endpoints for batches; it has none before :meth:`offer_batches`.
    """

    base_url: str
    refuses: set[str] = field(default_factory=set)
    ignores: set[str] = field(default_factory=set)
    most_top: int = 20
    raw_logprobs: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list)
    began: list[float] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    batches: BatchEndpoints | None = None
    answer_line: Callable[[dict[str, Any]], tuple[int, dict[str, Any]]] = field(
        default=lambda _body: (500, {})
    )

    def offer_batches(self) -> BatchEndpoints:
        """Have endpoints for batches from now on, with nothing in them."""
        self.batches = BatchEndpoints(self.answer_line)
        return self.batches

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.requests if "messages" in body]

    def forget(self) -> None:
        """Begin anew: nothing asked yet, no fault ahead, every option known."""
        for kept in (self.requests, self.began, self.faults, self.refuses, self.ignores):
            kept.clear()
        self.most_top, self.raw_logprobs, self.batches = 20, False, None


@contextmanager
def serve_openai(checkpoint: Path, *, key: str = "") -> Iterator[OpenAIServer]:
    """Serve a causal checkpoint as ``tiny-chat``; with ``key``, only to who has it."""
    model = load_text_model(checkpoint, device="cpu", threads=1)
    assert isinstance(model, CausalModel)
    writing = threading.Lock()
    state = OpenAIServer("")
    writer = ServedWriter(model, state)

    def answer_line(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        fault = state.faults.popleft() if state.faults else Fault()
        refused = _refused(body, state)
        if fault.status is not None or refused:
            said = {"message": f"Unsupported parameter: '{refused}'.", **fault.body}
            return fault.status or 400, {"error": said}
        with writing:
            made = writer.chat(body)
        made["choices"][0].update(fault.answer)
        return 200, made

    state.answer_line = answer_line

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if state.batches and self.path.startswith(("/v1/batches", "/v1/files/")):
                self._send(*state.batches.get(self.path))
            elif self.path != "/v1/models":
                self._fail(404, {"message": "no such page"})
            elif self._is_admitted():
                self._send(200, {"object": "list", "data": [_model(SERVED_NAME), _model("other")]})

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            if state.batches and self.path in ("/v1/batches", "/v1/files"):
                kind = self.headers["Content-Type"]
                self._send(*state.batches.post(self.path, kind, sent))
                return
            body = json.loads(sent)
            if self.path == "/tokenize" and "tokenize" not in state.refuses:
                tokens = model.tokenizer.encode_plain(body["prompt"])
                self._send(200, {"count": len(tokens), "tokens": tokens})
                return
            chat = self.path == "/v1/chat/completions"
            known = chat or ("completions" not in state.refuses and self.path == "/v1/completions")
            if not known:
                self._fail(404, {"message": "no such page"})
                return
            state.requests.append(body)
            state.began.append(time.monotonic())
            fault = state.faults.popleft() if state.faults else Fault()
            if fault.close:
                self.close_connection = True
                return
            time.sleep(fault.hang)
            if fault.status is not None:
                self._fail(fault.status, fault.body, fault.retry_after)
            elif refused := _refused(body, state):
                self._fail(400, {"message": f"Unsupported parameter: '{refused}'."})
            elif self._is_admitted() and self._is_served(body["model"]):
                with writing:
                    answer = writer.chat(body) if chat else writer.complete(body)
                if chat:
                    answer["choices"][0].update(fault.answer)
                self._send(200, answer)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

        def _is_admitted(self) -> bool:
            if not key or self.headers.get("Authorization") == f"Bearer {key}":
                return True
            sent = self.headers.get("Authorization")
            self._fail(401, {"message": f"Incorrect API key provided: {sent}."})
            return False

        def _is_served(self, name: str) -> bool:
            if name == SERVED_NAME:
                return True
            self._fail(404, {"message": f"The model `{name}` does not exist."})
            return False

        def _fail(
            self, status: int, error: dict[str, Any], retry_after: float | None = None
        ) -> None:
            headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
            self._send(status, {"error": {"message": "told to fail", **error}}, headers)

        def _send(
            self,
            status: int,
            content: dict[str, Any] | bytes,
            headers: dict[str, str] | None = None,
        ) -> None:
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            with suppress(BrokenPipeError):  # whoever asked did not wait
                self.end_headers()
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _refused(body: dict[str, Any], state: OpenAIServer) -> str:
    """Return the option of a request that the server does not take; empty where there is none."""
    begun = body.get("messages", [{}])[-1].get("role") == "assistant"
    asked = {name for name in ("logprobs", "logit_bias", "echo") if body.get(name)}
    asked |= {"opening"} if begun else set()
    if found := asked & state.refuses:
        return {"opening": "continue_final_message"}.get(min(found), min(found))
    return "top_logprobs" if body.get("top_logprobs", 0) > state.most_top else ""


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "test"}
