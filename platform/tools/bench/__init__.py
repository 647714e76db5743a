"""Benchmarks: how fast the heavy parts are beside the plain way, and what intervals cover."""

from collections.abc import Callable

from tools.bench import (
    all_pairs,
    bertscore,
    classification,
    coverage,
    levenshtein_alpha,
    matched_guise,
    pages,
    rouge,
    slot_measures,
)
from tools.bench.measuring import Row

#: Name → what it runs. Adding a benchmark is adding a file with `run` and a line here.
BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "levenshtein_alpha": levenshtein_alpha.run,
    "rouge": rouge.run,
    "bertscore": bertscore.run,
    "slot_measures": slot_measures.run,
    "matched_guise": matched_guise.run,
    "all_pairs": all_pairs.run,
    "classification": classification.run,
    "pages": pages.run,
    "coverage": coverage.run,
}

__all__ = ["BENCHMARKS", "Row"]
