"""The language models that this process has in memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from django.conf import settings

from probing.models import LanguageModel, ModelSource

if TYPE_CHECKING:
    from probing.lm.masked import MaskedLanguageModel

# Two, so that two runs can take turns; each may fill gigabytes.
CAPACITY = 2


@dataclass(frozen=True)
class LoadedModel:
    """A model that is ready to compute.

    Attributes
    ----------
    revision : the hub's commit, or a hash of the files in a local folder.
    device : as pages print it, such as ``cpu, float32``.
    """

    lm: MaskedLanguageModel
    revision: str
    device: str


_loaded: OrderedDict[tuple[object, ...], LoadedModel] = OrderedDict()
_lock = Lock()


def load_model(model: LanguageModel) -> LoadedModel:
    """Return ``model`` in memory, loading it at most once a process while it is in use.

    Device, number format and threads come from the settings. Raises the errors of
    :func:`probing.lm.load_masked`.
    """
    key = (
        model.source,
        model.location,
        model.revision,
        _stamp(model),
        settings.MODEL_DEVICE,
        settings.MODEL_DTYPE,
        settings.MODEL_THREADS,
    )
    with _lock:  # held while loading: a second thread waits instead of loading it again
        if key not in _loaded:
            while len(_loaded) >= CAPACITY:
                _loaded.popitem(last=False)
            _loaded[key] = _load(model)
        _loaded.move_to_end(key)
        return _loaded[key]


def _load(model: LanguageModel) -> LoadedModel:
    from probing.lm import load_masked

    lm = load_masked(
        model.location,
        revision=model.revision or None,
        device=settings.MODEL_DEVICE,
        dtype=settings.MODEL_DTYPE,  # type: ignore[arg-type] # checked by load_masked
        threads=settings.MODEL_THREADS,
    )
    return LoadedModel(lm=lm, revision=lm.revision, device=f"{lm.device}, {settings.MODEL_DTYPE}")


def _stamp(model: LanguageModel) -> tuple[tuple[str, int, int], ...]:
    """Return names, sizes and times of a local model's files, so that a rewritten one is reread."""
    if model.source != ModelSource.PATH:
        return ()
    folder = Path(model.location).expanduser()
    if not folder.is_dir():
        return ()
    return tuple(
        (file.name, file.stat().st_size, file.stat().st_mtime_ns)
        for file in sorted(folder.iterdir())
        if file.is_file()
    )
