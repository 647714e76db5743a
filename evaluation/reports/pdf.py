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


def render_pdf(page: str, stylesheet: str) -> bytes:
    """Return the HTML of ``page`` as PDF; equal pages give equal bytes on one machine.

    Nothing is fetched: images are data addresses in the page.
    """
    weasyprint = import_weasyprint()
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=["data"])
    fonts = weasyprint.text.fonts.FontConfiguration()
    rules = weasyprint.CSS(string=stylesheet, url_fetcher=fetcher, font_config=fonts)
    html = weasyprint.HTML(string=page, url_fetcher=fetcher)
    content: bytes = html.write_pdf(stylesheets=[rules], font_config=fonts)
    return content


def import_weasyprint() -> Any:
    try:
        import weasyprint
        import weasyprint.text.fonts
        import weasyprint.urls
    except (ImportError, OSError) as error:
        # A missing shared library is an OSError of several lines; the first names it.
        reason = str(error).strip().splitlines()[0]
        raise PdfUnavailableError(REMEDY.format(reason=reason)) from error
    # It warns of every property of the page's stylesheet that paper has no use for.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    return weasyprint
