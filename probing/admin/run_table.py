"""Downloads of a run: its results as CSV, the log as text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

from django.http import StreamingHttpResponse

from annotation.exports.tables import neutralise
from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.models import Run, RunEvent, Score, TextScore
from probing.runs.counterpart_table import reference_of, run_counterparts

HEAD = ("run", "measure", "model", "meaningless")
SCORE_COLUMNS = ("name", "group", "trait", "template", "value", "reason", "n")
TEXT_SCORE_COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason", "n")
COUNTERPART_COLUMNS = ("pair", "variety", "original", "counterpart", "reference", "reason")
CHUNK = 2000


def stream_scores(run: Run) -> StreamingHttpResponse:
    """Send every result of ``run``, one row each.

    Of groups and templates, template "" is the mean over templates; of texts, there is a row for
    each trial, or for each counterpart with its original and its reference.
    """
    columns, rows, name = RESULTS.get(MEASURES[run.measure].result, RESULTS[ResultKind.SCORES])
    lines = _lines(run, columns, rows(run))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.csv"'
    return response


def stream_log(run: Run, *, download: bool) -> StreamingHttpResponse:
    """Send every line of the log, newest first, to read or to keep."""
    response = StreamingHttpResponse(_log_lines(run), content_type="text/plain; charset=utf-8")
    if download:
        response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-log.txt"'
    return response


def _lines(run: Run, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    yield _csv_line((*HEAD, *columns))
    head = (run.pk, run.measure, run.model.name, "yes" if run.model.is_demo else "no")
    for row in rows:
        yield _csv_line((*head, *row))


def _scores(run: Run) -> Iterator[tuple[Any, ...]]:
    found = Score.objects.filter(run=run).values_list(*SCORE_COLUMNS)
    return found.iterator(chunk_size=CHUNK)


def _text_scores(run: Run) -> Iterator[tuple[Any, ...]]:
    found = TextScore.objects.filter(run=run).values_list(*TEXT_SCORE_COLUMNS)
    return found.iterator(chunk_size=CHUNK)


def _counterparts(run: Run) -> Iterator[tuple[Any, ...]]:
    for one in run_counterparts(run).iterator(chunk_size=CHUNK):
        pair, reference = reference_of(one)
        yield pair, one.variety, one.text.body, one.body, reference, one.reason


RESULTS: dict[
    ResultKind, tuple[tuple[str, ...], Callable[[Run], Iterator[tuple[Any, ...]]], str]
] = {
    ResultKind.SCORES: (SCORE_COLUMNS, _scores, "scores"),
    ResultKind.TEXT_SCORES: (TEXT_SCORE_COLUMNS, _text_scores, "scores"),
    ResultKind.COUNTERPARTS: (COUNTERPART_COLUMNS, _counterparts, "counterparts"),
}


def _csv_line(cells: tuple[Any, ...]) -> str:
    buffer = StringIO()
    csv.writer(buffer).writerow([_cell(cell) for cell in cells])
    return buffer.getvalue()


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return neutralise(cell)
    # repr keeps every bit of a float, so that the file holds what was computed.
    return repr(cell) if isinstance(cell, float) else cell


def _log_lines(run: Run) -> Iterator[str]:
    for event in RunEvent.objects.filter(run=run).iterator(chunk_size=2000):
        shard = "          " if event.shard_index is None else f"shard {event.shard_index:04d}"
        yield f"{event.at:%Y-%m-%d %H:%M:%S}  {shard}  {event.message}\n"
