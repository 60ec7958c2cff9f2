"""The hinge with its own margin, smoothed by the entropy of the distribution over the rows.

    F(f) = max over u of  Σ rate_i u_i − (1/η) Σ u_i log(u_i/ū_i),   0 ≤ u ≤ cost,  Σu = νP

with rate_i = −y_i f_i, P = Σ cost_i and ū = ν·cost. The maximiser is u_i = min(cost_i,
ū_i exp(η(rate_i − t))) for one number t: rows beyond some rate are at their cost, the others are
weighed exponentially. As η grows this becomes :func:`~cgboost.losses.nu_hinge`; for η =
(2/δ) log(1/ν) the two differ by at most νP·δ/2 (Warmuth, Glocer, Vishwanathan, ALT 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import SupportVectorLoss
from cgboost.losses.hinge import nu_hinge


@dataclass(frozen=True)
class EntropicLoss(SupportVectorLoss):
    """A loss with an exact mass, one variable a row, and the entropy of u = |r| in its dual.

    Attributes
    ----------
    eta : float
        How little the entropy counts.
    """

    eta: float = 1.0

    @property
    def spread(self) -> Vector:
        """ū: the mass spread over the variables as their costs, shape (n_variables,)."""
        assert self.mass is not None
        costs = self.variables.costs
        return self.mass.amount * costs / costs.sum()

    def value(self, output: Vector) -> float:
        """F(f)."""
        rate = self.variables.rate(output)
        u = self.weights(rate)
        return float(rate @ u) - self._entropy(u) / self.eta

    def gain(self, response: Vector) -> float:
        """Dual objective of a feasible pseudo-response, without the penalty's conjugate."""
        entropy = self._entropy(self.variables.values(response))
        return self.linear_gain(response) - entropy / self.eta

    def pseudo_response(self, output: Vector) -> Vector:
        """R = −∂F/∂f, shape (n_rows,)."""
        return self.variables.response(self.weights(self.variables.rate(output)))

    def hessian(
        self,
        output: Vector,
        factors: Callable[[NDArray[np.intp]], Vector],
        *,
        softened: bool = False,
    ) -> Vector:
        """JᵀWJ, where W = η(diag(u) − uuᵀ/Σu) over the rows below their cost.

        Rows at their cost have no curvature. Where the others do not have enough of it for a step,
        ``softened`` gives those not far beyond their cost what they had at it.

        Parameters
        ----------
        output : ndarray of shape (n_rows,)
        factors : callable
            ``factors(rows)`` returns J of some rows, shape (len(rows), n_coefficients).
        """
        rate = self.variables.rate(output)
        bending = self.bending(rate, self.weights(rate), softened=softened)
        free = np.flatnonzero(bending > 0)
        weights = bending[free]
        signed = factors(self.variables.row[free]) * self.variables.sign[free, None]
        centred = signed - weights @ signed / (weights.sum() or 1.0)
        curvature: Vector = self.eta * (centred.T * weights) @ centred
        return curvature

    def weights(self, rate: Vector) -> Vector:
        """The maximising u for given rates, shape (n_variables,).

        With the m highest rates at their cost, exp(ηt) = Σ_rest ū exp(η rate)/(mass − Σ_top cost);
        the right m is the first for which the next rate stays below its cost.
        """
        assert self.mass is not None
        order = np.argsort(-rate, kind="stable")
        costs, spread, sorted_rate = self.variables.costs[order], self.spread[order], rate[order]
        exponents = self.eta * sorted_rate + np.log(spread)
        rest = np.logaddexp.accumulate(exponents[::-1])[::-1]
        left = self.mass.amount - np.concatenate([[0.0], np.cumsum(costs)[:-1]])
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = rest - np.log(left)
        fits = (left > 0) & (exponents - shift <= np.log(costs))
        first = int(np.argmax(fits)) if fits.any() else len(order) - 1
        weights = np.empty(len(order))
        weights[order[:first]] = costs[:first]
        weights[order[first:]] = np.minimum(costs[first:], np.exp(exponents[first:] - shift[first]))
        return weights

    def bending(self, rate: Vector, u: Vector, *, softened: bool = False) -> Vector:
        """Curvature of F along each rate, over η: u below the cost, 0 at it; shape (n_variables,).

        Softened, a variable whose exponential exceeds its cost by a factor keeps cost over factor.
        """
        below = (u > 0) & (u < self.variables.costs)
        if not softened:
            return np.where(below, u, 0.0)
        levels = rate[below] - np.log(u[below] / self.spread[below]) / self.eta
        level = float(levels.max()) if levels.size else float(rate[u > 0].min())
        beyond = self.eta * (rate - level) - np.log(self.variables.costs / self.spread)
        return u * np.exp(-np.maximum(beyond, 0.0))

    def _entropy(self, u: Vector) -> float:
        spread = self.spread
        return float(u @ np.log(np.where(u > 0, u, spread) / spread))


def entropic_nu_hinge(
    labels: Vector, price: Vector, nu: float, *, eta: float, balanced: bool
) -> EntropicLoss:
    """The loss of ERLPBoost; parameters as :func:`~cgboost.losses.nu_hinge`."""
    if not 0 < eta < np.inf:
        raise ValueError(f"eta must be positive and finite, got {eta!r}")
    plain = nu_hinge(labels, price, nu, balanced=balanced)
    return EntropicLoss(**{f.name: getattr(plain, f.name) for f in fields(plain)}, eta=eta)
