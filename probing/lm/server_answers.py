"""Answers of servers that are kept by what was asked, so that a call is paid for once.

The key of an answer is a SHA-256 of everything that changes it: address and body of the request,
which holds the model, and for an answer that is drawn, its draw. Keys of accounts are headers and
no part of it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2  # what openai is built on

from probing.lm.chat_limits import Pacer

#: Says which draw a request is, if its body cannot; it never reaches the server.
DRAW_HEADER = "X-Stereoscope-Draw"


class AnswerStore:
    """A folder with one packed file for each answer; processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, key: str) -> bytes | None:
        """Return the answer to a request, None if none is kept or its file is damaged."""
        try:
            return gzip.decompress(self._file(key).read_bytes())
        except (OSError, EOFError, gzip.BadGzipFile):
            return None

    def keep(self, key: str, body: bytes) -> None:
        """Keep an answer; the file appears whole or not at all."""
        file = self._file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "wb") as opened:
            opened.write(gzip.compress(body, 5, mtime=0))
        Path(name).replace(file)

    def size(self) -> tuple[int, int]:
        """Return how many answers there are, and their bytes on disk."""
        sizes = [file.stat().st_size for file in self._files()]
        return len(sizes), sum(sizes)

    def empty(self) -> int:
        """Delete every answer; returns how many there were."""
        count = 0
        for file in self._files():
            with suppress(FileNotFoundError):
                file.unlink()
                count += 1
        return count

    def _files(self) -> Iterator[Path]:
        yield from self.folder.glob("??/*.gz")

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.gz"


def answer_key(address: str, body: dict[str, Any], draw: str = "") -> str | None:
    """Return the key of the answer to a request; None for a draw that nothing tells from others."""
    if body.get("temperature", 1) != 0 and "seed" not in body and not draw:
        return None
    parts = [address, json.dumps(body, sort_keys=True, ensure_ascii=False), draw]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class RememberingTransport(httpx2.BaseTransport):
    """Answers completions from a store if it has them, and else sends them at the server's pace.

    `reused.now` says in each thread whether its latest answer came from the store.
    """

    def __init__(
        self, inner: httpx2.BaseTransport, pacer: Pacer, store: AnswerStore | None, secret: str
    ) -> None:
        self.inner, self.pacer, self.store, self.secret = inner, pacer, store, secret.encode()
        self.reused = threading.local()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.reused.now = False
        draw = request.headers.pop(DRAW_HEADER, "")
        if request.method != "POST" or not request.url.path.endswith("completions"):
            return self.inner.handle_request(request)
        key = None
        if self.store is not None:
            key = answer_key(str(request.url), json.loads(request.read()), draw)
            if key and (found := self.store.read(key)) is not None:
                self.reused.now = True
                headers = {"Content-Type": "application/json"}
                return httpx2.Response(200, headers=headers, content=found, request=request)
        self.pacer.wait()
        response = self.inner.handle_request(request)
        if self.store is not None and key and response.status_code == 200:
            try:
                body = response.read()
            finally:
                response.close()
            if _is_whole(body) and not (self.secret and self.secret in body):
                self.store.keep(key, body)
        return response

    def close(self) -> None:
        self.inner.close()


def _is_whole(body: bytes) -> bool:
    """Whether an answer holds what was asked for: errors come with status 200, too."""
    try:
        choices = json.loads(body)["choices"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return bool(choices) and all(
        isinstance(one, dict) and (one.get("text") is not None or one.get("message"))
        for one in choices
    )
