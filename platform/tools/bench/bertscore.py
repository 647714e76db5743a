"""BERTScore of many counterparts against calling bert-score text by text.

The encoder is made on the spot: BERT's architecture with six layers of 384, as in small sentence
encoders, and weights by chance, since speed does not depend on what they are.
"""

from __future__ import annotations

import string
import tempfile
from dataclasses import replace
from pathlib import Path

from tools.bench.measuring import Row, measure
from tools.bench.texts import TextMaker

PAIRS = 1_000
PACKAGE_PAIRS = 50
LAYERS, HIDDEN, HEADS = 6, 384, 12


def run() -> list[Row]:
    """Return the time of F for all texts, and for the package one text at a time."""
    from bert_score import BERTScorer
    from transformers.utils import logging

    from evaluation.metrics.bertscore import bert_scores
    from probing.lm.token_embeddings import load_token_encoder

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    candidates, references = map(list, zip(*TextMaker().pairs(PAIRS), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        _save_encoder(Path(folder))
        encoder = load_token_encoder(folder, layer=LAYERS, device="cpu")
        scorer = BERTScorer(model_type=folder, num_layers=LAYERS, device="cpu")
    mine = measure(
        "all at once", f"{PAIRS:,} texts", lambda: bert_scores(candidates, references, encoder)
    )

    def package() -> object:
        some = zip(candidates[:PACKAGE_PAIRS], references[:PACKAGE_PAIRS], strict=True)
        return [scorer.score([candidate], [reference]) for candidate, reference in some]

    theirs = measure(
        "bert-score text by text", f"{PAIRS:,} texts", package, measured=PACKAGE_PAIRS, of=PAIRS
    )
    together = measure(
        "bert-score all at once (its results depend on the batch)",
        f"{PAIRS:,} texts",
        lambda: scorer.score(candidates, references),
    )
    return [
        mine,
        replace(theirs, factor=theirs.seconds / mine.seconds),
        replace(together, factor=together.seconds / mine.seconds),
    ]


def _save_encoder(folder: Path) -> None:
    from transformers import BertConfig, BertModel, BertTokenizer

    pieces = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    doubles = [f"##{a}{b}" for a in string.ascii_lowercase for b in "etaoinshr"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *doubles]
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * HIDDEN,
        max_position_embeddings=512,
    )
    BertModel(config).save_pretrained(folder)
    numbers = {piece: i for i, piece in enumerate(vocabulary)}
    BertTokenizer(vocab=numbers, model_max_length=512).save_pretrained(folder)
