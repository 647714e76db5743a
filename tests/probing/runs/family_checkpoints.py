"""Tiny checkpoints of random weights in the form in which each family publishes its own.

BERT: WordPiece. RoBERTa and DeBERTa: byte-level BPE. ALBERT and DeBERTa v3: a sentencepiece model
alone, without the file that other tokenizers are read from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers

from annotation.library.abc_model import HUMAN_STUDY_GROUPS, TRAIT_PAIRS
from probing.measures.template_library import TEMPLATES

FAMILIES = ("bert", "roberta", "deberta", "albert", "deberta-v2")

_SIZES = {
    "vocab_size": 1000,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 80,
}
_DEBERTA = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "legacy": False}
_OWN_SIZES: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 16},
    "deberta": {**_DEBERTA, "max_relative_positions": -1},
    "deberta-v2": {**_DEBERTA, "position_buckets": 16, "share_att_key": True},
}


def save_checkpoint(folder: Path, family: str, *, shared: Path) -> Path:
    """Save a model of the family with a tokenizer of its kind; `shared` has tiny checkpoints."""
    folder.mkdir()
    if family in ("albert", "deberta-v2"):
        pad = _save_sentencepiece(folder, family)
    else:
        name = "tiny-bert" if family == "bert" else "tiny-roberta"
        tokenizer = transformers.AutoTokenizer.from_pretrained(shared / name)
        tokenizer.save_pretrained(folder)
        pad = tokenizer.pad_token_id
    sizes = _SIZES | _OWN_SIZES.get(family, {})
    config = transformers.AutoConfig.for_model(family, pad_token_id=pad, **sizes)
    torch.manual_seed(3)
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))  # fresh biases are zero and prove nothing
    model.save_pretrained(folder)
    return folder


def _save_sentencepiece(folder: Path, family: str) -> int:
    """Train a sentencepiece model on the library's own sentences; return the padding's id."""
    text = folder / "sentences"
    text.write_text("\n".join(_sentences()), encoding="utf-8")
    albert = family == "albert"
    name = "spiece" if albert else "spm"
    special: dict[str, Any] = (
        {
            "pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1,
            "user_defined_symbols": ["[CLS]", "[SEP]", "[MASK]"],
        }
        if albert
        else {
            "pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3,
            "pad_piece": "[PAD]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]",
        }
    )  # fmt: skip
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / name),
        vocab_size=500,
        model_type="unigram",
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **special,
    )
    text.unlink()
    (folder / f"{name}.vocab").unlink()
    settings = {"do_lower_case": albert}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return 0


def _sentences() -> list[str]:
    adjectives = [
        word
        for pair in TRAIT_PAIRS
        for word in (pair.low, pair.high, *pair.low_synonyms, *pair.high_synonyms)
    ]
    forms = [
        {"singular": group.singular, "plural": group.plural, "Plural": group.plural_capitalised}
        for group in HUMAN_STUDY_GROUPS
    ]
    return [
        template.text.format(**form, trait=adjectives[(number * 7 + place) % len(adjectives)])
        for number, template in enumerate(TEMPLATES)
        for place, form in enumerate(forms)
    ]
