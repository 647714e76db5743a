"""Errors that judges marked in counterparts: how many have one, by whom, and how far judges agree.

Deas et al. (2023) §6 and Table 4 show such errors in examples; here they are counted. A counterpart
counts once, with the share of its judges who marked an error of the category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from annotation.common.lazy import pd
from evaluation.analyses.direction_gaps import Cell, Contrast, DirectionOptions, DirectionTable, Gap
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.mark_agreement import MarkAlpha, Marks, mark_alpha
from evaluation.metrics.type_token import wilson_interval
from evaluation.metrics.undefined import UndefinedReason

HUMAN = "human"
#: Not a category's slug, which has no blanks.
ANY = "any error"
Unit = Literal["word", "character"]
UNITS: dict[Unit, re.Pattern[str]] = {"word": re.compile(r"\S+"), "character": re.compile(r"\S")}


@dataclass(frozen=True)
class Coding:
    """What one judge marked in one counterpart: category, first character, the one after the last.

    Without passages the judge found no error.
    """

    item: int
    annotator: int
    passages: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class PassageCount:
    """Passages that all judges marked in the counterparts of one producer and variety."""

    producer: str
    variety: str
    category: str
    n: int


@dataclass(frozen=True)
class ErrorAgreement:
    """Alpha over words or characters of the counterparts that two judges or more coded."""

    category: str
    alpha: MarkAlpha


@dataclass(frozen=True)
class ErrorResult:
    """The whole analysis; metric = category, or ``any error``, in cells, gaps and contrasts.

    cells, gaps, contrasts : percent of counterparts with such an error; contrasts are every
        producer less the human counterparts. Where all counterparts are alike, so that resampling
        gives no interval, cells have Wilson's.
    unit : over which judges agree
    """

    categories: tuple[str, ...]
    unit: Unit
    n_items: int
    n_codings: int
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]
    contrasts: tuple[Contrast, ...]
    counts: tuple[PassageCount, ...]
    agreement: tuple[ErrorAgreement, ...]


def analyze_errors(
    items: pd.DataFrame,
    codings: Sequence[Coding],
    categories: Sequence[str],
    *,
    unit: Unit = "word",
    options: DirectionOptions | None = None,
) -> ErrorResult:
    """Return how many counterparts have errors, and how far judges agree on their places.

    items : one row for each counterpart, with the columns item, pair, variety, producer and body
    codings : every judge's coding of every counterpart

    Raises ValueError for a coding of a counterpart or a category that is not there, and for one
    counterpart that a judge coded twice.
    """
    chosen = options or DirectionOptions()
    about = items.set_index("item")
    _validate(about, codings, categories)
    metrics = (ANY, *categories)
    bodies: dict[int, str] = dict(zip(items["item"], items["body"], strict=True))
    coded: dict[int, list[Coding]] = {}
    for coding in codings:
        coded.setdefault(coding.item, []).append(coding)
    pairs = list(dict.fromkeys(about.loc[list(coded), "pair"]))
    place = {pair: number for number, pair in enumerate(pairs)}
    values: dict[tuple[str, str, str], np.ndarray] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for item, some in coded.items():
        row = about.loc[item]
        for metric in metrics:
            key = (str(row["producer"]), str(row["variety"]), metric)
            column = values.setdefault(key, np.full(len(pairs), np.nan))
            column[place[row["pair"]]] = 100 * np.mean([bool(_of(c, metric)) for c in some])
            counts[key] += sum(len(_of(c, metric)) for c in some)
    table = DirectionTable(pairs, values, {}, chosen)
    return ErrorResult(
        categories=tuple(categories),
        unit=unit,
        n_items=len(coded),
        n_codings=len(codings),
        cells=tuple(_not_all_alike(cell, level=chosen.level) for cell in table.cells()),
        gaps=tuple(table.gaps()),
        contrasts=tuple(table.contrasts(HUMAN)),
        counts=tuple(PassageCount(*key, n) for key, n in counts.items()),
        agreement=tuple(
            ErrorAgreement(
                metric,
                mark_alpha(
                    [
                        np.array([_mark(bodies[item], c, metric, unit) for c in some])
                        for item, some in coded.items()
                    ],
                    **chosen.resampling,
                ),
            )
            for metric in metrics
        ),
    )


def _not_all_alike(cell: Cell, *, level: float) -> Cell:
    """Return the cell with Wilson's interval where all counterparts, or none, have the error."""
    found = cell.estimate
    if found.interval_reason != UndefinedReason.ALL_ALIKE:
        return cell
    low, high = wilson_interval(found.value / 100, found.n, level=level)
    return replace(cell, estimate=Estimate(found.value, 100 * low, 100 * high, found.n))


def _of(coding: Coding, metric: str) -> list[tuple[int, int]]:
    """Return the places of a category, or of all of them."""
    return [(start, end) for name, start, end in coding.passages if metric in (ANY, name)]


def _mark(body: str, coding: Coding, metric: str, unit: Unit) -> Marks:
    """Return for each word or character whether a passage touches it."""
    passages = _of(coding, metric)
    return np.array(
        [
            any(found.start() < end and start < found.end() for start, end in passages)
            for found in UNITS[unit].finditer(body)
        ],
        dtype=bool,
    )


def _validate(about: pd.DataFrame, codings: Sequence[Coding], categories: Sequence[str]) -> None:
    if not codings:
        raise ValueError("there are no codings to analyze")
    times: Mapping[tuple[int, int], int] = Counter((c.item, c.annotator) for c in codings)
    if max(times.values()) > 1:
        raise ValueError("somebody coded a counterpart twice; keep one of the two")
    if unknown := {c.item for c in codings} - set(about.index):
        raise ValueError(f"there are no counterparts {sorted(unknown)}")
    if foreign := {name for c in codings for name, _, _ in c.passages} - set(categories):
        raise ValueError(f"the scheme has no category {', '.join(sorted(foreign))}")
