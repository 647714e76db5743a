"""False positive rates of classes: Kohankhaki et al., §3.2.

FPR_c(X) = #(y != c and prediction = c in X) / #(y != c in X)
"""

from __future__ import annotations

from annotation.common.lazy import np, npt

#: What the released code adds to false positives and to true negatives.
RELEASED_EPS = 1e-10


def false_positive_rate(
    false_positives: npt.NDArray[np.float64],
    negatives: npt.NDArray[np.float64],
    *,
    released_eps: bool = False,
) -> npt.NDArray[np.float64]:
    """Return false positives divided by the sentences that are not of the class.

    false_positives, negatives : counts of one shape, 0 or more; weighted counts are fine
    released_eps : the released code's rate, which is 0.5 where no sentence could be a false
        positive and differs by less than 1e-9 elsewhere

    NaN where `negatives` is 0.
    """
    if released_eps:
        return np.asarray((false_positives + RELEASED_EPS) / (negatives + 2 * RELEASED_EPS))
    undefined = np.full(np.broadcast_shapes(false_positives.shape, negatives.shape), np.nan)
    return np.divide(false_positives, negatives, out=undefined, where=negatives > 0)
