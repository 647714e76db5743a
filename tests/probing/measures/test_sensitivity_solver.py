"""The solver of SeT against hand derivations, theory and one-dimensional minimization."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize_scalar

from probing.measures.sensitivity import minimal_changes_by_row
from tests.probing.measures.one_position import minimal_changes

LOGITS = hnp.arrays(
    np.float64,
    st.integers(2, 40),
    # A coarse grid as well, so that ties are frequent.
    elements=st.one_of(st.floats(-30, 30, allow_subnormal=False), st.integers(-4, 4).map(float)),
)
MARGINS = st.floats(0.01, 5.0)


def by_minimization(logits: np.ndarray, target: int, squared_norm: float, margin: float) -> float:
    """Minimize m^2 + sum over rivals of max(0, u_i - m)^2 over m >= 0 numerically."""
    u = np.delete(logits, target) - logits[target] + margin

    def cost(m: float) -> float:
        return m * m + float(np.square(np.maximum(0.0, u - m)).sum())

    # m = 0 and m = max(u) both lie outside or on the border of where the minimum can be.
    found = minimize_scalar(
        cost, bounds=(0.0, max(float(u.max()), 1e-12)), method="bounded", options={"xatol": 1e-12}
    )
    return min(float(found.fun), cost(0.0)) / squared_norm


@pytest.mark.parametrize(
    ("logits", "target", "squared_norm", "margin", "expected"),
    [
        # u = (1): minimize m^2 + (1-m)^2, m = 1/2, so 1/4 + 1/4.
        ([0.0, 0.0], 0, 1.0, 1.0, 0.5),
        # The same, spread over a longer x: divided by ||x||^2.
        ([0.0, 0.0], 0, 4.0, 1.0, 0.125),
        # Twice the margin: u = (2), m = 1, so 1 + 1.
        ([0.0, 0.0], 0, 1.0, 2.0, 2.0),
        # u = (1, 1), both active: m = 2/3, so 4/9 + 1/9 + 1/9.
        ([0.0, 0.0, 0.0], 1, 1.0, 1.0, 2 / 3),
        # u = (3, 1): m = 3/2 is above 1, so the second rival is at rest: 9/4 + 9/4.
        ([0.0, 2.0, 0.0], 0, 1.0, 1.0, 4.5),
        # u = (3, 2): m = 5/3 is below 2, both active: 25/9 + 16/9 + 1/9.
        ([0.0, 2.0, 1.0], 0, 1.0, 1.0, 42 / 9),
        # The second of two targets that tie for the top.
        ([5.0, 5.0, 0.0], 1, 1.0, 1.0, 0.5),
        # Already wins by more than the margin, and by exactly the margin.
        ([3.0, 1.0], 0, 1.0, 1.0, 0.0),
        ([1.0, 0.0], 0, 1.0, 1.0, 0.0),
        # Wins, but by too little: u = (1/2), so 1/16 + 1/16.
        ([0.5, 0.0], 0, 1.0, 1.0, 0.125),
        # No rival at all.
        ([7.0], 0, 1.0, 1.0, 0.0),
    ],
)
def test_hand_derived(
    logits: list[float], target: int, squared_norm: float, margin: float, expected: float
) -> None:
    found = minimal_changes(logits, [target], squared_norm, margin)
    np.testing.assert_allclose(found, [expected], rtol=1e-14, atol=0)


def test_equal_logits_against_theory() -> None:
    """n rivals at u = 1: m = n/(n+1), and m^2 + n (1-m)^2 = n/(n+1)."""
    for rivals in (1, 2, 10, 999, 50_000):
        found = minimal_changes(np.zeros(rivals + 1), [0], 1.0)
        np.testing.assert_allclose(found, [rivals / (rivals + 1)], rtol=1e-13)


@settings(deadline=None, max_examples=200)
@given(logits=LOGITS, margin=MARGINS, squared_norm=st.floats(0.1, 100.0), data=st.data())
def test_against_minimization_in_one_dimension(
    logits: np.ndarray, margin: float, squared_norm: float, data: st.DataObject
) -> None:
    target = data.draw(st.integers(0, len(logits) - 1))
    found = minimal_changes(logits, [target], squared_norm, margin)[0]
    expected = by_minimization(logits, target, squared_norm, margin)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("spread", [0.001, 0.5, 4.0])
def test_large_vocabularies_against_minimization(spread: float) -> None:
    """The closer the logits, the more rivals are active: from a few to all of them."""
    rng = np.random.default_rng(11)
    logits = rng.normal(0, spread, 3000)
    targets = np.array([*rng.integers(0, 3000, 5), np.argmax(logits), np.argmin(logits)])
    found = minimal_changes(logits, targets, 3.0)
    expected = [by_minimization(logits, target, 3.0, 1.0) for target in targets]
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_ten_thousand_active_rivals_against_theory() -> None:
    """The lowest of n + 1 logits between 0 and 0.01/n: all n rivals are active.

    u_i = 1 + a_i > m = S/(n+1) for every i, and rho Delta = Q - S^2/(n+1) for n = 10,000.
    """
    n = 10_000
    logits = np.linspace(0.0, 0.01 / n, n + 1)
    u = 1.0 + logits[1:]
    expected = np.square(u).sum() - u.sum() ** 2 / (n + 1)
    found = minimal_changes(logits[::-1], [n], 1.0)
    np.testing.assert_allclose(found, [expected], rtol=1e-10)


def test_a_position_is_solved_the_same_whatever_stands_beside_it() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 2, (6, 4000)).astype(np.float32)
    rows, targets = rng.integers(0, 6, 40), rng.integers(0, 4000, 40)
    norms = rng.uniform(1, 9, 6)
    together = minimal_changes_by_row(logits, rows, targets, norms)
    for row, target, change in zip(rows, targets, together, strict=True):
        assert minimal_changes(logits[row], [target], norms[row])[0] == change
    widened = minimal_changes_by_row(logits.astype(np.float64), rows, targets, norms)
    np.testing.assert_array_equal(widened, together, "float32 holds its numbers exactly")


@settings(deadline=None, max_examples=100)
@given(logits=LOGITS, margin=MARGINS, shift=st.floats(-100, 100))
def test_all_targets_at_once_are_the_targets_one_by_one_wherever_the_logits_lie(
    logits: np.ndarray, margin: float, shift: float
) -> None:
    """Delta depends on differences of logits only."""
    targets = np.arange(len(logits))
    together = minimal_changes(logits, targets, 2.0, margin)
    alone = [minimal_changes(logits + shift, [t], 2.0, margin)[0] for t in targets]
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-10)


@settings(deadline=None, max_examples=100)
@given(logits=LOGITS, margin=MARGINS, seed=st.integers(0, 1000))
def test_the_order_of_the_rivals_does_not_matter(
    logits: np.ndarray, margin: float, seed: int
) -> None:
    order = np.random.default_rng(seed).permutation(len(logits))
    usual = minimal_changes(logits, order, 1.0, margin)
    shuffled = minimal_changes(logits[order], np.arange(len(logits)), 1.0, margin)
    np.testing.assert_allclose(shuffled, usual, rtol=1e-12, atol=1e-14)


@settings(deadline=None, max_examples=100)
@given(logits=LOGITS, margin=MARGINS)
def test_a_larger_logit_never_needs_a_larger_change(logits: np.ndarray, margin: float) -> None:
    changes = minimal_changes(logits, np.argsort(logits), 1.0, margin)
    assert np.all(np.diff(changes) <= 1e-9 * (1 + changes[:-1]))


def test_a_changed_layer_of_that_size_makes_the_target_win_and_a_smaller_one_does_not() -> None:
    """Build A' as the theory has it (delta along x) and look at its logits."""
    rng = np.random.default_rng(5)
    A, x = rng.normal(size=(30, 6)), rng.normal(size=6)
    a, rho = A @ x, float(x @ x)
    for target in range(30):
        change = minimal_changes(a, [target], rho)[0]
        u = a - a[target] + 1.0
        u[target] = -np.inf
        # m solves m = sum of what the rivals are above it; it never increases on the right.
        low, high = 0.0, max(float(u.max()), 0.0)
        for _ in range(200):
            m = (low + high) / 2
            low, high = (m, high) if np.maximum(0, u - m).sum() > m else (low, m)
        d = -np.maximum(0.0, u - m)
        d[target] = m
        changed = A + np.outer(d, x) / rho
        np.testing.assert_allclose(np.square(changed - A).sum(), change, rtol=1e-9, atol=1e-14)
        rivals = np.delete(changed @ x, target)
        assert (changed @ x)[target] >= rivals.max() + 1.0 - 1e-9
        if change > 0:
            smaller = A + 0.999 * np.outer(d, x) / rho
            assert (smaller @ x)[target] < np.delete(smaller @ x, target).max() + 1.0


