"""Which models fit a measure: what each kind of model can do, and what a measure needs."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from probing.models import LanguageModel, ModelKind, ModelSource

_SLOTS = frozenset(
    {"word_logprobs", "slot", "embed", "text_logprob", "end_word", "train_classifier"}
)
_WRITING = _SLOTS | {"generate", "answer", "span", "train"}
#: What the kind of a model allows at most; its family may allow less.
ABILITIES: dict[str, frozenset[str]] = {
    ModelKind.MASKED: _SLOTS,
    ModelKind.CAUSAL: _WRITING,
    ModelKind.SEQ2SEQ: _WRITING,
    ModelKind.CLASSIFIER: frozenset({"classify", "train_classifier"}),
    ModelKind.ENCODER: frozenset({"embed", "train_classifier"}),
    ModelKind.CHAT: frozenset({"generate", "answer", "end_word"}),
    ModelKind.UNKNOWN: frozenset(),
}

_KIND_NAMES = {
    ModelKind.MASKED: "masked",
    ModelKind.CAUSAL: "causal",
    ModelKind.SEQ2SEQ: "sequence-to-sequence",
    ModelKind.CLASSIFIER: "classifying",
    ModelKind.ENCODER: "an encoder without a head",
    ModelKind.CHAT: "chat",
    ModelKind.UNKNOWN: "one of which only results were imported",
}
_ABILITY_NAMES = {
    "word_logprobs": "tell the probability of a word in a slot",
    "slot": "fill a slot",
    "embed": "give embeddings",
    "generate": "write texts",
    "answer": "answer questions",
    "text_logprob": "tell the probability of a text",
    "span": "fill a hidden span",
    "end_word": "tell the probability of the word that ends a prompt",
    "train": "be trained further",
    "train_classifier": "be trained to classify texts",
    "classify": "classify texts",
}


def fitting_kinds(abilities: AbstractSet[str]) -> tuple[str, ...]:
    """Return the kinds of models that may have all these abilities."""
    return tuple(kind for kind, has in ABILITIES.items() if abilities <= has)


def either(names: Sequence[str]) -> str:
    """Return names as alternatives, as in “masked, causal, or chat”."""
    *before, last = names
    if len(before) < 2:
        return " or ".join(names)
    return f"{', '.join(before)}, or {last}"


def compatibility_error(
    *, title: str, abilities: AbstractSet[str], model: LanguageModel
) -> str | None:
    """Return why a model cannot serve a measure of that title, or None where its kind does."""
    if model.source == ModelSource.IMPORTED:
        return f"“{model.name}” has imported results alone. Register the model itself to run it."
    kinds = fitting_kinds(abilities)
    if model.kind in kinds:
        return None
    names = [_KIND_NAMES[ModelKind(kind)] for kind in kinds if kind != ModelKind.ENCODER]
    wanted = f"a {either(names)} language model" if names else "a model of no known kind"
    if ModelKind.ENCODER in kinds:
        wanted += f" or {_KIND_NAMES[ModelKind.ENCODER]}"
    return f"{title} needs {wanted}; “{model.name}” is {_KIND_NAMES[ModelKind(model.kind)]}."


def explain_lack(*, abilities: AbstractSet[str], has: AbstractSet[str], name: str) -> str | None:
    """Return which of the abilities a model lacks although its kind may have them, or None."""
    lacking = sorted(abilities - has)
    if not lacking:
        return None
    what = " and ".join(_ABILITY_NAMES.get(ability, ability) for ability in lacking)
    return f"“{name}” cannot {what}. Choose a model of another family."
