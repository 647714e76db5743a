"""Which examples are trained on, which are held out, and in what order, all from a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Tells the draws of one seed apart.
_HELD_OUT, _ORDER = 1, 2


def split_held_out(groups: Sequence[str], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Split places 0 … n − 1 into those to train on and those to hold out.

    Parameters
    ----------
    groups : (n,) what each example belongs to; a group is never on both sides.
    share : share of the groups to hold out, from 0 to below 1, rounded to whole groups. A share
        above zero holds out at least one group where there are two, and never all of them.

    Returns
    -------
    Places in rising order, first those to train on.
    """
    if not 0 <= share < 1:
        raise ValueError(f"share is {share}, expected from 0 to below 1")
    names = sorted(set(groups))
    number = 0
    if share > 0 and len(names) > 1:
        number = min(max(1, round(share * len(names))), len(names) - 1)
    rng = np.random.default_rng([seed, _HELD_OUT])
    held = {names[place] for place in rng.permutation(len(names))[:number]}
    train = [place for place, group in enumerate(groups) if group not in held]
    return train, [place for place, group in enumerate(groups) if group in held]


def epoch_batches(
    places: Sequence[int], batch_size: int, *, seed: int, epoch: int
) -> list[list[int]]:
    """Return the batches of an epoch: every place once, in an order of its own for each epoch.

    Depends on its arguments alone, so that a resumed training meets the order it would have met.
    """
    order = np.random.default_rng([seed, _ORDER, epoch]).permutation(len(places))
    shuffled = [places[number] for number in order]
    return [shuffled[k : k + batch_size] for k in range(0, len(shuffled), batch_size)]
