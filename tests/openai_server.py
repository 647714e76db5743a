"""A server of chat models on the local host, for tests without a network.

It speaks OpenAI's protocol over real HTTP and really writes, with a tiny checkpoint. It can be told
to be busy, broken, slow or gone. A hosted service cannot stand in its place: tests run where
nothing outside can be reached, and services do not fail when they are told to.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from probing.lm import GenerationSettings, load_text_model
from probing.lm.causal import CausalModel

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
    requests : the bodies of all chat requests so far, in order of arrival.
    began : when each of them came, in seconds of a monotonic clock.
    faults : what happens to the next requests, one each; afterwards the server answers.
    """

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    began: list[float] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.requests]


@contextmanager
def serve_openai(checkpoint: Path, *, key: str = "") -> Iterator[OpenAIServer]:
    """Serve a causal checkpoint as ``tiny-chat``; with ``key``, only to who has it."""
    model = load_text_model(checkpoint, device="cpu", threads=1)
    assert isinstance(model, CausalModel)
    writing = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path != "/v1/models":
                self._fail(404, {"message": "no such page"})
            elif self._is_admitted():
                self._send(200, {"object": "list", "data": [_model(SERVED_NAME), _model("other")]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
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
            elif self._is_admitted() and self._is_served(body["model"]):
                self._send(200, self._complete(body, fault))

        def log_message(self, *_: object) -> None:
            """Stay silent."""

        def _complete(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
            prompt = body["messages"][-1]["content"]
            settings = GenerationSettings(
                max_new_tokens=body.get("max_tokens") or body["max_completion_tokens"],
                temperature=body["temperature"],
                stop=tuple(body.get("stop") or ()),
            )
            with writing:
                written = model.generate([prompt], settings, seeds=[body["seed"]])[0]
            read, made = model.count_tokens(prompt), written.n_tokens or 0
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": written.text},
                "finish_reason": written.finish,
                **fault.answer,
            }
            return {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [choice],
                "usage": {
                    "prompt_tokens": read,
                    "completion_tokens": made,
                    "total_tokens": read + made,
                },
            }

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
            self, status: int, content: dict[str, Any], headers: dict[str, str] | None = None
        ) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = OpenAIServer(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "test"}
