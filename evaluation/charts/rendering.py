"""From a specification to SVG and PNG, and SVG that follows the page's colors."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from xml.sax.saxutils import escape

from evaluation.charts.palette import CSS_VALUES

VEGA_LITE = "6.4"

_ROOT = re.compile(r"<svg\b[^>]*>")
_PAINT = re.compile(r'\b(fill|stroke)="(#[0-9a-fA-F]{6})"')
# Vega names groups of marks although it is told to name nothing: a picture has one text.
_NAMED_GROUP = re.compile(r' role="graphics-\w+" aria-roledescription="[^"]*"')
_SIZE = re.compile(r'\s(?:width|height)="[^"]*"')


def render_svg(spec: dict[str, Any]) -> str:
    """Return the drawing as SVG, light, with role, title and description for screen readers.

    Raises ValueError where the specification is not valid Vega-Lite.
    """
    import vl_convert

    # Data stand in the specification: nothing is ever fetched.
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    svg = _NAMED_GROUP.sub("", svg)
    root = _ROOT.search(svg)
    if root is None:
        raise ValueError("the drawing has no svg element")
    title, description = spec["usermeta"]["title"], spec["description"]
    # Several drawings stand on one page, so their ids must differ.
    key = hashlib.sha256(svg.encode()).hexdigest()[:10]
    opening = root.group(0)[:-1] + (
        f' role="img" aria-labelledby="chart-{key}-title" aria-describedby="chart-{key}-text">'
        f'<title id="chart-{key}-title">{escape(title)}</title>'
        f'<desc id="chart-{key}-text">{escape(description)}</desc>'
    )
    return svg[: root.start()] + opening + svg[root.end() :]


def render_png(spec: dict[str, Any], *, scale: float = 2.0) -> bytes:
    """Return the drawing as PNG, light, with that many image pixels a drawn pixel."""
    import vl_convert

    return bytes(
        vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[])
    )


def render_pdf(spec: dict[str, Any]) -> bytes:
    """Return the drawing as a PDF of one page, light, its texts as texts."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE, allowed_base_urls=[]))


def themeable(svg: str) -> str:
    """Return the SVG for use inside a page: as wide as its place, in the page's own colors.

    Every color becomes the CSS variable of its token, so that the drawing follows light and
    dark; the steps of the diverging scale become mixes of its tokens.
    """
    root = _ROOT.search(svg)
    if root is None:
        raise ValueError("the drawing has no svg element")
    opening = _SIZE.sub("", root.group(0)).replace("<svg", '<svg width="100%"', 1)
    body = _PAINT.sub(_paint, svg[root.end() :])
    return svg[: root.start()] + opening + body


def _paint(match: re.Match[str]) -> str:
    kind, color = match.group(1), match.group(2).upper()
    return f'{kind}="{CSS_VALUES.get(color, color)}"'
