"""The language models that this process has in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.conf import settings

from probing.models import LanguageModel, ModelKind, ModelSource, Run
from probing.runs.chat_budget import RunBudget
from probing.runs.fitting import explain_lack, explain_misfit

if TYPE_CHECKING:
    from probing.lm.chat import ChatModel
    from probing.lm.chat_limits import Pacer

# Two, so that two runs can take turns; each may fill gigabytes.
CAPACITY = 2
#: What is asked of a model where a caller names nothing.
SLOT = frozenset({"slot"})
_TEXT_ABILITIES = frozenset({"generate", "text_logprob", "span"})
#: What a run's record holds.
_DEVICE_LENGTH = 60
_REVISION_LENGTH = 80


@dataclass(frozen=True)
class LoadedModel:
    """A model that is ready to compute.

    Attributes
    ----------
    lm : what :mod:`probing.lm` gives for the abilities that were asked for.
    revision : the hub's commit, or a hash of the files in a local folder.
    device : as pages print it, such as ``cpu, float32``.
    """

    lm: Any
    revision: str
    device: str


_loaded: OrderedDict[tuple[object, ...], LoadedModel] = OrderedDict()
#: One pace for each server, whichever of its models are asked.
_pacers: dict[str, Pacer] = {}
_lock = Lock()


def load_model(
    model: LanguageModel, abilities: AbstractSet[str] = SLOT, *, run: Run | None = None
) -> LoadedModel:
    """Return ``model`` ready for what is asked of it, loading it at most once while in use.

    Device, number format and threads come from the settings. A chat model has nothing to load;
    what it spends counts for ``run``.

    Raises the errors of :func:`probing.lm.load_masked` and :func:`probing.lm.load_text_model`, and
    :class:`probing.lm.WrongModelKindError` where the model cannot do what is asked.
    """
    _require_fit(model, abilities)
    if model.kind == ModelKind.CHAT:
        chat = _open_chat(model, run)
        return LoadedModel(
            lm=chat,
            revision=chat.revision[:_REVISION_LENGTH],
            device=chat.device[:_DEVICE_LENGTH],
        )
    text = bool(abilities & _TEXT_ABILITIES)
    key = (
        text,
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
            _loaded[key] = _load(model, text=text)
        _loaded.move_to_end(key)
        found = _loaded[key]
    if text:
        _require_abilities(model, abilities, found.lm.abilities)
    return found


def load_facts(
    model: LanguageModel, abilities: AbstractSet[str] = SLOT, *, title: str = "This measure"
) -> Any:
    """Return what a dry run needs to know of ``model``: its tokenizer, without the weights.

    ``title`` names who asks, for messages. For a chat model nothing is asked of its server.
    Raises the errors of :func:`load_model`, except those that concern the weights.
    """
    _require_fit(model, abilities, title)
    if model.kind == ModelKind.CHAT:
        from probing.lm.chat import ChatFacts

        return ChatFacts(model.served_name)
    from probing.lm import load_text_tokenizer
    from probing.lm.slot_loading import load_slot_tokenizer

    revision = model.revision or None
    if not abilities & (_TEXT_ABILITIES | {"train"}):
        return load_slot_tokenizer(model.location, revision=revision)
    facts = load_text_tokenizer(model.location, revision=revision)
    _require_abilities(model, abilities, facts.abilities)
    return facts


def _require_fit(
    model: LanguageModel, abilities: AbstractSet[str], title: str = "This measure"
) -> None:
    from probing.lm.errors import WrongModelKindError

    if message := explain_misfit(title=title, abilities=abilities, model=model):
        raise WrongModelKindError(message)


def _require_abilities(
    model: LanguageModel, abilities: AbstractSet[str], has: AbstractSet[str]
) -> None:
    from probing.lm.errors import WrongModelKindError

    if message := explain_lack(abilities=abilities, has=has, name=model.name):
        raise WrongModelKindError(message)


def _load(model: LanguageModel, *, text: bool) -> LoadedModel:
    from probing.lm import load_text_model
    from probing.lm.slot_loading import load_slot_model

    load: Any = load_text_model if text else load_slot_model
    lm = load(
        model.location,
        revision=model.revision or None,
        device=settings.MODEL_DEVICE,
        dtype=settings.MODEL_DTYPE,  # checked by the loader
        threads=settings.MODEL_THREADS,
    )
    return LoadedModel(lm=lm, revision=lm.revision, device=f"{lm.device}, {settings.MODEL_DTYPE}")


def _open_chat(model: LanguageModel, run: Run | None) -> ChatModel:
    from probing.lm.chat import ChatModel
    from probing.lm.chat_limits import ChatLimits, Pacer

    limits = ChatLimits(
        requests_per_minute=settings.CHAT_REQUESTS_PER_MINUTE,
        concurrency=settings.CHAT_CONCURRENCY,
        timeout_seconds=settings.CHAT_TIMEOUT_SECONDS,
        attempts=settings.CHAT_ATTEMPTS,
    )
    with _lock:
        pacer = _pacers.setdefault(model.location, Pacer(limits.requests_per_minute))
    return ChatModel(
        model.location,
        model.served_name,
        key_variable=model.key_variable,
        limits=limits,
        budget=None if run is None else RunBudget(run.pk),
        pacer=pacer,
    )


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
