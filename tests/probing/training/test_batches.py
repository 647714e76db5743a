"""Orders and splits: complete, seeded, and never with a group on both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.training.schedule import epoch_batches, split_held_out


@given(
    groups=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40),
    share=st.floats(0, 0.99),
    seed=st.integers(0, 2**31 - 1),
)
def test_a_split_is_complete_and_never_parts_a_group(
    groups: list[str], share: float, seed: int
) -> None:
    train, held_out = split_held_out(groups, share, seed)
    assert sorted(train + held_out) == list(range(len(groups)))
    assert not {groups[place] for place in train} & {groups[place] for place in held_out}
    assert train, "something is always left to train on"
    if share > 0 and len(set(groups)) > 1:
        assert held_out
    assert (train, held_out) == split_held_out(groups, share, seed)


def test_a_tenth_of_seventy_two_pairs_is_seven() -> None:
    groups = [f"pair-{number // 2}" for number in range(144)]  # both directions of each
    train, held_out = split_held_out(groups, 0.1, seed=0)
    assert (len(train), len(held_out)) == (130, 14)
    assert held_out != split_held_out(groups, 0.1, seed=1)[1]


def test_nothing_is_held_out_unless_asked_for() -> None:
    assert split_held_out(["a", "b"], 0.0, seed=0) == ([0, 1], [])
    with pytest.raises(ValueError, match="share is 1"):
        split_held_out(["a"], 1.0, seed=0)


@given(number=st.integers(1, 60), size=st.integers(1, 16), epoch=st.integers(0, 5))
def test_an_epoch_meets_every_example_once(number: int, size: int, epoch: int) -> None:
    places = [10 * place for place in range(number)]
    batches = epoch_batches(places, size, seed=3, epoch=epoch)
    assert sorted(place for batch in batches for place in batch) == places
    assert {len(batch) for batch in batches[:-1]} <= {size}
    assert batches == epoch_batches(places, size, seed=3, epoch=epoch)


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    orders = [
        epoch_batches(range(50), 8, seed=seed, epoch=epoch) for seed in (0, 1) for epoch in (0, 1)
    ]
    assert len({str(order) for order in orders}) == 4
