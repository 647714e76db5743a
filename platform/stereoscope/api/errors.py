"""Errors of the API as problem documents (RFC 9457) that name field, value and what is expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from evaluation.reports.parts.errors import ReportError
from probing.runs.errors import RunError

PROBLEM_TYPE = "application/problem+json"
# A value is repeated in its error as it came, but a page of text is not.
LONGEST_VALUE = 200


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the problem document for ``error``, or None for what is a fault of the platform."""
    request: Request | None = context.get("request")
    if isinstance(error, RunError):
        return _refuse_run(error, request)
    if isinstance(error, ReportError):
        return _problem(HTTPStatus.BAD_REQUEST, str(error))
    if isinstance(error, DjangoValidationError):
        error = exceptions.ValidationError(_messages(error))
    elif isinstance(error, Http404):
        error = exceptions.NotFound("There is nothing at this address that you may see.")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    status = HTTPStatus(error.status_code)
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    if isinstance(error, exceptions.ValidationError):
        faults = list(_flatten(error.detail, (), _data(request)))
        return _problem(status, "The request is not valid.", faults, headers)
    return _problem(status, str(error.detail), headers=headers)


@csrf_exempt
def answer_unknown_address(request: HttpRequest, rest: str) -> JsonResponse:
    """Answer below the API with a problem document, where no address matches."""
    return answer_problem(HTTPStatus.NOT_FOUND, "There is no such address in the API.")


def answer_problem(status: HTTPStatus, detail: str) -> JsonResponse:
    """Answer with a problem document outside of REST framework's views."""
    content = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": detail,
    }
    return JsonResponse(content, status=int(status), content_type=PROBLEM_TYPE)


def _refuse_run(error: RunError, request: Request | None) -> Response:
    """A state that forbids the action is a conflict, everything else a fault of the request."""
    data = _data(request)
    faults = [
        {
            "field": ".".join(_path(problem.where)),
            "value": _value(data, _path(problem.where)),
            "message": problem.message,
        }
        for problem in error.problems
    ]
    if any(fault["field"] == "status" for fault in faults):
        return _problem(HTTPStatus.CONFLICT, " ".join(error.messages))
    return _problem(HTTPStatus.BAD_REQUEST, "The request cannot be met.", faults)


def _problem(
    status: HTTPStatus,
    detail: str,
    errors: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    set_rollback()
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": detail,
    }
    if errors:
        content["errors"] = errors
    return Response(content, status=int(status), headers=headers, content_type=PROBLEM_TYPE)


def _messages(error: DjangoValidationError) -> Any:
    return error.message_dict if hasattr(error, "error_dict") else error.messages


def _data(request: Request | None) -> Any:
    try:
        return request.data if request is not None else {}
    except exceptions.APIException:  # a body that is no JSON has no values
        return {}


def _flatten(detail: Any, path: tuple[str, ...], data: Any) -> Iterator[dict[str, Any]]:
    """Yield one fault per message of REST framework's nested details."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            step = () if key == "non_field_errors" else (str(key),)
            yield from _flatten(inner, path + step, data)
    elif isinstance(detail, Sequence) and not isinstance(detail, str):
        for inner in detail:
            yield from _flatten(inner, path, data)
    else:
        yield {"field": ".".join(path), "value": _value(data, path), "message": str(detail)}


def _path(where: str) -> tuple[str, ...]:
    """Return the field that a problem of a run names, such as ``parameter gamma``."""
    kind, _, name = where.partition(" ")
    return ("parameters", name) if kind == "parameter" and name else (where,)


def _value(data: Any, path: Sequence[str]) -> Any:
    """Return what stood at ``path`` of the request, None if nothing did."""
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    if isinstance(data, str):
        return data if len(data) <= LONGEST_VALUE else data[:LONGEST_VALUE] + "…"
    return data if isinstance(data, int | float | bool) else None
