"""Tries the servers of chat models, and keeps what was seen with the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probing.lm.errors import LanguageModelError
from probing.models import LanguageModel, Run
from probing.runs.loaded_models import open_chat

if TYPE_CHECKING:
    from probing.lm.server_abilities import ServerAbilities


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
    """Try the server of a run's model if it was away when the model was registered."""
    known = run.model.server_abilities
    if not known or known["away"]:
        examine_server(run.model)


def describe_server(model: LanguageModel) -> list[str]:
    """Return what was seen of a model's server, in sentences; empty for one never tried."""
    from probing.lm.server_abilities import read_abilities

    seen = read_abilities(model.server_abilities)
    return seen.lines() if seen else []
