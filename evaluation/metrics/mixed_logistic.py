"""Mixed logistic regression with crossed random intercepts, by Laplace's approximation.

    logit P(success) = x'β + σ₁ u₁[level] + σ₂ u₂[level] + …,   u standard normal

As in `lme4::glmer` with one quadrature point (Bates, Mächler, Bolker and Walker 2015, Fitting
Linear Mixed-Effects Models Using lme4; Breslow and Clayton 1993): the deviance is

    −2 log p(y | β, û) + û'û + log |H(û)|,   û the mode given β and σ, H the Hessian there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SEPARATED = "a group has no error, or nothing else"
DIVERGED = "the fit did not converge"
#: Odds of e¹⁵ are no finding but a sign of separation.
LARGEST = 15.0
_START = 0.5
_STEPS = 60
_NEAR = 1e-9


@dataclass(frozen=True)
class MixedLogistic:
    """A fit.

    coefficients : (p,) β in log odds, NaN where there is no fit
    covariance : (p, p) of β, from the curvature of the deviance
    sds : σ of every random intercept, in log odds
    deviance : −2 log likelihood but for the binomial coefficients, as Laplace approximates it
    n : trials
    reason : why there is no fit, empty otherwise
    """

    coefficients: Floats
    covariance: Floats
    sds: tuple[float, ...]
    deviance: float
    n: int
    reason: str = ""


def fit_mixed_logistic(
    successes: Floats,
    trials: Floats,
    design: Floats,
    levels: Sequence[NDArray[np.int64]],
) -> MixedLogistic:
    """Return the fit of successes out of trials.

    successes, trials : (n,) counts
    design : (n, p) fixed effects, of full rank
    levels : for every random intercept, one at least, (n,) numbers of levels from 0; the one with
        the most levels first costs least

    Where the fit does not converge, or an effect runs away, all is NaN with a reason.
    """
    from scipy import optimize

    p, k = design.shape[1], len(levels)
    fit = _Deviance(successes, trials, design, levels)
    share = (successes.sum() + 0.5) / (trials.sum() + 1)
    odds = np.linalg.lstsq(design, np.full(len(trials), math.log(share / (1 - share))), rcond=None)
    start = np.concatenate([odds[0], np.full(k, _START)])
    bounds = [(-2 * LARGEST, 2 * LARGEST)] * p + [(0.0, 10.0)] * k
    found = optimize.minimize(
        fit,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-14, "gtol": 1e-7},
    )
    beta, sds = found.x[:p], found.x[p:]
    reason = ""
    if not np.isfinite(found.fun) or found.status == 1:
        reason = DIVERGED
    elif np.abs(beta).max(initial=0) > LARGEST:
        reason = SEPARATED
    covariance = np.full((p, p), np.nan)
    if not reason:
        curvature = _hessian(fit, found.x)
        free = np.concatenate([np.ones(p, bool), sds > 1e-3])  # at its bound a σ has no curvature
        try:
            inverse = 2 * np.linalg.inv(curvature[np.ix_(free, free)])
        except np.linalg.LinAlgError:
            inverse = np.full((p, p), -1.0)
        covariance = inverse[:p, :p]
        if not (np.diag(covariance) > 0).all():
            reason = DIVERGED
    if reason:
        nothing = np.full(p, math.nan)
        return MixedLogistic(
            nothing,
            np.full((p, p), math.nan),
            (math.nan,) * k,
            math.nan,
            int(trials.sum()),
            reason,
        )
    return MixedLogistic(
        beta, covariance, tuple(map(float, sds)), float(found.fun), int(trials.sum())
    )


class _Deviance:
    """Laplace's deviance of β and σ with its gradient; the last mode is the next start."""

    def __init__(
        self,
        successes: Floats,
        trials: Floats,
        design: Floats,
        levels: Sequence[NDArray[np.int64]],
    ) -> None:
        self.y, self.m, self.x = successes, trials, design
        self.first = levels[0]
        sizes = [int(one.max()) + 1 for one in levels]
        self.n_first = sizes[0]
        # All random effects but the first are few, so that their columns are kept as they are.
        columns = [np.eye(size)[one] for size, one in zip(sizes[1:], levels[1:], strict=True)]
        self.z = np.concatenate([np.empty((len(trials), 0)), *columns], axis=1)
        self.owner = np.repeat(np.arange(len(levels)), sizes)
        self.u = np.zeros(len(self.owner))

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        p = self.x.shape[1]
        offset, scale = self.x @ theta[:p], theta[p:][self.owner]
        self.u = u = self._mode(offset, scale)
        eta = offset + self._spread(scale * u)
        mean = 1 / (1 + np.exp(-eta))
        rest, w = self.y - self.m * mean, self.m * mean * (1 - mean)
        block = _Block(self, w, scale)
        value = 2 * self._loss(eta) + u @ u + block.log_det
        # d log|H| through the weights: every row's variance times the third derivative.
        bend = block.variances() * w * (1 - 2 * mean)
        gradient = np.empty(len(theta))
        for j in range(len(theta)):
            if j < p:
                moved, pull, own = self.x[:, j], np.zeros(len(u)), 0.0
            else:
                level = self.owner == j - p
                moved = self._spread(np.where(level, u, 0))
                pull = np.where(level, self._gather(rest), 0)
                sd = theta[j]
                own = 2 / sd * (level.sum() - block.diagonal()[level].sum()) if sd > _NEAR else 0
            answer = block.solve(pull - scale * self._gather(w * moved))
            total = moved + self._spread(scale * answer)
            gradient[j] = -2 * (moved @ rest) + bend @ total + own
        return float(value), gradient

    def _loss(self, eta: Floats) -> float:
        return float((np.logaddexp(0, eta) * self.m - self.y * eta).sum())

    def _spread(self, effects: Floats) -> Floats:
        """Return the sum of every row's random effects."""
        return np.asarray(effects[: self.n_first][self.first] + self.z @ effects[self.n_first :])

    def _gather(self, values: Floats) -> Floats:
        """Return the sum of rows for every level, the transpose of `_spread`."""
        of_first = np.bincount(self.first, values, minlength=self.n_first)
        return np.concatenate([of_first, self.z.T @ values])

    def _mode(self, offset: Floats, scale: Floats) -> Floats:
        """Return the mode of u by Newton's steps, halved where they overshoot."""
        u = self.u
        now = self._loss(offset + self._spread(scale * u)) + u @ u / 2
        for _ in range(_STEPS):
            mean = 1 / (1 + np.exp(-(offset + self._spread(scale * u))))
            slope = u - scale * self._gather(self.y - self.m * mean)
            step = _Block(self, self.m * mean * (1 - mean), scale).solve(slope)
            size = 1.0
            while True:
                new = u - size * step
                value = self._loss(offset + self._spread(scale * new)) + new @ new / 2
                if value <= now + 1e-10 * abs(now) or size < 1e-6:
                    break
                size /= 2
            u, now = new, value
            if np.abs(step).max() < _NEAR:
                break
        return u


