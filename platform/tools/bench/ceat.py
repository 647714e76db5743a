"""CEAT on a model of BERT-large's size, beside a bare forward pass of the same sentences.

Both take turns, shard by shard, so that whatever else the machine does slows them alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from probing.lm.loaders import load_slot_model
from probing.measures.ceat import Ceat, CeatParameters
from probing.measures.sentence_stimuli import SentenceStimuli, draw_sentences
from probing.measures.stimuli import Stimuli
from tools.bench.measuring import Meter, Row, peak_mb
from tools.bench.slot_checkpoint import (
    BERT_LARGE,
    Size,
    make_stimuli,
    make_vocabulary,
    save_checkpoint,
)

GROUPS, PER_WORD = 6, 10
SHORTEST, LONGEST = 6, 40
BARE_ROWS = 64


def make_sentences(stimuli: Stimuli, vocabulary: Mapping[str, int], seed: int = 0) -> Iterator[str]:
    """Yield made-up sentences, `PER_WORD` for each group and adjective, which alone it holds."""
    rng = np.random.default_rng(seed)
    others = [word for word in vocabulary if word.startswith("madeup")]
    words = [group.plural for group in stimuli.groups]
    words += [word for trait in stimuli.traits for word in (trait.low, trait.high)]
    for word in dict.fromkeys(words):
        for size in rng.integers(SHORTEST, LONGEST, size=PER_WORD):
            text = [others[place] for place in rng.integers(len(others), size=size)]
            yield " ".join([*text[: size // 2], word, *text[size // 2 :]])


def run(size: Size = BERT_LARGE) -> list[Row]:
    """Return the times of both ways, and CEAT's share of the bare pass."""
    plain = make_stimuli(min(GROUPS, size.groups))
    vocabulary = make_vocabulary(size.vocabulary)
    parameters = CeatParameters(sentences_per_word=PER_WORD)
    stimuli = draw_sentences(
        make_sentences(plain, vocabulary),
        groups=plain.groups,
        traits=plain.traits,
        name="made-up sentences",
        per_word=PER_WORD,
        seed=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        save_checkpoint(Path(folder), size)
        return _timed(folder, stimuli, parameters, size)


def _timed(
    folder: str, stimuli: SentenceStimuli, parameters: CeatParameters, size: Size
) -> list[Row]:
    from transformers import AutoModel, AutoTokenizer

    lm: Any = load_slot_model(folder)
    # As transformers loads it: the platform lays out the weights of its own copy in another order.
    body = AutoModel.from_pretrained(folder).to(lm.device).eval().requires_grad_(False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = {
        occurrence.sentence for sample in stimuli.contexts.values() for occurrence in sample.drawn
    }
    rows = sorted((tokenizer.encode(text) for text in sorted(texts)), key=len)
    batches = [rows[start : start + BARE_ROWS] for start in range(0, len(rows), BARE_ROWS)]
    measure, ours, bare = Ceat(), Meter(), Meter()
    shards = measure.plan(stimuli, parameters)
    _read(body, batches[0][:2])  # before the clock runs
    frames = []
    for turn, shard in enumerate(shards):
        with ours:
            frames.append(measure.compute(shard.payload, stimuli, parameters, lm))
        for batch in batches[turn :: len(shards)]:
            with bare:
                _read(body, batch)
    with ours:
        measure.aggregate(stimuli, parameters, frames)
    units = f"{len(rows):,} sentences, {size}"
    tokens = sum(map(len, rows))
    figures = {
        "tokens per second": tokens / ours.seconds,
        "share of the bare pass": bare.seconds / ours.seconds,
        "share of the bare pass, CPU time": bare.cpu_seconds / ours.cpu_seconds,
    }
    found = ours.row(measure.title, units)
    return [
        replace(found, peak_mb=peak_mb(), figures=figures),
        bare.row("bare forward pass", units),
    ]


def _read(body: Any, rows: list[list[int]]) -> None:
    """Read rows in one batch, padded on the right; the last hidden states stay where they are."""
    import torch

    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    attended = (torch.arange(width) < torch.tensor([[len(row)] for row in rows])).int()
    with torch.inference_mode():
        found = body(input_ids=ids.to(body.device), attention_mask=attended.to(body.device))
    float(found.last_hidden_state[0, 0, 0])  # waits for a GPU
