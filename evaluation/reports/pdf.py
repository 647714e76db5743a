"""HTML to PDF with WeasyPrint, which draws with the system's Pango and fonts."""

from __future__ import annotations

import logging
from typing import Any

REMEDY = (
    "WeasyPrint cannot load Pango ({reason}). On Debian and Ubuntu install libpango-1.0-0, "
    "libpangoft2-1.0-0 and libharfbuzz-subset0."
)


class PdfUnavailableError(Exception):
    """Why no PDF can be made on this machine, and what to install."""


def render_pdf(html: str) -> bytes:
    """Return the page as PDF; equal pages give equal bytes on one machine.

    Nothing is fetched: images stand in the page itself.
    """
    weasyprint = _import_weasyprint()
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=["data"])
    content: bytes = weasyprint.HTML(string=html, url_fetcher=fetcher).write_pdf()
    return content


def _import_weasyprint() -> Any:
    try:
        import weasyprint
        import weasyprint.urls
    except (ImportError, OSError) as error:
        # A missing shared library is an OSError of several lines; the first names it.
        reason = str(error).strip().splitlines()[0]
        raise PdfUnavailableError(REMEDY.format(reason=reason)) from error
    # It warns of every property of the page's stylesheet that paper has no use for.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    return weasyprint
