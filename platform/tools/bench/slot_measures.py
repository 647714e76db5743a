"""SeT and ILPS* on a model of BERT-large's size, beside the plain way and a bare forward pass.

All three take turns, shard by shard, so that whatever else the machine does slows them alike.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from probing.lm import load_masked
from probing.lm.masked import MaskedLanguageModel
from probing.measures.registry import get_measure
from probing.measures.sensitivity import minimal_changes_by_row
from probing.measures.slot_measure import distinct_words, group_context, prior_context
from probing.measures.stimuli import Group, Stimuli, Template
from tools.bench.measuring import Meter, Row, peak_mb
from tools.bench.plain_slots import PlainModel, PlainScore, Sentence, squish
from tools.bench.slot_checkpoint import BERT_LARGE, Size, make_stimuli, save_checkpoint

MEASURES = ("set", "ilps_star")
#: Sentences of one bare forward pass, and which share of the passes is measured.
BARE_ROWS, BARE_SHARE = 64, 2
#: Sentences whose logits the solver is measured on, and how often.
SOLVER_SENTENCES, SOLVER_ROUNDS = 6, 10
#: Which share of the plain scores is made again in float64.
FLOAT64_SHARE = 8


class Cell(NamedTuple):
    """One score: a group and an adjective in a template."""

    template: Template
    group: Group
    word: str


@dataclass(frozen=True)
class Reading:
    """A model, seen by the measures and by the plain way."""

    lm: MaskedLanguageModel
    plain: PlainModel
    stimuli: Stimuli
    words: tuple[str, ...]

    @property
    def scores(self) -> int:
        return len(self.stimuli.groups) * len(self.words) * len(self.stimuli.templates)

    def plain_sentences(self, cell: Cell) -> tuple[Sentence, Sentence]:
        """Return the group's sentence and the prior's."""
        group = group_context(cell.template, cell.group)
        prior = prior_context(cell.template, "mask", self.lm)
        return Sentence(group.before, group.after), Sentence(prior.before, prior.after)


def run(size: Size = BERT_LARGE, threads: int | None = None) -> list[Row]:
    """Return times, ratios, shares of the bare pass, memory, and how far the results differ.

    On all cores, unless `threads` says how many.
    """
    with tempfile.TemporaryDirectory() as folder:
        save_checkpoint(Path(folder), size)
        rows = _in_float32(_read(folder, "float32", size, threads), size)
        gc.collect()
        rows += _in_float64(_read(folder, "float64", size, threads), size)
    return rows


def _read(folder: str, numbers: Any, size: Size, threads: int | None) -> Reading:
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    lm = load_masked(folder, dtype=numbers, threads=threads)
    # As transformers loads it: the platform lays out the weights of its own copy in another order.
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=getattr(torch, numbers))
    model = model.to(lm.device).eval().requires_grad_(False)
    plain = PlainModel(model, AutoTokenizer.from_pretrained(folder))
    stimuli = make_stimuli(size.groups)
    return Reading(lm, plain, stimuli, distinct_words(stimuli))


def _in_float32(reading: Reading, size: Size) -> list[Row]:
    """Let the measures, the plain way and the bare pass take turns."""
    ours = {name: _Ours(name, reading) for name in MEASURES}
    plain = {name: _Plain(name, reading) for name in MEASURES}
    bare = _Bare(reading)
    cells = list(_cells(reading))
    plain["ilps_star"].score(cells[0])  # before the clock runs
    shards = len(ours["set"].shards)
    for turn in range(shards):
        for measure in ours.values():
            measure.take_turn(turn)
        bare.take_turns(turn, shards)
        for cell in cells[turn::shards]:
            for way in plain.values():
                way.take_turn(cell)
    peak = peak_mb()  # of all three, with the second copy of the weights
    units = f"{reading.scores:,} scores, {size}"
    rows = []
    for name, measure in ours.items():
        row = measure.finish(units)
        shares = {
            "tokens per second": measure.tokens / row.seconds,
            "share of the bare pass": bare.share(measure.tokens / row.seconds, "seconds"),
            "share of the bare pass, CPU time": bare.share(
                measure.tokens / row.cpu_seconds, "cpu_seconds"
            ),
        }
        different = plain[name].differences(measure.rows(), "float32")
        figures = shares | different | _gpu_memory(reading.lm.device)
        rows.append(replace(row, peak_mb=peak, figures=figures))
    rows.append(bare.meter.row("bare forward pass", units, bare.measured, bare.tokens))
    for name, way in plain.items():
        row = way.meter.row(f"plain way, {name}", units, len(cells), reading.scores)
        faster = {"factor in CPU time": row.cpu_seconds / ours[name].meter.cpu_seconds}
        factor = row.seconds / ours[name].meter.seconds
        rows.append(replace(row, factor=factor, figures=faster))
    return [*rows, *_solver_rows(reading)]


def _in_float64(reading: Reading, size: Size) -> list[Row]:
    """Compare a part of the scores in float64; its time is the plain way's and ours together."""
    cells = list(_cells(reading))[::FLOAT64_SHARE]
    rows = []
    for name in MEASURES:
        plain, meter = _Plain(name, reading), Meter()
        with meter:
            measure = _Ours(name, reading)
            for cell in cells:
                plain.take_turn(cell)
                measure.compute({"template": cell.template.slug, "groups": [cell.group.slug]})
        case = f"{name} compared with the plain way in float64"
        row = meter.row(case, f"{len(cells)} scores, {size}")
        rows.append(replace(row, figures=plain.differences(measure.rows(), "float64")))
    return rows


