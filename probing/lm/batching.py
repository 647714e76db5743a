"""Which texts share a forward pass: those of like length, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield the indices of `lengths` in batches, shortest first.

    A batch holds at most `budget` tokens, padding included, and at least one text. The batches
    depend on nothing but the arguments.
    """
    if budget < 1:
        raise ValueError(f"budget must be at least 1, not {budget}")
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        # Sorted by length: the newest is the longest, and the others are padded to it.
        if batch and (len(batch) + 1) * lengths[index] > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
