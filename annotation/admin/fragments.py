"""Fragments of pages that browsers ask for again and again."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag


def answer_fragment(request: HttpRequest, html: str) -> HttpResponseBase:
    """Return the fragment, or 304 without a body where the browser has just this one."""
    etag = quote_etag(hashlib.sha256(html.encode()).hexdigest()[:32])
    response = HttpResponse(html)
    response["ETag"] = etag
    return get_conditional_response(request, etag=etag, response=response) or response
