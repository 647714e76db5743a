"""Loading language models and their tokenizers from a folder or the hub.

Torch and transformers take seconds to import, so they are imported when a model is loaded and
not before: a web process that only lists or checks models never pays for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from probing.lm.errors import ModelFilesError, TokenizerError, WrongModelKindError
from probing.lm.families import MASKED_FAMILIES, Family, find_masked_family
from probing.lm.sources import ModelFacts, inspect_model
from probing.lm.weights import (
    ENCODER_HALVES,
    BodyLoader,
    load_frozen,
    read_config,
    read_tokenizer,
    read_weights,
    revision_of,
)

if TYPE_CHECKING:
    from probing.lm.causal import CausalModel
    from probing.lm.causal_slots import CausalSlotModel
    from probing.lm.classifier import ClassifierTokenizer, SequenceClassifier
    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.pseudo_perplexity import MaskedScorer, MaskedScorerFacts
    from probing.lm.seq2seq import Seq2SeqModel
    from probing.lm.seq2seq_slots import Seq2SeqSlotModel
    from probing.lm.slot_model import EncoderModel
    from probing.lm.slot_tokenizers import (
        CausalSlotTokenizer,
        EncoderTokenizer,
        MaskedTokenizer,
        SentinelTokenizer,
    )
    from probing.lm.text_tokenizer import PretrainedTextTokenizer

DType = Literal["float64", "float32", "bfloat16", "float16"]

#: Tokens of one forward pass, padding included.
BATCH_TOKENS = 4096

KIND_NAMES = {
    "masked": "a masked language model",
    "causal": "a causal language model",
    "seq2seq": "a sequence-to-sequence model",
    "classifier": "a classifier",
    "encoder": "an encoder without a language model's head",
    "multimodal": "a multimodal model, which also reads images or sound",
    "unknown": "of a kind that its configuration does not tell",
}
_CAUSAL, _SEQ2SEQ = KIND_NAMES["causal"], KIND_NAMES["seq2seq"]


def _inspect(source: str | Path, revision: str | None) -> ModelFacts:
    """Return the facts of a model; refuses one whose class is in its own code alone."""
    facts = inspect_model(source, revision)
    if facts.own_code and facts.architecture:
        import transformers

        if not hasattr(transformers, facts.architecture):
            raise WrongModelKindError(
                f"'{source}' is a '{facts.architecture}', which only its own code defines. A "
                "model's own code is never run: choose a model of a family that transformers has."
            )
    return facts


def kind_name(facts: ModelFacts) -> str:
    """Return what a model is, for messages that say what it is not."""
    if facts.kind == "unknown" and facts.architecture:
        return f"of an unknown architecture, '{facts.architecture}'"
    return KIND_NAMES[facts.kind]


def load_masked(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
    batch_size: int = 64,
) -> MaskedLanguageModel:
    """Load a masked language model, in evaluation mode and without gradients.

    Parameters
    ----------
    source : a local folder or a hub id.
    revision : branch, tag or commit on the hub.
    device : ``auto`` (a CUDA GPU where there is one, else the CPU), ``cpu``, ``cuda``, ``mps``.
    dtype : number format of the encoder. Logits are always float32 or wider.
    threads : CPU threads of this process; None leaves torch's own choice.
    batch_size : sentences per forward pass; changes results in the last digits at most.

    Raises
    ------
    ModelNotFoundError
        No such folder, or the hub id cannot be reached.
    WrongModelKindError
        Not a masked language model, of a family that is not known, or without its head. All but
        the last are noticed from the configuration, before any weights are read.
    ModelFilesError
        Damaged or missing weights.
    TokenizerError
        No usable tokenizer, or one without a mask token.
    DeviceError
        The device or number format does not exist here.
    """
    facts, family = _masked_facts(source, revision)
    from transformers import AutoModelForMaskedLM

    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.packed_layers import pack_linear_layers

    tokenizer = _masked_tokenizer(facts)
    how: Any = {"head": KIND_NAMES["masked"], "device": device, "dtype": dtype, "threads": threads}
    try:
        model = load_frozen(facts, AutoModelForMaskedLM, **how)
    except WrongModelKindError:
        if not family.second_try:
            raise
        # Its stored weights may fill another head than the configuration asks for.
        model = load_frozen(facts, AutoModelForMaskedLM, **how, **dict(family.second_try))
    if family.body:
        pack_linear_layers(model.get_submodule(family.body))
    return MaskedLanguageModel(
        model, tokenizer, family, facts, revision=revision_of(facts), batch_size=batch_size
    )


def require_weights(source: str | Path) -> None:
    """Raise if weights of the model in a folder are damaged or missing, from their headers alone.

    Reads no numbers, so it takes about a second whatever the model's size. Raises
    :class:`ModelFilesError` or :class:`WrongModelKindError`.
    """
    import torch
    import transformers

    facts = _inspect(source, None)
    classes = {
        "masked": "AutoModelForMaskedLM",
        "causal": "AutoModelForCausalLM",
        "seq2seq": "AutoModelForSeq2SeqLM",
        "classifier": "AutoModelForSequenceClassification",
    }
    if facts.kind not in (*classes, "encoder"):
        return
    family = MASKED_FAMILIES.get(facts.family) if facts.kind == "masked" else None
    how: Any = {"head": KIND_NAMES[facts.kind], "device_map": "meta"}
    loader: Any = BodyLoader(facts.family)
    if facts.kind in classes:
        loader = getattr(transformers, classes[facts.kind])
    try:
        read_weights(facts, loader, torch.float32, **how)
    except WrongModelKindError:
        if family is None or not family.second_try:
            raise
        read_weights(facts, loader, torch.float32, **how, **dict(family.second_try))


def load_tokenizer(source: str | Path, *, revision: str | None = None) -> MaskedTokenizer:
    """Load the tokenizer of a masked language model alone: enough for a dry run.

    Raises the errors of :func:`load_masked`, except those that concern the weights.
    """
    facts, _ = _masked_facts(source, revision)
    return _masked_tokenizer(facts)


def _masked_facts(source: str | Path, revision: str | None) -> tuple[ModelFacts, Family]:
    facts = _inspect(source, revision)
    if facts.kind != "masked":
        raise WrongModelKindError(
            f"'{source}' is {kind_name(facts)}, not a masked language model. "
            "Choose a model such as 'bert-base-cased' or 'roberta-base'."
        )
    if facts.vocabulary_size is None or facts.max_length is None:
        raise ModelFilesError(
            f"The configuration of '{source}' states no vocabulary size or no number of "
            "positions. Save the model again with a current version of transformers."
        )
    if facts.family not in MASKED_FAMILIES:
        from probing.lm.examination import examine_masked

        examine_masked(facts)
    return facts, find_masked_family(facts.family)


def _masked_tokenizer(facts: ModelFacts) -> MaskedTokenizer:
    from probing.lm.slot_tokenizers import MaskedTokenizer

    found = read_tokenizer(facts)
    return MaskedTokenizer(
        found,
        vocabulary_size=facts.vocabulary_size or len(found),
        max_length=facts.max_length or found.model_max_length,
    )


# --- models that fill the slot of a template ----------------------------------------------------


def load_slot_model(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
) -> MaskedLanguageModel | CausalSlotModel | Seq2SeqSlotModel:
    """Load a model that says which word belongs in a slot or gives words an embedding.

    Its configuration decides whether it is a masked or causal model or an encoder and decoder.
    Parameters and errors are those of :func:`load_masked`.
    """
    facts = _slot_facts(source, revision)
    if facts.kind == "masked":
        return load_masked(source, revision=revision, device=device, dtype=dtype, threads=threads)
    how: Any = {"device": device, "dtype": dtype, "threads": threads}
    own: Any = {"revision": revision_of(facts), "batch_tokens": BATCH_TOKENS}
    if facts.kind == "seq2seq":
        from transformers import AutoModelForSeq2SeqLM

        from probing.lm.packed_layers import pack_model
        from probing.lm.seq2seq_slots import Seq2SeqSlotModel

        sentinels = _sentinel_tokenizer(facts)
        model = load_frozen(facts, AutoModelForSeq2SeqLM, head=_SEQ2SEQ, **how)
        pack_model(model)
        return Seq2SeqSlotModel(model, sentinels, **own)
    from transformers import AutoModelForCausalLM

    from probing.lm.causal_slots import CausalSlotModel
    from probing.lm.examination import require_left_to_right
    from probing.lm.packed_layers import pack_model

    tokenizer = _causal_slot_tokenizer(facts)
    model = load_frozen(facts, AutoModelForCausalLM, head=_CAUSAL, **how)
    require_left_to_right(model, facts.source)
    pack_model(model)
    return CausalSlotModel(model, tokenizer, **own)


def load_slot_tokenizer(
    source: str | Path, *, revision: str | None = None
) -> MaskedTokenizer | CausalSlotTokenizer | SentinelTokenizer:
    """Load what a dry run needs: the tokenizer alone.

    Raises the errors of :func:`load_slot_model`, except those that concern the weights. Causal
    models are tried out with random weights: the first time takes seconds.
    """
    facts = _slot_facts(source, revision)
    if facts.kind == "masked":
        return load_tokenizer(source, revision=revision)
    if facts.kind == "seq2seq":
        _require_seq2seq(facts)
        return _sentinel_tokenizer(facts)
    from probing.lm.examination import examine

    tokenizer = _causal_slot_tokenizer(facts)
    tokenizer.plain_head = examine(facts).plain_head
    return tokenizer


def _slot_facts(source: str | Path, revision: str | None) -> ModelFacts:
    facts = _inspect(source, revision)
    if facts.kind not in ("masked", "causal", "seq2seq"):
        raise WrongModelKindError(
            f"'{source}' is {kind_name(facts)}, which has no slot to fill. Choose a masked "
            "model such as 'roberta-base', a causal one such as 'gpt2', or 't5-base'."
        )
    return facts


def _causal_slot_tokenizer(facts: ModelFacts) -> CausalSlotTokenizer:
    from probing.lm.slot_tokenizers import CausalSlotTokenizer

    _require_vocabulary_size(facts)
    return CausalSlotTokenizer(read_tokenizer(facts), facts)


def _sentinel_tokenizer(facts: ModelFacts) -> SentinelTokenizer:
    from probing.lm.slot_tokenizers import SentinelTokenizer

    _require_vocabulary_size(facts)
    found = read_tokenizer(facts)
    start = facts.decoder_start
    return SentinelTokenizer(found, facts, start=found.pad_token_id if start is None else start)


# --- encoders without a head --------------------------------------------------------------------


def load_encoder(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
) -> EncoderModel:
    """Load an encoder without a head, which gives words in their sentences an embedding.

    Parameters and errors are those of :func:`load_masked`.
    """
    facts = _encoder_facts(source, revision)
    from probing.lm.packed_layers import pack_encoder
    from probing.lm.slot_model import EncoderModel

    tokenizer = _encoder_tokenizer(facts)
    how: Any = {"head": KIND_NAMES["encoder"], "device": device, "dtype": dtype, "threads": threads}
    model = load_frozen(facts, BodyLoader(facts.family), **how)
    pack_encoder(model)
    return EncoderModel(model, tokenizer, facts, revision=revision_of(facts))


def load_encoder_tokenizer(source: str | Path, *, revision: str | None = None) -> EncoderTokenizer:
    """Load what a dry run needs: the tokenizer alone.

    Raises the errors of :func:`load_encoder`, except those that concern the weights.
    """
    return _encoder_tokenizer(_encoder_facts(source, revision))


def _encoder_facts(source: str | Path, revision: str | None) -> ModelFacts:
    facts = _inspect(source, revision)
    from transformers import MODEL_FOR_MASKED_LM_MAPPING

    config = read_config(facts)
    reads_texts = facts.family in ENCODER_HALVES or type(config) in MODEL_FOR_MASKED_LM_MAPPING
    if facts.kind != "encoder" or not reads_texts or getattr(config, "is_decoder", False):
        raise WrongModelKindError(
            f"'{source}' is a '{facts.architecture}', which is no encoder of texts without a head. "
            "Choose a model such as 'sentence-transformers/all-MiniLM-L6-v2', or the checkpoint "
            "with the language model's head."
        )
    return facts


def _encoder_tokenizer(facts: ModelFacts) -> EncoderTokenizer:
    from probing.lm.slot_tokenizers import EncoderTokenizer

    return EncoderTokenizer(read_tokenizer(facts), facts)


# --- models that write or score texts -----------------------------------------------------------


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
    :func:`load_masked`, but for `batch_tokens`: the most tokens of one forward pass, padding
    included, which changes results in the last digits at most.
    """
    facts = _text_facts(source, revision)
    if facts.kind == "masked":
        from probing.lm.pseudo_perplexity import MaskedScorer

        masked = load_masked(source, revision=revision, device=device, dtype=dtype, threads=threads)
        return MaskedScorer(masked, batch_tokens=batch_tokens)
    import transformers

    from probing.lm.causal import CausalModel
    from probing.lm.examination import require_left_to_right
    from probing.lm.packed_layers import pack_model
    from probing.lm.seq2seq import Seq2SeqModel

    tokenizer = _text_tokenizer(facts)
    causal = facts.kind == "causal"
    loader: Any = (
        transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSeq2SeqLM
    )
    head = _CAUSAL if causal else _SEQ2SEQ
    model = load_frozen(facts, loader, head=head, device=device, dtype=dtype, threads=threads)
    if causal:
        require_left_to_right(model, facts.source)
    pack_model(model)
    _keep_special_tokens_alone(model, transformers.GenerationConfig)
    adapter = CausalModel if causal else Seq2SeqModel
    return adapter(model, tokenizer, revision=revision_of(facts), batch_tokens=batch_tokens)


