"""GGUF files, the format of llama.cpp: what their headers say, and which are read right.

transformers reads them and unpacks their weights to plain numbers. It checks little: what it would
leave out without a word is looked for here, and added or refused.
"""

from __future__ import annotations

import copy
import json
import mmap
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from probing.lm.errors import ModelFilesError, WrongModelKindError

_MAGIC = b"GGUF"
#: Kinds of values in a header, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
_NUMBERS = dict(zip((*range(8), 10, 11, 12), "BbHhIif?Qqd", strict=True))
_TEXT, _LIST = 8, 9
#: Rules by which texts are cut before they become tokens: GPT-2's, and those that differ from it
#: in keeping digits apart, which changes nothing if no token joins them.
_CUT_AS_GPT2 = frozenset({"gpt-2", "smollm", "starcoder", "refact", "codeshell"})
#: Divisors of rotary frequencies, stored as a tensor by Llama 3.1 and later.
_DIVISORS = "rope_freqs.weight"


@dataclass(frozen=True)
class GgufFile:
    """What is known of a GGUF file before its weights are read.

    Attributes
    ----------
    config : the configuration that transformers makes of the header, completed.
    n_weights : how many weights there are.
    quantization : such as ``Q4_K_M (Q4_K, Q6_K, F32)``.
    """

    config: Any
    n_weights: int
    quantization: str


