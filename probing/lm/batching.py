"""Batches of texts of similar length, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches_by_length(
    lengths: Sequence[int], budget: int, *, switch: int | None = None
) -> Iterator[list[int]]:
    """Yield the indices of `lengths` in batches, shortest first.

    A batch holds at most `budget` tokens, padding included, and at least one text; none holds
    texts on both sides of `switch` (see :class:`probing.lm.sources.ModelFacts`). The batches
    depend on nothing but the arguments.
    """
    if budget < 1:
        raise ValueError(f"budget must be at least 1, not {budget}")
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        # Sorted by length: the newest is the longest, and the others are padded to it.
        if batch and (
            (len(batch) + 1) * lengths[index] > budget
            or _parted(lengths[batch[-1]], lengths[index], switch)
        ):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


#: A pass costs a CPU little beside its tokens. A GPU is hardly busy below thousands of them.
_CPU_PADDING, _GPU_PADDING = 32, 4096


def worthwhile_padding(device: str) -> int:
    """Return how many tokens of padding are cheaper than one more forward pass."""
    return _CPU_PADDING if device.startswith("cpu") else _GPU_PADDING


def batches_of_like_length(
    lengths: Sequence[int], *, most: int, padding: int, switch: int | None = None
) -> Iterator[list[int]]:
    """Yield the indices in batches as :func:`ranges_of_like_length` makes them, shortest first."""
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    ascending = [lengths[index] for index in order]
    for batch in ranges_of_like_length(ascending, most=most, padding=padding, switch=switch):
        yield order[batch.start : batch.stop]


def ranges_of_like_length(
    lengths: Sequence[int], *, most: int, padding: int, switch: int | None = None
) -> Iterator[range]:
    """Yield neighboring places of `lengths`, which ascend, that share a forward pass.

    A range holds at most `most` texts, and a text more would need more than `padding` tokens to
    fill the shorter ones up. No range lies on both sides of `switch`. The ranges depend on nothing
    but the arguments.
    """
    if most < 1:
        raise ValueError(f"most must be at least 1, not {most}")
    start = tokens = 0
    for place, length in enumerate(lengths):
        filled = (place - start) * length - tokens
        if place > start and (
            place - start == most or filled > padding or _parted(lengths[place - 1], length, switch)
        ):
            yield range(start, place)
            start, tokens = place, 0
        tokens += length
    if start < len(lengths):
        yield range(start, len(lengths))


def _parted(shorter: int, longer: int, switch: int | None) -> bool:
    return switch is not None and shorter <= switch < longer
