"""The smallest changes at one position, as papers and their released code state them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from probing.measures.sensitivity import minimal_changes_by_row


def minimal_changes(
    logits: npt.ArrayLike, targets: npt.ArrayLike, squared_norm: float, margin: float = 1.0
) -> npt.NDArray[np.float64]:
    """Return Delta of many targets, (n_targets,), at the one position that the logits are of."""
    row = np.asarray(logits, dtype=np.float64)
    wanted = np.asarray(targets, dtype=np.int64)
    if row.ndim != 1 or wanted.ndim != 1:
        raise ValueError("logits and targets must be one-dimensional")
    return minimal_changes_by_row(
        row[np.newaxis], np.zeros_like(wanted), wanted, np.array([squared_norm]), margin
    )
