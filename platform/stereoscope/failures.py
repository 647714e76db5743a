"""What is answered to errors that nobody caught.

While the database is away, locked or full: 503, and when to try again. Where somebody else, or a
second click, stored the same in between: 409. Everything else is a fault of ours, and Django's page
says so.
"""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections.abc import Iterator
from http import HTTPStatus

from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template import loader
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.views.defaults import server_error

from annotation.common.language_codes import direction_of
from stereoscope.api.errors import answer_problem

logger = logging.getLogger(__name__)

RETRY_SECONDS = 10
DETAILS = {
    HTTPStatus.SERVICE_UNAVAILABLE: "The database does not answer at the moment. Nothing was "
    "changed; ask again later.",
    HTTPStatus.CONFLICT: "The same was stored in the meantime. Nothing was stored twice.",
}
# Both kinds of database call some of our own faults operational: SQLite statements that it does not
# understand, PostgreSQL values that are too large for it (class 54).
SQL_ERROR = sqlite3.SQLITE_ERROR
LIMIT_EXCEEDED = "54"
UNIQUE_VIOLATION = "23505"


def answer_failure(request: HttpRequest) -> HttpResponseBase:
    """Answer what nobody caught (``handler500``); asks neither database nor session."""
    error = sys.exc_info()[1]
    if is_stored_already(error):
        return _answer(request, HTTPStatus.CONFLICT)
    if not is_database_away(error):
        return server_error(request)
    response = _answer(request, HTTPStatus.SERVICE_UNAVAILABLE)
    # One line: a traceback of every page that is asked for meanwhile would hide all others.
    logger.error("the database does not answer: %s", " ".join(str(error).split()))
    response._has_been_logged = True  # type: ignore[attr-defined]
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    add_never_cache_headers(response)
    return response


def is_database_away(error: BaseException | None) -> bool:
    """Whether an error comes of a database that is away, locked or has no room."""
    return any(_says_away(cause) for cause in _causes(error))


def is_stored_already(error: BaseException | None) -> bool:
    """Whether an error says that a row is there which may be there once."""
    return isinstance(error, IntegrityError) and any(
        getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_CONSTRAINT_UNIQUE
        or getattr(cause, "sqlstate", None) == UNIQUE_VIOLATION
        for cause in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _says_away(error: BaseException) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    told = error.__cause__
    if isinstance(told, sqlite3.Error):
        return getattr(told, "sqlite_errorcode", SQL_ERROR) != SQL_ERROR
    return not str(getattr(told, "sqlstate", None) or "").startswith(LIMIT_EXCEEDED)


def _answer(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return answer_problem(status, DETAILS[status])
    # Without the request: what its context looks up stands in the database.
    page = loader.render_to_string(
        f"{status:d}.html",
        {
            "direction": direction_of(translation.get_language() or ""),
            "was_sent": request.method == "POST",
        },
    )
    return HttpResponse(page, status=status)