class _Ours:
    """A measure's run, one shard at a time, as the work engine does it."""

    def __init__(self, name: str, reading: Reading) -> None:
        self.measure = get_measure(name)
        self.reading = reading
        self.parameters = self.measure.Parameters()
        self.shards = self.measure.plan(reading.stimuli, self.parameters)
        cost = self.measure.estimate(reading.stimuli, self.parameters, reading.lm)
        self.tokens = cost.tokens
        self.meter = Meter()
        self._frames: list[pd.DataFrame] = []

    def take_turn(self, turn: int) -> None:
        with self.meter:
            self.compute(self.shards[turn].payload)

    def compute(self, payload: dict[str, Any]) -> None:
        given = (self.reading.stimuli, self.parameters, self.reading.lm)
        self._frames.append(self.measure.compute(payload, *given))

    def finish(self, units: str) -> Row:
        with self.meter:
            self.measure.aggregate(self.reading.stimuli, self.parameters, self._frames)
        return self.meter.row(self.measure.title, units)

    def rows(self) -> pd.DataFrame:
        """Return the rows of all shards so far, by template, group and word."""
        rows = pd.concat(self._frames).drop_duplicates(["template", "group", "word"])
        return rows.set_index(["template", "group", "word"])


class _Plain:
    """The plain way's scores of some cells."""

    def __init__(self, name: str, reading: Reading) -> None:
        plain = reading.plain
        self._way = {"set": plain.sensitivity, "ilps_star": plain.ilps_star}[name]
        self._evidence = {"set": "delta", "ilps_star": "logprob"}[name]
        self._reading = reading
        self._found: dict[Cell, PlainScore] = {}
        self.meter = Meter()

    def take_turn(self, cell: Cell) -> None:
        with self.meter:
            self._found[cell] = self.score(cell)

    def score(self, cell: Cell) -> PlainScore:
        return self._way(*self._reading.plain_sentences(cell), cell.word)

    def differences(self, rows: pd.DataFrame, numbers: str) -> dict[str, float]:
        """Return the largest differences from the measure's `rows`, relative to the plain way.

        Of the scores, and of what they compare: Delta of SeT, ln P of ILPS*. A score is a
        difference of logarithms and may lie so close to zero that nothing is left of its digits.
        """
        places = [(cell.template.slug, cell.group.slug, cell.word) for cell in self._found]
        columns = ["value", f"{self._evidence}_group", f"{self._evidence}_prior"]
        ours = rows[columns].loc[places].to_numpy(dtype=float)
        theirs = np.array(list(self._found.values()))
        relative = np.abs(ours / theirs - 1).max(axis=0)
        return {
            f"largest relative difference of {self._evidence}, {numbers}": relative[1:].max(),
            f"largest relative difference of a score, {numbers}": relative[0],
            f"largest difference of a score, {numbers}": np.abs(ours - theirs)[:, 0].max(),
        }


