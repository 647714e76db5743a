"""Logs say what happened, never who: tokens of participants' links are taken out of every line."""

from __future__ import annotations

import logging
import re

# Paths of survey pages carry the token that lets its holder act for a submission: 32 letters of
# annotation.models.tokens, which cannot be imported here, before the apps are ready.
TOKEN = re.compile(r"\b[0-9a-z]{32}\b")


class TokenFilter(logging.Filter):
    """Replaces tokens in messages and tracebacks; lets every record pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = hide_tokens(record.exc_text)
        message = record.getMessage()
        hidden = hide_tokens(message)
        if hidden != message:
            record.msg, record.args = hidden, None
        return True


def hide_tokens(text: str) -> str:
    """Return ``text`` with every token replaced by “(token)”."""
    return TOKEN.sub("(token)", text)
