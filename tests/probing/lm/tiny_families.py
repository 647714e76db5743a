"""Tiny causal models of many families with random weights, made on the spot.

Their numbers mean nothing: tests compare them with transformers' own pass over each row alone.
Weights are wide enough for a wrong token, position, or cache to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

#: Longrope's short factors hold up to here.
SWITCH = 24
_HEADS = {"num_key_value_heads": 2, "head_dim": 8}
_LINEAR = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "layer_types": ["linear_attention", "full_attention"],
}
_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0, 1.0, 1.0, 1.0],
    "long_factor": [1.0, 2.0, 4.0, 8.0],
    "original_max_position_embeddings": SWITCH,
}
_MAMBA_HEADS = {
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_d_state": 8,
    "mamba_n_groups": 1,
    "mamba_expand": 2,
    "mamba_chunk_size": 16,
}
_MOSHI = {"head_dim": 8, "ffn_dim": 64, "intermediate_size": None}

#: Name -> prefix of the classes in transformers, and settings beside the usual ones.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "gemma2": (
        "Gemma2",
        {"final_logit_softcapping": 5.0, "query_pre_attn_scalar": 8, "sliding_window": 16} | _HEADS,
    ),
    "cohere": ("Cohere", {"logit_scale": 0.25, "num_key_value_heads": 2}),
    "granite": ("Granite", {"logits_scaling": 4.0, "num_key_value_heads": 2}),
    "falcon": ("Falcon", {"alibi": True, "multi_query": True, "new_decoder_architecture": False}),
    "mamba": ("Mamba", {"state_size": 8}),
    "phi3": (
        "Phi3",
        {"original_max_position_embeddings": SWITCH, "rope_parameters": _ROPE},
    ),
    "qwen3-next": (
        "Qwen3Next",
        {
            "moe_intermediate_size": 16,
            "shared_expert_intermediate_size": 16,
            "num_experts": 4,
            "num_experts_per_tok": 2,
        }
        | _HEADS
        | _LINEAR,
    ),
    "lfm2": ("Lfm2", {"num_key_value_heads": 2, "layer_types": ["conv", "full_attention"]}),
    "bamba": ("Bamba", {"num_key_value_heads": 2, "attn_layer_indices": [1]} | _MAMBA_HEADS),
    "falcon-h1": ("FalconH1", {"num_key_value_heads": 2, "mamba_d_ssm": 64} | _MAMBA_HEADS),
    "granite-4-h": (
        "GraniteMoeHybrid",
        {
            "num_key_value_heads": 2,
            "layer_types": ["mamba", "attention"],
            "shared_intermediate_size": 32,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "logits_scaling": 4.0,
        }
        | _MAMBA_HEADS,
    ),
    "jamba": (
        "Jamba",
        {
            "num_key_value_heads": 2,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "num_experts": 2,
            "num_experts_per_tok": 1,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
            "use_mamba_kernels": False,
        },
    ),
    # It is its own decoder, and names no attribute for what is below its output layer.
    "llama-4": (
        "Llama4",
        {
            "config": "Llama4TextConfig",
            "intermediate_size_mlp": 64,
            "num_local_experts": 2,
            "attention_chunk_size": 16,
            "interleave_moe_layer_step": 1,
            "no_rope_layers": [1, 0],
        }
        | _HEADS,
    ),
    # Its cache holds what is outside its window, which whole passes do not read.
    "moshi": ("Moshi", {"sliding_window": 16} | _MOSHI),
    "moshi-wide": ("Moshi", {"sliding_window": 600, "max_position_embeddings": 1024} | _MOSHI),
}
_UNBOUNDED = {"max_position_embeddings": None, "intermediate_size": None}
#: Heads named after causal models, of models that read in both directions.
BOTH_DIRECTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "xlnet": ("XLNetConfig", "XLNetLMHeadModel", {"d_inner": 64, "d_head": 8, **_UNBOUNDED}),
    "bert": ("BertConfig", "BertLMHeadModel", {"is_decoder": False}),
    "roberta": ("RobertaConfig", "RobertaForCausalLM", {"is_decoder": False}),
}


@cache
def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes: each letter is a token, so that any text fits any model."""
    marks = ["<pad>", "<s>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    words = {f"Ġ{word}": len(marks) + place for place, word in enumerate(("kind", "rude"))}
    merges = []
    vocabulary = {mark: place for place, mark in enumerate(marks)}
    for word in words:
        for end in range(2, len(word) + 1):
            if word[:end] not in vocabulary:
                vocabulary[word[:end]] = len(vocabulary)
                merges.append((word[: end - 1], word[end - 1]))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
    )


def make_family(folder: Path, name: str) -> Path:
    """Save a causal model of a family, or one that only looks like it, into `folder`."""
    if name in BOTH_DIRECTIONS:
        config, model, settings = BOTH_DIRECTIONS[name]
    else:
        family, settings = FAMILIES[name]
        settings = dict(settings)
        config = settings.pop("config", f"{family}Config")
        model = f"{family}ForCausalLM"
    return _save(folder, config, model, settings)


def _save(folder: Path, config: str, model: str, settings: dict[str, Any]) -> Path:
    tokenizer = make_tokenizer()
    usual = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 256,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    stated = {key: value for key, value in (usual | settings).items() if value is not None}
    made = getattr(transformers, model)(getattr(transformers, config)(**stated))
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for key, weight in made.named_parameters():
            if weight.ndim >= 2 and "conv" not in key and not key.endswith("A_log"):
                weight.copy_(torch.randn(weight.shape, generator=random) * 0.3)
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def logprobs_alone(folder: Path, rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return ln P of what follows each row, each read alone and whole, (n_rows, vocabulary)."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = [model(input_ids=torch.tensor([row]), use_cache=False).logits for row in rows]
    return torch.stack([torch.log_softmax(found[0, -1].double(), dim=-1) for found in logits])
