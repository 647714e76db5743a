"""A tiny causal checkpoint with a chat template, numbers and attributes as single tokens.

Built in a moment, with random weights. Single tokens can be made likelier by a given shift of
their logits, so that answers look like answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

NUMBERS = tuple(str(number) for number in range(101))
TEMPLATE = (
    "{% for turn in messages %}<|{{ turn['role'] }}|>{{ turn['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
_SIZE = 32
_PROSE = (
    "How do people in America view nurses? Answer with a whole number from 0 to 100 and nothing "
    "else. A person who says he be workin is. They are usually working late at home."
)


def make_tiny_chat(
    folder: Path,
    *,
    words: Sequence[str] = (),
    likely: Mapping[str, float] | None = None,
    template: str = TEMPLATE,
    by_digit: bool = False,
    seed: int = 0,
) -> Path:
    """Save a checkpoint and return its folder.

    Parameters
    ----------
    words : single tokens with and without a space before them.
    likely : token → what is added to its logit, whatever the context.
    template : its chat template; empty leaves it out.
    by_digit : reads numbers digit by digit instead of as single tokens.
    """
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    digits = [pre_tokenizers.Digits(individual_digits=True)] if by_digit else []
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*digits, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    lines = [_PROSE, *(NUMBERS * 20)]
    lines += [f"{space}{word}" for word in words for space in ("", " ") for _ in range(20)]
    trainer = trainers.BpeTrainer(
        vocab_size=1200,
        special_tokens=list(_SPECIAL),
        initial_alphabet=byte_level.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|end|>",
        pad_token="<|end|>",
        additional_special_tokens=list(_SPECIAL[1:]),
    )
    if template:
        wrapped.chat_template = template
    torch.manual_seed(seed)
    end = wrapped.convert_tokens_to_ids("<|end|>")
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(wrapped),
            n_positions=512,
            n_embd=_SIZE,
            n_layer=2,
            n_head=2,
            initializer_range=0.2,
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=end,
            pad_token_id=end,
        )
    )
    direction = torch.zeros(_SIZE)
    direction[0] = 1.0
    with torch.no_grad():
        # The layer norm's output always has a one in the first place, which likely tokens read.
        model.transformer.ln_f.weight[0] = 0.0
        model.transformer.ln_f.bias.copy_(direction)
        model.lm_head.weight[:, 0] = 0.0
        for token, shift in (likely or {}).items():
            ids = wrapped.encode(token, add_special_tokens=False)
            assert len(ids) == 1, (token, ids)
            model.lm_head.weight[ids[0], 0] = shift
    model.save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder
