"""No token of a participant's link reaches a log."""

from __future__ import annotations

import io
import logging

from annotation.models.tokens import new_token
from stereoscope.logs import TokenFilter


def _log(write) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(TokenFilter())
    logger = logging.getLogger("tests.tokens")
    logger.propagate = False
    logger.addHandler(handler)
    try:
        write(logger)
    finally:
        logger.removeHandler(handler)
    return stream.getvalue()


def test_tokens_are_taken_out_of_messages():
    token = new_token()
    line = _log(lambda logger: logger.error("Internal Server Error: %s", f"/r/{token}/"))
    assert line == "Internal Server Error: /r/(token)/\n"


def test_tokens_are_taken_out_of_tracebacks():
    token = new_token()

    def fail(logger: logging.Logger) -> None:
        try:
            raise ValueError(f"no step for {token}")
        except ValueError:
            logger.exception("a page failed")

    text = _log(fail)
    assert token not in text
    assert "ValueError: no step for (token)" in text


def test_other_lines_pass_unchanged():
    line = _log(lambda logger: logger.warning("%d shards of %s", 12, "run 7"))
    assert line == "12 shards of run 7\n"
