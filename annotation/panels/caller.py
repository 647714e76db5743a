"""HTTP calls that say what may have happened when they fail.

A call that was never sent, or that the server turned away with 4xx, did nothing. One that was sent
and got no clear answer may have been carried out: it is unclear, and nobody here tries it again.
"""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.utils.translation import gettext as _

from annotation.common.lazy import httpx
from annotation.panels.errors import (
    PanelAwayError,
    PanelError,
    PanelRefusedError,
    PanelUnclearError,
)

TOO_MANY, SERVER_FAULT = 429, 500
LONGEST_PAUSE = 60.0
LONGEST_REASON = 300


@cache
def trust() -> ssl.SSLContext:
    """Return the authorities that vouch for servers, read once: to read them takes a while."""
    return httpx.create_ssl_context()


class Caller:
    """Calls one server, one request after the other.

    ``attempts`` of a request that may be repeated, ``pause`` seconds before the second one, doubled
    each time unless the server says how long to wait.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        title: str,
        attempts: int,
        timeout: float,
        pause: float,
    ) -> None:
        self._client = httpx.Client(
            base_url=base_url.rstrip("/") + "/",
            headers=dict(headers),
            timeout=timeout,
            verify=trust(),
            follow_redirects=False,  # the key is for this server alone
        )
        self._title = title
        self._attempts = max(1, attempts)
        self._pause = pause

    def close(self) -> None:
        self._client.close()

    def read(self, path: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return what a GET gives. Tried again after 429, 5xx, a timeout or a lost connection."""
        try:
            return self._repeat("GET", path, None, parameters, even_if_unclear=True)
        except PanelUnclearError as problem:  # reading does nothing, whatever became of it
            raise PanelAwayError(str(problem)) from None

    def send(
        self, method: str, path: str, content: Mapping[str, Any], *, try_again: bool = False
    ) -> dict[str, Any]:
        """Send a request that changes something.

        It is repeated only where it did nothing (429, no connection); with ``try_again`` also where
        it may have been carried out, for requests that may come twice.
        """
        return self._repeat(method, path, content, None, even_if_unclear=try_again)

    def _repeat(
        self,
        method: str,
        path: str,
        content: Mapping[str, Any] | None,
        parameters: Mapping[str, Any] | None,
        *,
        even_if_unclear: bool,
    ) -> dict[str, Any]:
        for attempt in range(1, self._attempts + 1):
            try:
                return self._call(method, path, content, parameters)
            except (PanelAwayError, PanelUnclearError) as problem:
                may_repeat = even_if_unclear or isinstance(problem, PanelAwayError)
                if not may_repeat or attempt == self._attempts:
                    raise
                self._wait(attempt, getattr(problem, "retry_after", None))
        raise PanelAwayError(_("%(panel)s was not asked.") % {"panel": self._title})

    def _wait(self, attempt: int, retry_after: float | None) -> None:
        wanted = self._pause * 2 ** (attempt - 1) if retry_after is None else retry_after
        # Workers that were turned away together must not come back together.
        jitter = random.uniform(0, self._pause / 4)  # noqa: S311 - no secret
        time.sleep(min(LONGEST_PAUSE, wanted) + jitter)

    def _call(
        self,
        method: str,
        path: str,
        content: Mapping[str, Any] | None,
        parameters: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        # No error names the address: it holds ids of people's submissions.
        try:
            answer = self._client.request(method, path, json=content, params=parameters)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            raise PanelAwayError(
                _("%(panel)s cannot be reached.") % {"panel": self._title}
            ) from None
        except httpx.TimeoutException:
            raise PanelUnclearError(
                _("%(panel)s did not answer in time.") % {"panel": self._title}
            ) from None
        except httpx.HTTPError:
            raise PanelUnclearError(
                _("The connection to %(panel)s broke.") % {"panel": self._title}
            ) from None
        self._raise_for(answer)
        return self._read_body(answer)

    def _raise_for(self, answer: httpx.Response) -> None:
        status = answer.status_code
        if status < 400 and not answer.is_redirect:
            return
        said = {"panel": self._title, "status": status}
        problem: PanelError
        if status == TOO_MANY:
            problem = PanelAwayError(_("%(panel)s is busy (429).") % said)
            problem.retry_after = read_pause(answer.headers.get("Retry-After"))  # type: ignore[attr-defined]
        elif status >= SERVER_FAULT:
            problem = PanelUnclearError(_("%(panel)s has a fault (%(status)s).") % said)
        else:
            reason = read_reason(answer)
            text = _("%(panel)s refused (%(status)s): %(reason)s") % {**said, "reason": reason}
            problem = PanelRefusedError(text, status)
        raise problem

    def _read_body(self, answer: httpx.Response) -> dict[str, Any]:
        if not answer.content:
            return {}
        try:
            content = answer.json()
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise PanelUnclearError(
                _("%(panel)s answered something that is no JSON object.") % {"panel": self._title}
            )
        return content


def read_pause(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header, None where it names none."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return max(0.0, seconds) if seconds == seconds else None


def read_reason(answer: httpx.Response) -> str:
    """Return why a server refused, from the shapes that APIs use, as one short line."""
    try:
        content = answer.json()
    except ValueError:
        return _("no reason given")
    error = content.get("error", content) if isinstance(content, dict) else content
    detail = error.get("detail", error.get("message", "")) if isinstance(error, dict) else error
    text = " ".join(str(detail or _("no reason given")).split())
    return text[:LONGEST_REASON]
