"""Streams of random numbers that are keyed by what they are for.

A stream depends on the seed and on names, never on how many streams there are or in which order
they are read: leaving out a group, a text or a template moves no number of another.
"""

from __future__ import annotations

import hashlib

from annotation.common.lazy import np


def named_seed(seed: int, *names: str | int) -> int:
    """Return a seed of 63 bits from a run's or report's seed and the names of its use."""
    digest = hashlib.sha256("\0".join(str(name) for name in names).encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4)]
    state = np.random.SeedSequence([seed, *words]).generate_state(1, np.uint64)[0]
    return int(state >> np.uint64(1))


def named_stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of that use; the same arguments give the same numbers."""
    return np.random.default_rng(named_seed(seed, *names))
