"""The language models that this process has in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from probing.lm.errors import (
    AccessDeniedError,
    ModelNotFoundError,
    SpendCapError,
    WrongModelKindError,
)
from probing.lm.sources import base_of
from probing.models import LanguageModel, ModelKind, ModelSource, Run
from probing.runs.errors import RunError
from probing.runs.model_access import check_folder, check_key
from probing.runs.model_compatibility import compatibility_error, explain_lack
from probing.runs.prices import find_cap, price_run, show_price

if TYPE_CHECKING:
    from probing.lm.chat import ChatModel
    from probing.lm.chat_limits import Pacer
    from probing.lm.server_answers import AnswerStore


class RunBudget:
    """A run's budget, kept with the run so that all workers and attempts count together.

    Requests that are under way when the budget is used up still count: the sum may exceed it by
    as many answers as are asked for at a time.
    """

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id

    def require(self) -> None:
        """Raise :class:`probing.lm.errors.SpendCapError` if nothing is left. One query."""
        run = Run.objects.select_related("model").get(pk=self._run_id)
        spent = run.tokens_spent
        cap, money = find_cap(run.model), price_run(run)
        if cap is not None and money is not None and money >= cap:
            currency = run.model.price_currency
            raise SpendCapError(
                f"The run has spent {show_price(money, currency)}, and CHAT_MONEY_PER_RUN allows "
                f"{show_price(cap, currency)}. Raise it for the workers and resume the run, or "
                "create a smaller one."
            )
        if spent >= settings.CHAT_TOKENS_PER_RUN:
            raise SpendCapError(
                f"The run has spent {spent:,} tokens, and CHAT_TOKENS_PER_RUN allows "
                f"{settings.CHAT_TOKENS_PER_RUN:,}. Raise it for the workers and resume the run, "
                "or create a smaller one."
            )

    def spend(self, tokens: int, written: int = 0) -> None:
        """Count tokens, of prompts and answers together, and those written. One query."""
        Run.objects.filter(pk=self._run_id).update(
            tokens_spent=F("tokens_spent") + tokens, tokens_written=F("tokens_written") + written
        )

    def reuse(self) -> None:
        """Count an answer that was kept from before. One query."""
        Run.objects.filter(pk=self._run_id).update(answers_reused=F("answers_reused") + 1)


class RunBatches:
    """The batches of a run, kept with it so that any worker goes on with them after a kill."""

    def __init__(self, run: Run) -> None:
        self._run_id, self.owner = run.pk, run.public_id

    def find(self, call: str) -> str:
        """Return the id of the batch of a call; empty if it has none. One query."""
        known = Run.objects.values_list("batches", flat=True).get(pk=self._run_id)
        return str(known.get(call, {}).get("id", ""))

    def open(self, call: str, batch: str, requests: int) -> None:
        """Keep the batch of a call; an empty id forgets it, but not what it has cost."""
        with transaction.atomic():
            run = Run.objects.select_for_update(no_key=True).only("batches").get(pk=self._run_id)
            run.batches[call] = {**run.batches.get(call, {}), "id": batch, "requests": requests}
            run.save(update_fields=["batches"])

    def close(self, call: str, tokens: int, written: int) -> None:
        """Count what a batch has cost, once."""
        with transaction.atomic():
            runs = Run.objects.select_for_update(no_key=True)
            run = runs.only("batches", "tokens_spent", "tokens_written").get(pk=self._run_id)
            kept = run.batches[call]
            if "tokens" in kept:
                return
            kept |= {"tokens": tokens, "written": written}
            run.tokens_spent += tokens
            run.tokens_written += written
            run.save(update_fields=["batches", "tokens_spent", "tokens_written"])


# Two, so that two runs can take turns; each may fill gigabytes.
CAPACITY = 2
#: What is asked of a model where a caller names nothing.
SLOT = frozenset({"slot"})
_TEXT_ABILITIES = frozenset({"generate", "answer", "text_logprob", "span", "end_word"})
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

    Device and threads come from the settings, and the number format unless ``run`` has one of its
    own. A chat model has nothing to load; what it spends counts for ``run``.

    Raises the errors of :func:`probing.lm.load_masked` and :func:`probing.lm.load_text_model`, and
    :class:`probing.lm.WrongModelKindError` where the model cannot do what is asked.
    """
    _require_fit(model, abilities)
    if model.kind == ModelKind.CHAT:
        chat = open_chat(model, run)
        return LoadedModel(
            lm=chat, revision=chat.revision[:_REVISION_LENGTH], device=chat.device[:_DEVICE_LENGTH]
        )
    if model.source == ModelSource.PATH:
        try:
            check_folder(model.location)
        except RunError as error:
            raise ModelNotFoundError(str(error)) from None
    role, dtype = _role(abilities), settings.MODEL_DTYPE
    if run is not None and run.dtype:
        from probing.lm.weights import require_numbers

        require_numbers(settings.MODEL_DEVICE, run.dtype)
        dtype = run.dtype
    key = (
        role,
        model.source,
        model.location,
        model.revision,
        file_stamp(model),
        settings.MODEL_DEVICE,
        dtype,
        settings.MODEL_THREADS,
    )
    with _lock:  # held while loading: a second thread waits instead of loading it again
        if key not in _loaded:
            while len(_loaded) >= CAPACITY:
                _loaded.popitem(last=False)
            _loaded[key] = _load(model, role, dtype)
        _loaded.move_to_end(key)
        found = _loaded[key]
    if role != "classifier":
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
        from probing.lm.server_abilities import read_abilities

        return ChatFacts(read_abilities(model.server_abilities))
    facts = read_facts(model, facts_role(abilities))
    if message := explain_facts(model, abilities, facts, title=title):
        raise WrongModelKindError(message)
    return facts


