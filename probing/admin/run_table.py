"""Downloads of a run: scores as CSV, the log as text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from django.http import StreamingHttpResponse

from probing.models import Run, RunEvent, Score

COLUMNS = (
    "run",
    "measure",
    "model",
    "meaningless",
    "name",
    "group",
    "trait",
    "template",
    "value",
    "reason",
    "n",
)
# A spreadsheet takes a cell that begins like this for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def stream_scores(run: Run) -> StreamingHttpResponse:
    """Send every score of ``run``, one row each, template "" being the mean over templates."""
    response = StreamingHttpResponse(_score_lines(run), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-scores.csv"'
    return response


def stream_log(run: Run, *, download: bool) -> StreamingHttpResponse:
    """Send every line of the log, newest first, to read or to keep."""
    response = StreamingHttpResponse(_log_lines(run), content_type="text/plain; charset=utf-8")
    if download:
        response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-log.txt"'
    return response


def _score_lines(run: Run) -> Iterator[str]:
    yield _csv_line(COLUMNS)
    head = (run.pk, run.measure, run.model.name, "yes" if run.model.is_demo else "no")
    scores = Score.objects.filter(run=run).values_list(*COLUMNS[4:])
    for score in scores.iterator(chunk_size=2000):
        yield _csv_line((*head, *score))


def _csv_line(cells: tuple[Any, ...]) -> str:
    buffer = StringIO()
    csv.writer(buffer).writerow([_neutral(cell) for cell in cells])
    return buffer.getvalue()


def _neutral(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    # repr keeps every bit of a float, so that the file holds what was computed.
    return repr(cell) if isinstance(cell, float) else cell


def _log_lines(run: Run) -> Iterator[str]:
    for event in RunEvent.objects.filter(run=run).iterator(chunk_size=2000):
        shard = "          " if event.shard_index is None else f"shard {event.shard_index:04d}"
        yield f"{event.at:%Y-%m-%d %H:%M:%S}  {shard}  {event.message}\n"
