"""Reading weights and tokenizers of any kind of model, with errors that say what to do.

Torch and transformers take seconds to import, so they are imported when a model is loaded and
not before: a web process that only lists or checks models never pays for them.
"""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probing.lm.errors import DeviceError, ModelFilesError, TokenizerError, WrongModelKindError
from probing.lm.gguf_files import alone, read_gguf, read_gguf_tokenizer
from probing.lm.sources import ModelFacts, fingerprint, local_place

#: Buffers that older checkpoints do not store and that are zero by definition.
_ZERO_WHEN_MISSING = frozenset({"final_logits_bias"})
#: Families whose whole model cannot be run without a decoder's text.
ENCODER_HALVES = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel", "umt5": "UMT5EncoderModel"}


def choose_device(torch: Any, name: str) -> Any:
    """Return the device of that name; :class:`DeviceError` where this machine has none."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(f"The device is '{name}'. Use auto, cpu, cuda or mps.") from error
    present = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if not present.get(device.type, lambda: False)():
        raise DeviceError(f"There is no device '{name}' on this machine. Use auto or cpu.")
    return device


def choose_numbers(torch: Any, name: str) -> Any:
    """Return the number format of that name; :class:`DeviceError` where there is none."""
    numbers = getattr(torch, name, None)
    if not isinstance(numbers, torch.dtype) or not numbers.is_floating_point:
        raise DeviceError(
            f"The number format is '{name}'. Use float32, bfloat16, float16 or float64."
        )
    return numbers


def require_numbers(device: str, dtype: str) -> None:
    """Raise :class:`DeviceError` if a device would compute in a number format only by emulation."""
    import torch

    place = choose_device(torch, device)
    if choose_numbers(torch, dtype) is not torch.bfloat16:
        return
    if place.type == "cuda":
        has, what = torch.cuda.is_bf16_supported(including_emulation=False), "GPU"
    else:
        able = torch.cpu.get_capabilities() if place.type == "cpu" else {"bf16": True}
        has, what = any(able[name] for name in able if name.endswith("bf16")), "processor"
    if not has:
        raise DeviceError(f"The {what} of this machine has no {dtype}. Use float32.")


def memory_errors() -> tuple[type[Exception], ...]:
    """Return what is raised where a model does not fit into memory."""
    import torch

    return MemoryError, torch.OutOfMemoryError


def choose_threads(torch: Any, threads: int | None) -> None:
    """Set the CPU threads of this process; None leaves torch's own choice."""
    if threads is None:
        return
    if threads < 1:
        raise DeviceError(f"threads must be at least 1, not {threads}.")
    torch.set_num_threads(threads)


def load_frozen(
    facts: ModelFacts,
    loader: Any,
    *,
    head: str,
    device: str,
    dtype: str,
    threads: int | None,
    **settings: Any,
) -> Any:
    """Return the model on its device, in evaluation mode and without gradients.

    Parameters and errors are those of the choices above and of :func:`read_weights`.
    """
    import torch

    place, numbers = choose_device(torch, device), choose_numbers(torch, dtype)
    choose_threads(torch, threads)
    model = read_weights(facts, loader, numbers, head=head, **settings)
    return model.to(place).eval().requires_grad_(False)


def revision_of(facts: ModelFacts) -> str:
    """Return the hub's commit, or a hash of the local files and of an adapter's base."""
    place = local_place(facts.source)
    own = facts.revision or (fingerprint(place) if place else "")
    if facts.base is None:
        return own
    both = f"{own} {revision_of(facts.base)}"
    return f"sha256:{hashlib.sha256(both.encode()).hexdigest()}"


@contextmanager
def place_of(facts: ModelFacts) -> Iterator[dict[str, Any]]:
    """Yield what tells `from_pretrained` where configuration, tokenizer and weights are.

    Those of an adapter are its base's.
    """
    facts = facts.base or facts
    if facts.quantization:
        with alone(Path(facts.source)) as place:
            yield place
    else:
        yield {
            "pretrained_model_name_or_path": facts.source,
            "revision": facts.revision,
            # A hub that did not answer a moment ago would be asked again for every file.
            "local_files_only": facts.from_cache,
        }


def read_config(facts: ModelFacts) -> Any:
    """Return the configuration of a model as transformers reads it.

    Raises :class:`WrongModelKindError` for a family that it does not know, and
    :class:`ModelFilesError` for settings that cannot be read.
    """
    from transformers import CONFIG_MAPPING, AutoConfig, __version__

    facts = facts.base or facts
    if facts.quantization:
        return copy.deepcopy(read_gguf(Path(facts.source)).config)
    if facts.family and facts.family not in CONFIG_MAPPING:
        raise WrongModelKindError(
            f"'{facts.source}' is of the family '{facts.family}', which transformers {__version__} "
            "does not know. A model's own code is never run: choose a model of a family that "
            "transformers has, or install a newer version."
        )
    try:
        with place_of(facts) as place:
            config = AutoConfig.from_pretrained(**place)
    except Exception as error:  # whatever a family's own checks of its configuration raise
        raise ModelFilesError(
            f"The configuration of '{facts.source}' cannot be read ({error}). Save the model again "
            "with a current version of transformers."
        ) from error
    if facts.family == "xmod" and config.default_language is None:
        raise ModelFilesError(
            f"The configuration of '{facts.source}' does not say which language it reads. Set "
            f"default_language in its config.json to one of {', '.join(config.languages)}."
        )
    return config


