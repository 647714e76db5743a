"""Results of a run as tables: its scores, and what they were computed from, word by word."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from annotation.common.tables import Column, ColumnType, Table
from probing.measures.base import ResultKind
from probing.measures.prompted_classification import PromptedClassification
from probing.measures.registry import MEASURES
from probing.models import Run, Score, TextScore
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.predictions import load_predictions
from probing.runs.result_tables import reference_of, run_counterparts

HEAD = ("run", "measure", "model", "meaningless")
SCORE_COLUMNS = ("name", "group", "trait", "template", "value", "reason", "n", "access")
TEXT_SCORE_COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason", "n")
COUNTERPART_COLUMNS = ("pair", "variety", "original", "counterpart", "reference", "reason")
PREDICTION_COLUMNS = ("group", "filler", "template", "text", "y_true", "y_pred", "run_id")
#: How a model was asked, and what it said.
ANSWER_COLUMNS = ("wording", "order", "seed", "matched", "answer")
#: Columns of numbers, with whether they are whole; all others are texts.
NUMBERS = {
    "value": False,
    **dict.fromkeys(("run", "n", "trial", "y_true", "y_pred", "reasoning_tokens"), True),
}
CHUNK = 2000

Rows = Iterable[tuple[Any, ...]]


def build_result_table(run: Run) -> Table:
    """Return every result of a run, one row each, as pages, commands, and imports know it.

    Of groups and templates, template "" is the mean over templates; of texts, there is a row for
    each trial, or for each counterpart with its original and its reference.
    """
    usual = RESULTS.get(MEASURES[run.measure].result, RESULTS[ResultKind.SCORES])
    columns, rows, name = OWN.get(run.measure, usual)
    return build_table(name, (*HEAD, *columns), lambda: headed(run, rows(run)))


def build_reading_table(run: Run, *, reasoning: bool = False) -> Table:
    """Return what a run's shards hold: each reading, such as ln P of a word in a sentence.

    What a model wrote to itself is left out without `reasoning`. Reads all shards. Raises
    `ValueError` if the run has none, as imported ones.
    """
    frames = load_shard_frames(run)
    if not frames:
        raise ValueError("it has no stored readings")
    names = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    names = [name for name in names if reasoning or name not in ("thought", "said")]
    kinds = {
        name: next(frame[name].dtype.kind for frame in frames if name in frame) for name in names
    }
    columns = [
        *(Column(name, ColumnType.TEXT, "text", "") for name in HEAD),
        *(Column(name, _TYPES.get(kinds[name], ColumnType.TEXT), "", "") for name in names),
    ]

    def rows() -> Rows:
        for frame in frames:
            for row in frame.to_dict(orient="records"):
                yield tuple(_plain(row.get(name)) for name in names)

    return Table("readings", columns, lambda: headed(run, rows()))


def build_table(name: str, columns: Iterable[str], load: Callable[[], Rows]) -> Table:
    """Return a table of columns whose names say what they hold."""
    types = {None: ColumnType.TEXT, False: ColumnType.NUMBER, True: ColumnType.INTEGER}
    return Table(name, [Column(one, types[NUMBERS.get(one)], "", "") for one in columns], load)


def headed(run: Run, rows: Rows) -> Rows:
    """Return rows with what `HEAD` says of their run in front."""
    head = (run.pk, run.measure, run.model.name, "yes" if run.model.is_demo else "no")
    return ((*head, *row) for row in rows)


#: Kinds of NumPy's types; numbers with gaps are floating.
_TYPES = {"f": ColumnType.NUMBER, "i": ColumnType.INTEGER, "u": ColumnType.INTEGER}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value
    plain = value is None or (isinstance(value, int | str) and not isinstance(value, bool))
    return value if plain else str(value)


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
                *(_plain(row[name]) for name in ANSWER_COLUMNS),
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
