"""What a dry run says about the access that a served model gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from probing.lm.question_protocols import ACCESS_TIERS, Access
from probing.measures.base import Problem

if TYPE_CHECKING:
    from probing.lm.server_abilities import ServerAbilities


def seen_access(lm: Any, *, completions: bool) -> Access | None:
    """Return the tier that a served model gave when it was tried; None if it was not."""
    seen: ServerAbilities | None = getattr(lm, "seen", None)
    return None if seen is None or seen.away else seen.access(completions=completions)


def access_problems(
    lm: Any, *, completions: bool, least: Access, opening: bool
) -> Iterator[Problem]:
    """Yield what a run with a served model would meet, by what was seen of its server.

    Parameters
    ----------
    completions : whether completions that echo their prompt are asked for before a chat.
    least : the least access that the run allows.
    opening : whether the assistant's turn is begun in a chat.
    """
    seen: ServerAbilities | None = getattr(lm, "seen", None)
    if seen is None:
        return
    if seen.away:
        yield Problem("model", f"Its server could not be tried: {seen.away}", False)
        return
    tier = seen.access(completions=completions)
    if tier is None:
        yield Problem("model", f"Its server answers nothing ({seen.chat.said}).", True)
        return
    best: Access = "full" if completions else "top_k"
    why = _why(seen, tier, completions)
    if ACCESS_TIERS.index(tier) > ACCESS_TIERS.index(least):
        message = (
            f"{why} The run allows no less than “{least}”. Set least_access to “{tier}” (--param "
            f"least_access={tier}), or choose another server."
        )
        yield Problem("parameter least_access", message, True)
    elif tier != best:
        yield Problem("model", f"{why} The run falls back to the access “{tier}”.", False)
    yield from chat_problems(seen, opening=opening and tier != "full")


def chat_problems(seen: ServerAbilities | None, *, opening: bool) -> Iterator[Problem]:
    """Yield which options of a chat the server does not take."""
    if seen is None or seen.away:
        return
    if opening and not seen.prefill.works:
        fatal = seen.prefill.works is False
        message = (
            f"The server does not let the assistant's turn be begun ({seen.prefill.said}). Ask "
            "without an opening."
            if fatal
            else f"Whether the server goes on with an opening is not known ({seen.prefill.said})."
        )
        yield Problem("parameter opening", message, fatal)
    if said := seen.refused.get("temperature"):
        message = f"The server sets the temperature itself ({said}); the run's is not sent."
        yield Problem("parameter temperature", message, False)
    if said := seen.refused.get("seed"):
        message = f"The server takes no seed ({said}): drawn answers differ from run to run."
        yield Problem("seed", message, False)


def batch_problems(parameters: Any, lm: Any) -> Iterator[Problem]:
    """Yield what keeps a run from being asked in batches, if its parameters say so."""
    if not getattr(parameters, "batches", False):
        return
    where = "parameter batches"
    if getattr(lm, "kind", "") != "chat":
        yield Problem(where, "Only the server of a served model can be asked in batches.", True)
        return
    seen: ServerAbilities | None = lm.seen
    if seen is None or seen.away or not seen.batches.works:
        said = f" ({seen.batches.said})" if seen and seen.batches.said else ""
        message = f"Its server was not seen to take batches{said}. Leave them out."
        yield Problem(where, message, True)
    if getattr(parameters, "form", "chat") != "chat" or getattr(parameters, "bias", False):
        message = "Batches have questions of a chat alone. Set form to “chat”, and bias off."
        yield Problem(where, message, True)


def _why(seen: ServerAbilities, tier: Access, completions: bool) -> str:
    lacks = []
    if completions and tier != "full":
        lacks.append(f"{seen.echo.said}.")
    if tier == "sampled":
        said = f" ({seen.logprobs.said})" if seen.logprobs.said else ""
        lacks.append(f"The server tells no log-probabilities in a chat{said}.")
    return " ".join(lacks)
