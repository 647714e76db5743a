"""The smallest change of a linear layer that makes a token win: exact, by sorting.

Cao et al. (2022), §3.1, SeT. With logits a = A x and a margin gamma,

    Delta(A, x, t) = min ||A' - A||_F^2   s.t.   (A'x)_t >= (A'x)_i + gamma  for all i != t

Any useful change lies along x, so with rho = ||x||^2 and u_i = a_i - a_t + gamma

    rho Delta = min_{m >= 0}  m^2 + sum_{i != t} max(0, u_i - m)^2                        (*)

where m is how far logit t is raised, and every rival above is lowered to meet it. With the rivals
sorted by u descending and S_k, Q_k the sums of the first k values and squares, the k-th rival is
active as long as k u_(k) > S_(k-1); the difference of the two sides never increases with k, so
the number K of active rivals is found by bisection. The minimum is at m = S_K / (K + 1), and
rho Delta = Q_K - S_K^2 / (K + 1).

The order of the rivals does not depend on t, so one sort of the logits serves every target read
at a position: leave t out, and shift by gamma - a_t.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def minimal_changes(
    logits: npt.ArrayLike,
    targets: npt.ArrayLike,
    squared_norm: float,
    margin: float = 1.0,
) -> Floats:
    """Return Delta for many targets at one position.

    Parameters
    ----------
    logits : (n_tokens,) finite numbers.
    targets : (n_targets,) indices into `logits`.
    squared_norm : ||x||^2 > 0, where x is the layer's input, with a 1 appended if the bias may
        change too.
    margin : by how much the target has to win; 1 in the paper.

    Returns
    -------
    (n_targets,) squared Frobenius distances >= 0; exactly 0 where the target already wins by
    the margin; NaN everywhere if a logit is not finite.

    Raises
    ------
    ValueError
        Arguments of the wrong shape, an index out of range, or a norm that is not positive.
    """
    row = np.asarray(logits, dtype=np.float64)
    wanted = np.asarray(targets, dtype=np.int64)
    if row.ndim != 1 or wanted.ndim != 1:
        raise ValueError("logits and targets must be one-dimensional")
    return minimal_changes_by_row(
        row[np.newaxis, :], np.zeros_like(wanted), wanted, np.array([squared_norm]), margin
    )


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
    squared_norms : (n_positions,) ||x||^2 > 0.
    margin : by how much a target has to win.

    Returns
    -------
    (n_targets,) as in :func:`minimal_changes`; NaN at positions with a logit that is not finite.
    """
    a = np.asarray(logits, dtype=np.float64)
    row = np.asarray(rows, dtype=np.int64)
    token = np.asarray(targets, dtype=np.int64)
    rho = np.asarray(squared_norms, dtype=np.float64)
    _validate(a, row, token, rho, margin)

    finite = np.atleast_1d(np.isfinite(a).all(axis=1))
    # Delta depends on differences only; with the top at 0 the prefix sums lose no digits.
    a = np.where(finite[:, np.newaxis], a, 0.0)
    a = a - a.max(axis=1, keepdims=True)
    s = -np.sort(-a, axis=1)
    P = np.zeros((a.shape[0], a.shape[1] + 1))
    np.cumsum(s, axis=1, out=P[:, 1:])

    a_t = a[row, token]
    # Any place among equal logits serves as the target's own: only the value is left out.
    rank = _first_at_most(s, row, a_t)
    K = _active_rivals(s, P, row, rank, a_t, margin)
    changes = np.array(
        [
            _change_given_active(s[i], r, k, margin - t)
            for i, r, k, t in zip(row.tolist(), rank.tolist(), K.tolist(), a_t, strict=True)
        ],
        dtype=np.float64,
    )
    return np.where(finite[row], changes / rho[row], np.nan)


def _active_rivals(
    s: Floats,
    P: Floats,
    row: npt.NDArray[np.int64],
    rank: npt.NDArray[np.int64],
    a_t: Floats,
    margin: float,
) -> npt.NDArray[np.int64]:
    """Return K, the number of k with k s'_k - P'_(k-1) > a_t - margin, by bisection.

    The primes mean that the target is left out; `rank` counts the logits before it.
    """
    holds = np.zeros_like(rank)
    fails = np.full_like(rank, s.shape[1])
    while np.any(fails - holds > 1):
        k = np.maximum((holds + fails) // 2, 1)
        skip = k > rank  # the target stands before the k-th rival
        value = s[row, np.where(skip, k, k - 1)]
        prefix = P[row, np.where(skip, k, k - 1)] - np.where(skip, a_t, 0.0)
        active = k * value - prefix > a_t - margin
        open_ = fails - holds > 1
        holds = np.where(open_ & active, k, holds)
        fails = np.where(open_ & ~active, k, fails)
    return holds


def _change_given_active(s: Floats, rank: int, k: int, shift: float) -> float:
    """Return rho Delta = m^2 + sum over the k active rivals of (u_i - m)^2.

    The same as Q_K - S_K^2 / (K + 1), without the difference of two large numbers.
    """
    if k == 0:
        return 0.0
    u = (np.delete(s[: k + 1], rank) if rank < k else s[:k]) + shift
    m = u.sum() / (k + 1)
    return float(m * m + np.square(u - m).sum())


def _first_at_most(s: Floats, row: npt.NDArray[np.int64], value: Floats) -> npt.NDArray[np.int64]:
    """Return, per target, how many logits of its descending row are greater than its own."""
    low = np.zeros_like(row)
    high = np.full_like(row, s.shape[1])
    while np.any(low < high):
        middle = (low + high) // 2
        greater = s[row, np.minimum(middle, s.shape[1] - 1)] > value
        open_ = low < high
        low = np.where(open_ & greater, middle + 1, low)
        high = np.where(open_ & ~greater, middle, high)
    return low


def _validate(
    a: Floats,
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
