"""Hands out the pictures and sounds of a study to its participants."""

from __future__ import annotations

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.models import StudyFile

RANGE = re.compile(r"bytes=([0-9]{0,12})-([0-9]{0,12})")
# The address holds the content's digest: what it leads to never changes.
KEPT = "public, max-age=31536000, immutable"
# Opened by itself, a file is a file and nothing that runs.
ALONE = "default-src 'none'; sandbox"


@require_safe
def show_file(request: HttpRequest, public_id: str, digest: str, ending: str) -> HttpResponse:
    """Return a file as it was uploaded, or the part that a player asks for. One query."""
    file = StudyFile.objects.filter(
        study__public_id=public_id, digest=digest, ending=ending
    ).first()
    if file is None:
        raise Http404
    content = bytes(file.content)
    part = _find_part(request.headers.get("Range", ""), len(content))
    if part is None:
        response = HttpResponse(content, content_type=file.media_type)
    elif part:
        response = HttpResponse(
            content[part.start : part.stop], content_type=file.media_type, status=206
        )
        response["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
    else:
        response = HttpResponse(status=416, content_type=file.media_type)
        response["Content-Range"] = f"bytes */{len(content)}"
    response["Accept-Ranges"] = "bytes"
    response["Cache-Control"] = KEPT
    response["Content-Disposition"] = f'inline; filename="{digest[:12]}.{ending}"'
    response["Content-Security-Policy"] = ALONE
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _find_part(asked: str, size: int) -> range | None:
    """Return the bytes that a request asks for: None for all, empty for what there is not."""
    found = RANGE.fullmatch(asked)
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        return range(max(0, size - int(found[2])), size)
    end = min(int(found[2]) + 1, size) if found[2] else size
    return range(min(int(found[1]), size), end)
