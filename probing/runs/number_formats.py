"""Runs in another number format than float32: where that works, and how far values move."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from annotation.common.lazy import np, pd
from probing.lm.errors import LanguageModelError
from probing.measures.base import AnyMeasure
from probing.models import LanguageModel, ModelKind

#: What values of other formats are set beside.
REFERENCE = "float32"
#: Abilities of measures that train, which is done in float32.
TRAINING = frozenset({"train", "train_classifier"})


def why_not_in(dtype: str, measure: AnyMeasure, model: LanguageModel) -> str:
    """Return why a run can't compute in a number format here, "" if it can."""
    if not dtype:
        return ""
    if model.kind == ModelKind.CHAT:
        return f"“{model.name}” computes in the number format that its server chose."
    if measure.abilities & TRAINING:
        return f"{measure.title} trains in {REFERENCE}."
    from probing.lm.weights import require_numbers

    try:
        require_numbers(settings.MODEL_DEVICE, dtype)
    except LanguageModelError as error:
        return str(error)
    return ""


def describe_error(dtype: str, frame: pd.DataFrame, exact: pd.DataFrame) -> str:
    """Return how far the values of a shard are from those of the same inputs in float32."""
    start = f"{dtype} beside {REFERENCE} on the same inputs of the run’s first shard: "
    if len(frame) != len(exact):
        return f"{start}{len(frame):,} rows instead of {len(exact):,}."
    numbers = [str(name) for name in frame if frame[name].dtype.kind == "f"]
    said = [_describe_column(name, frame[name], exact[name]) for name in numbers]
    others = [name for name in frame if name not in numbers]
    differs = (frame[others].astype(str) != exact[others].astype(str)).any(axis=1)
    if differs.any() or not numbers:
        said.append(f"{int(differs.sum()):,} of {len(frame):,} rows have other texts or counts")
    return f"{start}{'; '.join(said)}."


def _describe_column(name: str, values: Any, exact: Any) -> str:
    pairs = np.column_stack([values, exact]).astype(np.float64)
    moved = np.abs(np.diff(pairs[np.isfinite(pairs).all(axis=1)]))
    if not moved.size:
        return f"{name} has no values"
    return (
        f"{name} differs by {moved.mean():.2g} on average and {moved.max():.2g} at most "
        f"(n = {moved.size:,})"
    )
