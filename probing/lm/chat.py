"""Chat models behind any server with OpenAI's protocol.

Hosted services, vLLM, Ollama and ``transformers serve`` alike. The key is read from an environment
variable when a request is made; it is never stored, and no message or log line holds it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from probing.lm.cache import BoundedCache
from probing.lm.chat_errors import RefusedError, UnsupportedOptionError, read_error
from probing.lm.chat_limits import ChatLimits, Pacer, TokenBudget, keep_trying
from probing.lm.errors import AccessDeniedError, GenerationSettingsError, ServerError
from probing.lm.text_protocols import Generation, GenerationSettings

if TYPE_CHECKING:
    from openai import OpenAI

#: Characters of UTF-8 that make a token, roughly, where nobody but the server can count them.
_BYTES_PER_TOKEN = 4
#: Tokens that a chat's wrapping adds to a prompt, roughly.
_WRAPPING = 8
#: The protocol takes no more stop texts; any others are found here.
_MOST_STOPS = 4
_LARGEST_SEED = 2**31


class ChatFacts:
    """What can be said about a chat model without asking its server."""

    #: A chat model writes; servers tell no probabilities of whole texts.
    abilities = frozenset({"generate"})
    kind: Literal["chat"] = "chat"
    #: The server alone knows, and refuses what is too long.
    max_length: int | None = None

    def __init__(self, served_name: str) -> None:
        self.served_name = served_name

    def count_tokens(self, text: str) -> int:
        """Return an estimate: a token for four bytes, and a little for the chat's wrapping."""
        return math.ceil(len(text.encode()) / _BYTES_PER_TOKEN) + _WRAPPING


@dataclass(frozen=True)
class _Answer:
    generation: Generation
    tokens: int


