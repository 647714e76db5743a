"""Matched guise probing beside a plain loop and a bare batched pass, and what a run takes up.

GPT-2, RoBERTa-base and T5-base in size. All three ways take turns, shard by shard, so that
whatever else the machine does slows them alike.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from probing.lm import load_text_model
from probing.measures.guise_library import ATTRIBUTE_LISTS, GUISE_PROMPTS, TRAITS
from probing.measures.guise_logprobs import NO_TEXT, to_frame
from probing.measures.guise_stimuli import GuisePrompt, GuiseStimuli, GuiseText
from probing.measures.matched_guise import MatchedGuise, MatchedGuiseParameters
from tools.bench.guise_checkpoints import KINDS, Size, save_checkpoint
from tools.bench.measuring import Meter, Row, peak_mb
from tools.bench.plain_guises import PlainGuises
from tools.bench.texts import TextMaker

#: Pairs of a run that is timed, and of a shard.
PAIRS, PAIRS_PER_SHARD = 32, 16
#: Which share of the texts the plain loop reads, and of the batches the bare pass.
PLAIN_SHARE, BARE_SHARE = 8, 2
BARE_ROWS = 64
#: The run whose storage and aggregation are measured.
STORED_PAIRS, STORED_PER_SHARD = 2_000, 100


class Cell(NamedTuple):
    prompt: GuisePrompt
    first: GuiseText
    second: GuiseText


@dataclass(frozen=True)
class Reading:
    """A model, seen by the measure and by the plain way."""

    kind: str
    lm: Any
    plain: PlainGuises
    stimuli: GuiseStimuli

    def cells(self) -> list[Cell]:
        pairs = zip(self.stimuli.first, self.stimuli.second, strict=True)
        return [Cell(prompt, *pair) for pair in pairs for prompt in self.stimuli.prompts]


def make_stimuli(n_pairs: int) -> GuiseStimuli:
    """Return made-up pairs with the prompts on traits and the 37 adjectives."""
    words = next(entry.words for entry in ATTRIBUTE_LISTS if entry.slug == "katz-braly-37")
    pairs = TextMaker().pairs(n_pairs)
    first, second = (
        tuple(GuiseText(f"p{number}", pair[side]) for number, pair in enumerate(pairs))
        for side in (0, 1)
    )
    prompts = tuple(prompt for prompt in GUISE_PROMPTS if prompt.purpose == TRAITS)
    return GuiseStimuli("AAE", "SAE", first, second, True, prompts, words)


def run(
    size: Size | None = None,
    pairs: int = PAIRS,
    stored: int = STORED_PAIRS,
    kinds: Sequence[str] = KINDS,
) -> list[Row]:
    """Return times, ratios, shares of the bare pass, differences, storage and aggregation."""
    rows = []
    stimuli = make_stimuli(pairs)
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            save_checkpoint(Path(folder), kind, _words(stimuli), size or Size())
            rows += _timed(_read(folder, kind, stimuli))
        gc.collect()
    return [*rows, _stored(make_stimuli(stored))]


def _words(stimuli: GuiseStimuli) -> Iterator[str]:
    yield from stimuli.attributes
    for prompt in stimuli.prompts:
        yield from prompt.fill(" ").split()
    for texts in stimuli.texts:
        for text in texts:
            yield from text.body.split()


def _read(folder: str, kind: str, stimuli: GuiseStimuli) -> Reading:
    import transformers

    lm = load_text_model(folder)
    # As transformers loads it: the platform may lay out the weights of its own copy otherwise.
    loader: Any = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }[kind]
    model = loader.from_pretrained(folder).to(lm.device).eval().requires_grad_(False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return Reading(kind, lm, PlainGuises(kind, model, tokenizer, stimuli.attributes), stimuli)


def _timed(reading: Reading) -> list[Row]:
    measure, stimuli = MatchedGuise(), reading.stimuli
    parameters = MatchedGuiseParameters(pairs_per_shard=PAIRS_PER_SHARD)
    shards = measure.plan(stimuli, parameters)
    cells = reading.cells()
    some = cells[::PLAIN_SHARE]
    batches = list(_batches(reading, cells))[::BARE_SHARE]
    ours, plain, bare = Meter(), Meter(), Meter()
    frames, expected = [], {}
    reading.plain.logprobs(some[0].prompt.fill(some[0].first.body))  # before the clock runs
    reading.plain.bare_pass(batches[0][:2])
    for turn, shard in enumerate(shards):
        with ours:
            frames.append(measure.compute(shard.payload, stimuli, parameters, reading.lm))
        for batch in batches[turn :: len(shards)]:
            with bare:
                reading.plain.bare_pass(batch)
        for cell in some[turn :: len(shards)]:
            with plain:
                sides = [
                    reading.plain.logprobs(cell.prompt.fill(text.body))
                    for text in (cell.first, cell.second)
                ]
            expected[cell] = (sides[0] - sides[1]) / np.log(10)
    texts = 2 * len(cells)
    tokens = sum(len(row) for batch in _batches(reading, cells) for row in batch)
    bare_tokens = sum(len(row) for batch in batches for row in batch)
    units = f"{texts} readings of {len(stimuli.attributes)} attributes, {reading.kind}"
    row = ours.row(f"matched_guise, {reading.kind}", units)
    figures = {
        "texts per second": texts / row.seconds,
        "tokens per second": tokens / row.seconds,
        "share of the bare pass": (tokens / row.seconds) / (bare_tokens / bare.seconds),
        "share of the bare pass, CPU time": (tokens / row.cpu_seconds)
        / (bare_tokens / bare.cpu_seconds),
        "largest difference of a log ratio": _difference(frames, stimuli, expected),
    }
    slow = plain.row(f"plain loop, {reading.kind}", units, 2 * len(some), texts)
    faster = {"factor in CPU time": slow.cpu_seconds / row.cpu_seconds}
    return [
        replace(row, peak_mb=peak_mb(), figures=figures),
        bare.row(f"bare batched pass, {reading.kind}", units, bare_tokens, tokens),
        replace(slow, factor=slow.seconds / row.seconds, figures=faster),
    ]


def _batches(reading: Reading, cells: list[Cell]) -> Iterator[list[list[int]]]:
    """Yield the filled prompts as ids, sorted by length, in batches."""
    rows = sorted(
        (
            reading.plain.encode(cell.prompt.fill(text.body))
            for cell in cells
            for text in (cell.first, cell.second)
        ),
        key=len,
    )
    for start in range(0, len(rows), BARE_ROWS):
        yield rows[start : start + BARE_ROWS]


def _difference(
    frames: list[Any], stimuli: GuiseStimuli, expected: dict[Cell, np.ndarray]
) -> float:
    from probing.measures.guise_logprobs import read_logprobs

    read = read_logprobs(stimuli, frames)
    ratios = (read.first - read.second) / np.log(10)
    prompts = {prompt.slug: place for place, prompt in enumerate(stimuli.prompts)}
    texts = {text.slug: place for place, text in enumerate(stimuli.first)}
    return max(
        float(np.abs(ratios[prompts[cell.prompt.slug], texts[cell.first.slug]] - values).max())
        for cell, values in expected.items()
    )


def _stored(stimuli: GuiseStimuli) -> Row:
    """Measure the shards of a large run, their aggregation and the analysis of a report."""
    from evaluation.analyses.guise_association import analyze_guises
    from evaluation.analyses.guise_cells import GuiseOptions
    from evaluation.analyses.guise_draws import GuiseRun
    from probing.measures.guise_logprobs import read_logprobs

    blobs = []
    for frame in _made_up(stimuli):
        buffer = BytesIO()
        frame.to_parquet(buffer, index=False)  # as the engine stores a shard
        blobs.append(buffer.getvalue())
    measure, meter = MatchedGuise(), Meter()
    with meter:
        frames = [pd.read_parquet(BytesIO(blob)) for blob in blobs]
        measure.aggregate(stimuli, MatchedGuiseParameters(), frames)
    begun = time.perf_counter()
    read = read_logprobs(stimuli, frames)
    prompts = tuple(prompt.slug for prompt in stimuli.prompts)
    one = GuiseRun(
        "made up", "covert", "", prompts, "", read.first, read.second, read.agrees, paired=True
    )
    analyze_guises([one], sorted(stimuli.attributes), [], {}, GuiseOptions())
    n = len(stimuli.first)
    row = meter.row("aggregation of a stored run", f"{n:,} pairs × 9 prompts × 37 attributes")
    figures = {
        "stored, MB": sum(map(len, blobs)) / 1e6,
        "seconds of a report's analysis, 2,000 resamples": time.perf_counter() - begun,
    }
    return replace(row, peak_mb=peak_mb(), figures=figures)


def _made_up(stimuli: GuiseStimuli) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for start in range(0, len(stimuli.first), STORED_PER_SHARD):
        texts = [
            (variety, text.slug)
            for variety, some in zip(stimuli.varieties, stimuli.texts, strict=True)
            for text in some[start : start + STORED_PER_SHARD]
        ] + ([] if start else [(NO_TEXT, NO_TEXT)])
        entries = [(prompt.slug, *text) for prompt in stimuli.prompts for text in texts]
        values = rng.normal(-9, 2, size=(len(entries), len(stimuli.attributes)))
        yield to_frame(entries, [""] * len(entries), values)
