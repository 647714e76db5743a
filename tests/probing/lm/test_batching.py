"""Which texts share a forward pass, counted by hand."""

from __future__ import annotations

import pytest

from probing.lm.batching import ranges_of_like_length


@pytest.mark.parametrize(
    ("lengths", "most", "padding", "expected"),
    [
        ([], 4, 0, []),
        ([5], 4, 0, [range(1)]),
        # Without padding a range ends where the length changes.
        ([3, 3, 4, 4, 4, 6], 9, 0, [range(2), range(2, 5), range(5, 6)]),
        # 4 - 3 twice is 2 tokens of padding; the 6 would make 3 + 3 + 2 + 2 + 2 = 12 of them.
        ([3, 3, 4, 4, 4, 6], 9, 2, [range(5), range(5, 6)]),
        ([3, 3, 4, 4, 4, 6], 9, 11, [range(5), range(5, 6)]),
        ([3, 3, 4, 4, 4, 6], 9, 12, [range(6)]),
        # The padding of a range that is closed counts no more: 1 token in each.
        ([3, 4, 5, 6], 9, 1, [range(2), range(2, 4)]),
        ([7, 7, 7, 7, 7], 2, 50, [range(2), range(2, 4), range(4, 5)]),
    ],
)
def test_ranges(lengths: list[int], most: int, padding: int, expected: list[range]) -> None:
    assert list(ranges_of_like_length(lengths, most=most, padding=padding)) == expected


def test_a_pass_without_texts_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        list(ranges_of_like_length([3], most=0, padding=0))
