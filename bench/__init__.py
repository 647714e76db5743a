"""Benchmarks: how fast the heavy parts are, beside the plain way of doing the same."""

from collections.abc import Callable

from bench import all_pairs, bertscore, levenshtein_alpha, rouge, slot_measures
from bench.measuring import Row

#: Name → what it runs. Adding a benchmark is adding a file with `run` and a line here.
BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "levenshtein_alpha": levenshtein_alpha.run,
    "rouge": rouge.run,
    "bertscore": bertscore.run,
    "slot_measures": slot_measures.run,
    "all_pairs": all_pairs.run,
}

__all__ = ["BENCHMARKS", "Row"]