def load_text_tokenizer(
    source: str | Path, *, revision: str | None = None
) -> PretrainedTextTokenizer | MaskedScorerFacts:
    """Load what a dry run needs: the tokenizer alone, which says what the model can do.

    Raises the errors of :func:`load_text_model`, except those that concern the weights. Causal
    models are tried out with random weights: the first time takes seconds.
    """
    facts = _text_facts(source, revision)
    if facts.kind == "masked":
        from probing.lm.pseudo_perplexity import MaskedScorerFacts

        return MaskedScorerFacts(load_tokenizer(source, revision=revision))
    tokenizer = _text_tokenizer(facts)
    if facts.kind == "causal":
        from probing.lm.examination import examine

        examine(facts)
    else:
        _require_seq2seq(facts)
    return tokenizer


def _text_facts(source: str | Path, revision: str | None) -> ModelFacts:
    facts = _inspect(source, revision)
    if facts.kind not in ("causal", "seq2seq", "masked"):
        raise WrongModelKindError(
            f"'{source}' is {kind_name(facts)}. Choose a causal model such as 'gpt2', a "
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
    _require_vocabulary_size(facts)
    return PretrainedTextTokenizer(found, facts)


# --- models that classify texts -----------------------------------------------------------------


def load_classifier(
    source: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: DType = "float32",
    threads: int | None = None,
    batch_tokens: int = BATCH_TOKENS,
) -> SequenceClassifier:
    """Load a model with a sequence classification head, in evaluation mode, without gradients.

    Parameters and errors are those of :func:`load_text_model`.
    """
    facts = _classifier_facts(source, revision)
    from transformers import AutoModelForSequenceClassification

    from probing.lm.classifier import ClassifierTokenizer, SequenceClassifier

    tokenizer = ClassifierTokenizer(read_tokenizer(facts), facts)
    model = load_frozen(
        facts,
        AutoModelForSequenceClassification,
        head=KIND_NAMES["classifier"],
        device=device,
        dtype=dtype,
        threads=threads,
    )
    return SequenceClassifier(
        model, tokenizer, revision=revision_of(facts), batch_tokens=batch_tokens
    )


def load_classifier_tokenizer(
    source: str | Path, *, revision: str | None = None
) -> ClassifierTokenizer:
    """Load what a dry run needs: the tokenizer and the names of the labels.

    Raises the errors of :func:`load_classifier`, except those that concern the weights.
    """
    from probing.lm.classifier import ClassifierTokenizer

    facts = _classifier_facts(source, revision)
    return ClassifierTokenizer(read_tokenizer(facts), facts)


def _classifier_facts(source: str | Path, revision: str | None) -> ModelFacts:
    facts = _inspect(source, revision)
    if not facts.labels:
        raise WrongModelKindError(
            f"'{source}' is {kind_name(facts)} and has no head that classifies whole texts. "
            "Choose a model that was trained for sequence classification, or fine-tune this one."
        )
    return facts


def _require_seq2seq(facts: ModelFacts) -> None:
    from transformers import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING

    if type(read_config(facts)) not in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        raise WrongModelKindError(
            f"'{facts.source}' is of the family '{facts.family}', of which transformers has no "
            "encoder and decoder of texts. Choose a model of another family."
        )


def _require_vocabulary_size(facts: ModelFacts) -> None:
    if facts.family == "fsmt":
        raise WrongModelKindError(
            f"'{facts.source}' is of the family 'fsmt', which reads one vocabulary and writes "
            "another. Choose a model with one vocabulary, such as 'Helsinki-NLP/opus-mt-en-de'."
        )
    if facts.vocabulary_size is None:
        raise ModelFilesError(
            f"The configuration of '{facts.source}' states no vocabulary size. Save the model "
            "again with a current version of transformers."
        )


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
