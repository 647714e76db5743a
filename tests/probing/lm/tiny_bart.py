"""A tiny BART with random weights and a byte-level tokenizer, made on the spot.

No such checkpoint is among the reference data. Its numbers mean nothing: tests compare them with
transformers' own forward pass.
"""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    PreTrainedTokenizerFast,
)

TEXTS = [
    "he be cookin dinner for the whole family today.",
    "she is usually working late at the store, and they know it.",
    "they been talking on the phone since this morning.",
    "my brother stays playing music while we are ready to go home.",
]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
POSITIONS = 40


def make_tiny_bart(folder: Path, *, with_head: bool = True) -> Path:
    """Save a BART of seed 5 into `folder`, on request without its head as bart-base has it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), add_prefix_space=False
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
        model_max_length=POSITIONS,
    ).save_pretrained(folder)
    config = BartConfig(
        vocab_size=tokenizer.get_vocab_size(),
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=POSITIONS,
        dropout=0.0,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_bos_token_id=0,
        init_std=0.4,  # far from uniform, so that likeliest spans are told apart
    )
    torch.manual_seed(5)
    model = BartForConditionalGeneration(config)
    if with_head:
        model.save_pretrained(folder)
    else:
        torch.manual_seed(5)
        BartModel(config).save_pretrained(folder)
    return folder
