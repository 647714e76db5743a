"""Exact agreement of free texts against a plain double loop over pairs of annotations."""

from __future__ import annotations

from dataclasses import replace

import Levenshtein
import numpy as np

from evaluation.metrics.levenshtein_alpha import levenshtein_alpha
from evaluation.metrics.text_distance import Distance
from tools.bench.measuring import Row, measure
from tools.bench.texts import TextMaker

SIZES = (5_000, 10_000)
TEXTBOOK_PAIRS = 1_000
PACKAGE_PAIRS = 200_000


def run() -> list[Row]:
    """Return the time of 5,000 and 10,000 annotations, two of each item, and of plain loops.

    A plain loop over all 12.5 million pairs of 5,000 annotations takes up to hours; it is measured
    on pairs drawn by chance and scaled up, which is fair because it does the same for every pair.
    """
    rows: list[Row] = []
    for size in SIZES:
        items, annotators, texts = _annotations(size)
        distances: tuple[Distance, ...] = ("characters", "words")
        rows += [_ours(items, annotators, texts, distance) for distance in distances]
        if size == SIZES[0]:
            plain = (_textbook(texts), _package(texts))
            rows += [replace(row, factor=row.seconds / rows[0].seconds) for row in plain]
    return rows


def _ours(items: list[int], annotators: list[int], texts: list[str], distance: Distance) -> Row:
    mean = np.mean([len(text) for text in texts])
    return measure(
        f"exact, {distance}",
        f"{len(texts):,} annotations of {mean:.0f} characters",
        lambda: levenshtein_alpha(items, annotators, texts, distance=distance, n_resamples=0),
    )


def _textbook(texts: list[str]) -> Row:
    pairs = _draw_pairs(len(texts), TEXTBOOK_PAIRS)
    return measure(
        "plain double loop, edit distance in Python",
        f"{len(texts):,} annotations",
        lambda: sum(edit_distance(texts[i], texts[j]) for i, j in pairs),
        measured=len(pairs),
        of=_n_pairs(len(texts)),
    )


def _package(texts: list[str]) -> Row:
    pairs = _draw_pairs(len(texts), PACKAGE_PAIRS)
    return measure(
        "plain double loop, Levenshtein.distance (C++) per pair",
        f"{len(texts):,} annotations",
        lambda: sum(Levenshtein.distance(texts[i], texts[j]) for i, j in pairs),
        measured=len(pairs),
        of=_n_pairs(len(texts)),
    )


def edit_distance(a: str, b: str) -> int:
    """Return the Levenshtein distance by the textbook's table (Wagner and Fischer 1974)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def _annotations(n: int) -> tuple[list[int], list[int], list[str]]:
    texts = [text for pair in TextMaker().pairs(n // 2) for text in pair]
    rng = np.random.default_rng(1)
    annotators = [int(a) for _ in range(n // 2) for a in rng.choice(4, size=2, replace=False)]
    return [i // 2 for i in range(n)], annotators, texts


def _draw_pairs(n: int, size: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(2)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _n_pairs(n: int) -> int:
    return n * (n - 1) // 2
