"""How full the pages of a PDF are: rendered by PDFium, which had no part in laying them out."""

from __future__ import annotations

import numpy as np
import pypdfium2

# Millimetres of A4, and of the margins that `paper.css` leaves at its top and bottom.
HEIGHT, TOP, BOTTOM = 297, 18, 20
WHITE = 250


def page_fills(pdf: bytes) -> list[float]:
    """Return the share of every page's height down to its last mark, without the page's foot."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [_fill(page.render(scale=0.6, grayscale=True).to_numpy()) for page in document]


def _fill(pixels: np.ndarray) -> float:
    rows = pixels.reshape(len(pixels), -1)
    millimetre = len(rows) / HEIGHT
    first, last = round(TOP * millimetre), round((HEIGHT - BOTTOM) * millimetre)
    marked = np.flatnonzero((rows[first:last] < WHITE).any(axis=1))
    return float(marked[-1] + 1) / (last - first) if marked.size else 0.0
