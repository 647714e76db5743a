"""HTML to PDF with WeasyPrint, which draws with the system's Pango and fonts.

A page that a figure did not fit on is half empty. So the pages are laid out, measured, and laid out
again: a figure that nearly fits is drawn a little smaller, one that does not comes after the next
text or table, and the type is set a little smaller or larger until no page is under half full.
Where that is not enough, short tables, which otherwise stay whole, may go on over the page. Only
the last page may be under half full, which has the provenance.
"""

from __future__ import annotations

import gc
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

REMEDY = (
    "WeasyPrint cannot load Pango ({reason}). On Debian and Ubuntu install libpango-1.0-0, "
    "libpangoft2-1.0-0 and libharfbuzz-subset0."
)
# What a page must hold at least, with a little to spare, and how small a figure may be drawn.
LEAST_FILL = 0.52
LEAST_SCALE = 0.62
# Sizes of the type in the order in which they are tried, and layouts in all. A layout of a long
# report takes a second: what moves more of the text comes first, but where the text ends on an
# empty page, a size that should fill it.
ZOOMS = (1.0, 0.94, 1.06, 0.97, 1.03, 0.91, 1.1, 0.88, 1.15)
# Where tables may be broken, the few that are left to try reach from end to end.
LOOSE_ZOOMS = (1.0, 1.06, 1.15, 0.88, 0.94)
MOST_LAYOUTS = (7, 5)  # with short tables whole, and with those that may be broken


class PdfUnavailableError(Exception):
    """Why no PDF can be made on this machine, and what to install."""


@dataclass(frozen=True)
class PaperPlan:
    """How a report is laid out on paper.

    zoom : size of the type, 1 as in the style sheet
    widths : figures that do not take the whole width, in percent, by their number
    later : numbers of the figures that come after the next text or table
    is_loose : whether short tables may go on over the page
    """

    zoom: float = 1.0
    widths: Mapping[int, int] = field(default_factory=dict)
    later: frozenset[int] = frozenset()
    is_loose: bool = False


@dataclass(frozen=True)
class PlacedFigure:
    """A figure as it lies on a page, in the page's units; ``top`` from where text begins.

    image : height of the picture alone
    width : what is drawn of it, in percent of the column: a tall picture leaves room beside it
    """

    number: int
    top: float
    height: float
    image: float
    width: float


@dataclass(frozen=True)
class PageFill:
    """How much of a page's height is taken, 0 to 1, and its first figure if it has one."""

    share: float
    height: float
    figure: PlacedFigure | None


def render_pdf(write: Callable[[PaperPlan], str], stylesheet: str) -> bytes:
    """Return the pages as PDF; equal pages give equal bytes on one machine.

    write : returns the HTML of a plan; figures have the ids ``figure-1``, ``figure-2``, …
    stylesheet : CSS of all plans; what a plan's own page says goes before it

    Nothing is fetched: images stand in the page itself.
    """
    weasyprint = import_weasyprint()
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=["data"])
    # What layouts share: pictures that were read, fonts that were found, rules that were parsed.
    images: dict[str, Any] = {}
    fonts = weasyprint.text.fonts.FontConfiguration()
    rules = weasyprint.CSS(string=stylesheet, url_fetcher=fetcher, font_config=fonts)

    def lay_out(plan: PaperPlan) -> Any:
        html = weasyprint.HTML(string=write(plan), url_fetcher=fetcher)
        return html.render(stylesheets=[rules], cache=images, font_config=fonts)

    best = max(_layouts(lay_out), key=lambda found: found[0])
    content: bytes = best[1].write_pdf(zoom=best[2].zoom)
    return content


def _layouts(lay_out: Callable[[PaperPlan], Any]) -> Iterator[tuple[float, Any, PaperPlan]]:
    """Yield layouts with the fill of their emptiest page, until one is good or all are tried."""
    for is_loose, left in zip((False, True), MOST_LAYOUTS, strict=True):
        zooms = list(LOOSE_ZOOMS if is_loose else ZOOMS)
        while zooms and left:
            plan: PaperPlan | None = PaperPlan(zooms.pop(0), is_loose=is_loose)
            while plan is not None and left:
                left -= 1
                laid_out = lay_out(plan)
                pages = [measure_page(page) for page in laid_out.pages]
                emptiest = min([page.share for page in pages[:-1]], default=1.0)
                yield min(emptiest, LEAST_FILL), laid_out, plan
                del laid_out  # the next one needs its room: boxes name each other in circles
                gc.collect(1)
                if emptiest >= LEAST_FILL:
                    return
                promising: list[float] = []
                if pages[-2].share < LEAST_FILL:
                    promising = [zoom for zoom in zooms if _fills_the_end(zoom / plan.zoom, pages)]
                    zooms.sort(key=lambda zoom: zoom not in promising)
                plan = None if promising else improve(plan, pages)


def _fills_the_end(larger: float, pages: list[PageFill]) -> bool:
    """Whether the text should end on a well filled page with the type ``larger`` times as large.

    Lines take the square of that, figures what they took: in between is where to look first.
    """
    length = len(pages) - 2 + pages[-2].share  # the last page is the provenance's own
    return 0.6 < (length * larger) % 1 < 0.97


def improve(plan: PaperPlan, pages: list[PageFill]) -> PaperPlan | None:
    """Return a plan that fills the first half-empty page before a figure; None if none does."""
    for before, after in pairwise(pages[:-1]):
        figure = after.figure
        if before.share >= LEAST_FILL or figure is None:
            continue
        room = (1 - before.share) * before.height - figure.top - (figure.height - figure.image)
        scale = 0.97 * room / figure.image
        if LEAST_SCALE <= scale < 1 and figure.number not in plan.widths:
            width = int(figure.width * scale)
            return replace(plan, widths={**plan.widths, figure.number: width})
        if figure.number not in plan.later:
            # In its new place it may have all the room that it wants.
            widths = {n: width for n, width in plan.widths.items() if n != figure.number}
            return replace(plan, widths=widths, later=plan.later | {figure.number})
    return None


def measure_page(page: Any) -> PageFill:
    """Return how full a page of WeasyPrint is; what stands in its margins does not count."""
    box = page._page_box
    top, height = box.content_box_y(), box.height
    bottom = top
    figures: list[tuple[Any, Any]] = []
    for part in box.children[0].descendants():
        if not part.children and isinstance(part.height, int | float) and part.height:
            bottom = max(bottom, part.position_y + part.height)
        if part.element_tag == "figure" and part.element.get("id", ""):
            images = (one for one in part.descendants() if one.element_tag == "img")
            figures.append((part, max(images, key=lambda one: one.height, default=None)))
    first = None
    if figures and figures[0][1]:
        found, image = figures[0]
        first = PlacedFigure(
            number=int(found.element.get("id").rpartition("-")[2]),
            top=found.position_y - top,
            height=found.margin_height(),
            image=image.height,
            width=100 * min(image.width, image.height * _ratio_of(image)) / found.width,
        )
    return PageFill((bottom - top) / height, height, first)


def _ratio_of(image: Any) -> float:
    """Return width by height of a picture itself, whatever box it is drawn into."""
    return float(image.replacement.get_intrinsic_size(1, 16)[2] or math.inf)


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
