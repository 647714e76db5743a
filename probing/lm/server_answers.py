"""Answers of servers that are kept by what was asked, so that a call is paid for once.

The key of an answer is a SHA-256 of everything that changes it: address and body of the request,
which holds the model, and for an answer that is drawn, its draw. Keys of accounts are headers and
no part of it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2  # what openai is built on

from probing.lm.chat_limits import Pacer

logger = logging.getLogger(__name__)

#: Ends the names of files that are not yet whole.
_BEGUN = ".part"
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
        except (OSError, EOFError, zlib.error):
            return None

    def keep(self, key: str, body: bytes) -> None:
        """Keep an answer; the file appears whole or not at all.

        An answer that the disk does not take is not kept, and the log says so.
        """
        file, begun = self._file(key), None
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(_BEGUN, dir=file.parent)
            begun = Path(name)
            with os.fdopen(handle, "wb") as opened:
                opened.write(gzip.compress(body, 5, mtime=0))
            begun.replace(file)
        except OSError as error:
            logger.warning("an answer is not kept: %s", error)
            if begun:
                begun.unlink(missing_ok=True)

    def size(self) -> tuple[int, int]:
        """Return how many answers there are, and their bytes on disk."""
        sizes = [file.stat().st_size for file in self._files(".gz")]
        return len(sizes), sum(sizes)

    def empty(self) -> int:
        """Delete every answer, and what killed processes began; returns how many answers."""
        for file in self._files(_BEGUN):
            file.unlink(missing_ok=True)
        count = 0
        for file in self._files(".gz"):
            with suppress(FileNotFoundError):
                file.unlink()
                count += 1
        return count

    def _files(self, ending: str) -> Iterator[Path]:
        yield from self.folder.glob(f"??/*{ending}")

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.gz"


def answer_key(address: str, body: dict[str, Any], draw: str = "") -> str | None:
    """Return the key of the answer to a request; None for a draw that nothing tells from others."""
    if body.get("temperature", 1) != 0 and "seed" not in body and not draw:
        return None
    parts = [address, json.dumps(body, sort_keys=True, ensure_ascii=False), draw]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def batched_key(body: Mapping[str, Any], draw: str) -> str:
    """Return the name of a request in a batch."""
    parts = [json.dumps(body, sort_keys=True, ensure_ascii=False), draw]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class RememberingTransport(httpx2.BaseTransport):
    """Answers completions from a store if it has them, and else sends them at the server's pace.

    `source.now` says in each thread where its latest answer came from: `kept` in the store, a
    `batch`, or nothing for the server. `batched` has the answers of batches.
    """

    def __init__(
        self,
        inner: httpx2.BaseTransport,
        pacer: Pacer,
        store: AnswerStore | None,
        secret: str,
        batched: Mapping[str, bytes],
    ) -> None:
        self.inner, self.pacer, self.store, self.secret = inner, pacer, store, secret.encode()
        self.batched = batched
        self.source = threading.local()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.source.now = ""
        draw = request.headers.pop(DRAW_HEADER, "")
        if request.method != "POST" or not request.url.path.endswith("completions"):
            return self.inner.handle_request(request)
        key = None
        body = json.loads(request.read()) if self.batched or self.store is not None else {}
        if self.store is not None:
            key = answer_key(str(request.url), body, draw)
        if (found := self.batched.get(batched_key(body, draw))) is not None:
            self.source.now = "batch"
            if self.store is not None and key:
                self.store.keep(key, found)
        elif self.store is not None and key and (found := self.store.read(key)) is not None:
            self.source.now = "kept"
        if found is not None:
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
