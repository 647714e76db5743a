"""Downloads of a run: its results and its loss curve as CSV, its log as text."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase

from annotation.common.tables import Column, ColumnType, Table, neutralise, stream_csv
from annotation.exports.downloads import build_attachment
from probing.measures.base import ResultKind
from probing.measures.prompted_classification import PromptedClassification
from probing.measures.registry import MEASURES
from probing.models import Run, RunEvent, Score, TextScore, TrainingPoint
from probing.runs.inputs import load_inputs, load_shard_frames
from probing.runs.predictions import load_predictions
from probing.runs.result_tables import reference_of, run_counterparts
from probing.runs.trained_models import trains_several

HEAD = ("run", "measure", "model", "meaningless")
SCORE_COLUMNS = ("name", "group", "trait", "template", "value", "reason", "n", "access")
TEXT_SCORE_COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason", "n")
COUNTERPART_COLUMNS = ("pair", "variety", "original", "counterpart", "reference", "reason")
PREDICTION_COLUMNS = ("group", "filler", "template", "text", "y_true", "y_pred", "run_id")
#: How a model was asked, and what it said.
ANSWER_COLUMNS = ("wording", "order", "seed", "matched", "answer")
TRAINING_COLUMNS: tuple[str, ...] = (
    *("step", "epoch", "loss", "held_out_loss", "learning_rate", "at"),
)
CLASSIFIER_COLUMNS = ("training", *TRAINING_COLUMNS, "accuracy", "held_out_accuracy")
RUN_COLUMNS = (
    *("run", "public_id", "measure", "model", "meaningless", "corpus", "status", "created_at"),
    *("finished_at", "parameters", "stimuli_hash", "code_version"),
)
CHUNK = 2000

Rows = Iterable[tuple[Any, ...]]


def stream_scores(run: Run) -> StreamingHttpResponse:
    """Send every result of ``run``, one row each.

    Of groups and templates, template "" is the mean over templates; of texts, there is a row for
    each trial, or for each counterpart with its original and its reference.
    """
    usual = RESULTS.get(MEASURES[run.measure].result, RESULTS[ResultKind.SCORES])
    columns, rows, name = OWN.get(run.measure, usual)
    head = (run.pk, run.measure, run.model.name, "yes" if run.model.is_demo else "no")
    return _stream_csv(run, name, (*HEAD, *columns), ((*head, *row) for row in rows(run)))


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
    columns = [Column(name, ColumnType.TEXT, "text", "") for name in RUN_COLUMNS]
    table = Table("runs", columns, lambda: rows)
    return build_attachment(stream_csv(table), "stereoscope-runs.csv")


def stream_training(run: Run) -> StreamingHttpResponse:
    """Send every point of the loss curves of ``run``, one row each."""
    columns = CLASSIFIER_COLUMNS if trains_several(run) else TRAINING_COLUMNS
    points = TrainingPoint.objects.filter(run=run).values_list(*columns)
    return _stream_csv(run, "training", columns, points.iterator(chunk_size=CHUNK))


def stream_log(run: Run, *, download: bool) -> StreamingHttpResponse:
    """Send every line of the log, newest first, to read or to keep."""
    response = StreamingHttpResponse(_log_lines(run), content_type="text/plain; charset=utf-8")
    if download:
        response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-log.txt"'
    return response


def _scores(run: Run) -> Rows:
    return Score.objects.filter(run=run).values_list(*SCORE_COLUMNS).iterator(chunk_size=CHUNK)


def _text_scores(run: Run) -> Rows:
    found = TextScore.objects.filter(run=run).values_list(*TEXT_SCORE_COLUMNS)
    return found.iterator(chunk_size=CHUNK)


def _counterparts(run: Run) -> Rows:
    for one in run_counterparts(run).iterator(chunk_size=CHUNK):
        pair, reference = reference_of(one)
        yield pair, one.variety, one.text.body, one.body, reference, one.reason


def _predictions(run: Run) -> Rows:
    found = load_predictions(run)
    for repeat in found.repeats:
        said = found.predicted.loc[repeat]
        for sentence, value in zip(found.stimuli.sentences, said, strict=True):
            yield (
                sentence.group,
                sentence.filler,
                sentence.template,
                sentence.text,
                sentence.label,
                int(value),
                repeat,
            )


def _answers(run: Run) -> Rows:
    sentences = load_inputs(run).stimuli.sentences
    for frame in load_shard_frames(run):
        for row in frame.to_dict(orient="records"):
            sentence = sentences[row["sentence"]]
            yield (
                sentence.group,
                sentence.filler,
                sentence.template,
                sentence.text,
                sentence.label,
                row["predicted"],
                row["repeat"],
                *(row[name] for name in ANSWER_COLUMNS),
            )


RESULTS: dict[ResultKind, tuple[tuple[str, ...], Callable[[Run], Rows], str]] = {
    ResultKind.SCORES: (SCORE_COLUMNS, _scores, "scores"),
    ResultKind.ASSOCIATIONS: (SCORE_COLUMNS, _scores, "scores"),
    ResultKind.SURPRISALS: (SCORE_COLUMNS, _scores, "surprisals"),
    ResultKind.TEXT_SCORES: (TEXT_SCORE_COLUMNS, _text_scores, "scores"),
    ResultKind.PREDICTIONS: (PREDICTION_COLUMNS, _predictions, "predictions"),
    ResultKind.COUNTERPARTS: (COUNTERPART_COLUMNS, _counterparts, "counterparts"),
}
#: Measures whose runs have more to send than others of their kind.
OWN: dict[str, tuple[tuple[str, ...], Callable[[Run], Rows], str]] = {
    PromptedClassification.name: ((*PREDICTION_COLUMNS, *ANSWER_COLUMNS), _answers, "predictions"),
}


def _stream_csv(run: Run, name: str, columns: tuple[str, ...], rows: Rows) -> StreamingHttpResponse:
    def lines() -> Iterator[str]:
        yield _csv_line(columns)
        yield from map(_csv_line, rows)

    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.csv"'
    return response


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
    for event in RunEvent.objects.filter(run=run).iterator(chunk_size=CHUNK):
        shard = "          " if event.shard_index is None else f"shard {event.shard_index:04d}"
        yield f"{event.at:%Y-%m-%d %H:%M:%S}  {shard}  {event.message}\n"
