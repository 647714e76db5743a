"""Batches of requests that a server answers within a day, at half price where it has them.

OpenAI's protocol: a file with a request in each line is uploaded, a batch of it created, asked
about until it has ended, and its two files, of answers and of errors, are read. Answers come in any
order, each under the name of its request, which is a hash of all that changes its answer: whoever
asks again finds the batch that was created before, also after a kill.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from probing.lm.errors import BatchPendingError, ServerError, UnknownServedModelError
from probing.lm.server_connection import ServerConnection

if TYPE_CHECKING:
    from openai import OpenAI

_ENDPOINT: Final = "/v1/chat/completions"
#: What a batch says of itself, so that it is found again.
_MARK = "stereoscope"
_ENDED = ("failed", "cancelled")
_UNFINISHED = ("validating", "in_progress", "finalizing", "canceling")
#: Batches that are looked through for one that nobody wrote down.
_LOOKED_THROUGH = 100
#: Seconds between two looks at a batch: at least, and at most; in between a tenth of its age.
_FIRST_WAIT, _LONGEST_WAIT = 60.0, 900.0
#: How often requests are put into another batch that one has not answered.
_ROUNDS = 4
Body: TypeAlias = "dict[str, Any]"
#: Body and draw of requests, by the name of each.
Lines: TypeAlias = "Mapping[str, tuple[Body, str]]"


class BatchBook(Protocol):
    """Remembers batches, wherever they are kept. Called from one thread."""

    #: Tells requests of one run from the same ones of another.
    owner: str

    def find(self, call: str) -> str:
        """Return the id of the batch of a call; empty if it has none."""

    def open(self, call: str, batch: str, requests: int) -> None:
        """Keep the batch of a call; an id that is empty forgets it."""

    def close(self, call: str, tokens: int, written: int) -> None:
        """Count what a batch has cost, once however often it is called."""


class ServedBatches(ServerConnection):
    """A served model that may be asked in batches.

    book : remembers the batches; without one, everything is asked at once.
    """

    book: BatchBook | None = None

    def require_batches(self) -> None:
        """Raise :class:`ServerError` if the server has no endpoints for batches."""
        client = self._connect()
        found = self._ask_batches(lambda: client.batches.list(limit=1), client)
        if not isinstance(getattr(found, "data", None), list):
            raise ServerError("the server lists none")

    def ask_in_batch(self, requests: Iterable[tuple[Body, str]]) -> None:
        """Have (body, draw) answered, for what asks for them afterwards.

        What a server refuses is left to be asked by itself, which costs nothing and tells why.

        Raises
        ------
        BatchPendingError
            The batch is not answered yet; whoever asks again later goes on from there.
        SpendCapError
            The budget is used up, so that no batch is created.
        ServerError
            The server refuses all of them, or did not answer some in several batches.
        """
        if self.book is None:
            return
        from probing.lm.server_answers import batched_key

        lines = {batched_key(body, draw): (body, draw) for body, draw in requests}
        client = self._connect()
        for turn in count():
            lines = {
                key: line
                for key, line in lines.items()
                if key not in self.batched and key not in self.left_alone
            }
            if not lines:
                return
            if turn == _ROUNDS:
                break
            if not self._collect(lines, client):
                return
        raise ServerError(
            f"{len(lines):,} requests to {self.device} had no answer in {_ROUNDS} batches. Resume "
            "the run, or ask without batches."
        )

    def _collect(self, lines: Lines, client: OpenAI) -> bool:
        """Read what the batch of a call has come to; False if there is nothing to ask for."""
        assert self.book is not None
        names = "".join(sorted(lines)).encode()
        call = f"{self.book.owner}:{hashlib.sha256(names).hexdigest()[:40]}"
        known = self.book.find(call)
        if not known:
            wanted = {
                key: body for key, (body, draw) in lines.items() if not self.is_kept(body, draw)
            }
            if not wanted:
                return False
            known = self._create(call, wanted, client)
            self.book.open(call, known, len(wanted))
        batch = self._ask_batches(lambda: client.batches.retrieve(known), client)
        if batch.status in _UNFINISHED:
            age = time.time() - (batch.created_at or 0)
            raise BatchPendingError(known, min(max(age / 10, _FIRST_WAIT), _LONGEST_WAIT))
        if batch.status == "failed":
            self.book.open(call, "", 0)
            told = [one.message for one in (batch.errors.data if batch.errors else None) or ()]
            said = "; ".join(filter(None, told)) or "no reason given"
            raise ServerError(f"The server {self.device} does not accept a batch ({said}).")
        self._read(call, batch, lines, client)
        return True

    def _create(self, call: str, bodies: Mapping[str, Body], client: OpenAI) -> str:
        """Return the id of the batch of a call: one that is there already, or a new one."""
        if self.budget is not None:
            self.budget.require()
        written = [
            {"custom_id": key, "method": "POST", "url": _ENDPOINT, "body": body}
            for key, body in bodies.items()
        ]
        content = "".join(f"{json.dumps(one)}\n" for one in written).encode()

        def find_or_create(file_id: str) -> Any:
            # Also for a second attempt, after an answer that was lost on its way.
            for one in client.batches.list(limit=_LOOKED_THROUGH).data:
                if (one.metadata or {}).get(_MARK) == call and one.status not in _ENDED:
                    return one
            if not file_id:
                return None
            return client.batches.create(
                input_file_id=file_id,
                endpoint=_ENDPOINT,
                completion_window="24h",
                metadata={_MARK: call},
            )

        found = self._ask_batches(partial(find_or_create, ""), client)
        if found is None:
            file = self._ask_batches(
                lambda: client.files.create(file=("batch.jsonl", content), purpose="batch"), client
            )
            found = self._ask_batches(partial(find_or_create, file.id), client)
        return str(found.id)

    def _read(self, call: str, batch: Any, lines: Lines, client: OpenAI) -> None:
        """Take over the answers of a batch that has ended, and count their tokens."""
        assert self.book is not None
        tokens = written = 0
        refused = []
        for line in self._lines(batch, client):
            key, response = str(line.get("custom_id")), line.get("response") or {}
            status, body = response.get("status_code"), response.get("body")
            if key not in lines:
                continue
            if status == 200 and isinstance(body, dict) and body.get("choices"):
                self.batched[key] = json.dumps(body).encode()
                usage = body.get("usage") or {}
                tokens += int(usage.get("total_tokens") or 0)
                written += int(usage.get("completion_tokens") or 0)
            elif isinstance(status, int) and 400 <= status < 500 and status not in (408, 409, 429):
                refused.append(body)
                self.left_alone.add(key)
        self.book.close(call, tokens, written)
        if refused and not tokens:
            said = json.dumps(refused[0], ensure_ascii=False)[:300]
            self.book.open(call, "", 0)
            raise ServerError(
                f"The server {self.device} refuses every request of a batch ({said}). Ask without "
                "batches to see which option it does not take."
            )

    def _lines(self, batch: Any, client: OpenAI) -> Iterator[dict[str, Any]]:
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = self._ask_batches(lambda: client.files.content(file_id).read(), client)  # noqa: B023
            for line in content.splitlines():
                if line.strip():
                    yield json.loads(line)

    def _ask_batches(self, request: Any, client: OpenAI) -> Any:
        try:
            return self.attempt(request, client)
        except UnknownServedModelError:
            raise ServerError(f"the server {self.device} has no such page for batches") from None
