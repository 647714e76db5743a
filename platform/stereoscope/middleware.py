"""Health before everything else; addresses and bodies that no page takes; one content security
policy; the language of a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.utils import translation
from django.utils.cache import add_never_cache_headers, patch_vary_headers

from annotation.annotators.views import tell_locked_out
from annotation.common.language_codes import choose_language
from annotation.common.limits import client_address, is_over_limit
from stereoscope.api.errors import answer_problem
from stereoscope.bodies import (
    FILE_PREFIXES,
    FORM_BYTES,
    UPLOAD_PREFIXES,
    holds_files,
    may_send_files,
)
from stereoscope.health import check_health

# A study's link, to which panels add their parameters.
STUDY_PREFIX = "/s/"
NULL_CHARACTER = "The address holds a null character."
# Where programs send JSON.
JSON_PREFIXES = (*FILE_PREFIXES, "/panels/")
FORM_TYPES = ("", "application/x-www-form-urlencoded", "multipart/form-data")
# Pages of researchers and annotators, whose texts are English.
ENGLISH_PREFIXES = (
    *("/account/", "/admin/", "/annotate/", "/api/", "/docs/", "/panels/", "/reports/"),
)


class WholeAddresses:
    """Refuse an address with a null character in it: no page has one, and PostgreSQL takes none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        if request.path_info.startswith(STUDY_PREFIX):
            query = ""  # the page says itself what is wrong with a panel's link
        # A path comes decoded; of the query, the decoded parts alone are ever used.
        if "\0" in request.path_info or "%00" in query:
            if request.path_info.startswith("/api/"):
                return answer_problem(HTTPStatus.BAD_REQUEST, NULL_CHARACTER)
            raise BadRequest(NULL_CHARACTER)
        return self.get_response(request)


class LimitedBodies:
    """Refuse a body that a page doesn't take, before anything reads it: with 413 or 415.

    It comes before the check of forms, which would read the body of every page.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Return a refusal, or nothing for a body that the page takes."""
        n_bytes = _count(request)
        if n_bytes > FORM_BYTES and not _may_send_files(request):
            limit = f"{FORM_BYTES // 1_000_000} MB"
            return _refuse(
                request,
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"This is too large: at most {limit} can be sent here. Nothing was stored.",
            )
        is_upload = n_bytes > 0 and holds_files(request.content_type or "")
        if is_upload and not (
            request.path_info.startswith(UPLOAD_PREFIXES) and _may_send_files(request)
        ):
            return _refuse(
                request,
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "No file can be sent here. Nothing was stored.",
            )
        is_form = request.content_type in FORM_TYPES
        if n_bytes and not is_form and not request.path_info.startswith(JSON_PREFIXES):
            return _refuse(
                request,
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "Only a form can be sent here. Nothing was stored.",
            )
        return None


class LogInLimit:
    """Refuse a client that tries log-ins faster than people type, whatever accounts it names."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.addresses = {reverse("admin:login"), reverse("annotators:login")}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if (
            request.method == "POST"
            and request.path_info in self.addresses
            and is_over_limit(
                "log-in", client_address(request), most=settings.LOGINS_PER_MINUTE, seconds=60
            )
        ):
            return tell_locked_out(request)
        return self.get_response(request)


class PersonalPages:
    """Let no browser and no proxy keep what was made for somebody who is signed in.

    Pages that say themselves how they are kept are left as they are.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_personal = (
            settings.SESSION_COOKIE_NAME in request.COOKIES or "HTTP_AUTHORIZATION" in request.META
        )
        if is_personal and not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response


class ContentSecurityPolicy:
    """Send the same strict policy with every answer. It is written once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.policy = build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        # Django's own pages about an error, for developers alone, bring styles along.
        if not (settings.DEBUG and response.status_code in {404, 500}):
            response.headers.setdefault(HEADER, self.policy)
        return response


class Language:
    """Begin in the browser's language where the platform speaks it; researchers' pages in English.

    A view may go on in another one, such as that of a visit; the next request begins anew.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        in_english = request.path.startswith(ENGLISH_PREFIXES)
        offered = [settings.LANGUAGE_CODE, *(str(code) for code, _name in settings.LANGUAGES)]
        accepted = "" if in_english else request.META.get("HTTP_ACCEPT_LANGUAGE", "")
        with translation.override(choose_language(accepted, offered)):
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        if not in_english:
            patch_vary_headers(response, ("Accept-Language",))
        return response


class Health:
    """Answer ``/health/live`` (this process) and ``/health/ready`` (database, broker, worker).

    The first middleware, because probes come by address: they know none of the allowed hosts and
    do not follow redirects.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path == "/health/live":
            return _answer({"status": "live"}, 200)
        if request.path == "/health/ready":
            health = check_health()
            status = "ready" if health.is_ready else "not ready"
            return _answer({"status": status} | asdict(health), 200 if health.is_ready else 503)
        return self.get_response(request)


def _count(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isascii() and length.isdigit() else 0


def _may_send_files(request: HttpRequest) -> bool:
    authorization = request.META.get("HTTP_AUTHORIZATION", "")
    return may_send_files(request.path_info, cookies=request.COOKIES, authorization=authorization)


def _refuse(request: HttpRequest, status: HTTPStatus, why: str) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return answer_problem(status, why)
    return HttpResponse(f"{why}\n", status=status, content_type="text/plain; charset=utf-8")


def _answer(content: dict[str, str], status: int) -> JsonResponse:
    response = JsonResponse(content, status=status, headers={"Cache-Control": "no-store"})
    # A probe that asks every second must not fill the log; what is wrong was logged at its place.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response
