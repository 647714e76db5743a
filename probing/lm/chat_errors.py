"""Error messages for a server's failures; they name value and remedy, never the key."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from probing.lm.chat_limits import RetryableError
from probing.lm.errors import (
    AccessDeniedError,
    ContextTooLongError,
    LanguageModelError,
    RequestRefusedError,
    ServerAwayError,
    ServerError,
    UnknownServedModelError,
)

#: What other servers than OpenAI's own write instead of a code.
_TOO_LONG = ("context length", "context_length", "maximum context", "too many tokens", "too long")
#: Options that some servers do without; the caller decides what to ask instead.
_OPTIONS = (
    "max_completion_tokens",
    "logprob",
    "logit_bias",
    "echo",
    "continue_final_message",
    "add_generation_prompt",
    "assistant",
)
_SHOWN_MODELS = 20
_SHOWN_CHARACTERS = 300
#: Pieces of a key that are shorter than this give nothing away.
_KEY_PIECE = 6
#: What servers write for a token whose probability they don't tell: -9999 (OpenAI, vLLM), -100.
_NO_LOGPROB = -100.0


class RefusedError(Exception):
    """The server's content filter refuses the prompt; the text says so in its words."""


class UnsupportedOptionError(Exception):
    """The server does not take an option of the request; the text says so in its words."""


class ErrorBodyError(Exception):
    """An answer with status 200 that is an error, or holds nothing; `body` is what came."""

    def __init__(self, body: object) -> None:
        super().__init__()
        plain = body.model_dump(warnings=False) if hasattr(body, "model_dump") else body
        error = plain.get("error") if isinstance(plain, dict) else None
        self.body = error or plain
        code = error.get("code") if isinstance(error, dict) else None
        # Without a status of its own, another attempt may help.
        self.status_code = code if isinstance(code, int) and 400 <= code < 600 else 500


def require_choices(made: Any) -> Any:
    """Return an answer that has choices. Raises :class:`ErrorBodyError` for any other."""
    choices = getattr(made, "choices", None)
    if not (isinstance(choices, list) and choices):
        raise ErrorBodyError(made)
    return made


def read_error(
    error: Exception,
    *,
    host: str,
    served_name: str,
    key_variable: str,
    key: str,
    offered: Callable[[], list[str]],
) -> Exception:
    """Return what to raise for `error`: RetryableError where another attempt may help."""
    import openai

    for raised in (error, error.__cause__):
        if isinstance(raised, LanguageModelError):
            return raised
    if isinstance(error, openai.APITimeoutError):
        return RetryableError(
            ServerAwayError(
                f"The server {host} gave no answer in time. Check that it is not overloaded, or "
                "allow more time (CHAT_TIMEOUT_SECONDS); then resume the run."
            )
        )
    if isinstance(error, openai.APIConnectionError):
        said = quote(str(error.__cause__ or error), key)
        return RetryableError(
            ServerAwayError(
                f"The server {host} cannot be reached ({said}). Check its address, that it runs "
                "and that this machine may connect to it; then resume the run."
            )
        )
    if not isinstance(error, openai.APIStatusError | ErrorBodyError):
        said = quote(str(error), key)
        unread = ServerError(
            f"The answer of the server {host} cannot be read ({said}). Check that its address is "
            "that of a server with OpenAI's protocol, which often ends in /v1."
        )
        # An answer that was cut off or garbled on its way may come whole the next time.
        return RetryableError(unread) if isinstance(error, ValueError) else unread
    said = quote(_words(error.body), key)
    status = error.status_code
    if status in (401, 403):
        return _denied(host, served_name, key_variable, f"{status}: {said}")
    if status == 404:
        return _unknown(host, served_name, f"{status}: {said}", offered)
    if status in (400, 422):
        return _bad_request(error, host, f"{status}: {said}")
    if status in (405, 501):  # the page is there, but not for this
        return UnsupportedOptionError(f"{status}: {said}")
    if isinstance(error, ErrorBodyError):
        final = ServerError(f"The server {host} answered without a text ({said}).")
    else:
        final = ServerError(f"The server {host} answered with an error ({status}: {said}).")
    exhausted = _code(error) == "insufficient_quota"
    if (status in (408, 409, 429) or status >= 500) and not exhausted:
        return RetryableError(final, _retry_after(error))
    return final


