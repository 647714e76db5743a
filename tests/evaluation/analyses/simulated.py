"""Simulated studies for tests of the alignment."""

from __future__ import annotations

import numpy as np
import pandas as pd


def as_long(values: np.ndarray, groups: list[str], scales: list[str]) -> pd.DataFrame:
    """(n_submissions, n_groups, n_scales) with NaN = not rated, as one row a rating."""
    people, g, s = np.nonzero(~np.isnan(values))
    return pd.DataFrame(
        {
            "submission": [f"person-{i:03d}" for i in people],
            "group": np.asarray(groups, dtype=object)[g],
            "scale": np.asarray(scales, dtype=object)[s],
            "value": values[people, g, s],
        }
    )


def names(prefix: str, n: int) -> list[str]:
    return [f"{prefix}-{i:02d}" for i in range(n)]


def simulate_ratings(
    truth: np.ndarray, *, people: int, per_person: int, rng: np.random.Generator
) -> np.ndarray:
    """Whole ratings round the true means, with noise of a person and noise of a rating.

    truth : (n_groups, n_scales); groups are dealt in turn, so that all have equally many raters
    """
    n_groups, n_scales = truth.shape
    values = np.full((people, n_groups, n_scales), np.nan)
    deck = np.concatenate(
        [rng.permutation(n_groups) for _ in range(-(-people * per_person // n_groups) + 1)]
    )
    for person in range(people):
        own = np.unique(deck[person * per_person : (person + 1) * per_person])
        habit = rng.normal(0, 8, n_scales)
        noise = rng.normal(0, 24, (own.size, n_scales))
        values[person, own] = np.clip(np.round(truth[own] + habit + noise), 0, 100)
    return values
