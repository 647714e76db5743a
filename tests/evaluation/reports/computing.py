"""Computes and lays out a report without rendering and storing its files, which takes seconds."""

from __future__ import annotations

import csv
import io
from typing import Any

from django.utils import timezone

from evaluation.models import Report
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.rendering import to_csv
from evaluation.reports.requesting import check_request, parse_parameters


def compute(name: str, chosen: Chosen, **values: Any) -> tuple[Report, Document]:
    """Return the unsaved report of that kind and its document."""
    kind = get_kind(name)
    options = parse_parameters(kind, values)
    check_request(kind, chosen, options)
    loaded = kind.load(chosen, options)
    report = Report(
        kind=name,
        title=kind.default_title(chosen),
        parameters=options.model_dump(mode="json"),
        inputs={**loaded.record, "hashes": loaded.hashes},
        result=kind.compute(loaded, options),
        built_at=timezone.now(),
        seconds=0.1,
    )
    return report, kind.document(report, {})


def rows_of(document: Document, name: str) -> list[dict[str, str]]:
    """Return a table of a document as readers of its CSV file find it."""
    content = to_csv(document.frames[name]).decode()
    return list(csv.DictReader(io.StringIO(content)))
