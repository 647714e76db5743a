"""Logs say what happened, never who: tokens of participants' links are taken out of every line."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime

from annotation.common.log_context import request_id, run_id

# Paths of survey pages carry the token that lets its holder act for a submission: 32 letters of
# annotation.models.tokens, which cannot be imported here, before the apps are ready.
TOKEN = re.compile(r"\b[0-9a-z]{32}\b")
# gunicorn says so of whoever sends what is no request.
CLIENT_ADDRESS = re.compile(r"\bip=[0-9a-fA-F.:%]*[0-9a-fA-F]")


class TokenFilter(logging.Filter):
    """Takes tokens and addresses out of messages and tracebacks; lets every record pass."""

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
    """Return ``text`` with every token replaced by “(token)”, and addresses of clients left out."""
    return CLIENT_ADDRESS.sub("(a client)", TOKEN.sub("(token)", text))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: when, how bad, who says it, what, and the ids of request and run."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request": request_id.get(),
            "run": run_id.get(),
            "process": record.process,
            **getattr(record, "fields", {}),
        }
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            line["traceback"] = record.exc_text
        kept = {name: value for name, value in line.items() if value != ""}
        return json.dumps(kept, ensure_ascii=False, default=str)
