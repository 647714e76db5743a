"""Benchmarks: how fast the heavy parts are, beside the plain way of doing the same."""

from collections.abc import Callable

from bench import bertscore, levenshtein_alpha, rouge
from bench.measuring import Row

#: Name → what it runs. Adding a benchmark is adding a file with `run` and a line here.
BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "levenshtein_alpha": levenshtein_alpha.run,
    "rouge": rouge.run,
    "bertscore": bertscore.run,
}

__all__ = ["BENCHMARKS", "Row"]
