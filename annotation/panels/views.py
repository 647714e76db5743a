"""The address to which panels send their messages. It knows nobody and answers in a few words."""

from __future__ import annotations

import logging

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.panels.registry import PANELS
from annotation.panels.webhooks import EventRefused, read_event, store_event

logger = logging.getLogger(__name__)


@never_cache
@csrf_exempt
@require_POST
def receive_event(request: HttpRequest, panel: str) -> HttpResponse:
    """Take a signed message once; a message that comes again is thanked for all the same."""
    found = PANELS.get(panel)
    if found is None or not found.has_api:
        return HttpResponse(status=404)
    try:
        event = read_event(panel=panel, headers=request.headers, body=request.body)
    except EventRefused as refusal:
        logger.warning("a message of %s was refused: %s", panel, refusal)
        return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain")
    store_event(panel=panel, event=event)
    return HttpResponse(status=204)
