"""Newton steps of the interior-point method, and their normal equations.

The dense system of an interior point step: (HᵀWH + D) x = b, with W and D diagonal.

An interior point method for the restricted dual of the 1-norm, warm-started as it grows.

    max  gain·u − ½Σ curvature·u²     s = Hᵀr + constant,  r = Σ sign·u,  0 ≤ u ≤ cap

with |s_j| ≤ limit_j, or s_j ≤ limit_j where α ≥ 0. A column of limit 0, as the free offset, has
s_j = 0, or costs ½s_j²/softness_j. The multipliers of s = Hᵀr + … are the coefficients α.

Mehrotra's predictor and corrector steps on

    gain − sign·(Hα) − curvature·u + z₀ − z₁ = 0      z₀u = z₁(cap − u) = μ
    α = w₁ − w₀                                       w₀(limit + s) = w₁(limit − s) = μ

Generated columns are dense and much fewer than the rows, so that a step solves the small dense
system (HᵀWH + D)Δα = …. A simplex basis would be as dense, but costs a factorisation for every few
pivots. Duals that are central and not a vertex make
better columns, too: the restricted problem need only be solved to a fraction of the gap that the
last columns have opened (Gondzio, González-Brevis, Munari, *Large-scale optimization with the
primal-dual column generation method*, Math. Prog. Comp. 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from cgboost.losses.dual.support_vector import Vector
from cgboost.masters.dual_solvers.restricted_dual import BoxedDual
from cgboost.tolerances import SMALLEST

FACTOR_RIDGE = 1e-13
"""Added to the diagonal, relative to it, where the factorisation fails; then more and more. It
begins at some hundred units of rounding, which is what made the matrix indefinite."""


CONJUGATE_STEPS = 3
"""Steps of conjugate gradients, preconditioned with the factorisation, that make a solution more
exact where columns are nearly dependent."""


class NormalEquations:
    """A factorisation of HᵀWH + D.

    Parameters
    ----------
    H : ndarray of shape (n_rows, n_columns)
    weights : ndarray of shape (n_rows,)
        The diagonal of W, positive.
    diagonal : ndarray of shape (n_columns,)
        The diagonal of D, at least 0.
    refined : bool
        Whether solutions are refined even where the factorisation has not failed.
    """

    def __init__(
        self, H: Vector, weights: Vector, diagonal: Vector, *, refined: bool = False
    ) -> None:
        self._H, self._weights, self._diagonal = H, weights, diagonal
        self._factor, ridge = np.zeros((0, 0)), 0.0
        if H.size:
            self._factor, ridge = self._factorised()
        self._refined = refined or ridge > 0

    def _factorised(self) -> tuple[Vector, float]:
        """What :meth:`_rough` solves with, and by how much it was raised."""
        weighted = self._H * np.sqrt(self._weights)[:, None]
        matrix = dsyrk(1.0, weighted.T, lower=1)
        _diagonal_of(matrix)[:] += self._diagonal
        return _cholesky(matrix)

    def _rough(self, right: Vector) -> Vector:
        return _back(self._factor, right)

    def solve(self, right: Vector) -> Vector:
        """x, shape (n_columns,)."""
        x = self._rough(right)
        if not (self._refined and right.size):
            return x
        left = right - self._times(x)
        direction = z = self._rough(left)
        worth = float(left @ z)
        for _ in range(CONJUGATE_STEPS):
            if not worth > 0:
                break
            image = self._times(direction)
            step = worth / float(direction @ image)
            x, left = x + step * direction, left - step * image
            z = self._rough(left)
            before, worth = worth, float(left @ z)
            direction = z + worth / before * direction
        return x

    def _times(self, x: Vector) -> Vector:
        return (self._weights * (self._H @ x)) @ self._H + self._diagonal * x


class RowEquations(NormalEquations):
    """The same through a system of the size of the rows, where most of D is positive.

    With S the columns of positive D and F the others, x follows from y = WHx:

        (W⁻¹ + SD⁻¹Sᵀ)y = F x_F + SD⁻¹b_S,    Fᵀy = b_F,    x_S = D⁻¹(b_S − Sᵀy)

    Parameters
    ----------
    H, weights, diagonal : ndarray
    products : ndarray of shape (n_rows, n_rows)
        SD⁻¹Sᵀ.
    """

    def __init__(self, H: Vector, weights: Vector, diagonal: Vector, products: Vector) -> None:
        self._products, self._soft = products, diagonal > 0
        super().__init__(H, weights, diagonal, refined=True)

    def _factorised(self) -> tuple[Vector, float]:
        matrix = self._products.copy(order="F")
        _diagonal_of(matrix)[:] += 1.0 / self._weights
        factor, ridge = _cholesky(matrix)
        self._free = self._H[:, ~self._soft]
        self._by_free = _back(factor, self._free)
        self._border, raised = _cholesky(self._free.T @ self._by_free)
        return factor, max(ridge, raised)

    def _rough(self, right: Vector) -> Vector:
        soft, x = self._soft, right.copy()
        x[soft] /= self._diagonal[soft]
        x[~soft] = 0.0
        y = _back(self._factor, self._H @ x)
        free = _back(self._border, right[~soft] - self._free.T @ y)
        y += self._by_free @ free
        x[soft] -= (y @ self._H)[soft] / self._diagonal[soft]
        x[~soft] = free
        return x


def _diagonal_of(matrix: Vector) -> Vector:
    """A view of the diagonal."""
    return np.einsum("ii->i", matrix)


def _cholesky(matrix: Vector) -> tuple[Vector, float]:
    """Lower factor; the diagonal is raised a little where rounding has made it indefinite."""
    ridge = 0.0
    while True:
        raised = matrix.copy(order="F")
        _diagonal_of(raised)[:] *= 1.0 + ridge
        factor, failed = dpotrf(raised, lower=1, overwrite_a=1)
        if not failed or ridge > 1.0 or not np.isfinite(raised).all():
            return np.asarray(factor), ridge
        ridge = max(FACTOR_RIDGE, 100.0 * ridge)


def _back(factor: Vector, right: Vector) -> Vector:
    if not right.size:
        return right
    return np.asarray(dpotrs(factor, right, lower=1)[0])


TO_THE_BOUNDARY = 0.995
"""Share of the way to the nearest bound that a step goes at most."""

SHORT = 0.1
"""A corrected step shorter than this is compared with one that only centres …"""

CENTRING = 0.3
"""… at this share of the mean product."""

LEAST_DISTANCE = 1e-14
"""Distances from a bound count as no less than this share of it: rounding may leave of them 0."""

LEAST_STEP = 1e-8
"""Steps shorter than this get nowhere. A hundred of them, the most of a solve, would move nothing
by more than a millionth."""

FAR = 0.9
"""Scores start at this share of their limit at most."""

RECENTRING_SHARE = 0.3
"""Recentring moves a variable by at most this share of its range."""


@dataclass
class Iterate:
    """A point with everything positive that must be: u, cap − u, z; limit ± s, w.

    Attributes
    ----------
    u, low, high : ndarray of shape (n_variables,)
        Variable values and the multipliers of u ≥ 0 and u ≤ cap.
    coef, s, below, above : ndarray of shape (n_columns,)
        α, s and the multipliers of s ≥ −limit and s ≤ limit (0 where there is no such bound).
    """

    u: Vector
    low: Vector
    high: Vector
    coef: Vector
    s: Vector
    below: Vector
    above: Vector

    def slacks(self, data: BoxedDual) -> tuple[Vector, Vector, Vector, Vector]:
        """Distances from the four bounds; 1 where there is none."""
        bounded = data.limit > 0
        closest = LEAST_DISTANCE * data.limit
        under = np.where(bounded & data.two_sided, np.maximum(data.limit + self.s, closest), 1.0)
        over = np.where(bounded, np.maximum(data.limit - self.s, closest), 1.0)
        return self.u, np.maximum(data.cap - self.u, LEAST_DISTANCE * data.cap), under, over

    @property
    def duals(self) -> tuple[Vector, Vector, Vector, Vector]:
        """The multipliers of the four bounds."""
        return self.low, self.high, self.below, self.above

    def complementarity(self, data: BoxedDual) -> float:
        """Sum of all products of a slack and its multiplier."""
        return float(sum(g @ z for g, z in zip(self.slacks(data), self.duals, strict=True)))

    def shrink(self, data: BoxedDual) -> None:
        """Shrink u as a whole until every score is inside its limit; for u = 0 that is feasible."""
        s = data.scores(self.u)
        bounded = data.limit > 0
        size = np.where(data.two_sided, np.abs(s), s)[bounded] / data.limit[bounded]
        if (most := float(np.max(size, initial=0.0))) > FAR:
            self.u = self.u * (FAR / most)
            self.s = np.where(bounded, s * (FAR / most), 0.0)

    def recentre(self, data: BoxedDual, mu: float) -> None:
        """Raise every product of a slack and its multiplier to ``mu``.

        The smaller of the two is raised, relative to its range. That opens residuals, which full
        steps close again; a point near the boundary would allow no full step.
        """
        from_low, from_high = self.slacks(data)[:2]
        self.u = self.u + _away_from_bounds(from_low, from_high, *self.duals[:2], data.cap, mu)
        from_low, from_high = self.slacks(data)[:2]
        self.low, self.high = (
            np.maximum(self.low, mu / from_low),
            np.maximum(self.high, mu / from_high),
        )
        above, below = data.limit > 0, (data.limit > 0) & data.two_sided
        under, over = self.slacks(data)[2:]
        move = _away_from_bounds(under, over, self.below, self.above, 2.0 * data.limit, mu)
        self.s = self.s + np.where(above, move, 0.0)
        under, over = self.slacks(data)[2:]
        self.below = np.where(below, np.maximum(self.below, mu / under), 0.0)
        self.above = np.where(above, np.maximum(self.above, mu / over), 0.0)


def _away_from_bounds(
    from_low: Vector, from_high: Vector, low: Vector, high: Vector, width: Vector, mu: float
) -> Vector:
    """Moves that bring each product of a small slack and a large multiplier up to ``mu``."""
    move = np.zeros(len(width))
    up = (from_low * low < mu) & (low * width > from_low)
    move[up] = np.minimum(mu / low[up], RECENTRING_SHARE * width[up]) - from_low[up]
    down = (from_high * high < mu) & (high * width > from_high)
    move[down] -= np.minimum(mu / high[down], RECENTRING_SHARE * width[down]) - from_high[down]
    return move


class InteriorStep:
    """One predictor and corrector step from an iterate.

    Attributes
    ----------
    infeasibility : float
        What the residuals are worth in the objective.
    objective : float
        Primal objective.
    """

    def __init__(self, data: BoxedDual, at: Iterate) -> None:
        self.data, self.at = data, at
        self._slacks, self._duals = at.slacks(data), at.duals
        rate = data.rate(at.coef)
        self._side_residual = rate - data.curvature * at.u + at.low - at.high
        self._coef_residual = at.coef + at.below - at.above
        self._score_residual = at.s - data.scores(at.u)
        self.infeasibility = float(
            abs(at.coef @ self._score_residual) + abs(at.u @ self._side_residual)
        )
        if (soft := data.softness > 0).any():
            root = np.sqrt(data.softness[soft])
            self.infeasibility += 0.5 * float(
                ((root * at.coef[soft] - at.s[soft] / root) ** 2).sum()
            )
        self.objective = data.objective(at.coef, rate)

    def take(self) -> bool:
        """Move the iterate; False if it could not be moved."""
        data, at = self.data, self.at
        low, high, below, above = self._duals
        from_low, from_high, under, over = self._slacks
        bounded = data.limit > 0
        self._weights = 1.0 / (low / from_low + high / from_high + data.curvature)
        stiffness = below / under + above / over
        self._give = np.where(bounded, 1.0 / np.where(bounded, stiffness, 1.0), data.softness)
        equations = self._equations(data.by_row(self._weights))
        products = [g * z for g, z in zip(self._slacks, self._duals, strict=True)]
        there = [z > 0 for z in self._duals]
        count = max(1, sum(int(pair.sum()) for pair in there))
        mu = sum(float(pair.sum()) for pair in products) / count
        move = self._direction(equations, [-product for product in products])
        predicted = self._products_after(move, self._lengths(move, 1.0)) / count
        centre = mu * (predicted / mu) ** 3 if mu > 0 else 0.0
        bends = [dg * dz for dg, dz in zip(self._slack_moves(move), move.duals, strict=True)]
        move = self._towards(equations, centre, there, products, bends)
        lengths = self._lengths(move, TO_THE_BOUNDARY)
        if min(lengths) < SHORT:  # the correction has led astray
            plain = self._towards(equations, CENTRING * mu, there, products, [0.0] * len(there))
            plain_lengths = self._lengths(plain, TO_THE_BOUNDARY)
            if min(plain_lengths) > min(lengths):
                move, lengths = plain, plain_lengths
        if not all(np.isfinite(part).all() for part in vars(move).values()):
            return False
        primal, dual = lengths
        at.u = at.u + dual * move.u
        at.s = at.s + dual * move.s
        for name in ("coef", "low", "high", "below", "above"):
            setattr(at, name, getattr(at, name) + primal * getattr(move, name))
        return max(primal, dual) > LEAST_STEP

    def _equations(self, weights: Vector) -> NormalEquations:
        data = self.data
        if data.fewer_rows:
            return RowEquations(data.block, weights, self._give, data.products)
        return NormalEquations(data.block, weights, self._give, refined=data.refined)

    def _towards(
        self,
        equations: NormalEquations,
        centre: float,
        there: Sequence[NDArray[np.bool_]],
        products: Sequence[Vector],
        bends: Sequence[Vector | float],
    ) -> Iterate:
        """The direction in which all products become ``centre``, with their bends foreseen."""
        targets = [
            np.where(pair, centre, 0.0) - product - bend
            for pair, product, bend in zip(there, products, bends, strict=True)
        ]
        return self._direction(equations, targets)

    def _direction(self, equations: NormalEquations, targets: list[Vector]) -> Iterate:
        """The Newton direction to products that change by ``targets``."""
        data, at = self.data, self.at
        from_low, from_high, under, over = self._slacks
        bounded = data.limit > 0
        pull = self._side_residual + targets[0] / from_low - targets[1] / from_high
        drift = self._coef_residual + targets[2] / under - targets[3] / over
        drift = np.where(bounded, self._give * drift, data.softness * at.coef - at.s)
        rows = data.by_row(data.sign * self._weights * pull)
        coef = equations.solve(rows @ data.block - drift - self._score_residual)
        u = self._weights * (pull - data.sign * (data.block @ coef)[data.place])
        s = self._give * coef + drift
        return Iterate(
            u=u,
            low=(targets[0] - at.low * u) / from_low,
            high=(targets[1] + at.high * u) / from_high,
            coef=coef,
            s=s,
            below=(targets[2] - at.below * s) / under,
            above=(targets[3] + at.above * s) / over,
        )

    def _slack_moves(self, move: Iterate) -> tuple[Vector, Vector, Vector, Vector]:
        there = self.data.limit > 0
        return move.u, -move.u, move.s * (there & self.data.two_sided), -move.s * there

    def _lengths(self, move: Iterate, share: float) -> tuple[float, float]:
        """Step lengths of (α, z, w) and of (u, s), one for both where they are tied."""
        dual = _to_zero(self._slacks, self._slack_moves(move))
        primal = _to_zero(self._duals, move.duals)
        primal, dual = min(1.0, share * primal), min(1.0, share * dual)
        if self.data.curvature.any() or self.data.softness.any():
            primal = dual = min(primal, dual)
        return primal, dual

    def _products_after(self, move: Iterate, lengths: tuple[float, float]) -> float:
        primal, dual = lengths
        slack_moves = self._slack_moves(move)
        return float(
            sum(
                (g + dual * dg) @ (z + primal * dz)
                for g, dg, z, dz in zip(
                    self._slacks, slack_moves, self._duals, move.duals, strict=True
                )
            )
        )


def _to_zero(parts: Sequence[Vector], moves: Sequence[Vector]) -> float:
    """How often the moves can be added before a value reaches 0; values of 0 have no move."""
    values, move = np.concatenate(parts), np.concatenate(moves)
    fastest = float((move / np.maximum(values, SMALLEST)).min(initial=0.0))
    return -1.0 / fastest if fastest < 0 else np.inf
