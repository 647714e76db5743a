"""A connection to a server with OpenAI's protocol: attempts, pace, budget, addresses, keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from probing.lm.cache import BoundedCache
from probing.lm.chat_errors import read_error
from probing.lm.chat_limits import ChatLimits, Pacer, TokenBudget, keep_trying
from probing.lm.errors import AccessDeniedError

if TYPE_CHECKING:
    from openai import OpenAI

    from probing.lm.server_answers import AnswerStore, RememberingTransport

T = TypeVar("T")


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What came back, the tokens that it cost in all, and how many of them were written.

    `reused` for an answer that was kept from before.
    """

    value: T
    tokens: int
    written: int = 0
    reused: bool = False


class ServerConnection:
    """Asks one model of a server, several requests at a time.

    Parameters
    ----------
    base_url : such as ``https://api.openai.com/v1`` or ``http://localhost:11434/v1``.
    served_name : the model's name on that server.
    key_variable : environment variable that holds the key; empty for servers that want none.
    limits : how fast, how patiently and how many at a time.
    budget : counts the tokens that are spent, and says when it is enough; None spends freely.
    pacer : shared by models of one server, so that they keep its rate together.
    listed_hosts : the only hosts off the internet that may be asked; None asks any host.
    answers : keeps answers and gives them again to the same request; None asks every time.
    """

    def __init__(
        self,
        base_url: str,
        served_name: str,
        *,
        key_variable: str = "",
        limits: ChatLimits | None = None,
        budget: TokenBudget | None = None,
        pacer: Pacer | None = None,
        listed_hosts: Collection[str] | None = None,
        answers: AnswerStore | None = None,
    ) -> None:
        self.base_url = base_url
        self.served_name = served_name
        self.key_variable = key_variable
        self.limits = limits or ChatLimits()
        self.budget = budget
        self.listed_hosts = listed_hosts
        self.cache = BoundedCache()
        self._answers = answers
        #: Answers of batches by the key of their request, and requests that a batch refused.
        self.batched: dict[str, bytes] = {}
        self.left_alone: set[str] = set()
        self._transport: RememberingTransport | None = None
        self._pacer = pacer or Pacer(self.limits.requests_per_minute)

    @property
    def revision(self) -> str:
        """The model's name on its server: servers tell no more."""
        return self.served_name

    @property
    def device(self) -> str:
        """The server's host, where the model computes."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    def ask_all(self, asks: Sequence[Callable[[OpenAI], Reply[T]]]) -> list[T]:
        """Return what each request gives, in order, as many at a time as the limits allow.

        Raises what the first one raises after all attempts, and SpendCapError where the budget is
        used up; replies that came in before are lost to this call.
        """
        if not asks:
            return []
        client = self._connect()
        found: dict[int, T] = {}
        waiting: dict[Future[Reply[T]], int] = {}
        left = iter(range(len(asks)))
        # Threads only wait for the server; counting stays in the caller's thread.
        pool = ThreadPoolExecutor(max_workers=self.limits.concurrency)
        try:
            while len(found) < len(asks):
                for index in _some(left, self.limits.concurrency - len(waiting)):
                    if self.budget is not None:
                        self.budget.require()
                    waiting[pool.submit(asks[index], client)] = index
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for one in sorted(done, key=lambda one: waiting[one]):
                    reply = one.result()
                    found[waiting.pop(one)] = reply.value
                    if self.budget is not None:
                        if reply.reused:
                            self.budget.reuse()
                        elif reply.tokens:
                            self.budget.spend(reply.tokens, reply.written)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [found[index] for index in range(len(asks))]

    def attempt(self, request: Callable[[], T], client: OpenAI) -> T:
        """Return what the request gives, trying again where that may help."""

        def explain(error: Exception) -> Exception:
            return read_error(
                error,
                host=self.device,
                served_name=self.served_name,
                key_variable=self.key_variable,
                key=client.api_key,
                offered=lambda: [model.id for model in client.models.list()],
            )

        return keep_trying(request, self.limits, explain)

    @property
    def came_from(self) -> str:
        """Where the latest answer of this thread is from: `kept` from before, or a `batch`.

        Empty for one that was paid for just now.
        """
        return "" if self._transport is None else getattr(self._transport.source, "now", "")

    def is_kept(self, body: Mapping[str, Any], draw: str = "") -> bool:
        """Return whether the answer to a chat is kept from before."""
        from probing.lm.server_answers import answer_key

        if self._answers is None:
            return False
        address = f"{self.base_url.rstrip('/')}/chat/completions"
        key = answer_key(address, dict(body), draw)
        return key is not None and self._answers.read(key) is not None

    def _connect(self) -> OpenAI:
        from httpx2 import HTTPTransport
        from openai import DefaultHttpxClient, OpenAI

        from probing.lm.public_addresses import PublicTransport, trust
        from probing.lm.server_answers import RememberingTransport

        key = os.environ.get(self.key_variable, "") if self.key_variable else "none"
        if not key:
            raise AccessDeniedError(
                f"The environment variable {self.key_variable} is not set here. It should hold "
                f"the key for '{self.served_name}' at {self.device}; set it for the workers "
                "and resume the run."
            )
        inner: HTTPTransport
        if self.listed_hosts is None:
            inner = HTTPTransport(verify=trust())
        else:
            # Each pause within an answer may be as long as the time-out says.
            inner = PublicTransport(self.listed_hosts, most_seconds=2 * self.limits.timeout_seconds)
        self._transport = RememberingTransport(
            inner, self._pacer, self._answers, key if self.key_variable else "", self.batched
        )
        return OpenAI(
            base_url=self.base_url,
            # A redirect could lead where the base URL may not.
            http_client=DefaultHttpxClient(transport=self._transport, follow_redirects=False),
            api_key=key,
            max_retries=0,  # waiting and trying again is done here, within stated limits
            timeout=self.limits.timeout_seconds,
        )


def _some(items: Iterator[int], most: int) -> Iterator[int]:
    for _, item in zip(range(most), items, strict=False):
        yield item