class ChatModel(ChatFacts):
    """A chat model; every prompt is one message of a chat of its own, without a system message.

    Parameters
    ----------
    base_url : such as ``https://api.openai.com/v1`` or ``http://localhost:11434/v1``.
    served_name : the model's name on that server.
    key_variable : environment variable that holds the key; empty for servers that want none.
    limits : how fast, how patiently and how many at a time.
    budget : counts the tokens that are spent, and says when it is enough; None spends freely.
    pacer : shared by models of one server, so that they keep its rate together.
    listed_hosts : the only hosts off the internet that may be asked; None asks any host.
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
    ) -> None:
        super().__init__(served_name)
        self.base_url = base_url
        self.key_variable = key_variable
        self.limits = limits or ChatLimits()
        self.budget = budget
        self.listed_hosts = listed_hosts
        self.cache = BoundedCache()
        self._pacer = pacer or Pacer(self.limits.requests_per_minute)
        self._length_option = "max_tokens"

    @property
    def revision(self) -> str:
        """The model's name on its server: servers tell no more."""
        return self.served_name

    @property
    def device(self) -> str:
        """The server's host, where the model computes."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    def generate(
        self, prompts: Sequence[str], settings: GenerationSettings, *, seeds: Sequence[int]
    ) -> list[Generation]:
        """Return one text per prompt, in order; what the server refuses is ``refused``.

        Seeds are sent along. Servers may ignore them.

        Raises
        ------
        GenerationSettingsError
            Beams or n-grams, which the protocol does not know.
        ServerAwayError, AccessDeniedError, UnknownServedModelError, ServerError
            What keeps the server from answering, after all attempts.
        ContextTooLongError
            The server finds a prompt too long.
        SpendCapError
            The budget is used up; texts that came in before are lost to this call.
        """
        _check_settings(settings)
        if len(seeds) != len(prompts):
            raise GenerationSettingsError(
                f"There are {len(seeds)} seeds for {len(prompts)} prompts, expected one each."
            )
        if not prompts:
            return []
        client = self._connect()
        found: dict[int, Generation] = {}
        waiting: dict[Future[_Answer], int] = {}
        left = iter(range(len(prompts)))
        # Threads only wait for the server; counting stays in the caller's thread.
        pool = ThreadPoolExecutor(max_workers=self.limits.concurrency)
        try:
            while len(found) < len(prompts):
                for index in _some(left, self.limits.concurrency - len(waiting)):
                    if self.budget is not None:
                        self.budget.require()
                    ask = pool.submit(
                        self._ask, client, prompts[index], settings, seeds[index] % _LARGEST_SEED
                    )
                    waiting[ask] = index
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for one in sorted(done, key=lambda one: waiting[one]):
                    answer = one.result()
                    found[waiting.pop(one)] = answer.generation
                    if self.budget is not None:
                        self.budget.spend(answer.tokens)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [found[index] for index in range(len(prompts))]

    def served_models(self) -> list[str]:
        """Return the names of the models that the server offers, in its own order."""
        client = self._connect()
        return self._try(lambda: [model.id for model in client.models.list()], client)

    def _connect(self) -> OpenAI:
        from openai import DefaultHttpxClient, OpenAI

        from probing.lm.public_addresses import PublicTransport

        key = os.environ.get(self.key_variable, "") if self.key_variable else "none"
        if not key:
            raise AccessDeniedError(
                f"The environment variable {self.key_variable} is not set here. It should hold "
                f"the key for '{self.served_name}' at {self.device}; set it for the workers "
                "and resume the run."
            )
        guarded = None
        if self.listed_hosts is not None:
            # A redirect could lead where the base URL may not.
            guarded = DefaultHttpxClient(
                transport=PublicTransport(self.listed_hosts), follow_redirects=False
            )
        return OpenAI(
            base_url=self.base_url,
            http_client=guarded,
            api_key=key,
            max_retries=0,  # waiting and trying again is done here, within stated limits
            timeout=self.limits.timeout_seconds,
        )

    def _ask(self, client: OpenAI, prompt: str, settings: GenerationSettings, seed: int) -> _Answer:
        def request() -> _Answer:
            made = client.chat.completions.create(
                model=self.served_name,
                messages=[{"role": "user", "content": prompt}],
                temperature=settings.temperature,
                seed=seed,
                **({"stop": list(settings.stop[:_MOST_STOPS])} if settings.stop else {}),
                **{self._length_option: settings.max_new_tokens},  # type: ignore[call-overload]
            )
            return self._read(made, prompt, settings)

        try:
            return self._try(request, client)
        except RefusedError as refusal:
            return _Answer(Generation(str(refusal), None, "refused"), self.count_tokens(prompt))
        except UnsupportedOptionError:
            # Newer models of some services want another name for the same option.
            self._length_option = "max_completion_tokens"
            return self._try(request, client)

    def _read(self, made: Any, prompt: str, settings: GenerationSettings) -> _Answer:
        if not made.choices:
            raise ServerError(
                f"The server {self.device} answered without a text. Try again, or look at its log."
            )
        choice = made.choices[0]
        written = made.usage.completion_tokens if made.usage else None
        refusal = getattr(choice.message, "refusal", None)
        text = refusal or choice.message.content or ""
        spent = made.usage.total_tokens if made.usage else None
        if spent is None:
            spent = self.count_tokens(prompt) + self.count_tokens(text)
        if refusal or choice.finish_reason == "content_filter":
            return _Answer(Generation(text.strip(), written, "refused"), spent)
        cut = min((at for one in settings.stop if (at := text.find(one)) >= 0), default=None)
        whole = choice.finish_reason != "length" or cut is not None
        finish: Literal["stop", "length"] = "stop" if whole else "length"
        return _Answer(Generation(text[:cut].strip(), written, finish), spent)

    def _try(self, request: Callable[[], Any], client: OpenAI) -> Any:
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

        return keep_trying(request, self.limits, self._pacer, explain)


def _check_settings(settings: GenerationSettings) -> None:
    if settings.beams > 1 or settings.no_repeat_ngram:
        raise GenerationSettingsError(
            f"beams is {settings.beams} and no_repeat_ngram {settings.no_repeat_ngram}, but "
            "servers of chat models know neither. Set beams to 1 and no_repeat_ngram to 0."
        )
    if settings.max_new_tokens < 1 or settings.temperature < 0:
        raise GenerationSettingsError(
            f"max_new_tokens is {settings.max_new_tokens} and temperature "
            f"{settings.temperature:g}, expected at least 1 and 0."
        )


def _some(items: Iterator[int], most: int) -> Iterator[int]:
    for _, item in zip(range(most), items, strict=False):
        yield item
