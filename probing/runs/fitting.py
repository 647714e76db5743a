"""Which models fit a measure: what a kind of model can do, and what a measure asks for."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from probing.models import LanguageModel, ModelKind

#: What the kind of a model allows at most; its family may allow less.
ABILITIES: dict[str, frozenset[str]] = {
    ModelKind.MASKED: frozenset({"word_logprobs", "slot", "embed", "text_logprob"}),
    ModelKind.CAUSAL: frozenset(
        {"word_logprobs", "slot", "generate", "text_logprob", "span", "train"}
    ),
    ModelKind.SEQ2SEQ: frozenset({"generate", "text_logprob", "span", "train"}),
    ModelKind.CHAT: frozenset({"generate"}),
}

_KIND_NAMES = {
    ModelKind.MASKED: "masked",
    ModelKind.CAUSAL: "causal",
    ModelKind.SEQ2SEQ: "sequence-to-sequence",
    ModelKind.CHAT: "chat",
}
_ABILITY_NAMES = {
    "word_logprobs": "tell the probability of a word in a slot",
    "slot": "fill a slot",
    "embed": "give embeddings",
    "generate": "write texts",
    "text_logprob": "tell the probability of a text",
    "span": "fill a hidden span",
    "train": "be trained further",
}


def fitting_kinds(abilities: AbstractSet[str]) -> tuple[str, ...]:
    """Return the kinds of models that may have all these abilities."""
    return tuple(kind for kind, has in ABILITIES.items() if abilities <= has)


def explain_misfit(*, title: str, abilities: AbstractSet[str], model: LanguageModel) -> str | None:
    """Return why a model cannot serve a measure of that title, or None where its kind does."""
    kinds = fitting_kinds(abilities)
    if model.kind in kinds:
        return None
    names = [_KIND_NAMES[ModelKind(kind)] for kind in kinds]
    wanted = f"a {' or '.join(names)} language model" if names else "a model of no known kind"
    return f"{title} needs {wanted}; “{model.name}” is {_KIND_NAMES[ModelKind(model.kind)]}."


def explain_lack(*, abilities: AbstractSet[str], has: AbstractSet[str], name: str) -> str | None:
    """Return which of the abilities a model lacks although its kind may have them, or None."""
    lacking = sorted(abilities - has)
    if not lacking:
        return None
    what = " and ".join(_ABILITY_NAMES.get(ability, ability) for ability in lacking)
    return f"“{name}” cannot {what}. Choose a model of another family."
