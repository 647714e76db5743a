"""Examples of counterparts: a seeded draw, laid out text by text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from evaluation.reports.cells import to_frame
from evaluation.reports.document import Column, DataTable, Prose, Section, TableBuilder
from evaluation.reports.formatting import count

T = TypeVar("T")


def draw(items: Sequence[T], n: int, *, seed: int) -> list[T]:
    """Return up to ``n`` of ``items`` without replacement, in their own order."""
    if n >= len(items):
        return list(items)
    places = np.random.default_rng(seed).choice(len(items), size=n, replace=False)
    return [items[int(place)] for place in sorted(places)]


def counterpart_examples(examples: list[dict[str, Any]], *, seed: int, n_eligible: int) -> Section:
    """Return a table for each drawn text: what was asked, the gold text, what models made."""
    if not examples:
        return Section("Examples", (Prose(("No pair has a counterpart of every producer.",)),))
    blocks = []
    for example in examples:
        table = TableBuilder(
            f"{example['pair']}, {example['direction']}.",
            "examples",
            (Column("Written by"), Column("Text", wide=True)),
        )
        table.add("The input", example["input"])
        table.add("Gold counterpart", example["reference"])
        for producer, output in example["outputs"].items():
            table.add(producer, output)
        blocks.append(table.build())
    return Section(
        "Examples",
        tuple(blocks),
        why=f"{count(len(examples), 'text')} drawn with seed {seed} from the {n_eligible} that "
        "every producer rewrote; nobody chose them.",
    )


def example_table(examples: list[dict[str, Any]]) -> DataTable:
    """Return all drawn texts as one table."""
    rows = (
        {
            "pair": example["pair"],
            "direction": example["direction"],
            "input": example["input"],
            "reference": example["reference"],
            "producer": producer,
            "output": output,
        }
        for example in examples
        for producer, output in example["outputs"].items()
    )
    columns = ("pair", "direction", "input", "reference", "producer", "output")
    return DataTable("examples", "The texts that were drawn as examples", to_frame(rows, columns))
