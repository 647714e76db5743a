"""Tries and watches the servers of chat models; what was seen is kept with the model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from probing.lm.errors import LanguageModelError
from probing.models import LanguageModel, Run
from probing.runs.loaded_models import open_chat

if TYPE_CHECKING:
    from probing.lm.server_abilities import ServerAbilities
    from probing.lm.server_fingerprint import ServerFingerprint

#: A run compares the fingerprint of a watched model if it was compared longer ago.
WATCH_EVERY = timedelta(days=1)


def examine_server(model: LanguageModel) -> ServerAbilities:
    """Try the server of a chat model, and store what was seen; returns it.

    A server that is away leaves what was seen before. Nothing is raised for what a server does.
    """
    from probing.lm.server_abilities import ServerAbilities, read_abilities, try_server

    try:
        seen = try_server(open_chat(model))
    except LanguageModelError as error:
        seen = ServerAbilities(away=str(error))
    known = read_abilities(model.server_abilities)
    if not (seen.away and known and not known.away):
        model.server_abilities = seen.model_dump(mode="json")
        LanguageModel.objects.filter(pk=model.pk).update(server_abilities=model.server_abilities)
    return seen


def prepare_server(run: Run) -> None:
    """Try the server of a run's model if it was away when the model was registered.

    A watched model is compared once a day; a change is among the run's notices.
    """
    known = run.model.server_abilities
    if not known or known["away"]:
        examine_server(run.model)
    watched = _read_fingerprint(run.model)
    if watched is None:
        return
    if datetime.now(UTC) - datetime.fromisoformat(watched.checked_at) < WATCH_EVERY:
        return
    seen = watch_server(run.model)
    if seen.has_changed:
        with transaction.atomic():
            locked = Run.objects.select_for_update(no_key=True).defer("stimuli").get(pk=run.pk)
            locked.notices = [*locked.notices, f"model: {seen.lines()[-1]}"]
            locked.save(update_fields=["notices"])


def watch_server(model: LanguageModel) -> ServerFingerprint:
    """Take a served model's fingerprint, or compare it with the stored one; returns and stores it.

    Asks 20 short questions, the first time and after a change 40 more. Raises
    :class:`LanguageModelError` if the server does not answer; what is stored stays.
    """
    from probing.lm.server_fingerprint import check_fingerprint, take_fingerprint

    chat, before = open_chat(model), _read_fingerprint(model)
    seen = take_fingerprint(chat) if before is None else check_fingerprint(chat, before)
    model.fingerprint = seen.model_dump(mode="json")
    LanguageModel.objects.filter(pk=model.pk).update(fingerprint=model.fingerprint)
    return seen


def _read_fingerprint(model: LanguageModel) -> ServerFingerprint | None:
    from probing.lm.server_fingerprint import ServerFingerprint

    return ServerFingerprint.model_validate(model.fingerprint) if model.fingerprint else None


def describe_server(model: LanguageModel) -> list[str]:
    """Return what was seen of a model's server, in sentences; empty for one never tried."""
    from probing.lm.server_abilities import read_abilities

    seen, watched = read_abilities(model.server_abilities), _read_fingerprint(model)
    return [*(seen.lines() if seen else ()), *(watched.lines() if watched else ())]
