"""Tiny random models of every family that transformers has, and what they must give.

Families come from transformers' own tables, so that new ones join by themselves. Values are
worked out by plain forward passes over each text alone; nothing here uses the product.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from transformers import PreTrainedTokenizerFast
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

WORDS = ("kind", "rude")
#: What stands before and after a word.
CONTEXTS = (("She says hey. She is ", "."), ("She says they be out here every night. She is ", "."))
#: Of unlike length, so that rows are padded.
TEXTS = ("She is kind.", "She says they be out.")
WRITTEN, BEAMS = 5, 3

#: Settings that make a model tiny, each used if the family's configuration has it.
_TINY: dict[str, Any] = {
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "dim": 32,
    "emb_dim": 32,
    "embed_dim": 32,
    "word_embed_proj_dim": 32,
    "embedding_size": 32,
    "rnn_hidden_size": 32,
    "attention_hidden_size": 32,
    "intermediate_size": 64,
    "ffn_dim": 64,
    "d_ff": 64,
    "d_inner": 64,
    "hidden_dim": 64,
    "dim_ff": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "dff": 64,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "shared_intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_decoder_layers": 2,
    "num_encoder_layers": 2,
    "num_attention_heads": 4,
    "num_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_encoder_attention_heads": 4,
    "num_decoder_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "dim_head": 8,
    "d_kv": 8,
    "d_head": 8,
    "max_position_embeddings": 256,
    "n_positions": 256,
    "max_seq_len": 256,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "state_size": 8,
    "mamba_d_state": 8,
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_n_groups": 1,
    "mamba_chunk_size": 16,
    "chunk_size": 16,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "rotary_dim": 4,
    "sliding_window": 16,
    "attention_window": 16,
    "dropout": 0.0,
}

#: model_type -> settings without which its tiny model cannot be made or says nothing.
_OWN: dict[str, dict[str, Any]] = {
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1, "expand": 2},
    "bamba": {"attn_layer_indices": [1]},
    "jamba": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "mamba_dt_rank": 4,
        "use_mamba_kernels": False,
    },
    "falcon": {"alibi": False, "multi_query": True, "new_decoder_architecture": False},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"], "logits_scaling": 4.0},
    "qwen3_next": {"layer_types": ["linear_attention", "full_attention"]},
    "qwen3_5_text": {"layer_types": ["linear_attention", "full_attention"]},
    "qwen3_5_moe_text": {"layer_types": ["linear_attention", "full_attention"]},
    "olmo_hybrid": {"layer_types": ["linear_attention", "full_attention"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 16},
    "gemma2": {"query_pre_attn_scalar": 8, "final_logit_softcapping": 5.0},
    "nystromformer": {"num_landmarks": 8, "segment_means_seq_len": 8},
    "big_bird": {"attention_type": "block_sparse", "block_size": 8, "num_random_blocks": 1},
    "modernbert": {"global_attn_every_n_layers": 2, "local_attention": 16},
    "xlm": {"pad_index": 0},
    "xmod": {"default_language": "en_XX"},
    "falcon_h1": {"mamba_d_ssm": 64, "num_key_value_heads": 2},
    "zaya": {"num_experts_per_tok": 1},
    "esmc": {"num_key_value_heads": 4},
    "xlnet": {"max_position_embeddings": None},
    "reformer": {"is_decoder": True, "axial_pos_embds_dim": [16, 16], "axial_pos_shape": [16, 16]},
    "prophetnet": {"num_hidden_layers": None},
}


#: Weights of the largest model that is made.
_MOST_WEIGHTS = 20_000_000


def _bytes(kind: str, marks: list[str]) -> PreTrainedTokenizerFast:
    names = [*marks, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {name: place for place, name in enumerate(names)}
    merges = []
    for word in ("kind", "rude", "says", "She", "is", "out"):
        for end in range(2, len(word) + 2):
            whole = f"Ġ{word}"[:end]
            if whole not in vocabulary:
                vocabulary[whole] = len(vocabulary)
                merges.append((whole[:-1], whole[-1]))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _wrap(tokenizer, kind, marks)


def _pieces(kind: str, marks: list[str]) -> PreTrainedTokenizerFast:
    letters = sorted({letter for text in (*TEXTS, *map("".join, CONTEXTS)) for letter in text})
    pieces = [(mark, 0.0) for mark in marks]
    pieces += [(f"▁{word}", -5.0) for word in (*WORDS, "She", "says", "is", "out")]
    pieces += [("▁", -9.0), *((letter, -10.0) for letter in [*letters, "d", "k"] if letter != " ")]
    tokenizer = Tokenizer(models.Unigram(list(dict(pieces).items()), unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    return _wrap(tokenizer, kind, marks)


def _wordpiece(kind: str, marks: list[str]) -> PreTrainedTokenizerFast:
    letters = [chr(code) for code in range(33, 127)]
    names = [*marks, *letters, *(f"##{letter}" for letter in letters), *WORDS, "She", "says", "is"]
    vocabulary = {name: place for place, name in enumerate(names)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return _wrap(tokenizer, kind, marks)


def _wrap(tokenizer: Tokenizer, kind: str, marks: list[str]) -> PreTrainedTokenizerFast:
    around = {"masked": "<s> $A </s>", "seq2seq": "$A </s>"}.get(kind)
    if around:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=around, special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    more: dict[str, Any] = {}
    if kind == "seq2seq" and _SENTINELS[0] in marks:
        more["additional_special_tokens"] = _SENTINELS
    if kind == "masked":
        more["mask_token"] = AddedToken("<mask>", lstrip=True, special=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        **more,
    )


_WITH_WORDPIECE = frozenset({"bert", "distilbert", "electra", "mpnet", "mobilebert", "funnel"})
_WITH_PIECES = frozenset(
    [
        "albert",
        "deberta-v2",
        "xlm-roberta",
        "camembert",
        "big_bird",
        "llama",
        "mistral",
        "gemma",
        "gemma2",
        "t5",
        "mt5",
        "umt5",
        "xlnet",
        "nystromformer",
        "rembert",
        "phi3",
        "pegasus",
        "mbart",
        "m2m_100",
        "marian",
        "fnet",
    ]
)


_MARKS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
_SENTINELS = ["<extra_id_0>", "<extra_id_1>"]
#: Encoders and decoders that were trained to fill hidden spans.
_FILLERS = frozenset({"t5", "mt5", "umt5", "longt5", "switch_transformers"})


@cache
def make_tokenizer(family: str, kind: str) -> PreTrainedTokenizerFast:
    """Return a small tokenizer of the kind that the family has; bytes if it has none here."""
    if family in _WITH_WORDPIECE and kind == "masked":
        return _wordpiece(kind, _MARKS)
    marks = _MARKS if kind == "seq2seq" and family not in _FILLERS else [*_MARKS, *_SENTINELS]
    return (_pieces if family in _WITH_PIECES else _bytes)(kind, marks)


@dataclass(frozen=True)
class Family:
    """A family with one kind of head, by the names that transformers has for them."""

    name: str
    kind: str
    architecture: str


_TABLES = {
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "seq2seq": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
}


def all_families() -> Iterator[Family]:
    """Yield every family of the installed transformers, once for each kind of head."""
    for kind, table in _TABLES.items():
        for name, architecture in sorted(table.items()):
            if kind == "masked" and architecture.endswith("ForConditionalGeneration"):
                continue  # an encoder and decoder, which is among those
            yield Family(name, kind, architecture)


def build(family: Family, folder: Path) -> Path:
    """Save a tiny checkpoint of a family. Raises whatever transformers raises."""
    tokenizer = make_tokenizer(family.name, family.kind)
    made = CONFIG_MAPPING[family.name]
    given = _shrink(made(), tokenizer)
    given |= _OWN.get(family.name, {})
    if family.kind == "seq2seq":
        given["decoder_start_token_id"] = 0
    if family.kind == "causal" and family.name in ("bert", "roberta", "bert-generation"):
        given["is_decoder"] = True
    if family.kind == "causal" and family.name == "xlm":
        given["causal"] = True
    given = {name: value for name, value in given.items() if value is not None}
    config = made(**given)
    if config.get_text_config() is not config:
        raise NotImplementedError("it has parts beside the one for texts")
    torch.manual_seed(0)
    make = getattr(transformers, family.architecture)
    with torch.device("meta"):
        size = sum(weight.numel() for weight in make(config).parameters())
    if size > _MOST_WEIGHTS:
        raise NotImplementedError("its configuration makes no tiny model here")
    model = make(config)
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if weight.ndim >= 2 and "conv" not in key and not key.endswith("A_log"):
                weight.copy_(torch.randn(weight.shape, generator=random) * 0.2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _shrink(default: Any, tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    own = {
        "vocab_size": len(tokenizer),
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 0,
    }
    found = {name: value for name, value in (_TINY | own).items() if _has(default, name)}
    for old, new in getattr(default, "attribute_map", {}).items():
        if old in found and new in found:
            found.pop(old)
    if "kv_lora_rank" in found:  # each head has keys of its own
        found["num_key_value_heads"] = found.get("num_attention_heads", 4)
    layers = default.num_hidden_layers if hasattr(default, "num_hidden_layers") else 0
    for name, value in vars(default).items():
        if isinstance(value, list) and layers > 2 and len(value) == layers:
            kinds = list(dict.fromkeys(map(str, value)))
            other = next((one for one in value if str(one) != str(value[0])), value[0])
            found[name] = [value[0], other] if len(kinds) > 1 else value[:2]
    if hasattr(default, "rope_parameters") and isinstance(default.rope_parameters, dict):
        found["rope_parameters"] = copy.deepcopy(default.rope_parameters)
    return found


def _has(default: Any, name: str) -> bool:
    """Whether a configuration takes a setting of that name."""
    own = getattr(type(default), name, None)
    try:
        return hasattr(default, name) and not (isinstance(own, property) and own.fset is None)
    except (AttributeError, ValueError):
        return False


class Plain:
    """A checkpoint as transformers reads it, one text at a time."""

    def __init__(self, family: Family, folder: Path) -> None:
        self.kind = family.kind
        loaders: Any = {
            "masked": transformers.AutoModelForMaskedLM,
            "causal": transformers.AutoModelForCausalLM,
            "seq2seq": transformers.AutoModelForSeq2SeqLM,
        }
        self.model = loaders[self.kind].from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def _logprobs(self, ids: list[int], place: int) -> torch.Tensor:
        """Return ln P of what stands at a place of a row that is read whole."""
        row, given, at = ids[:place], {}, -1
        if self.kind == "masked":
            row, at = [*row, self.tokenizer.mask_token_id, *ids[place + 1 :]], place
        elif self.kind == "seq2seq":
            return self._hidden([*row, self.sentinel, *ids[place + 1 :]])
        else:
            given = {"use_cache": False}
        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([row]), **given).logits[0, at]
        return torch.log_softmax(logits.double(), dim=-1)

    def _hidden(self, row: list[int]) -> torch.Tensor:
        """Return ln P of what a decoder writes first for the hidden span of its source."""
        begun = torch.tensor([[self.model.config.decoder_start_token_id, self.sentinel]])
        with torch.inference_mode():
            logits = self.model(
                input_ids=torch.tensor([row]), decoder_input_ids=begun, use_cache=False
            ).logits
        return torch.log_softmax(logits[0, -1].double(), dim=-1)

    @property
    def sentinel(self) -> int:
        """What stands for a hidden span."""
        return int(self.tokenizer.convert_tokens_to_ids("<extra_id_0>"))

    def word(self, before: str, word: str, after: str) -> float:
        """Return ln P of the one token that spells a word in its sentence."""
        found = self.tokenizer(before + word + after, return_offsets_mapping=True)
        ids = list(found["input_ids"])
        first, last = len(before), len(before) + len(word)
        (place,) = (
            place
            for place, (start, end) in enumerate(found["offset_mapping"])
            if start < last and end > first and end > start
        )
        if self.kind != "seq2seq":
            return float(self._logprobs(ids, place)[ids[place]])
        shown = self.tokenizer(f"{before}<extra_id_0>{after}")["input_ids"]
        return float(self._hidden(list(shown))[ids[place]])

    def words(self) -> np.ndarray:
        """Return ln P of every word in every context, (n_contexts, n_words)."""
        return np.array([[self.word(b, word, a) for word in WORDS] for b, a in CONTEXTS])

    def ends(self) -> np.ndarray:
        """Return ln P of every word at the end of the text before it."""
        return np.array([[self.word(b, word, "") for word in WORDS] for b, _ in CONTEXTS])

    def texts(self) -> np.ndarray:
        """Return ln P of every token of every text after its first, joined."""
        found = []
        for text in TEXTS:
            ids = list(self.tokenizer(text)["input_ids"])
            begun, ended = (self.kind != "seq2seq", self.kind != "causal")
            places = range(int(begun), len(ids) - int(ended))
            found += [float(self._logprobs(ids, place)[ids[place]]) for place in places]
        return np.array(found)

    def states(self) -> np.ndarray:
        """Return the last hidden state of the first token of "She" in every text."""
        body = self.model.get_encoder() if self.kind == "seq2seq" else self.model.base_model
        if body is self.model:
            body = self.model.model
        found = []
        for text in TEXTS:
            ids = torch.tensor([self.tokenizer(text)["input_ids"]])
            offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
            inside = [n for n, (start, end) in enumerate(offsets) if start < 3 and end > start]
            with torch.inference_mode():
                found.append(body(input_ids=ids).last_hidden_state[0, inside[0]].numpy())
        return np.stack(found)

    def beams(self) -> list[list[int]]:
        """Return what beam search finds after every text, each alone and by whole passes."""
        # Not merged with the model's own, which may force an end token at the limit.
        self.model.generation_config = transformers.GenerationConfig(
            num_beams=BEAMS,
            max_new_tokens=WRITTEN,
            use_cache=False,
            pad_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=0,
        )
        found = []
        for text in TEXTS:
            ids = torch.tensor([self.tokenizer(text)["input_ids"]])
            with torch.inference_mode():
                (row,) = self.model.generate(ids).tolist()
            found.append(row[1 if self.kind == "seq2seq" else ids.shape[1] :])
        return found

    def greedy(self) -> list[list[int]]:
        """Return the likeliest tokens after every text, each by a whole pass."""
        found = []
        for text in TEXTS:
            ids = list(self.tokenizer(text)["input_ids"])
            written = [] if self.kind == "causal" else [self.model.config.decoder_start_token_id]
            begun = len(written)
            for _ in range(WRITTEN):
                with torch.inference_mode():
                    if self.kind == "causal":
                        given = {"input_ids": torch.tensor([ids + written])}
                    else:
                        given = {
                            "input_ids": torch.tensor([ids]),
                            "decoder_input_ids": torch.tensor([written]),
                        }
                    logits = self.model(**given, use_cache=False).logits
                written.append(int(logits[0, -1].argmax()))
                if written[-1] == 2:
                    break
            found.append([one for one in written[begun:] if one != 2])
        return found
