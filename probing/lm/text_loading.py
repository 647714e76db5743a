"""Loading models of texts from a folder or the hub, with errors that say what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from probing.lm.errors import ModelFilesError, TokenizerError, WrongModelKindError
from probing.lm.loading import KIND_NAMES, DType, load_masked, load_tokenizer
from probing.lm.sources import ModelFacts, fingerprint, inspect_model, local_folder
from probing.lm.weights import (
    choose_device,
    choose_numbers,
    choose_threads,
    read_tokenizer,
    read_weights,
)

if TYPE_CHECKING:
    from probing.lm.causal import CausalModel
    from probing.lm.pseudo_perplexity import MaskedScorer, MaskedScorerFacts
    from probing.lm.seq2seq import Seq2SeqModel
    from probing.lm.text_tokenizer import PretrainedTextTokenizer

__all__ = ["BATCH_TOKENS", "load_text_model", "load_text_tokenizer"]

#: Tokens of one forward pass, padding included.
BATCH_TOKENS = 4096

_HEADS = {"causal": "a causal language model", "seq2seq": "a sequence-to-sequence model"}
#: Tokenizers without a limit of their own state an astronomically large one.
_NO_LIMIT = 10**9


def load_text_model(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
    batch_tokens: int = BATCH_TOKENS,
) -> CausalModel | Seq2SeqModel | MaskedScorer:
    """Load a model that writes or scores texts, in evaluation mode and without gradients.

    Its configuration decides which of the three it is. Parameters and errors are those of
    :func:`probing.lm.load_masked`, but for `batch_tokens`: the most tokens of one forward pass,
    padding included, which changes results in the last digits at most.
    """
    facts = _text_facts(source, revision)
    if facts.kind == "masked":
        from probing.lm.pseudo_perplexity import MaskedScorer

        masked = load_masked(source, revision=revision, device=device, dtype=dtype, threads=threads)
        return MaskedScorer(masked, batch_tokens=batch_tokens)
    import torch
    import transformers

    place = choose_device(torch, device)
    numbers = choose_numbers(torch, dtype)
    choose_threads(torch, threads)
    tokenizer = _text_tokenizer(facts)
    causal = facts.kind == "causal"
    loader: Any = (
        transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSeq2SeqLM
    )
    model = read_weights(facts, loader, numbers, head=_HEADS[facts.kind])
    model = model.to(place).eval().requires_grad_(False)
    _keep_special_tokens_alone(model, transformers.GenerationConfig)
    folder = local_folder(source)
    revision = facts.revision or (fingerprint(folder) if folder else "")
    if causal:
        from probing.lm.causal import CausalModel

        return CausalModel(model, tokenizer, revision=revision, batch_tokens=batch_tokens)
    from probing.lm.seq2seq import Seq2SeqModel

    return Seq2SeqModel(model, tokenizer, revision=revision, batch_tokens=batch_tokens)


def load_text_tokenizer(
    source: str | Path, *, revision: str | None = None
) -> PretrainedTextTokenizer | MaskedScorerFacts:
    """Load what a dry run needs: the tokenizer alone, which says what the model can do.

    Raises the errors of :func:`load_text_model`, except those that concern the weights.
    """
    facts = _text_facts(source, revision)
    if facts.kind == "masked":
        from probing.lm.pseudo_perplexity import MaskedScorerFacts

        return MaskedScorerFacts(load_tokenizer(source, revision=revision))
    return _text_tokenizer(facts)


def _text_facts(source: str | Path, revision: str | None) -> ModelFacts:
    facts = inspect_model(source, revision)
    if facts.kind not in ("causal", "seq2seq", "masked"):
        raise WrongModelKindError(
            f"'{source}' is {KIND_NAMES[facts.kind]}. Choose a causal model such as 'gpt2', a "
            "sequence-to-sequence model such as 't5-base', or a masked one such as "
            "'roberta-base'."
        )
    return facts


def _text_tokenizer(facts: ModelFacts) -> PretrainedTextTokenizer:
    from probing.lm.text_tokenizer import PretrainedTextTokenizer

    found = read_tokenizer(facts)
    if facts.vocabulary_size is not None and len(found) > facts.vocabulary_size:
        raise TokenizerError(
            f"The tokenizer of '{facts.source}' knows {len(found):,} tokens, but the model scores "
            f"only {facts.vocabulary_size:,}. They do not belong together; save the tokenizer of "
            "this model into its folder."
        )
    if facts.vocabulary_size is None:
        raise ModelFilesError(
            f"The configuration of '{facts.source}' states no vocabulary size. Save the model "
            "again with a current version of transformers."
        )
    return PretrainedTextTokenizer(found, facts)


def _keep_special_tokens_alone(model: Any, config: Any) -> None:
    """Let no sampling or length settings of the checkpoint decide how it writes.

    Nor may it force an end token at the limit: a text that is cut there would pass for a whole one.
    """
    stated = model.generation_config
    names = (
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "decoder_start_token_id",
        "forced_bos_token_id",
    )
    model.generation_config = config(**{name: getattr(stated, name, None) for name in names})