class _Bare:
    """The model's base (embeddings and layers, no head) on the sentences that the measures read.

    All sentences of the run, sorted by length and cut into batches, so that they hardly need
    padding. The last hidden states stay where they are.
    """

    def __init__(self, reading: Reading) -> None:
        contexts = [
            context
            for template in reading.stimuli.templates
            for context in (
                *(group_context(template, group) for group in reading.stimuli.groups),
                prior_context(template, "mask", reading.lm),
            )
        ]
        states = reading.lm.slot_chain(contexts, reading.words).states
        rows = [state.ids for state in states]
        self.tokens = sum(map(len, rows))
        batches = [rows[i : i + BARE_ROWS] for i in range(0, len(rows), BARE_ROWS)]
        self._batches = batches[::BARE_SHARE]
        self.measured = sum(len(ids) for batch in self._batches for ids in batch)
        self._body = reading.plain.model.bert
        self.meter = Meter()

    def take_turns(self, turn: int, turns: int) -> None:
        """Read this turn's part of the batches."""
        import torch

        for batch in self._batches[turn::turns]:
            with self.meter, torch.inference_mode():
                width = max(map(len, batch))
                ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in batch])
                attended = (torch.arange(width) < torch.tensor([[len(row)] for row in batch])).int()
                device = self._body.device
                found = self._body(input_ids=ids.to(device), attention_mask=attended.to(device))
                float(found.last_hidden_state[0, 0, 0])  # waits for a GPU

    def share(self, pace: float, clock: str) -> float:
        """Return what share of the bare pass's tokens per second `pace` is."""
        return float(pace * getattr(self.meter, clock) / self.measured)


def _cells(reading: Reading) -> Iterator[Cell]:
    """Yield every adjective once, with groups and templates in turn."""
    groups, templates = reading.stimuli.groups, reading.stimuli.templates
    for number, word in enumerate(reading.words):
        yield Cell(templates[number % len(templates)], groups[number * 5 % len(groups)], word)


def _solver_rows(reading: Reading) -> list[Row]:
    """Measure the changes of all adjectives in some sentences, given the logits of their slots."""
    template = reading.stimuli.templates[0]
    groups = reading.stimuli.groups[:SOLVER_SENTENCES]
    contexts = [group_context(template, group) for group in groups]
    batches = list(reading.lm.slot(contexts, reading.words))
    norms = [np.square(batch.hidden, dtype=np.float64).sum(axis=1) + 1.0 for batch in batches]
    ours = Meter()
    with ours:
        for _ in range(SOLVER_ROUNDS):
            for batch, norm in zip(batches, norms, strict=True):
                minimal_changes_by_row(batch.logits, batch.row, batch.target, norm)
    lookups = [
        (batch.logits[row], int(target), context)
        for batch in batches
        for row, target, context in zip(batch.row, batch.target, batch.context, strict=True)
    ]
    some = [(logits, target) for logits, target, context in lookups if context == 0]
    theirs = Meter()
    with theirs:
        for logits, target in some:
            squish(logits, target)
    scores = len(groups) * len(reading.words)
    units = f"{scores:,} adjectives in their sentences, {len(lookups):,} subwords"
    mine = ours.row("solver of SeT alone", units, SOLVER_ROUNDS, 1)
    plain = theirs.row("column squishing alone", units, len(some), len(lookups))
    per_score = {"microseconds per adjective": 1e6 * mine.seconds / scores}
    return [
        replace(mine, measured=1, figures=per_score),
        replace(
            plain,
            factor=plain.seconds / mine.seconds,
            figures={"factor in CPU time": plain.cpu_seconds / mine.cpu_seconds},
        ),
    ]


def _gpu_memory(device: str) -> dict[str, float]:
    if not device.startswith("cuda"):
        return {}
    import torch

    return {"GPU memory at most, MB": torch.cuda.max_memory_allocated() / 1e6}
