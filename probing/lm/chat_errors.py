"""Error messages for a server's failures; they name value and remedy, never the key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probing.lm.chat_limits import RetryableError
from probing.lm.errors import (
    AccessDeniedError,
    ContextTooLongError,
    LanguageModelError,
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


class RefusedError(Exception):
    """The server's content filter refuses the prompt; the text says so in its words."""


class UnsupportedOptionError(Exception):
    """The server does not take an option of the request; the text says so in its words."""


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
        return RetryableError(
            ServerAwayError(
                f"The server {host} cannot be reached. Check its address, that it runs and that "
                "this machine may connect to it; then resume the run."
            )
        )
    if not isinstance(error, openai.APIStatusError):
        said = _quote(str(error), key)
        return ServerError(
            f"The answer of the server {host} cannot be read ({said}). Check that its address is "
            "that of a server with OpenAI's protocol, which often ends in /v1."
        )
    said = _quote(_message(error), key)
    status = error.status_code
    if status in (401, 403):
        return _denied(host, served_name, key_variable, status)
    if status == 404:
        return _unknown(host, served_name, offered)
    if status == 400:
        return _bad_request(error, host, said)
    final = ServerError(f"The server {host} answered with an error ({status}: {said}).")
    exhausted = _code(error) == "insufficient_quota"
    if (status in (408, 409, 429) or status >= 500) and not exhausted:
        return RetryableError(final, _retry_after(error))
    return final


def read_logprob(value: object) -> float:
    """Return a log-probability that a server tells. Raises :class:`ServerError` for anything else.

    Zero probability, minus infinity, is one; NaN and what is above zero by more than rounding
    are none.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and value < 0.01:
        return float(value)
    raise ServerError(
        f"The server tells a log-probability of {str(value)[:40]}, expected a number of at most 0."
    )


def _denied(host: str, served_name: str, key_variable: str, status: int) -> Exception:
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
    return AccessDeniedError(
        f"The server {host} denies access to '{served_name}' ({status}). {how}"
    )


def _unknown(host: str, served_name: str, offered: Callable[[], list[str]]) -> Exception:
    try:
        names = offered()
    except Exception:  # whatever it is: the list only helps
        return UnknownServedModelError(
            f"The server {host} knows no model '{served_name}', or its address is incomplete: it "
            "often ends in /v1."
        )
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN_MODELS])
    more = f" and {len(names) - _SHOWN_MODELS} more" if len(names) > _SHOWN_MODELS else ""
    return UnknownServedModelError(
        f"The server {host} knows no model '{served_name}'. It offers: {shown or 'none'}{more}."
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
    return ServerError(f"The server {host} does not accept the request ({said}).")


def _message(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("message") or error.message)


def _code(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("code") or "")


def _retry_after(error: Any) -> float | None:
    """Return the seconds that the server asks to wait; dates are not read."""
    try:
        return float(error.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None


def _quote(text: str, key: str) -> str:
    """Return the first line of what a server said, without the key that it may repeat."""
    lines = text.strip().splitlines()
    line = lines[0] if lines else "no reason given"
    if len(key) > 4:
        line = line.replace(key, "…")
    return line[:_SHOWN_CHARACTERS].rstrip(".")
