"""The smallest change of a linear layer that makes a token win: exact, by sorting.

Cao et al. (2022), §3.1, SeT. With logits a = A x and a margin gamma,

    Delta(A, x, t) = min ||A' - A||_F^2   s.t.   (A'x)_t >= (A'x)_i + gamma  for all i != t

Any useful change lies along x, so with rho = ||x||^2 and u_i = a_i - a_t + gamma

    rho Delta = min_{m >= 0}  m^2 + sum_{i != t} max(0, u_i - m)^2                        (*)

where m is how far logit t is raised, and every rival above is lowered to meet it. With the rivals
sorted by u descending and S_k the sum of the first k, the k-th rival is active as long as
k u_(k) > S_(k-1), which is as long as S_k / (k + 1) grows. The minimum of (*) is at

    m = max(0, max_k S_k / (k + 1))

The order of the rivals does not depend on t, so one sort of the logits serves every target read
at a position. Only rivals above m are active, as a rule a few dozen of tens of thousands: the
highest logits are sorted first, and more of them only where the lowest of these is active too.
"""

from __future__ import annotations

from typing import TypeAlias

from annotation.common.lazy import np, npt

Floats: TypeAlias = "npt.NDArray[np.float64]"

#: How many logits are surely among those that are sorted first, and how that grows.
_FIRST_LOOK, _GROWTH = 64, 8
#: Parts that the logits are dealt into, per logit that is looked for.
_PARTS = 8
#: Numbers that the targets of one position may fill at a time (32 MB).
_BLOCK = 1 << 22


def minimal_changes_by_row(
    logits: npt.ArrayLike,
    rows: npt.ArrayLike,
    targets: npt.ArrayLike,
    squared_norms: npt.ArrayLike,
    margin: float = 1.0,
) -> Floats:
    """Return Delta for many targets at many positions, with one sort per position.

    Parameters
    ----------
    logits : (n_positions, n_tokens) numbers.
    rows, targets : (n_targets,) the position of each target and its token there.
    squared_norms : (n_positions,) ||x||^2 > 0, where x is the layer's input, with a 1 appended if
        the bias may change too.
    margin : by how much a target has to win; 1 in the paper.

    Returns
    -------
    (n_targets,) squared Frobenius distances >= 0; exactly 0 where a target already wins by the
    margin; NaN at positions with a logit that is not finite. What is found at a position depends
    on nothing but that position.

    Raises
    ------
    ValueError
        Arguments of the wrong shape, an index out of range, or a norm that is not positive.
    """
    a = np.asarray(logits)
    if a.dtype != np.float32:  # comparing float32 is exact, and widening all of it is dear
        a = a.astype(np.float64, copy=False)
    row = np.asarray(rows, dtype=np.int64)
    token = np.asarray(targets, dtype=np.int64)
    rho = np.asarray(squared_norms, dtype=np.float64)
    _validate(a, row, token, rho, margin)

    changes = np.full(len(row), np.nan)
    left = np.flatnonzero(np.isfinite(a).all(axis=1)[row])
    width = _FIRST_LOOK
    while left.size:
        positions, place = np.unique(row[left], return_inverse=True)
        highest, lowest = _highest(a if len(positions) == len(a) else a[positions], width)
        enough = np.empty(left.size, dtype=bool)
        step = max(1, _BLOCK // highest.shape[1])
        for block in (slice(start, start + step) for start in range(0, left.size, step)):
            here, targets = place[block], a[row[left[block]], token[left[block]]]
            found, enough[block] = _changes_among(highest[here], lowest[here], targets, margin)
            changes[left[block]] = found / rho[row[left[block]]]
        width, left = width * _GROWTH, left[~enough]
    return changes


def _highest(a: npt.NDArray[np.floating], width: int) -> tuple[Floats, Floats]:
    """Return the highest logits of each position, `width` of them or more, in descending order.

    The logits are dealt into parts. Each part has a highest one, so that `width` logits at least
    reach the `width`-th highest of these.

    Returns
    -------
    (n_positions, most) with -inf after the last one; and the lowest of them, (n_positions,), or
    -inf where they are all the logits that there are.
    """
    n, size = a.shape
    parts = _PARTS * width
    rounds = size // parts
    if rounds < 2:
        return -np.sort(-a.astype(np.float64), axis=1), np.full(n, -np.inf)
    tops = a[:, : rounds * parts].reshape(n, rounds, parts).max(axis=1)
    lowest = np.partition(tops, -width, axis=1)[:, -width]
    kept = np.flatnonzero(a >= lowest[:, np.newaxis])  # few: counting them is cheaper than the mask
    count = np.bincount(kept // size, minlength=n)
    highest = np.full((n, count.max()), -np.inf)
    highest[np.arange(count.max()) < count[:, np.newaxis]] = a.take(kept)
    return -np.sort(-highest, axis=1), lowest.astype(np.float64)


def _changes_among(
    highest: Floats, lowest: Floats, targets: npt.NDArray[np.floating], margin: float
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return rho Delta for the logit of each target, as if there were no others than `highest`.

    Also returns whether that was enough: the `lowest` of them is not active, so that nothing
    further down is.
    """
    # Delta depends on differences only; with the top at 0 the sums lose no digits.
    top = highest[:, 0]
    s, a_t = highest - top[:, np.newaxis], targets - top
    u = s + (margin - a_t)[:, np.newaxis]
    # The target is no rival of itself. Any place among equal logits serves as its own.
    place, own = np.arange(s.shape[1]), (s > a_t[:, np.newaxis]).sum(axis=1, keepdims=True)
    rival = place != own
    S = np.cumsum(np.where(rival, u, 0.0), axis=1)
    k = place + 1 - (place >= own)
    m = np.maximum(0.0, (S / (k + 1)).max(axis=1))
    # As (*) has it: Q_K - S_K^2 / (K + 1) would be a difference of two large numbers. Added one
    # by one, so that the digits do not depend on how many logits another position has.
    above = np.where(rival, np.maximum(0.0, u - m[:, np.newaxis]), 0.0)
    change = m * m + np.cumsum(np.square(above), axis=1)[:, -1]
    return change, lowest - top + margin - a_t <= m


def _validate(
    a: npt.NDArray[np.floating],
    row: npt.NDArray[np.int64],
    token: npt.NDArray[np.int64],
    rho: Floats,
    margin: float,
) -> None:
    if a.ndim != 2 or a.shape[1] == 0:
        raise ValueError(f"logits must be (n_positions, n_tokens), not {a.shape}")
    if row.ndim != 1 or row.shape != token.shape:
        raise ValueError("rows and targets must be one-dimensional and of equal length")
    if rho.shape != a.shape[:1] or not np.all(rho > 0):
        raise ValueError("squared_norms must hold one positive number per position")
    if not np.isfinite(margin):
        raise ValueError(f"margin must be a finite number, not {margin}")
    for name, index, size in (("rows", row, a.shape[0]), ("targets", token, a.shape[1])):
        if index.size and (index.min() < 0 or index.max() >= size):
            raise ValueError(f"{name} must lie between 0 and {size - 1}")
