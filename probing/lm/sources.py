"""Facts of a model from its configuration alone: no weights, and no torch but for GGUF files.

A source is a local folder, a GGUF file or a hub id. They are looked at through ``config.json`` or
the file's header, so that a wrong model is refused before gigabytes are read.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from probing.lm.errors import ModelFilesError, ModelNotFoundError, WrongModelKindError
from probing.lm.families import MASKED_FAMILIES
from probing.lm.gguf_files import is_gguf, read_gguf

ModelKind = Literal["masked", "causal", "seq2seq", "classifier", "encoder", "multimodal", "unknown"]

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
#: A safetensors file opens with the length of its JSON header; longer ones are damaged files.
_LONGEST_HEADER = 100_000_000
#: What Git LFS leaves in place of a large file, and patterns of the files of a model.
_POINTER = b"version https://git-lfs.github.com/spec/"
_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")
#: Seconds to wait for the hub; a page that checks a model should not hang for longer.
_HUB_TIMEOUT = 10

#: Ends of architecture names that tell what a checkpoint's head is made for.
_KINDS: tuple[tuple[str, ModelKind], ...] = (
    ("ForMaskedLM", "masked"),
    ("ForCausalLM", "causal"),
    ("ForConditionalGeneration", "seq2seq"),
    ("T5WithLMHeadModel", "seq2seq"),
    ("MTModel", "seq2seq"),
    ("EncoderDecoderModel", "unknown"),
    ("FlaubertWithLMHeadModel", "masked"),
    ("XLMWithLMHeadModel", "masked"),
    ("LMHeadModel", "causal"),
    ("ModelWithLMHead", "causal"),
    ("BertGenerationDecoder", "causal"),
    ("Classification", "classifier"),
    ("ForQuestionAnswering", "classifier"),
    ("Model", "encoder"),
)
#: Pretraining checkpoints that hold a masked language model's head among others.
_PRETRAINING_WITH_MASKED_HEAD = frozenset({"BertForPreTraining", "AlbertForPreTraining"})
#: Published without a head of their own, because it shares the weights of the embeddings.
_SEQ2SEQ_WITHOUT_HEAD = frozenset({"BartModel", "T5Model"})
#: Families whose positions are relative, so that no text is too long for them; whatever number of
#: positions their configurations state is the length that they were trained on.
_UNBOUNDED = frozenset({"t5", "mt5", "umt5", "longt5", "bloom"})


#: The file that says what an adapter is and belongs to, and kinds of models by its tasks.
_ADAPTER = "adapter_config.json"
#: Where older versions of sentence-transformers keep the encoder.
_SENTENCES = "0_Transformer"
_TASKS: dict[Any, ModelKind] = {
    "CAUSAL_LM": "causal",
    "SEQ_2_SEQ_LM": "seq2seq",
    "SEQ_CLS": "classifier",
}
#: Methods of quantizing → what reading such weights takes.
_QUANTIZED = {
    "bitsandbytes": "the package bitsandbytes, usually with a CUDA GPU",
    "gptq": "the package gptqmodel, usually with a CUDA GPU",
    "awq": "the package gptqmodel, usually with a CUDA GPU",
    "fp8": "a GPU that computes in FP8",
    "mxfp4": "a GPU and the package kernels",
}
#: Positions are reserved up to the padding token, which is among the first where they are.
_FEW = 8


@dataclass(frozen=True)
class ModelFacts:
    """What the configuration says about a model.

    Attributes
    ----------
    kind : what the checkpoint's head is made for, ``unknown`` where the configuration is silent.
    family : the configuration's ``model_type``, such as ``bert``; empty where it is missing.
    parameter_count : number of stored weights, None where the files do not tell.
    vocabulary_size, hidden_size : sizes of the output layer, None where they are not stated.
    max_length : the most tokens read at once, special tokens included, None where it is not
        stated or not bounded (relative positions, as in T5).
    revision : the hub's commit hash, None for a local folder.
    decoder_start : the token that a decoder begins with, None where it is not stated.
    from_cache : the hub did not answer, and what it gave earlier is used.
    labels : names of a text classifier's outputs in their order, empty for all other models.
    architecture : name of the head's class in transformers, empty where it is missing.
    own_code : whether the checkpoint brings code of its own, which is never run.
    switch_length : inputs of more tokens are read with other positions (longrope's long factors),
        so that none of them shares a pass or a cached beginning with shorter ones; None where
        there is no such length.
    quantization : of a GGUF file, such as ``Q4_K_M (Q4_K, Q6_K, F32)``; empty for other models.
    base : the model that the LoRA adapter in the folder is merged into; None for other models.
    """

    source: str
    kind: ModelKind
    family: str
    parameter_count: int | None
    vocabulary_size: int | None
    hidden_size: int | None
    max_length: int | None
    revision: str | None
    from_cache: bool = False
    decoder_start: int | None = None
    labels: tuple[str, ...] = ()
    switch_length: int | None = None
    quantization: str = ""
    architecture: str = ""
    own_code: bool = False
    base: ModelFacts | None = None

    @property
    def form(self) -> str:
        """How the weights are stored and read, in words; empty if they are read as stored."""
        if self.base is not None:
            inner = f" ({self.base.form})" if self.base.form else ""
            return f"LoRA adapter, merged into '{self.base.source}' when loaded{inner}"
        if self.quantization:
            return (
                f"GGUF, {self.quantization}; unpacked when loaded, so that speed and memory are "
                "those of the unpacked model"
            )
        return ""


def inspect_model(source: str | Path, revision: str | None = None) -> ModelFacts:
    """Return the facts of the model at `source` from its configuration, without its weights.

    Parameters
    ----------
    source : a folder with ``config.json`` or a LoRA adapter, a GGUF file, a folder with one, or
        a hub id such as ``bert-base-cased``. The hub is asked once; where it does not answer, a
        model that was fetched before is used.
    revision : branch, tag or commit of a hub id; not used for a folder.

    Raises
    ------
    ModelNotFoundError
        No such folder, no configuration in it, or the hub id cannot be reached.
    ModelFilesError
        The configuration is there but cannot be read, or a file is a pointer of Git LFS.
    WrongModelKindError
        A GGUF file that transformers does not read, an adapter that does not fit its base, or
        weights that are quantized for another device or package.
    """
    place = local_place(source)
    if place is not None:
        _refuse_pointers([place] if place.is_file() else _files(place))
    if place is not None and place.is_file():
        file = read_gguf(place)
        facts = _facts(str(place), file.config.to_dict(), file.n_weights, None)
        return replace(facts, quantization=file.quantization)
    if place is not None and (base := base_of(place)) is not None:
        return _adapter_facts(place, base)
    if place is not None:
        config = _read_config(place / "config.json")
        return _facts(str(source), config, _count_stored(place), None)
    found = _fetch_from_hub(str(source), revision)
    facts = _facts(str(source), _read_config(found.config), found.parameter_count, found.commit)
    return replace(facts, from_cache=found.from_cache)


def fingerprint(place: Path) -> str:
    """Return ``sha256:…`` over configuration, tokenizer and weights in a folder, or over a file.

    It stands where a hub model has its commit: two folders with the same files share it,
    whatever they are called. Reads every file once, about a second for half a gigabyte.
    """
    if place.is_file():
        with place.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    digest = hashlib.sha256()
    for path in _files(place):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


def _files(folder: Path) -> list[Path]:
    return sorted({path for pattern in _FILES for path in folder.glob(pattern)})


def _refuse_pointers(paths: list[Path]) -> None:
    for path in paths:
        with path.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                raise ModelFilesError(
                    f"'{path}' is a Git LFS pointer, {path.stat().st_size} bytes; run git lfs pull "
                    "in its folder to fetch the file itself."
                )


def local_place(source: str | Path) -> Path | None:
    """Return the folder or the GGUF file that `source` names, None where it reads as a hub id.

    A folder with one GGUF file and no other weights stands for that file, and a folder that an
    older sentence-transformers wrote for the encoder in it. Raises
    :class:`ModelNotFoundError` for a path that does not exist or holds no model.
    """
    text = str(source).strip()
    if not text:
        raise ModelNotFoundError("No model given. Name a local folder or a hub id.")
    place = Path(text).expanduser()
    if place.is_dir():
        files = sorted(place.glob("*.gguf"))
        if any(any(place.glob(name)) for name in ("*.safetensors", "*.bin")):
            files = []
        if len(files) > 1:
            raise ModelNotFoundError(
                f"The folder '{text}' holds {len(files)} GGUF files "
                f"({', '.join(file.name for file in files)}). Name the one to use."
            )
        if files:
            return files[0]
        if (place / _SENTENCES / "config.json").is_file() and not (place / "config.json").is_file():
            return place / _SENTENCES
        if not any((place / name).is_file() for name in ("config.json", _ADAPTER)):
            raise ModelNotFoundError(
                f"The folder '{text}' holds no config.json, so it is not a saved model. Name the "
                "folder that save_pretrained wrote, with config.json, weights and tokenizer."
            )
        return place
    if is_gguf(place):
        return place
    if place.exists():
        raise ModelNotFoundError(
            f"'{text}' is a file. Name the folder that holds the model, not one of its files; only "
            "a GGUF file is a model by itself."
        )
    if isinstance(source, Path) or not _HUB_ID.fullmatch(text) or text.startswith("."):
        raise ModelNotFoundError(
            f"There is no folder '{text}'. Check the path, or give a hub id such as "
            "'bert-base-cased'."
        )
    return None


def base_of(place: Path) -> str | None:
    """Return what the adapter in a folder names as its base; None for models without one.

    A path that leads somewhere from the adapter's folder is taken from there.
    """
    stored = place / _ADAPTER
    if not stored.is_file() or (place / "config.json").is_file():
        return None
    named = str(_read_config(stored).get("base_model_name_or_path") or "")
    return str(place / named) if named and (place / named).exists() else named


def _adapter_facts(place: Path, named: str) -> ModelFacts:
    stated = _read_config(place / _ADAPTER)
    advice = f"Enter the folder of its base as base_model_name_or_path in its {_ADAPTER}."
    if (kind := stated.get("peft_type")) != "LORA":
        raise WrongModelKindError(
            f"The adapter in '{place}' is of the kind '{kind}'; only LORA can be merged."
        )
    if base_of(Path(named)) is not None:
        raise WrongModelKindError(f"The base of the adapter in '{place}' is an adapter. {advice}")
    try:
        base = inspect_model(named, stated.get("revision"))
    except ModelNotFoundError as error:
        raise ModelNotFoundError(
            f"The base of the adapter in '{place}' is missing: {error} {advice}"
        ) from error
    wanted = _TASKS.get(stated.get("task_type"), base.kind)
    if base.kind != wanted:
        raise WrongModelKindError(
            f"The adapter in '{place}' belongs to a model of the kind '{wanted}', and its base "
            f"'{named}' is of the kind '{base.kind}'. {advice}"
        )
    return replace(base, source=str(place), revision=None, quantization="", base=base)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFilesError(
            f"The configuration '{path}' cannot be read ({error}). Fetch or save the model again."
        ) from error
    if not isinstance(config, dict):
        raise ModelFilesError(
            f"The configuration '{path}' is not a JSON object. Fetch or save the model again."
        )
    return config


def _facts(
    source: str, config: dict[str, Any], parameter_count: int | None, revision: str | None
) -> ModelFacts:
    family = str(config.get("model_type") or "")
    architectures = list(map(str, config.get("architectures") or []))
    kind = _kind(architectures, family, causal=bool(config.get("causal")))
    if _reads_more_than_text(config):
        kind = "multimodal"
    if quantized := config.get("quantization_config"):
        method = str(quantized.get("quant_method") or "bitsandbytes")
        raise WrongModelKindError(
            f"The weights of '{source}' are quantized ({method}) and need "
            f"{_QUANTIZED.get(method, 'a package of their own')}. Choose the model with plain "
            "weights, or a GGUF file of it, which every machine reads."
        )
    return ModelFacts(
        source=source,
        kind=kind,
        family=family,
        parameter_count=parameter_count,
        vocabulary_size=_whole(config, "vocab_size"),
        hidden_size=_whole(config, "hidden_size", "dim", "n_embd", "d_model"),
        max_length=_max_length(config, family, masked=kind in ("masked", "encoder")),
        revision=revision,
        decoder_start=_decoder_start(config),
        labels=_labels(config),
        switch_length=_switch_length(config),
        architecture=", ".join(architectures),
        own_code="auto_map" in config,
    )


def _kind(architectures: list[str], family: str, *, causal: bool) -> ModelKind:
    for architecture in architectures:
        if causal and architecture == "XLMWithLMHeadModel":
            return "causal"
        if architecture in _PRETRAINING_WITH_MASKED_HEAD:
            return "masked"
        if architecture in _SEQ2SEQ_WITHOUT_HEAD:
            return "seq2seq"
        for ending, kind in _KINDS:
            if architecture.endswith(ending):
                return kind
    # Some published encoders state no architecture; whether a head is there shows on loading.
    return "masked" if not architectures and family in MASKED_FAMILIES else "unknown"


def _reads_more_than_text(config: dict[str, Any]) -> bool:
    """Whether a model has parts for images or sound beside the one for texts."""
    return any(isinstance(config.get(f"{part}_config"), dict) for part in ("vision", "audio"))


def _labels(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the outputs of a head that classifies whole texts."""
    if not any(
        str(name).endswith("ForSequenceClassification")
        for name in config.get("architectures") or []
    ):
        return ()
    named = config.get("id2label") or {}
    number = len(named) or _whole(config, "num_labels", "_num_labels") or 2
    return tuple(str(named.get(str(place), f"LABEL_{place}")) for place in range(number))


def _max_length(config: dict[str, Any], family: str, *, masked: bool) -> int | None:
    if family in _UNBOUNDED:
        return None
    positions = _whole(config, "max_position_embeddings", "n_positions")
    for rope in _ropes(config):
        trained = _whole(rope, "original_max_position_embeddings")
        if positions and trained and _rope_type(rope) == "dynamic":
            # Beyond it, positions depend on the longest text that was read before.
            positions = min(positions, trained)
    entry = MASKED_FAMILIES.get(family)
    padding = config.get("pad_token_id")
    padding = 1 if padding is None else int(padding)
    # A family without an entry may reserve them: two positions less are no loss.
    offset = entry.offset_positions if entry else masked and padding <= _FEW
    return positions - padding - 1 if positions is not None and offset else positions


def _switch_length(config: dict[str, Any]) -> int | None:
    """Return the length up to which longrope's short factors hold (Ding et al. 2024)."""
    names = ("original_max_position_embeddings", "max_position_embeddings")
    found = [_whole({**config, **rope}, *names) for rope in _ropes(config) if "long_factor" in rope]
    return min((length for length in found if length), default=None)


def _ropes(config: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of rotary positions, of all kinds of layers that have their own."""
    found = [config.get(name) for name in ("rope_parameters", "rope_scaling")]
    stated = [one for one in found if isinstance(one, dict)]
    return stated + [one for rope in stated for one in rope.values() if isinstance(one, dict)]


def _rope_type(rope: dict[str, Any]) -> str:
    return str(rope.get("rope_type") or rope.get("type") or "")


def _whole(config: dict[str, Any], *names: str) -> int | None:
    """Return the first of the named values that is a whole number."""
    return next((config[name] for name in names if type(config.get(name)) is int), None)


def _decoder_start(config: dict[str, Any]) -> int | None:
    """Return the token that is stated, or with which a decoder that is described apart begins."""
    apart = config.get("decoder")
    begins = _whole(apart, "bos_token_id") if isinstance(apart, dict) else None
    stated = _whole(config, "decoder_start_token_id")
    return begins if stated is None else stated


def _count_stored(folder: Path) -> int | None:
    """Return the number of floating-point weights in the folder's safetensors files."""
    files = sorted(folder.glob("*.safetensors"))
    try:
        return sum(map(_count_in_header, files)) if files else None
    except (OSError, ValueError, KeyError, AttributeError):
        # A damaged file is reported when the weights are loaded; the facts just lack the count.
        return None


def _count_in_header(path: Path) -> int:
    """Return the number of weights that a safetensors file's JSON header lists."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))
        if not 0 < length <= _LONGEST_HEADER:
            raise ValueError("not a safetensors file")
        header = json.loads(file.read(length))
    return sum(
        math.prod(entry["shape"])
        for name, entry in header.items()
        # Old checkpoints also store position numbers, which are whole numbers and no weights.
        if name != "__metadata__" and "F" in entry["dtype"]
    )


@dataclass(frozen=True)
class _HubModel:
    """A model's configuration in the hub's local cache, and what the hub says about it."""

    config: Path
    parameter_count: int | None
    commit: str | None
    from_cache: bool


def _fetch_from_hub(hub_id: str, revision: str | None) -> _HubModel:
    """Ask the hub once, briefly; where it cannot be reached, use what was fetched before."""
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    where = f"'{hub_id}'" + (f" at revision '{revision}'" if revision else "")
    try:
        listed = HfApi().model_info(hub_id, revision=revision, timeout=_HUB_TIMEOUT)
    except (HfHubHTTPError, HFValidationError) as error:
        raise ModelNotFoundError(
            f"There is no local folder '{hub_id}', and the hub gives no model {where} "
            f"({type(error).__name__}). Check the spelling and the revision; a private or gated "
            "model needs a token in HF_TOKEN."
        ) from error
    except Exception:  # no route, no name, time out, offline mode: each its own type
        listed = None
    try:
        # By branch, not by the commit just learned: this is what notes in the cache which commit
        # the branch stands for, and so lets the model be found when the hub is away.
        config = Path(
            hf_hub_download(
                hub_id, "config.json", revision=revision, local_files_only=listed is None
            )
        )
    except LocalEntryNotFoundError as error:
        raise ModelNotFoundError(
            f"There is no local folder '{hub_id}', and the model hub cannot be reached to look "
            f"{where} up. Check the path or the network, or download the model on another "
            "machine and name its folder."
        ) from error
    except EntryNotFoundError as error:
        raise ModelNotFoundError(
            f"The hub has {where}, but it holds no config.json, so it is not a transformers model."
        ) from error
    except Exception as error:  # the connection broke between the two requests
        raise ModelNotFoundError(
            f"The hub has {where}, but its configuration could not be fetched "
            f"({type(error).__name__}). Try again; a gated model needs a token in HF_TOKEN."
        ) from error
    # The cache keeps files under a folder that is named by their commit.
    commit = config.parent.name if _COMMIT.fullmatch(config.parent.name) else None
    count = listed.safetensors.total if listed and listed.safetensors else None
    return _HubModel(config, count, commit, from_cache=listed is None)