def test_a_tiny_change_keeps_its_digits() -> None:
    """u = 2^-20 exactly: u^2 / 2, although the logits are a million times larger."""
    u = 2.0**-20
    found = minimal_changes([64.0, 63.0 + u, -1000.0], [0], 1.0)
    np.testing.assert_allclose(found, [u * u / 2], rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_logits_that_are_not_finite_give_nan_at_their_position_only(bad: float) -> None:
    logits = np.array([[0.0, 0.0, 0.0], [0.0, bad, 0.0]])
    found = minimal_changes_by_row(logits, [0, 1, 1], [0, 0, 2], [1.0, 1.0])
    np.testing.assert_allclose(found[0], 2 / 3)
    assert np.isnan(found[1:]).all()


def test_no_targets_give_no_changes() -> None:
    assert minimal_changes([1.0, 2.0], [], 1.0).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (([[0.0]], [0], 1.0), "one-dimensional"),
        (([], [], 1.0), "n_tokens"),
        (([0.0, 1.0], [2], 1.0), "targets must lie between 0 and 1"),
        (([0.0, 1.0], [-1], 1.0), "targets must lie"),
        (([0.0, 1.0], [0], 0.0), "squared_norms"),
        (([0.0, 1.0], [0], np.nan), "squared_norms"),
        (([0.0, 1.0], [0], 1.0, np.inf), "margin"),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        minimal_changes(*arguments)


def test_a_vocabulary_of_fifty_thousand_is_solved_at_the_cost_of_a_few_sorts() -> None:
    """32 targets at 8 positions: one sort a target would cost 32 times what is measured here."""
    logits = np.random.default_rng(0).normal(0, 3, (8, 50_000))
    targets = np.random.default_rng(1).integers(0, 50_000, 8 * 32)
    rows = np.repeat(np.arange(8), 32)

    def seconds(work: object) -> float:
        started = time.process_time()
        work()  # type: ignore[operator]
        return time.process_time() - started

    sorts = min(seconds(lambda: np.sort(logits, axis=1)) for _ in range(3))
    solved = min(
        seconds(lambda: minimal_changes_by_row(logits, rows, targets, np.ones(8))) for _ in range(3)
    )
    assert solved < 16 * sorts