def read_tokenizer(facts: ModelFacts) -> Any:
    """Return the Hugging Face tokenizer of a model; :class:`TokenizerError`."""
    from transformers import AutoTokenizer

    if facts.base is not None and not _has_tokenizer_files(Path(facts.source)):
        return read_tokenizer(facts.base)
    _require_tokenizer_files(facts)
    try:
        if facts.base is not None:
            return AutoTokenizer.from_pretrained(facts.source, config=read_config(facts))
        if facts.quantization:
            return read_gguf_tokenizer(Path(facts.source), facts.vocabulary_size)
        with place_of(facts) as place:
            return AutoTokenizer.from_pretrained(**place)
    except Exception as error:  # the tokenizers library raises bare exceptions
        raise TokenizerError(
            f"The tokenizer of '{facts.source}' cannot be read ({_first_line(error)}). Save the "
            "model's tokenizer into its folder again."
        ) from error


def _require_tokenizer_files(facts: ModelFacts) -> None:
    # Without files, transformers makes an empty tokenizer that knows no word at all.
    folder = Path(facts.source).expanduser()
    if folder.is_dir() and not _has_tokenizer_files(folder):
        raise TokenizerError(
            f"The folder '{facts.source}' holds no tokenizer (tokenizer.json, vocab.txt, "
            "vocab.json or a sentencepiece model). Save the model's tokenizer into it."
        )


def _has_tokenizer_files(folder: Path) -> bool:
    names = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
    return any(any(folder.glob(name)) for name in names)


def read_weights(facts: ModelFacts, loader: Any, dtype: Any, *, head: str, **settings: Any) -> Any:
    """Return the model that `loader` (an AutoModel class) makes of the stored weights.

    Raises :class:`ModelFilesError` where they cannot be read and :class:`WrongModelKindError`
    where weights are missing; `head` says of what, as in ``a masked language model``. `settings`
    stand in for those of the stored configuration.
    """
    model, missing = read_what_is_stored(facts, loader, dtype, **settings)
    if missing:
        # Whatever a checkpoint lacks is filled with random numbers, which must never be scored.
        shown = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        raise WrongModelKindError(
            f"'{facts.source}' lacks {len(missing)} weights of {head} ({shown}). "
            "Choose the checkpoint with the language model's head."
        )
    return model


def read_what_is_stored(
    facts: ModelFacts, loader: Any, dtype: Any, **settings: Any
) -> tuple[Any, list[str]]:
    """Return the model, and the names of weights that are not stored and hold random numbers.

    Raises :class:`ModelFilesError` where weights cannot be read.
    """
    if facts.base is not None:
        model, missing = read_what_is_stored(facts.base, loader, dtype, **settings)
        return _merge_adapter(model, facts), missing
    if facts.quantization:
        from transformers import GgufConfig

        # Plain numbers on every device, and the configuration as it was completed.
        unpacked = GgufConfig(dequantize=True)
        settings = {"config": read_config(facts), "quantization_config": unpacked, **settings}
    try:
        with quiet_transformers(), place_of(facts) as place:
            model, report = loader.from_pretrained(
                **place, dtype=dtype, output_loading_info=True, **settings
            )
    except Exception as error:  # OS, safetensors, pickle and shape errors, all as they come
        raise ModelFilesError(
            f"The weights of '{facts.source}' cannot be loaded ({_first_line(error)}). Fetch or "
            "save the model again."
        ) from error
    of_other_shape = {
        key if isinstance(key, str) else str(key[0]) for key in report["mismatched_keys"]
    }
    return model, sorted((set(report["missing_keys"]) | of_other_shape) - _ZERO_WHEN_MISSING)


def _merge_adapter(model: Any, facts: ModelFacts) -> Any:
    """Return a model with the adapter of a folder in its weights; :class:`ModelFilesError`."""
    import peft

    try:
        config = peft.PeftConfig.from_pretrained(facts.source)
        stored = peft.utils.load_peft_weights(facts.source, device="cpu")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is missing or left over is looked for here
            adapted = peft.get_peft_model(model, config, autocast_adapter_dtype=False)
            result: Any = peft.set_peft_model_state_dict(adapted, stored)
        unused = list(result.unexpected_keys)
        unfilled = [name for name in result.missing_keys if ".lora_" in name]
        if unused or unfilled:
            raise ValueError(f"no place for {unused[:3]}, nothing for {unfilled[:3]}")
        return adapted.merge_and_unload()
    except Exception as error:  # OS, safetensors, pickle, shape and module errors
        raise ModelFilesError(
            f"The adapter in '{facts.source}' cannot be merged into its base "
            f"'{facts.base.source if facts.base else ''}' ({_first_line(error)}). Name the base "
            "that it was trained on in its adapter_config.json, or fetch it again."
        ) from error


class BodyLoader:
    """Loads the models of a family without a head; a pooler that one lacks is of no use here."""

    def __init__(self, family: str) -> None:
        self._name = ENCODER_HALVES.get(family, "AutoModel")

    def from_pretrained(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        import transformers

        model, report = getattr(transformers, self._name).from_pretrained(**kwargs)
        kept = [key for key in report["missing_keys"] if "pooler" not in key]
        return model, {**report, "missing_keys": kept}


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep transformers' progress bars and reports out of a worker's log meanwhile."""
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