def is_gguf(path: Path) -> bool:
    """Whether a path is a GGUF file, by its name or its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return path.suffix.lower() == ".gguf" or file.read(len(_MAGIC)) == _MAGIC


def read_gguf(path: Path) -> GgufFile:
    """Return what a GGUF file's header says. Takes seconds the first time.

    Raises
    ------
    ModelFilesError
        The file is damaged or cut short, or the package gguf is missing.
    WrongModelKindError
        transformers does not read it, or would read other numbers than llama.cpp.
    """
    stat = path.stat()
    return _read(path, stat.st_size, stat.st_mtime_ns)


@contextmanager
def alone(path: Path) -> Iterator[dict[str, str]]:
    """Yield where `from_pretrained` finds a GGUF file, away from files that lie beside it."""
    import gguf

    gguf.GGUFReader = _quick_reader()  # type: ignore[assignment,misc]  # where transformers looks for it
    with TemporaryDirectory() as folder:
        link = Path(folder) / "model.gguf"
        link.symlink_to(path.resolve())
        yield {"pretrained_model_name_or_path": folder, "gguf_file": link.name}


@lru_cache(maxsize=1)
def _quick_reader() -> type:
    """The package's reader of headers without numpy's overhead for each of a million small values.

    It is asked three times for a model: 3.5 instead of 12.6 s for 262,144 tokens.
    """
    import gguf
    import numpy as np

    class QuickReader(gguf.gguf_reader.GGUFReader):
        def _get(
            self, offset: int, dtype: Any, count: int = 1, override_order: Any = None
        ) -> np.ndarray[Any, Any]:
            ordered = np.dtype(dtype).newbyteorder(override_order or self.byte_order)
            return np.frombuffer(self.data, ordered, int(count), int(offset))

    return QuickReader


def read_gguf_tokenizer(path: Path, n_tokens: int | None) -> Any:
    """Return the tokenizer of a GGUF file, which the caller may change.

    Takes seconds the first time. Raises whatever transformers stumbles over.
    """
    stat = path.stat()
    return copy.deepcopy(_read_tokenizer(path, n_tokens, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _read_tokenizer(path: Path, n_tokens: int | None, _size: int, _changed: int) -> Any:
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    with alone(path) as place:
        tokenizer = AutoTokenizer.from_pretrained(**place)
    if n_tokens is None or len(tokenizer) <= n_tokens:
        return tokenizer
    # Tokenizers of bytes are built as GPT-2's, with its end token, which other models don't have.
    stored = json.loads(tokenizer.backend_tokenizer.to_str())
    stored["added_tokens"] = [one for one in stored["added_tokens"] if one["id"] < n_tokens]
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(stored)),
        chat_template=tokenizer.chat_template,
        **tokenizer.special_tokens_map,
    )


class _Header:
    """Values by name, of lists their length alone; tensors by name: type, numbers, first byte."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data, self._at = data, len(_MAGIC)
        if data[: self._at] != _MAGIC:
            raise ValueError("not a GGUF file")
        _version, n_tensors, n_values = self._take("IQQ")
        self.values = {self._text(): self._value(*self._take("I")) for _ in range(n_values)}
        self.tensors: dict[str, tuple[int, int, int]] = {}
        for _ in range(n_tensors):
            name, (n_dimensions,) = self._text(), self._take("I")
            count = prod(self._take(f"{n_dimensions}Q"))
            kind, start = self._take("IQ")
            self.tensors[name] = kind, count, start
        aligned = self.values.get("general.alignment", 32)
        self.data_start = -(-self._at // aligned) * aligned

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def _text(self) -> str:
        (length,) = self._take("Q")
        (found,) = self._take(f"{length}s")
        return str(found, "utf-8")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind != _LIST:
            return self._take(_NUMBERS[kind])[0]
        inner, length = self._take("IQ")
        if inner in _NUMBERS:
            self._at += length * struct.calcsize(f"<{_NUMBERS[inner]}")
        else:
            for _ in range(length):
                self._value(inner)
        return length


@lru_cache(maxsize=4)
def _read(path: Path, size: int, _changed: int) -> GgufFile:
    try:
        import gguf
    except ImportError as error:
        raise ModelFilesError(
            f"'{path}' is a GGUF file, and the package gguf is not installed here. Install it (pip "
            "install gguf)."
        ) from error
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            header = _Header(data)
            end = header.data_start
            for kind, count, start in header.tensors.values():
                n_values, n_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(kind)]
                end = max(end, header.data_start + start + count // n_values * n_bytes)
            if end > size:
                raise ValueError(f"it has {size:,} bytes of {end:,}")
            divisors: tuple[float, ...] = ()
            if _DIVISORS in header.tensors:
                _, count, start = header.tensors[_DIVISORS]
                divisors = struct.unpack_from(f"<{count}f", data, header.data_start + start)
    except (struct.error, ArithmeticError, LookupError, OSError, ValueError) as error:
        raise ModelFilesError(
            f"The GGUF file '{path}' is damaged or was not copied whole ({error}). Fetch it again."
        ) from error
    weights: Counter[str] = Counter()
    for kind, count, _ in header.tensors.values():
        weights[gguf.GGMLQuantizationType(kind).name] += count
    kinds = ", ".join(name for name, _ in weights.most_common())
    with suppress(ValueError):  # files may state a mixture that the package does not name
        stated = gguf.LlamaFileType(header.values.get("general.file_type", -1)).name
        mixture = stated.removeprefix("ALL_").removeprefix("MOSTLY_")
        kinds = kinds if mixture == kinds else f"{mixture} ({kinds})"
    return GgufFile(_read_config(path, header, divisors), weights.total(), kinds)


def _read_config(path: Path, header: _Header, divisors: tuple[float, ...]) -> Any:
    """Return transformers' configuration with what it leaves out; raise if it would be wrong."""
    from transformers import AutoConfig
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS
    from transformers.models.auto import modeling_auto

    values = header.values
    architecture = str(values.get("general.architecture"))
    if (parts := values.get("split.count", 1)) > 1:
        raise WrongModelKindError(
            f"'{path}' is one of {parts} parts of a model. Join them: llama-gguf-split --merge "
            "FIRST_PART WHOLE."
        )
    try:
        with alone(path) as place:
            config = AutoConfig.from_pretrained(**place)
    except Exception as error:  # whatever the reader stumbles over
        raise _unread(path, f"its architecture is '{architecture}' ({error})") from error
    cut = values.get("tokenizer.ggml.pre", "gpt-2" if architecture == "gpt2" else "none")
    if values.get("tokenizer.ggml.model") == "gpt2" and not (
        cut in _CUT_AS_GPT2 or cut in GGUF_PRE_TOKENIZER_SPLITS
    ):
        raise _unread(path, f"its rule for cutting texts into tokens is '{cut}'")
    scaled = values.get(f"{architecture}.rope.scaling.type", "none")
    if scaled != "none" or any(name.startswith("rope_factors") for name in header.tensors):
        raise _unread(path, f"its rotary positions are scaled ('{scaled}')")
    if divisors:
        # The one kind of positions in transformers that takes each frequency's divisor as it is.
        longest = config.max_position_embeddings
        config.rope_parameters = {
            "rope_type": "longrope",
            "rope_theta": config.rope_parameters["rope_theta"],
            "short_factor": list(divisors),
            "long_factor": list(divisors),
            "attention_factor": 1.0,
            "factor": 1.0,
            "original_max_position_embeddings": longest,
        }
    if not config.architectures:
        heads = (
            modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
            modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        )
        config.architectures = [one[config.model_type] for one in heads if config.model_type in one]
    return config


def _unread(path: Path, what: str) -> WrongModelKindError:
    return WrongModelKindError(
        f"The GGUF file '{path}' can't be used: {what}, which transformers does not read. Name the "
        "model that it was made from, as a folder or hub id."
    )
