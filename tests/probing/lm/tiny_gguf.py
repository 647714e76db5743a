"""Writes tiny Llama checkpoints as GGUF files, as llama.cpp's converter does.

Names of tensors come from the package gguf. Rows of queries and keys are put in the order of
llama.cpp's rotary positions: `LlamaModel.permute` in its convert_hf_to_gguf.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import transformers

Kind = gguf.GGMLQuantizationType
F32, Q8_0 = Kind.F32, Kind.Q8_0


def write_gguf(
    source: Path,
    target: Path,
    *,
    kind: Kind = F32,
    architecture: str = "llama",
    cut: str = "gpt-2",
    extra: Mapping[str, np.ndarray] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Path:
    """Write the Llama checkpoint in the folder `source` to the file `target`.

    kind : how matrices are stored; vectors are float32
    cut : the rule by which texts are cut into tokens
    extra, values : further tensors and values of the header
    """
    model = transformers.AutoModelForCausalLM.from_pretrained(source)
    config = model.config
    writer = gguf.GGUFWriter(target, architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(gguf.LlamaFileType[f"{'ALL' if kind == F32 else 'MOSTLY'}_{kind.name}"])
    _add_tokenizer(writer, source, config, cut)
    for key, value in (values or {}).items():
        writer.add_key_value(key, value, gguf.GGUFValueType.get_type(value))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        stored = weight.float().numpy()
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            heads = config.num_attention_heads
            if name.endswith("k_proj.weight"):
                heads = config.num_key_value_heads
            halves = stored.reshape(heads, 2, len(stored) // heads // 2, -1)
            stored = halves.swapaxes(1, 2).reshape(stored.shape)
        _add(writer, names.get_name(name.removesuffix(".weight")) + ".weight", stored, kind)
    for name, tensor in (extra or {}).items():
        _add(writer, name, tensor, F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def _add(writer: gguf.GGUFWriter, name: str, weight: np.ndarray, kind: Kind) -> None:
    kind = kind if weight.ndim > 1 else F32
    writer.add_tensor(name, gguf.quants.quantize(weight.copy(), kind), raw_dtype=kind)


def _add_tokenizer(writer: gguf.GGUFWriter, source: Path, config: Any, cut: str) -> None:
    stored = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = {place: token for token, place in stored["model"]["vocab"].items()}
    marks = {one["id"]: one["content"] for one in stored["added_tokens"]}
    n_tokens = config.vocab_size
    tokens = [marks.get(i) or vocabulary.get(i) or f"[PAD{i}]" for i in range(n_tokens)]
    kinds = [
        gguf.TokenType.CONTROL
        if i in marks
        else (gguf.TokenType.NORMAL if i in vocabulary else gguf.TokenType.UNUSED)
        for i in range(n_tokens)
    ]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    merges = stored["model"]["merges"]
    writer.add_token_merges([one if isinstance(one, str) else " ".join(one) for one in merges])
    writer.add_bos_token_id(config.bos_token_id)
    writer.add_eos_token_id(config.eos_token_id)
    writer.add_pad_token_id(config.pad_token_id)
    begins = (stored.get("post_processor") or {}).get("type") == "TemplateProcessing"
    writer.add_add_bos_token(begins)
