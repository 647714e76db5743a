"""A panel on the local host that behaves as Prolific's documentation says, for tests offline.

It speaks the protocol over real HTTP and keeps a ledger of every payment. It enforces the panel's
rules, and it does not forgive: a bonus that is asked for twice is paid twice. It can be told to be
busy, broken, slow or gone, before or after it has done the work, and to kill whoever asks.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

TOKEN = "the-stand-in-token"
CATEGORIES = {
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"),
    *("LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
}
SHORTEST_MESSAGE = 100


@dataclass(frozen=True)
class Fault:
    """What happens to one request.

    Attributes
    ----------
    status : answers with this status instead of what was asked for.
    works : does the work all the same before it fails.
    late : does the work after the silence, when nobody waits for the answer any more.
    retry_after : seconds, sent along as a header.
    location : address of a redirect, likewise.
    hang : seconds of silence before it answers.
    drop : closes the connection without an answer.
    kill : ends the process that asked, as the operating system does when memory runs out.
    only : the fault waits for a request whose path contains this.
    """

    status: int | None = None
    works: bool = False
    late: bool = False
    retry_after: float | None = None
    location: str = ""
    hang: float = 0.0
    drop: bool = False
    kill: bool = False
    only: str = ""


@dataclass
class Entry:
    """One submission as the panel has it."""

    id: str
    participant: str
    status: str = "AWAITING REVIEW"
    bonuses: list[int] = field(default_factory=list)
    return_requested: str | None = None
    message: str = ""
    category: str = ""


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    def __init__(self, detail: str, status: int = 400) -> None:
        super().__init__(detail)
        self.detail, self.status = detail, status


@dataclass
class PanelServer:
    """The running panel, as the test sees it. Amounts in cents.

    ``ledger`` lists every payment in the order in which it was made: (submission, what for, cents).
    ``lag`` lists of submissions pass before what was done shows in them.
    """

    study_id: str
    reward: int
    address: str = ""
    submissions: dict[str, Entry] = field(default_factory=dict)
    ledger: list[tuple[str, str, int]] = field(default_factory=list)
    batches: dict[str, dict[str, int]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    worker: int | None = None
    places: int = 100
    status: str = "ACTIVE"
    keys: list[dict[str, Any]] = field(default_factory=list)
    lag: int = 0
    pending: list[tuple[int, Any]] = field(default_factory=list)
    connections: int = 0

    @property
    def api_url(self) -> str:
        return f"{self.address}/api/v1"

    @property
    def jwks_url(self) -> str:
        return f"{self.address}/.well-known/study/jwks.json"

    def add(self, reference: str, status: str = "AWAITING REVIEW") -> Entry:
        entry = Entry(reference, f"person-{reference}", status)
        self.submissions[reference] = entry
        return entry

    def paid(self, what: str) -> Counter[str]:
        """Return how often each submission was paid for something."""
        return Counter(who for who, kind, _cents in self.ledger if kind == what)

    def count(self, path: str) -> int:
        return sum(path in asked for _method, asked in self.requests)

    def wait_until_idle(self) -> None:
        """Wait until everything that was ever sent here is worked off, unread requests included.

        Connections are accepted in their order, so that ours comes after all that were made before.
        """
        with urlopen(self.jwks_url) as answer:
            answer.read()
        while self.connections:
            time.sleep(0.005)
        while self.pending:
            self._ripen()

    # --- the panel's own rules --------------------------------------------------------------

    def answer(self, method: str, path: str, query: dict[str, Any], body: Any) -> Any:
        for pattern, wanted, handler in (
            (r"studies/(\w+)/submissions/counts/", "GET", self._counts),
            (r"studies/(\w+)/submissions/", "GET", self._list),
            (r"studies/(\w+)/transition/", "POST", self._study_transition),
            (r"studies/(\w+)/", "GET", self._read_study),
            (r"studies/(\w+)/", "PATCH", self._change_study),
            (r"submissions/bulk-approve/", "POST", self._bulk_approve),
            (r"submissions/bonus-payments/", "POST", self._prepare),
            (r"submissions/([\w-]+)/transition/", "POST", self._transition),
            (r"submissions/([\w-]+)/request-return/", "POST", self._request_return),
            (r"bulk-bonus-payments/([\w-]+)/pay/", "POST", self._pay),
        ):
            match = re.fullmatch(pattern, path)
            if match and method == wanted:
                return handler(*match.groups(), query=query, body=body)
        raise Refused("no such page", 404)

    def _study(self, study: str) -> None:
        if study != self.study_id:
            raise Refused("no such study", 404)

    def _submission(self, reference: str) -> Entry:
        try:
            return self.submissions[reference]
        except KeyError:
            raise Refused("no such submission", 404) from None

    def _list(self, study: str, *, query: dict[str, Any], body: Any) -> Any:
        self._study(study)
        offset, limit = int(query["offset"][0]), int(query["limit"][0])
        if offset == 0:
            self._ripen()
        rows = [
            {
                "id": entry.id,
                "participant_id": entry.participant,
                "status": entry.status,
                "started_at": "2026-01-01T10:00:00Z",
                "completed_at": None,
                "bonus_payments": list(entry.bonuses),
                "return_requested": entry.return_requested,
            }
            for entry in sorted(self.submissions.values(), key=lambda entry: entry.id)
        ]
        return {"results": rows[offset : offset + limit], "count": len(rows)}

    def _counts(self, study: str, *, query: dict[str, Any], body: Any) -> Any:
        self._study(study)
        return dict(Counter(entry.status for entry in self.submissions.values()))

    def _read_study(self, study: str, *, query: dict[str, Any], body: Any) -> Any:
        self._study(study)
        return {
            "id": study,
            "status": self.status,
            "total_available_places": self.places,
            "places_taken": len(self.submissions),
        }

    def _change_study(self, study: str, *, query: dict[str, Any], body: Any) -> Any:
        self._study(study)
        if body["total_available_places"] < self.places:
            raise Refused("places can only be increased")
        self.places = body["total_available_places"]
        return {"total_available_places": self.places}

    def _study_transition(self, study: str, *, query: dict[str, Any], body: Any) -> Any:
        self._study(study)
        states = {"PAUSE": "PAUSED", "START": "ACTIVE", "STOP": "COMPLETED", "PUBLISH": "ACTIVE"}
        if body.get("action") not in states:
            raise Refused("unknown action")
        self.status = states[body["action"]]
        return {"status": self.status}

    def _transition(self, reference: str, *, query: dict[str, Any], body: Any) -> Any:
        entry = self._submission(reference)
        action = body.get("action")
        if action == "APPROVE":
            self._approve(entry)
        elif action == "REJECT":
            self._reject(entry, body)
        elif action == "COMPLETE":
            self._complete(entry, body)
        else:
            raise Refused("unknown action")
        return {"id": entry.id, "status": entry.status}

    def _approve(self, entry: Entry) -> None:
        if entry.status == "APPROVED":
            raise Refused("the submission has been approved already")
        if entry.status != "AWAITING REVIEW":
            raise Refused(f"a submission that is {entry.status} cannot be approved")
        entry.status = "APPROVED"
        self.ledger.append((entry.id, "reward", self.reward))

    def _reject(self, entry: Entry, body: Any) -> None:
        if len(body.get("message") or "") < SHORTEST_MESSAGE:
            raise Refused("message must be at least 100 characters long")
        if body.get("rejection_category") not in CATEGORIES:
            raise Refused("unknown rejection category")
        if entry.status != "AWAITING REVIEW":
            raise Refused(f"a submission that is {entry.status} cannot be rejected")
        entry.status = "REJECTED"
        entry.message, entry.category = body["message"], body["rejection_category"]

    def _complete(self, entry: Entry, body: Any) -> None:
        percent = (body.get("completion_code_data") or {}).get("percentage_of_reward")
        if not isinstance(percent, int) or not 8 <= percent <= 99:
            raise Refused("percentage_of_reward must be 8 to 99")
        if entry.status not in {"ACTIVE", "AWAITING REVIEW"}:
            raise Refused(f"a submission that is {entry.status} cannot be completed")
        entry.status = "PARTIALLY APPROVED"
        self.ledger.append((entry.id, "share", round(self.reward * percent / 100)))

    def _request_return(self, reference: str, *, query: dict[str, Any], body: Any) -> Any:
        entry = self._submission(reference)
        if not body.get("request_return_reasons"):
            raise Refused("reasons are missing")
        if entry.status not in {"ACTIVE", "AWAITING REVIEW"}:
            raise Refused(f"a submission that is {entry.status} cannot be returned")
        entry.return_requested = "2026-01-01T12:00:00Z"
        return {"id": entry.id}

    def _bulk_approve(self, *, query: dict[str, Any], body: Any) -> Any:
        """Checked as a whole at once, carried out a little later, as the documentation says."""
        entries = [self._submission(reference) for reference in body["submission_ids"]]
        if any(entry.status != "AWAITING REVIEW" for entry in entries):
            raise Refused("some submissions do not await review")

        def carry_out() -> None:
            for entry in entries:
                with suppress(Refused):
                    self._approve(entry)

        self._later(carry_out)
        return {"message": "the request to bulk approve has been made"}

    def _prepare(self, *, query: dict[str, Any], body: Any) -> Any:
        self._study(body["study_id"])
        amounts: dict[str, int] = {}
        for line in body["csv_bonuses"].splitlines():
            who, _, amount = line.partition(",")
            cents = Decimal(amount) * 100
            if self._submission(who) and cents != int(cents):
                raise Refused("amounts have two decimals")
            amounts[who] = int(cents)
        batch = f"batch{len(self.batches) + 1}"
        self.batches[batch] = amounts
        return {"id": batch, "amount": sum(amounts.values())}

    def _pay(self, batch: str, *, query: dict[str, Any], body: Any) -> Any:
        """Not idempotent: every call pays the whole batch."""
        if batch not in self.batches:
            raise Refused("no such batch", 404)
        amounts = self.batches[batch]

        def carry_out() -> None:
            for who, cents in amounts.items():
                self.submissions[who].bonuses.append(cents)
                self.ledger.append((who, "bonus", cents))

        self._later(carry_out)
        return {}

    def _later(self, work: Any) -> None:
        if self.lag:
            self.pending.append((self.lag, work))
        else:
            work()

    def _ripen(self) -> None:
        waiting, self.pending = self.pending, []
        for lists, work in waiting:
            if lists <= 1:
                work()
            else:
                self.pending.append((lists - 1, work))


@contextmanager
def serve_panel(*, study_id: str = "study1", reward: int = 200) -> Iterator[PanelServer]:
    """Serve a panel with one study, for whoever has `TOKEN`."""
    state = PanelServer(study_id, reward)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            with lock:
                state.requests.append((self.command, parts.path))
                fault = self._draw(parts.path)
                fails = fault.status is not None or fault.drop or fault.kill
                answer = self._work(parts, raw) if not fails or fault.works else (0, None)
            time.sleep(fault.hang)
            if fault.late:
                with lock:
                    self._work(parts, raw)
            if fault.kill and state.worker is not None:
                os.kill(state.worker, signal.SIGKILL)
            if not fails:
                self._send(*answer)
            elif fault.status is not None:
                self._send(fault.status, {"error": {"detail": "told to fail"}}, fault)
            else:
                self.close_connection = True

        def _draw(self, path: str) -> Fault:
            for fault in state.faults:
                if fault.only in path:
                    state.faults.remove(fault)
                    return fault
            return Fault()

        def _work(self, parts: Any, raw: bytes) -> tuple[int, Any]:
            if parts.path == "/.well-known/study/jwks.json":
                return 200, {"keys": state.keys}
            if self.headers.get("Authorization") != f"Token {TOKEN}":
                return 401, {"error": {"detail": "no valid token"}}
            body = json.loads(raw) if raw else {}
            try:
                path = parts.path.removeprefix("/api/v1/")
                return 200, state.answer(self.command, path, parse_qs(parts.query), body)
            except Refused as refusal:
                return refusal.status, {"error": {"detail": refusal.detail}}

        def _send(self, status: int, content: Any, fault: Fault = Fault()) -> None:
            body = json.dumps(content).encode()
            with suppress(OSError):  # nobody may be waiting any more
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                if fault.retry_after is not None:
                    self.send_header("Retry-After", str(fault.retry_after))
                if fault.location:
                    self.send_header("Location", fault.location)
                self.end_headers()
                self.wfile.write(body)

    class Server(ThreadingHTTPServer):
        """Counts connections from when they are accepted until they are worked off."""

        def process_request(self, request: Any, client_address: Any) -> None:
            with counting:
                state.connections += 1
            super().process_request(request, client_address)

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            try:
                super().process_request_thread(request, client_address)
            finally:
                with counting:
                    state.connections -= 1

    counting = threading.Lock()
    server = Server(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sign_event(secret: str, timestamp: str, body: bytes) -> str:
    """Return a webhook's signature: base64 of HMAC-SHA256 over timestamp and raw body."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()
