"""Classification of 100,000 expanded sentences, beside a bare batched forward pass of the same.

Then fine-tuning, beside a bare loop (`tools.bench.classifier_tuning`).

Both take turns, shard by shard, so that whatever else the machine does slows them alike. The bare
pass has its texts encoded, sorted and padded before its time begins.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from probing.lm.batching import batches_by_length
from probing.lm.classifier import SequenceClassifier
from probing.lm.loaders import load_classifier
from probing.measures.classification import Classification, ClassificationParameters
from probing.measures.lexicon_library import TEMPLATE_SET
from probing.measures.probe_stimuli import SENTIMENT, ProbeGroup, ProbeStimuli
from tools.bench.classifier_tuning import STEPS, measure_tuning
from tools.bench.measuring import Meter, Row, peak_mb
from tools.bench.slot_checkpoint import SEED, Size, make_vocabulary

ROBERTA_BASE = Size(layers=12, hidden=768, heads=12, vocabulary=50_265, groups=8)
SENTENCES = 100_000
#: Sentences of a shard, and how many shards are measured.
SHARD, SHARDS = 256, 5


def run(
    size: Size = ROBERTA_BASE,
    *,
    sentences: int = SENTENCES,
    shards: int = SHARDS,
    steps: int = STEPS,
    threads: int | None = None,
) -> list[Row]:
    """Return times of the measure, of the bare pass and of encoding, and those of fine-tuning.

    On all cores, unless `threads` says how many.
    """
    with tempfile.TemporaryDirectory() as folder:
        process = get_context("spawn").Process(target=_save, args=(Path(folder), size))
        process.start()
        process.join()
        if process.exitcode:
            raise RuntimeError(f"the checkpoint was not made (exit status {process.exitcode})")
        lm = load_classifier(folder, device="cpu", threads=threads)
        stimuli = make_stimuli(size.groups, sentences)
        rows = _measure(lm, stimuli, shards, size)
        del lm
        return [*rows, *measure_tuning(Path(folder), stimuli, str(size), steps=steps)]


def make_stimuli(groups: int, sentences: int) -> ProbeStimuli:
    """Return at least so many sentences: 24 templates with made-up words of the groups."""
    _, _, templates = TEMPLATE_SET
    words = -(-sentences // (len(templates) * groups))
    return ProbeStimuli(
        templates,
        tuple(
            ProbeGroup(
                f"g{g}", f"g{g}", tuple({"*": f"madeup{g * words + n}"} for n in range(words))
            )
            for g in range(groups)
        ),
        "bench",
    )


def _measure(lm: SequenceClassifier, stimuli: ProbeStimuli, shards: int, size: Size) -> list[Row]:
    measure, parameters = Classification(), ClassificationParameters(sentences_per_shard=SHARD)
    plan = measure.plan(stimuli, parameters)
    texts = [sentence.text for sentence in stimuli.sentences]
    ours, bare, encoding = Meter(), Meter(), Meter()
    chosen = plan[:: max(len(plan) // shards, 1)][:shards]
    lm.classify(texts[:8])  # what is made with the first pass counts for neither
    for shard in chosen:
        batches = _batches(lm, texts[shard.payload["start"] : shard.payload["stop"]])
        with bare:
            _pass(lm, batches)
        with ours:
            measure.compute(shard.payload, stimuli, parameters, lm)
    with encoding:
        lm.encode(texts)
    units = f"{len(texts):,} sentences, {size}"
    measured = sum(shard.payload["stop"] - shard.payload["start"] for shard in chosen)
    row = ours.row("classification", units, measured, len(texts))
    figures = {"share of the bare pass": bare.seconds / ours.seconds, "peak MB": peak_mb()}
    return [
        Row(**{**vars(row), "figures": figures}),
        bare.row("bare forward pass of the same sentences", units, measured, len(texts)),
        encoding.row("encoding alone, all sentences", units),
    ]


def _batches(lm: SequenceClassifier, texts: Sequence[str]) -> list[Any]:
    """Return padded ids and masks, as the plain way would have them."""
    import torch

    rows = lm.encode(texts)
    lengths = list(map(len, rows))
    found = []
    for batch in batches_by_length(lengths, lm.batch_tokens):
        width = lengths[batch[-1]]
        ids = torch.tensor([rows[i] + [0] * (width - lengths[i]) for i in batch])
        mask = torch.tensor([[1] * lengths[i] + [0] * (width - lengths[i]) for i in batch])
        found.append({"input_ids": ids, "attention_mask": mask})
    return found


def _pass(lm: SequenceClassifier, batches: Sequence[Any]) -> None:
    import torch

    with torch.inference_mode():
        for batch in batches:
            lm._model(**batch)


def _save(folder: Path, size: Size) -> None:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(SEED)
    config = BertConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.hidden,
        id2label=dict(enumerate(SENTIMENT)),
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    vocabulary = make_vocabulary(size.vocabulary)
    BertTokenizer(vocab=vocabulary, model_max_length=512).save_pretrained(folder)
