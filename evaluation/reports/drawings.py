"""Charts that were drawn once: kept by the worker that built a report, found by its pages."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from evaluation.charts.rendering import VEGA_LITE
from evaluation.models import Report, ReportDrawing
from evaluation.reports.parts.document import Choices, Document, Figure

#: What a figure keeps its drawings as → the specification that they are drawn from.
PARTS = {"svg_file": "spec", "narrow_svg_file": "narrow_spec"}


def shown_figures(document: Document) -> Iterator[Figure]:
    """Yield the figures of a page, without those of its other views."""
    return (block for block in document.blocks if isinstance(block, Figure))


def every_figure(document: Document) -> Iterator[Figure]:
    """Yield the figures of a page and of all its views."""
    yield from shown_figures(document)
    for block in document.blocks:
        if isinstance(block, Choices):
            yield from (figure for _name, figure in block.figures)


def use_drawings(report: Report, figures: Iterable[Figure]) -> None:
    """Give figures the drawings that are kept of them; the others are drawn and kept. One query
    where all are kept.
    """
    wanted = {key: found for figure in figures for key, *found in _parts(figure)}
    kept = dict(report.drawings.filter(key__in=wanted).values_list("key", "svg"))
    for key, (figure, name) in wanted.items():
        if key in kept:
            vars(figure)[name] = zlib.decompress(kept[key]).decode()
    missing = [wanted[key][0] for key in wanted if key not in kept]
    if missing:
        keep_drawings(report, missing)


def keep_drawings(report: Report, figures: Iterable[Figure]) -> None:
    """Keep the drawings of figures; those that were not drawn yet are."""
    ReportDrawing.objects.bulk_create(
        (
            ReportDrawing(report=report, key=key, svg=zlib.compress(getattr(figure, name).encode()))
            for figure in figures
            for key, figure, name in _parts(figure)
        ),
        ignore_conflicts=True,
    )


def _parts(figure: Figure) -> Iterator[tuple[str, Figure, str]]:
    """Yield (key, figure, name of the drawing) of the figure's specifications."""
    for name, source in PARTS.items():
        spec = getattr(figure, source)
        if spec is not None:
            yield _key(spec), figure, name


def _key(spec: dict[str, Any]) -> str:
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{_renderer()}\n{text}".encode()).hexdigest()


@cache
def _renderer() -> str:
    return f"vl-convert {importlib.metadata.version('vl-convert-python')}, {VEGA_LITE}"
