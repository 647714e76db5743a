"""One figure or table of a report as a file: for papers, slides, and other people's programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluation.charts import render_pdf, render_png, render_svg
from evaluation.reports.parts.document import Document, Table
from evaluation.reports.parts.latex import to_latex
from evaluation.reports.rendering import RenderedFile

# Image pixels of a drawn pixel: a figure as wide as a page has 400 on an inch.
PNG_SCALE = 3.0
LATEX = "application/x-tex; charset=utf-8"


@dataclass(frozen=True)
class FigureForm:
    """A sort of file that a figure can be had as; ``render`` takes a specification."""

    label: str
    media_type: str
    render: Callable[[dict[str, Any]], bytes]


def to_json(spec: dict[str, Any]) -> bytes:
    """Return the specification as every editor of Vega-Lite opens it."""
    return f"{json.dumps(spec, ensure_ascii=False, indent=1, allow_nan=False)}\n".encode()


#: Ending of the file → what it is.
FIGURE_FORMS = {
    "svg": FigureForm("SVG", "image/svg+xml", lambda spec: render_svg(spec).encode()),
    "png": FigureForm("PNG", "image/png", lambda spec: render_png(spec, scale=PNG_SCALE)),
    "pdf": FigureForm("PDF", "application/pdf", render_pdf),
    "vl.json": FigureForm("Vega-Lite", "application/json", to_json),
}
# Before the ending of a figure that is drawn for narrow pages.
NARROW = "narrow."


def figure_file(document: Document, name: str, form: str) -> RenderedFile | None:
    """Return a figure as a file, None where there is none of that name or form.

    form : an ending of `FIGURE_FORMS`, after ``narrow.`` for the drawing of narrow pages
    """
    figure = document.find_figure(name)
    found = FIGURE_FORMS.get(form.removeprefix(NARROW))
    if figure is None or found is None:
        return None
    spec = figure.narrow_spec if form.startswith(NARROW) else figure.spec
    if spec is None:
        return None
    content = figure.svg_file.encode() if form == "svg" else found.render(spec)
    return RenderedFile(f"{name}.{form}", found.media_type, content)


def table_file(document: Document, number: int) -> RenderedFile | None:
    """Return a printed table in LaTeX by its number, None where there is none."""
    for _section, blocks in document.parts:
        for numbered in blocks:
            if isinstance(numbered.block, Table) and numbered.number == number:
                label = f"tab:{numbered.block.data}-{number}"
                content = to_latex(numbered.block, label=label).encode()
                return RenderedFile(f"table-{number}.tex", LATEX, content)
    return None
