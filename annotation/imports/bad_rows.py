"""The rows of a file that an import refuses or leaves out, as a file to be mended."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from annotation.imports.import_kind import ADDED_COLUMNS, ImportKind, ImportPlan, ImportRequest
from annotation.library.library_kind import escape_cell


def write_bad_rows(kind: ImportKind, request: ImportRequest, plan: ImportPlan) -> bytes:
    """Return the rows of a table with problems as CSV, after their lines and what is wrong.

    Mended, it is a file of this kind again. Empty where no problem is one of a row.
    """
    reasons: dict[int, list[str]] = {}
    for problem in plan.problems:
        if problem.line:
            reasons.setdefault(problem.line, []).append(problem.message)
    if not reasons:
        return b""
    table, sink = kind.read_table(request), io.StringIO()
    writer = csv.writer(sink)
    writer.writerow([*ADDED_COLUMNS, *table.columns])
    for record in table.records:
        if record.line in reasons:
            cells = record.cells or [record.values.get(name) for name in table.columns]
            told = [record.line, " ".join(reasons[record.line])]
            writer.writerow([*told, *map(_write_cell, cells)])
    return sink.getvalue().encode("utf-8-sig", "replace")


def _write_cell(value: Any) -> str:
    if isinstance(value, str):
        return escape_cell(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