class _Block:
    """The Hessian of u, I + S Z'WZ S: the first effect's block is diagonal and goes first."""

    def __init__(self, deviance: _Deviance, weights: Floats, scale: Floats) -> None:
        self._of, self._scale = deviance, scale
        n, first, z = deviance.n_first, deviance.first, deviance.z
        own, few = scale[:n], scale[n:]
        self._first = 1 + own**2 * np.bincount(first, weights, minlength=n)
        weighted = z * weights[:, None]
        cross = [np.bincount(first, column, minlength=n) for column in weighted.T]
        self._cross = few[:, None] * np.reshape(cross, (len(few), n)) * own
        inner = np.eye(len(few)) + few[:, None] * (z.T @ weighted) * few
        reduced = inner - (self._cross / self._first) @ self._cross.T
        self._few = np.linalg.inv(reduced)
        self.log_det = float(np.log(self._first).sum() + np.linalg.slogdet(reduced)[1])

    def solve(self, right: Floats) -> Floats:
        n = self._of.n_first
        few = self._few @ (right[n:] - (self._cross / self._first) @ right[:n])
        return np.concatenate([(right[:n] - few @ self._cross) / self._first, few])

    def diagonal(self) -> Floats:
        """Return the diagonal of the inverse."""
        shared = self._cross / self._first
        first = 1 / self._first + np.einsum("kt,kl,lt->t", shared, self._few, shared)
        return np.concatenate([first, np.diag(self._few)])

    def variances(self) -> Floats:
        """Return the variance of every row's random effects."""
        n, first = self._of.n_first, self._of.first
        own, few = self._scale[:n], self._of.z * self._scale[n:]
        mixed = -(self._few @ (self._cross / self._first)).T[first]
        return np.asarray(
            (own**2 * self.diagonal()[:n])[first]
            + 2 * own[first] * (mixed * few).sum(1)
            + np.einsum("ik,kl,il->i", few, self._few, few, optimize=True)
        )


def _hessian(f: _Deviance, at: Floats, step: float = 1e-4) -> Floats:
    """Return second derivatives by central differences of the gradient."""
    moves = step * np.eye(len(at))
    found = np.array([(f(at + move)[1] - f(at - move)[1]) / (2 * step) for move in moves])
    return np.asarray((found + found.T) / 2)
