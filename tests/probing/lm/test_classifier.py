"""Classifiers of texts: logits of the golden checkpoint, shared words, batches, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from probing.lm.errors import ContextTooLongError, WrongModelKindError
from probing.lm.loaders import load_classifier, load_classifier_tokenizer

pytestmark = pytest.mark.shared

TEXTS = [
    "The old man won.",
    "The elderly man won, and won again.",
    "Won!",
    "He isn't here … and Zoë's not either.",
    " The old  man won.",
]


def save_classifier(folder: Path, name: str, checkpoints: Path) -> Path:
    """Save a classifier of random weights with a tiny checkpoint's own tokenizer and sizes."""
    import torch
    import transformers

    transformers.AutoTokenizer.from_pretrained(checkpoints / name).save_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(
        checkpoints / name, num_labels=3, id2label=dict(enumerate(("good", "bad", "so-so")))
    )
    torch.manual_seed(5)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    return folder


def test_logits_match_the_golden_checkpoint(shared_dir: Path) -> None:
    golden = json.loads(
        (shared_dir / "golden" / "expected" / "classifier_fpr.json").read_text(encoding="utf-8")
    )
    lm = load_classifier(shared_dir / "golden" / "models" / "tiny-classifier", threads=1)
    found = lm.classify([row["text"] for row in golden["rows"]])
    expected = np.array([row["logits"] for row in golden["rows"]])
    np.testing.assert_allclose(found, expected, atol=golden["header"]["tolerance"]["logits"]["abs"])
    assert lm.labels == ("negative", "neutral", "positive")


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-roberta", "tiny-gpt2", "tiny-llama"])
def test_words_are_shared_where_that_is_exact(checkpoints: Path, tmp_path: Path, name: str) -> None:
    import transformers

    tokenizer = load_classifier_tokenizer(save_classifier(tmp_path / "c", name, checkpoints))
    plain = transformers.AutoTokenizer.from_pretrained(checkpoints / name)
    for texts in (TEXTS[:4], TEXTS):
        assert tokenizer.encode(texts) == [list(ids) for ids in plain(texts)["input_ids"]]
    assert tokenizer.shares_words


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-roberta", "tiny-gpt2"])
def test_batches_do_not_change_logits(checkpoints: Path, tmp_path: Path, name: str) -> None:
    folder = save_classifier(tmp_path / "c", name, checkpoints)
    together = load_classifier(folder, threads=1).classify(TEXTS)
    alone = load_classifier(folder, threads=1, batch_tokens=1).classify(TEXTS)
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert together.shape == (5, 3)


def test_what_cannot_be_classified_is_refused(checkpoints: Path) -> None:
    with pytest.raises(WrongModelKindError, match="no head that classifies whole texts"):
        load_classifier_tokenizer(checkpoints / "tiny-bert")
    lm = load_classifier(checkpoints / "tiny-classifier", threads=1)
    with pytest.raises(ContextTooLongError, match="Shorten the text"):
        lm.classify(["word " * 3000])
