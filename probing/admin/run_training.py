"""The part of the run page that shows a training: its loss curve, and what came of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from django.http import StreamingHttpResponse

from probing.admin import wording
from probing.admin.loss_drawing import draw_loss
from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.models import Run, TrainingPoint
from probing.runs.trained_models import trained_model_of
from probing.runs.training_progress import load_training

COLUMNS = ("step", "epoch", "loss", "held_out_loss", "learning_rate", "at")


def training_context(run: Run) -> dict[str, Any] | None:
    """Return what the page shows of a training; None for runs that train nothing. Three queries."""
    if MEASURES[run.measure].result is not ResultKind.TRAINED_MODEL:
        return None
    progress = load_training(run)
    left = progress.seconds_left
    return {
        "progress": progress,
        "chart": draw_loss(progress.points, progress.epochs),
        "left": None if left is None else wording.duration(left),
        "model": trained_model_of(run),
    }


def stream_training(run: Run) -> StreamingHttpResponse:
    """Send every point of the loss curve of ``run``, one row each."""
    response = StreamingHttpResponse(_lines(run), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-training.csv"'
    return response


def _lines(run: Run) -> Iterator[str]:
    yield _line(COLUMNS)
    for point in TrainingPoint.objects.filter(run=run).iterator(chunk_size=2000):
        yield _line(tuple(getattr(point, name) for name in COLUMNS))


def _line(cells: tuple[Any, ...]) -> str:
    # repr keeps every bit of a float, so that the file holds what was computed.
    buffer = StringIO()
    csv.writer(buffer).writerow([repr(c) if isinstance(c, float) else c for c in cells])
    return buffer.getvalue()
