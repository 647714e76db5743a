"""Loading models and tokenizers from a folder or the hub, with errors that say what to do.

Torch and transformers take seconds to import, so they are imported when a model is loaded and
not before: a web process that only lists or checks models never pays for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from probing.lm.errors import (
    DeviceError,
    ModelFilesError,
    TokenizerError,
    WrongModelKindError,
)
from probing.lm.families import MASKED_FAMILIES, Family, supported_families
from probing.lm.sources import ModelFacts, fingerprint, inspect_model, local_folder

if TYPE_CHECKING:
    from probing.lm.masked import MaskedLanguageModel
    from probing.lm.subwords import MaskedTokenizer

__all__ = ["load_masked", "load_tokenizer"]

DType = Literal["float64", "float32", "bfloat16", "float16"]

_KIND_NAMES = {
    "causal": "a causal language model",
    "seq2seq": "a sequence-to-sequence model",
    "classifier": "a classifier",
    "encoder": "an encoder without a language model's head",
    "unknown": "of a kind that its configuration does not tell",
}


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
    import torch

    from probing.lm.masked import MaskedLanguageModel

    place = _device(torch, device)
    numbers = getattr(torch, dtype, None)
    if not isinstance(numbers, torch.dtype) or not numbers.is_floating_point:
        raise DeviceError(
            f"'{dtype}' is no number format. Use float32, bfloat16, float16 or float64."
        )
    if threads is not None:
        if threads < 1:
            raise DeviceError(f"threads must be at least 1, not {threads}.")
        torch.set_num_threads(threads)
    tokenizer = _tokenizer(facts)
    model = _weights(facts, numbers).to(place).eval().requires_grad_(False)
    folder = local_folder(source)
    return MaskedLanguageModel(
        model,
        tokenizer,
        family,
        facts,
        revision=facts.revision or (fingerprint(folder) if folder else ""),
        batch_size=batch_size,
    )


def load_tokenizer(source: str | Path, *, revision: str | None = None) -> MaskedTokenizer:
    """Load the tokenizer of a masked language model alone: enough for a dry run.

    Raises the errors of :func:`load_masked`, except those that concern the weights.
    """
    facts, _ = _masked_facts(source, revision)
    return _tokenizer(facts)


def _masked_facts(source: str | Path, revision: str | None) -> tuple[ModelFacts, Family]:
    facts = inspect_model(source, revision)
    if facts.kind != "masked":
        raise WrongModelKindError(
            f"'{source}' is {_KIND_NAMES[facts.kind]}, not a masked language model. "
            "Choose a model such as 'bert-base-cased' or 'roberta-base'."
        )
    if facts.family not in MASKED_FAMILIES:
        raise WrongModelKindError(
            f"'{source}' is a masked language model of the family '{facts.family}', which is not "
            f"supported. Supported families: {supported_families()}."
        )
    if facts.vocabulary_size is None or facts.max_length is None:
        raise ModelFilesError(
            f"The configuration of '{source}' states no vocabulary size or no number of "
            "positions. Save the model again with a current version of transformers."
        )
    return facts, MASKED_FAMILIES[facts.family]


def _device(torch: Any, name: str) -> Any:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(f"'{name}' is no device. Use auto, cpu, cuda or mps.") from error
    present = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if not present.get(device.type, lambda: False)():
        raise DeviceError(f"There is no device '{name}' on this machine. Use auto or cpu.")
    return device


def _tokenizer(facts: ModelFacts) -> MaskedTokenizer:
    from transformers import AutoTokenizer

    from probing.lm.subwords import MaskedTokenizer

    _require_tokenizer_files(facts)
    try:
        found = AutoTokenizer.from_pretrained(
            facts.source, revision=facts.revision, local_files_only=facts.from_cache
        )
    except Exception as error:  # the tokenizers library raises bare exceptions
        raise TokenizerError(
            f"The tokenizer of '{facts.source}' cannot be read ({_first_line(error)}). Save the "
            "model's tokenizer into its folder again."
        ) from error
    return MaskedTokenizer(
        found,
        vocabulary_size=facts.vocabulary_size or len(found),
        max_length=facts.max_length or found.model_max_length,
    )


def _require_tokenizer_files(facts: ModelFacts) -> None:
    # Without files, transformers makes an empty tokenizer that knows no word at all.
    folder = Path(facts.source).expanduser()
    names = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
    if folder.is_dir() and not any(any(folder.glob(name)) for name in names):
        raise TokenizerError(
            f"The folder '{facts.source}' holds no tokenizer (tokenizer.json, vocab.txt, "
            "vocab.json or a sentencepiece model). Save the model's tokenizer into it."
        )


def _weights(facts: ModelFacts, dtype: Any) -> Any:
    from transformers import AutoModelForMaskedLM

    try:
        with _quiet():
            model, report = AutoModelForMaskedLM.from_pretrained(
                facts.source,
                revision=facts.revision,
                # A hub that did not answer a moment ago would be asked again for every file.
                local_files_only=facts.from_cache,
                dtype=dtype,
                output_loading_info=True,
            )
    except Exception as error:  # OS, safetensors, pickle and shape errors, all as they come
        raise ModelFilesError(
            f"The weights of '{facts.source}' cannot be loaded ({_first_line(error)}). Fetch or "
            "save the model again."
        ) from error
    missing = sorted(set(report["missing_keys"]) | {str(k) for k in report["mismatched_keys"]})
    if missing:
        # Whatever a checkpoint lacks is filled with random numbers, which must never be scored.
        shown = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        raise WrongModelKindError(
            f"'{facts.source}' lacks {len(missing)} weights of a masked language model ({shown}). "
            "Choose the checkpoint with the masked language model's head."
        )
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bars and reports out of a worker's log while loading."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