def read_logprob(value: object) -> float:
    """Return a log-probability that a server tells. Raises :class:`ServerError` for anything else.

    Minus infinity stands for numbers that are not told, such as -9999. NaN and what is above zero
    by more than rounding are none.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0.01:
        return float(value) if value > _NO_LOGPROB else -math.inf
    raise ServerError(
        f"The server tells a log-probability of {str(value)[:40]}, expected a number of at most 0."
    )


def _denied(host: str, served_name: str, key_variable: str, said: str) -> Exception:
    if key_variable:
        how = (
            f"Check the key in the environment variable {key_variable} of the workers, and that it "
            "may use this model."
        )
    else:
        how = (
            "It wants a key: register the model with the name of an environment variable that "
            "holds it."
        )
    return AccessDeniedError(f"The server {host} denies access to '{served_name}' ({said}). {how}")


def _unknown(host: str, served_name: str, said: str, offered: Callable[[], list[str]]) -> Exception:
    try:
        names = offered()
    except Exception:  # whatever it is: the list only helps
        return UnknownServedModelError(
            f"The server {host} knows no model '{served_name}' ({said}), or its address is "
            "incomplete: it often ends in /v1."
        )
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN_MODELS])
    more = f" and {len(names) - _SHOWN_MODELS} more" if len(names) > _SHOWN_MODELS else ""
    return UnknownServedModelError(
        f"The server {host} knows no model '{served_name}' ({said}). It offers: "
        f"{shown or 'none'}{more}."
    )


def _bad_request(error: Any, host: str, said: str) -> Exception:
    code = _code(error)
    if code == "content_filter":
        return RefusedError(said)
    if code == "context_length_exceeded" or any(words in said.lower() for words in _TOO_LONG):
        return ContextTooLongError(
            f"The server {host} finds a prompt too long for its model ({said}). Shorten the text, "
            "or use a model that reads longer ones."
        )
    if any(option in said for option in _OPTIONS):
        return UnsupportedOptionError(said)
    return RequestRefusedError(f"The server {host} does not accept the request ({said}).", said)


def _words(body: object) -> str:
    """Return what a body says: its message, the text of a page, or all of it."""
    if isinstance(body, dict):
        said = next((body[key] for key in ("message", "detail", "error") if body.get(key)), body)
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
    if isinstance(body, str):
        return re.sub(r"<(script|style)\b.*?</\1>|<[^<>]*>", " ", body, flags=re.DOTALL | re.I)
    return "" if body is None else json.dumps(body, ensure_ascii=False, default=str)


def _code(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("code") or "")


def _retry_after(error: Any) -> float | None:
    """Return the seconds that the server asks to wait, given in milliseconds, seconds or a date."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    with suppress(KeyError, ValueError):
        return max(float(headers["retry-after-ms"]) / 1000, 0.0)
    with suppress(KeyError, ValueError):
        return max(float(headers["retry-after"]), 0.0)
    with suppress(KeyError, ValueError, TypeError):
        return max(parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time(), 0.0)
    return None


def quote(text: str, key: str = "") -> str:
    """Return the beginning of what a server said in one line, without words that hold its key."""
    size = min(len(key), _KEY_PIECE)
    pieces = {key[at : at + size] for at in range(len(key) - size + 1)} if size > 4 else set()
    words = ["…" if any(one in word for one in pieces) else word for word in text.split()]
    return " ".join(words)[:_SHOWN_CHARACTERS].rstrip(".") or "no reason given"
