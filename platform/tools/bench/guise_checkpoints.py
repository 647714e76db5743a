"""Checkpoints of GPT-2, RoBERTa-base and T5-base size, weights by chance, with tokenizers that fit.

Speed depends on the size of a model, not on what it has learned. The tokenizers know the words of
texts, prompts and attributes, and the rest of the vocabulary is made up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SEED = 0


@dataclass(frozen=True)
class Size:
    """Layers (of encoder and decoder alike), width, heads, and rows of the output layer."""

    layers: int = 12
    hidden: int = 768
    heads: int = 12
    vocabulary: int = 50_257


KINDS = ("causal", "masked", "seq2seq")


def save_checkpoint(folder: Path, kind: str, words: Iterable[str], size: Size) -> None:
    """Write model and tokenizer from a process of its own, so that its memory is not counted."""
    arguments = (folder, kind, sorted(set(words)), size)
    process = get_context("spawn").Process(target=_save, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the checkpoint was not made (exit status {process.exitcode})")


def _save(folder: Path, kind: str, words: list[str], size: Size) -> None:
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(SEED)
    _model(kind, size).save_pretrained(folder)
    make_tokenizer(kind, words, size).save_pretrained(folder)


def _model(kind: str, size: Size) -> Any:
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        RobertaConfig,
        RobertaForMaskedLM,
        T5Config,
        T5ForConditionalGeneration,
    )

    if kind == "causal":
        return GPT2LMHeadModel(
            GPT2Config(
                n_layer=size.layers,
                n_embd=size.hidden,
                n_head=size.heads,
                vocab_size=size.vocabulary,
                bos_token_id=0,
                eos_token_id=0,
            )
        )
    if kind == "masked":
        return RobertaForMaskedLM(
            RobertaConfig(
                num_hidden_layers=size.layers,
                hidden_size=size.hidden,
                num_attention_heads=size.heads,
                intermediate_size=4 * size.hidden,
                vocab_size=size.vocabulary,
                max_position_embeddings=514,
                type_vocab_size=1,
            )
        )
    return T5ForConditionalGeneration(
        T5Config(
            num_layers=size.layers,
            d_model=size.hidden,
            num_heads=size.heads,
            d_kv=size.hidden // size.heads,
            d_ff=4 * size.hidden,
            vocab_size=size.vocabulary,
            decoder_start_token_id=0,  # type: ignore[call-arg]
        )
    )


def make_tokenizer(kind: str, words: list[str], size: Size) -> Any:
    """Return a tokenizer of whole words, filled up to the size with made-up ones."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = {
        "causal": ["<|endoftext|>"],
        "masked": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        "seq2seq": ["<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_1>"],
    }[kind]
    marker = "▁" if kind == "seq2seq" else "Ġ"
    made_up = size.vocabulary - len(special) - len(words)
    known = [*special, *(marker + word for word in words)]
    known += [f"{marker}madeup{n}" for n in range(made_up)]
    unknown = special[0] if kind == "causal" else "<unk>"
    vocabulary = {token: index for index, token in enumerate(known)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement=marker, prepend_scheme="always")
    ends = {"masked": "<s> $A </s>", "seq2seq": "$A </s>"}
    if kind in ends:
        backend.post_processor = processors.TemplateProcessing(
            single=ends[kind], special_tokens=[(token, vocabulary[token]) for token in special]
        )
    named: dict[str, dict[str, Any]] = {
        "causal": {"eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"},
        "masked": {
            "bos_token": "<s>",
            "eos_token": "</s>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "mask_token": AddedToken("<mask>", lstrip=True, special=True),
        },
        "seq2seq": {
            "eos_token": "</s>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "additional_special_tokens": [
                AddedToken(token, lstrip=True, special=True) for token in special[3:]
            ],
        },
    }
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=512, **named[kind])