def facts_role(abilities: AbstractSet[str]) -> str:
    """Return what a dry run reads a model as: classifier, base of one, text, or slot."""
    if "classify" in abilities:
        return "classifier"
    if "train_classifier" in abilities:
        return "base"
    return "text" if abilities & (_TEXT_ABILITIES | {"train"}) else "slot"


def read_facts(model: LanguageModel, role: str) -> Any:
    """Return a local model's tokenizer and what it tells in a role, without the weights."""
    from probing.lm import load_text_tokenizer
    from probing.lm.loaders import (
        load_classifier_tokenizer,
        load_encoder_tokenizer,
        load_slot_tokenizer,
    )
    from probing.training.classifier_weights import load_base_tokenizer

    if role == "base":
        return load_base_tokenizer(model.location, model.revision)
    loaders = {
        "classifier": load_classifier_tokenizer,
        "slot": load_slot_tokenizer,
        "text": load_text_tokenizer,
    }
    load: Any = load_encoder_tokenizer if model.kind == ModelKind.ENCODER else loaders[role]
    return load(model.location, revision=model.revision or None)


def explain_facts(
    model: LanguageModel, abilities: AbstractSet[str], facts: Any, *, title: str = "this measure"
) -> str | None:
    """Return which of the abilities a model lacks by its own tokenizer and output layer."""
    if facts_role(abilities) in ("classifier", "base"):
        return None
    if "slot" in abilities and not getattr(facts, "plain_head", True):
        return (
            f"“{model.name}” scales or caps what its output layer gives, and {title} reads "
            "that layer’s weights. Choose a model of another family."
        )
    # Masked models can do all that is asked of slots; of others the tokenizer says.
    has = getattr(facts, "abilities", abilities)
    return explain_lack(abilities=abilities, has=has, name=model.name)


def load_apart(
    model: LanguageModel, abilities: AbstractSet[str] | None = None, dtype: str = ""
) -> LoadedModel:
    """Load a local model for a trial and keep no hold of it. Raises as :func:`load_model` does."""
    role = "classifier" if model.kind == ModelKind.CLASSIFIER else "text"
    return _load(model, _role(abilities) if abilities else role, dtype or settings.MODEL_DTYPE)


def _require_fit(
    model: LanguageModel, abilities: AbstractSet[str], title: str = "This measure"
) -> None:
    if message := compatibility_error(title=title, abilities=abilities, model=model):
        raise WrongModelKindError(message)


def _require_abilities(
    model: LanguageModel, abilities: AbstractSet[str], has: AbstractSet[str]
) -> None:
    if message := explain_lack(abilities=abilities, has=has, name=model.name):
        raise WrongModelKindError(message)


def _role(abilities: AbstractSet[str]) -> str:
    """Return what a model is loaded as; the same weights may be loaded once for each."""
    if "classify" in abilities:
        return "classifier"
    return "text" if abilities & _TEXT_ABILITIES else "slot"


def _load(model: LanguageModel, role: str, dtype: Any) -> LoadedModel:
    from probing.lm import load_text_model
    from probing.lm.loaders import load_classifier, load_encoder, load_slot_model

    loaders = {"text": load_text_model, "slot": load_slot_model, "classifier": load_classifier}
    load: Any = load_encoder if model.kind == ModelKind.ENCODER else loaders[role]
    lm = load(
        model.location,
        revision=model.revision or None,
        device=settings.MODEL_DEVICE,
        dtype=dtype,  # checked by the loader
        threads=settings.MODEL_THREADS,
    )
    return LoadedModel(lm=lm, revision=lm.revision, device=f"{lm.device}, {dtype}")


def open_chat(model: LanguageModel, run: Run | None = None) -> ChatModel:
    """Return a connection to a served model; for a trial unless for a ``run``.

    Raises :class:`probing.lm.errors.AccessDeniedError` for a key that is not meant for its server.
    """
    from probing.lm.chat import ChatModel
    from probing.lm.chat_limits import ChatLimits, Pacer
    from probing.lm.server_abilities import TRIAL_LIMITS, read_abilities

    try:
        check_key(model.key_variable, model.location)
    except RunError as error:
        raise AccessDeniedError(str(error)) from None
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
        limits=TRIAL_LIMITS if run is None else limits,
        budget=None if run is None else RunBudget(run.pk),
        pacer=None if run is None else pacer,
        listed_hosts=settings.MODEL_SERVER_HOSTS,
        answers=None if run is None else answer_store(),
        seen=None if run is None else read_abilities(model.server_abilities),
        book=RunBatches(run) if run is not None and run.parameters.get("batches") else None,
    )


def answer_store() -> AnswerStore | None:
    """Return where answers of servers are kept, None if they are not."""
    from probing.lm.server_answers import AnswerStore

    return AnswerStore(settings.CHAT_ANSWERS_ROOT) if settings.CHAT_KEEP_ANSWERS else None


def file_stamp(model: LanguageModel) -> tuple[tuple[str, int, int], ...]:
    """Return names, sizes and times of a local model's files, so that a rewritten one is reread."""
    if model.source != ModelSource.PATH:
        return ()
    place = Path(model.location).expanduser()
    places = [place, Path(base_of(place) or place)]
    files = [
        file
        for place in dict.fromkeys(places)
        for file in (sorted(place.iterdir()) if place.is_dir() else [place])
    ]
    return tuple(
        (file.name, file.stat().st_size, file.stat().st_mtime_ns)
        for file in files
        if file.is_file()
    )
