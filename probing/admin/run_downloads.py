"""Downloads of a run: its results and its loss curve as CSV, its log as text."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.db.models import QuerySet
from django.http import QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase

from annotation.common.tables import Table, stream_csv
from annotation.exports.downloads import build_attachment
from probing.models import Run, RunEvent, TrainingPoint
from probing.runs.answers import build_answer_table
from probing.runs.run_tables import CHUNK, build_result_table, build_table
from probing.runs.trained_models import trains_several

TRAINING_COLUMNS: tuple[str, ...] = (
    *("step", "epoch", "loss", "held_out_loss", "learning_rate", "at"),
)
CLASSIFIER_COLUMNS = ("training", *TRAINING_COLUMNS, "accuracy", "held_out_accuracy")
RUN_COLUMNS = (
    *("run", "public_id", "measure", "model", "meaningless", "corpus", "status", "created_at"),
    *("finished_at", "parameters", "stimuli_hash", "code_version"),
)


def stream_scores(run: Run) -> StreamingHttpResponse:
    """Send every result of ``run``, one row each."""
    return _stream_csv(run, build_result_table(run))


def stream_run_list(runs: QuerySet[Run]) -> HttpResponseBase:
    """Send one row for each run: what was run, on what, when and how it ended."""
    rows = (
        (
            run.pk,
            run.public_id,
            run.measure,
            run.model.name,
            "yes" if run.model.is_demo else "no",
            run.corpus.name if run.corpus else "",
            run.status,
            run.created_at.isoformat(),
            run.finished_at.isoformat() if run.finished_at else "",
            json.dumps(run.parameters, sort_keys=True, ensure_ascii=False),
            run.stimuli_hash,
            run.code_version,
        )
        for run in runs
    )
    table = build_table("runs", RUN_COLUMNS, lambda: rows)
    return build_attachment(stream_csv(table), "stereoscope-runs.csv")


def stream_answers(run: Run, query: QueryDict) -> StreamingHttpResponse:
    """Send the answers that an address chooses: its outcome, unread ones, with reasoning."""
    table = build_answer_table(
        run,
        unread=query.get("show") != "all",
        outcome=query.get("outcome", ""),
        reasoning="reasoning" in query,
    )
    return _stream_csv(run, table)


def stream_training(run: Run) -> StreamingHttpResponse:
    """Send every point of the loss curves of ``run``, one row each."""
    columns = CLASSIFIER_COLUMNS if trains_several(run) else TRAINING_COLUMNS
    points = TrainingPoint.objects.filter(run=run).values_list(*columns)
    table = build_table("training", columns, lambda: points.iterator(chunk_size=CHUNK))
    return _stream_csv(run, table)


def stream_log(run: Run, *, download: bool) -> StreamingHttpResponse:
    """Send every line of the log, newest first, to read or to keep."""
    response = StreamingHttpResponse(_log_lines(run), content_type="text/plain; charset=utf-8")
    if download:
        response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-log.txt"'
    return response


def _stream_csv(run: Run, table: Table) -> StreamingHttpResponse:
    response = StreamingHttpResponse(stream_csv(table), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{table.name}.csv"'
    return response


def _log_lines(run: Run) -> Iterator[str]:
    for event in RunEvent.objects.filter(run=run).iterator(chunk_size=CHUNK):
        shard = "          " if event.shard_index is None else f"shard {event.shard_index:04d}"
        yield f"{event.at:%Y-%m-%d %H:%M:%S}  {shard}  {event.message}\n"
