"""Restricted problem of several outputs that must not cross anywhere in a box of the features.

Features are mapped to [−1, 1]: z_j = (x_j − m_j)/h_j with the middle m_j and half the width h_j of
the box. Neighbouring outputs, with coefficients γ of z and offsets b at the middle of the box,
differ at least by

    min over z in [−1, 1]^p of f_{k+1}(z) − f_k(z)  =  b_{k+1} − b_k − Σ_j |γ_{j,k+1} − γ_jk|,

so that one row for each pair of neighbours stands for all points of the box (Bondell, Reich, Wang,
*Noncrossing quantile regression curve estimation*, Biometrika 97, 2010; they map to [0, 1] and have
the negative parts of the differences). With δ_jk for the absolute values the problem is linear,

    min  Σ_k Σ_i c_i ρ_{q_k}(y_i − f_k(z_i)) + Σ_jk limit_j|γ_jk|
    b_{k+1} − b_k − Σ_j δ_jk ≥ 0    |μ_k      δ_jk ∓ (γ_{j,k+1} − γ_jk) ≥ 0    |t⁻_jk, t⁺_jk

and has the dual  max Σ_i y_i Σ_k r_ik,  r in the boxes of the losses, with t = t⁺ − t⁻,

    Σ_i r_ik = μ_k − μ_{k−1},     |z_j·r_k + t_{j,k−1} − t_jk| ≤ limit_j,     |t_jk| ≤ μ_k.

Features without a penalty have the limit 0, or nearly. Since μ_k ≤ Λ_k of
:mod:`cgboost.losses.dual.noncrossing`, each of these rows may as well be charged by a price above
Λ_k: an exact penalty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs

from cgboost._solvers import SolverFailure
from cgboost.arrays import Vector
from cgboost.generation.columns import FloatArray
from cgboost.losses.dual.noncrossing import EXACT_PENALTY, QuantilesLoss, apart
from cgboost.losses.dual.side_by_side import slices
from cgboost.optimizers.interior_point.interior_point_steps import (
    CAUTION,
    Descent,
    Iterate,
    importance,
    inside_limits,
)
from cgboost.optimizers.interior_point.interior_session import (
    FINEST_SHARE,
    INTERIOR_STEPS,
    NO_BETTER,
    PURIFICATION,
    ROUGHLY,
    multipliers,
)
from cgboost.optimizers.interior_point.normal_equations import FactoredEquations, cholesky
from cgboost.optimizers.live_dual import BoxedDual, RestrictedPoint
from cgboost.optimizers.solver_options import check_time, deadline_of
from cgboost.parallel.threads import blas_threads
from cgboost.penalties.penalty import DualForm

FIRST_SHARE = 0.3
"""The multipliers μ start at this share of the mean cost of a row, or of their price where that is
less (quantiles near 0 or 1 of few rows) …"""

FIRST_DISTANCE = 0.03
"""… and those of the boxes at this share of the mean residual of the constants. On six problems
0.01, 0.03, 0.1 and 1 took 151, 135, 158 and 188 steps, outputs of 0 took 179."""

LEAST_LIMIT = 1e-12
"""The limit of features without a penalty, relative to the sum of the costs: of features that
depend on each other it chooses one set of coefficients. The bound is one without it."""

FEW_SHARE = 5e-9
"""What taking away coefficients that are rounding may cost, relative to the objective. Of
11700 coefficients in 500 fits, a part of them of quantiles near 0 and 1, 1e-9 left 197 that are
below 1e-7, this leaves 9."""

PROJECTIONS = 3
"""So often what a pseudo-response lacks of its sums is added, in the rows that have room for it."""


class BoxRows:
    """The matrix of the problem, by its parts.

    Its columns are γ, output by output, the offsets, and δ, pair by pair of neighbours; its rows
    the pairs (output, training row), and those of μ, t⁻ and t⁺.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
        z.
    """

    __array_ufunc__ = None  # NumPy leaves products from the left to __rmatmul__

    def __init__(self, values: Vector, n_outputs: int) -> None:
        (n, m), K = values.shape, n_outputs
        self.values, self.n_outputs = values, n_outputs
        self._row_parts = _parts_of((K, n), (K - 1,), (K - 1, m), (K - 1, m))
        self._column_parts = _parts_of((K, m), (K,), (K - 1, m))
        self.shape = self._row_parts[-1][0].stop, self._column_parts[-1][0].stop

    def __len__(self) -> int:
        return self.shape[0]

    def by_rows(self, values: Vector) -> list[Vector]:
        """Numbers of the rows, part by part."""
        return [values[place].reshape(shape) for place, shape in self._row_parts]

    def by_columns(self, values: Vector) -> list[Vector]:
        """Numbers of the columns, part by part."""
        return [values[place].reshape(shape) for place, shape in self._column_parts]

    def __matmul__(self, coef: Vector) -> Vector:
        gamma, offsets, delta = self.by_columns(coef)
        differences = gamma[1:] - gamma[:-1]
        rows = (
            gamma @ self.values.T + offsets[:, None],
            offsets[1:] - offsets[:-1] - delta.sum(axis=1),
            delta - differences,
            delta + differences,
        )
        return np.concatenate([part.ravel() for part in rows])

    def __rmatmul__(self, rows: Vector) -> Vector:
        pairs, mu, below, above = self.by_rows(rows)
        columns = (
            pairs @ self.values + _adjoint(above - below),
            pairs.sum(axis=1) + _adjoint(mu),
            below + above - mu[:, None],
        )
        return np.concatenate([part.ravel() for part in columns])


def _parts_of(*shapes: tuple[int, ...]) -> list[tuple[slice, tuple[int, ...]]]:
    """Where parts of these shapes lie, one after the other."""
    places = slices(math.prod(shape) for shape in shapes)
    return list(zip(places, shapes, strict=True))


def _adjoint(values: Vector) -> Vector:
    """The adjoint of differences of neighbours: the k-th gets values[k − 1] − values[k]."""
    moved = np.zeros((len(values) + 1, *values.shape[1:]))
    moved[1:] = values
    moved[:-1] -= values
    return moved


@dataclass
class BoxProblem(BoxedDual):
    """A :class:`BoxedDual` whose ``block`` is :class:`BoxRows`."""

    block: BoxRows  # type: ignore[assignment]

    def equations(self) -> BoxEquations:
        """The normal equations of a step."""
        return BoxEquations(self.block)


class BoxEquations(FactoredEquations):
    """The normal equations of :class:`BoxProblem`, block by block.

    With the weights φ of the rows of μ, θ⁻ and θ⁺ of those of t, e = θ⁺ + θ⁻ and d = θ⁺ − θ⁻, the
    least value over δ of what a pair of neighbours adds is, in differences Δγ and Δb,

        Σ_j (4θ⁺θ⁻/e)_j Δγ_j²  +  φ/(1 + φ Σ 1/e) · (Δb + Σ_j (d/e)_j Δγ_j)².

    What is left is block tridiagonal, with a block (γ_k, b_k) for each output.
    """

    def __init__(self, rows: BoxRows) -> None:
        super().__init__(refined=False)
        self._rows = rows
        self._columns = np.asfortranarray(np.column_stack([rows.values, np.ones(len(rows.values))]))

    def _factorise(self) -> float:
        pairs, phi, below, above = self._rows.by_rows(self._weights)
        gamma, _, _ = self._rows.by_columns(self._diagonal)
        total, ridge = below + above, 0.0
        self._total, self._turn, self._phi = total, above - below, phi
        self._least = phi / (1.0 + phi * (1.0 / total).sum(axis=1))
        self._factors: list[Vector] = []
        self._couplings: list[Vector] = []
        before = np.zeros((self._columns.shape[1],) * 2)
        for k, weights in enumerate(pairs):
            block = self._product(self._columns * np.sqrt(weights)[:, None])
            block += np.tril(block, -1).T  # above the diagonal there is nothing
            np.einsum("ii->i", block)[:-1] += gamma[k]
            block += before
            if k:
                coupling = self._couplings[-1]
                block -= coupling.T @ coupling
            if k < len(phi):
                tie = np.append(self._turn[k] / total[k], 1.0)
                before = self._least[k] * np.outer(tie, tie)
                stiff = 4.0 * below[k] * above[k] / total[k]
                np.einsum("ii->i", before)[:-1] += stiff
                block += before
            factor, raised = cholesky(block)
            ridge = max(ridge, raised)
            self._factors.append(factor)
            if k < len(phi):
                self._couplings.append(-dtrtrs(factor, before, lower=1)[0])
        return ridge

    def _rough(self, right: Vector) -> Vector:
        gamma, offsets, delta = self._rows.by_columns(right)
        first = self._without_delta(delta)
        given = np.column_stack(
            [
                gamma - _adjoint(self._turn * first),
                offsets + _adjoint(self._phi * first.sum(axis=1)),
            ]
        )
        forward: list[Vector] = []
        for k, factor in enumerate(self._factors):
            own = given[k]
            if k:
                own = own - self._couplings[k - 1].T @ forward[-1]
            forward.append(dtrtrs(factor, own, lower=1)[0])
        found = np.zeros_like(given)
        for k in reversed(range(len(forward))):
            own = forward[k]
            if k + 1 < len(forward):
                own = own - self._couplings[k] @ found[k + 1]
            found[k] = dtrtrs(self._factors[k], own, lower=1, trans=1)[0]
        gamma, offsets = found[:, :-1], found[:, -1]
        moved = delta - self._turn * (gamma[1:] - gamma[:-1])
        apart_by = self._phi * (offsets[1:] - offsets[:-1])
        delta = self._without_delta(moved + apart_by[:, None])
        return np.concatenate([gamma.ravel(), offsets, delta.ravel()])

    def _without_delta(self, right: Vector) -> Vector:
        """The solution of (diag(e) + φ11ᵀ)δ = right, for every pair of neighbours."""
        x = right / self._total
        return x - (self._least * x.sum(axis=1))[:, None] / self._total

    def _times(self, x: Vector) -> Vector:
        return (self._weights * (self._rows @ x)) @ self._rows + self._diagonal * x


class BoxColumns:
    """Features mapped to [−1, 1], each with a coefficient for every output.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        z; 0 where all rows have the same value.
    middle, half : ndarray of shape (n_features,)
        m and h.
    """

    def __init__(self, n_outputs: int, n_rows: int) -> None:
        self.n_outputs, self.n_rows = n_outputs, n_rows
        self.values = np.zeros((n_rows, 0))
        self.middle = self.half = np.zeros(0)

    @property
    def count(self) -> int:
        """Number of columns: of pairs (feature, output), the outputs of a feature together."""
        return self.n_outputs * len(self.half)

    def append(self, features: Sequence[FloatArray]) -> None:
        """Append features, each of shape (n_rows,)."""
        new = np.array(features, dtype=np.float64).reshape(len(features), -1).T
        least, most = new.min(axis=0), new.max(axis=0)
        middle, half = 0.5 * (least + most), 0.5 * (most - least)
        new = np.divide(new - middle, half, out=np.zeros_like(new), where=half > 0)
        self.values = np.hstack([self.values, new])
        self.middle, self.half = np.append(self.middle, middle), np.append(self.half, half)

    def by_output(self, coef: Vector) -> Vector:
        """Coefficients of z, shape (n_outputs, n_features), of those of all columns."""
        return coef.reshape(-1, self.n_outputs).T * self.half

    def of_columns(self, gamma: Vector) -> Vector:
        """Coefficients of all columns, from those of z."""
        whole = np.divide(gamma, self.half, out=np.zeros_like(gamma), where=self.half > 0)
        return whole.T.ravel()

    def shift(self, coef: Vector) -> Vector:
        """What the middles take from each output, shape (n_outputs,)."""
        return self.middle @ coef.reshape(-1, self.n_outputs)


class BoxQuantiles:
    """Live restricted problem of several outputs that must not cross in the box of the rows.

    Parameters
    ----------
    form : DualForm
        Of the 1-norm, with free offsets; the features without a penalty are the first.
    """

    def __init__(self, loss: QuantilesLoss, form: DualForm) -> None:
        self.loss, self.form = loss, form
        self.columns = BoxColumns(loss.n_outputs, loss.n_rows // loss.n_outputs)
        self._missed = np.zeros((loss.n_outputs, 1))

    @property
    def largest_entry(self) -> float:
        """The largest entry of a feature from the middle of its box."""
        return float(self.columns.half.max(initial=0.0))

    def add(self, features: Sequence[FloatArray]) -> None:
        """Take in features, with a column for every output."""
        self.columns.append(features)

    def start_near(self, coef: Vector, intercept: Any) -> None:
        """Columns of a similar problem are all that is taken from it."""

    def imbalance(self, coef: Vector) -> float:
        """What the features without a penalty still lack of their scores is worth."""
        free = self.columns.by_output(coef)[:, : self._n_free]
        return float(np.abs(free * self._missed[:, 1:]).sum())

    @property
    def _n_free(self) -> int:
        return self.form.n_free // self.loss.n_outputs

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """The optimum over the features that are here.

        Raises
        ------
        LimitError
            If the time is over.
        SolverFailure
            If the interior point method makes no progress.
        """
        deadline = deadline_of(time_limit)
        problem = self._problem()
        at = self._start(problem)
        descent = Descent(problem, at)
        best, least, since = np.inf, np.inf, 0
        with np.errstate(all="ignore"), blas_threads(1):
            for _ in range(INTERIOR_STEPS):
                gap = descent.gap
                least, since = (gap, 0) if gap < 0.9 * least else (least, since + 1)
                if gap < best:
                    best, scale = gap, self._scale(problem, descent.objective)
                    descent.mark()
                if best <= FINEST_SHARE * scale or since > NO_BETTER or not descent.step():
                    break
                check_time(deadline, "the interior point method")
            descent.return_to_mark()
            descent.write()
        if not best <= ROUGHLY * scale:  # what is missing then shows in the gap
            raise SolverFailure("the interior point method made no progress")
        allowance = max(PURIFICATION * best, FEW_SHARE * scale)
        return self._point(problem, at, allowance)

    def _scale(self, problem: BoxProblem, objective: float) -> float:
        return self.form.gap_scale(self.loss, objective + problem.fixed_gain)

    def _problem(self) -> BoxProblem:
        loss, outputs = self.loss, self.loss.n_outputs
        counting = np.flatnonzero(loss.cost > 0)
        rows = BoxRows(self.columns.values[counting], outputs)
        lower, upper, target = (
            np.asarray(own).reshape(outputs, -1)[:, counting].ravel()
            for own in (loss.lower, loss.upper, loss.target)
        )
        price = EXACT_PENALTY * loss.most_crossing
        others = len(rows) - len(target)
        every = np.repeat(price, self.columns.values.shape[1])
        limit, half = np.zeros(rows.shape[1]), self.columns.half
        charged = np.divide(self.form.threshold, half, out=np.ones_like(half), where=half > 0)
        charged[: self._n_free] = LEAST_LIMIT * float(loss.cost.sum())
        limit[: outputs * len(half)] = np.tile(charged, outputs)
        two_sided = np.ones(len(limit), dtype=bool)
        if not self.form.two_sided:
            two_sided[: outputs * len(half)] = False
        nothing = np.zeros(others)
        return BoxProblem(
            block=rows,
            row=np.arange(len(rows)),
            sign=np.ones(len(rows)),
            linear=np.append(target, nothing),
            upper=np.concatenate([upper - lower, price, every, every]),
            curvature=np.zeros(len(rows)),
            constant=np.append(lower, nothing) @ rows,
            limit=limit,
            softness=np.zeros(len(limit)),
            two_sided=two_sided,
            fixed_gain=float(lower @ target),
            neutral=np.append(-lower, nothing),
            in_order=True,
        )

    def _start(self, problem: BoxProblem) -> Iterate:
        """The constants that are best, r = 0, and small multipliers of crossings."""
        u, coef = problem.neutral.copy(), np.zeros(len(problem.limit))
        pairs, mu, below, above = problem.block.by_rows(u)  # views
        price = EXACT_PENALTY * self.loss.most_crossing
        mu += FIRST_SHARE * np.minimum(float(self.loss.cost.mean()), price)
        below += 0.5 * mu[:, None]
        above += 0.5 * mu[:, None]
        offsets, target = problem.block.by_columns(coef)[1], problem.linear[: pairs.shape[1]]
        order, cost = np.argsort(target, kind="stable"), self.loss.cost[self.loss.cost > 0]
        shares = np.cumsum(cost[order]) / cost.sum()
        places = np.searchsorted(shares[:-1], self.loss.quantiles)
        offsets[:] = target[order[places]]
        rate = problem.rate(coef)
        low, high = multipliers(rate, FIRST_DISTANCE * float(np.abs(rate).mean()))
        s, nothing = inside_limits(problem, problem.scores(u)), np.zeros(len(coef))
        at = Iterate(u, low, high, coef, s, nothing, nothing)
        opened = problem.objective(coef, rate) - float(problem.linear @ u)
        at.recentre(problem, opened / (2 * (len(u) + len(coef))))
        return at

    def _point(self, problem: BoxProblem, at: Iterate, allowance: float) -> RestrictedPoint:
        """The model of an iterate, with few coefficients, and its feasible pseudo-response."""
        columns, outputs = self.columns, self.loss.n_outputs
        weight, (gamma, offsets, _) = importance(problem, at), problem.block.by_columns(at.coef)
        if not self.form.two_sided:
            gamma = np.maximum(gamma, 0.0)
        point = self._model(gamma, offsets)
        most = self._value(point) + allowance
        weight = weight[: gamma.size].reshape(gamma.shape)
        for caution in (np.inf, *CAUTION):  # without any at first: where all are rounding
            few = self._model(np.where(weight < caution, 0.0, gamma), offsets)
            if self._value(few) <= most:
                point = few
                break
        r = np.zeros((outputs, columns.n_rows))
        r[:, self.loss.cost > 0] = self._feasible(problem, at.u)
        coef, intercept, output = point
        return RestrictedPoint(coef, intercept, output, response=r.ravel())  # type: ignore[arg-type]

    def _model(self, gamma: Vector, offsets: Vector) -> tuple[Vector, Vector, Vector]:
        """Coefficients, offsets so far apart that no outputs cross, and the outputs."""
        least = np.diff(offsets) - np.abs(np.diff(gamma, axis=0)).sum(axis=1)
        moved, coef = apart(offsets, least), self.columns.of_columns(gamma)
        output = gamma @ self.columns.values.T + moved[:, None]
        return coef, moved - self.columns.shift(coef), output.ravel()

    def _value(self, point: tuple[Vector, Vector, Vector]) -> float:
        coef, intercept, output = point
        return self.form.value(coef, intercept) + self.loss.value(output)

    def _feasible(self, problem: BoxProblem, u: Vector) -> Vector:
        """A pseudo-response in the boxes, whose sums, and scores of free features, are those of t.

        What is missing is moved to where there is room; at last it is shrunk as a whole, until
        nothing is beyond its box: what the rows ask for is positively homogeneous.
        """
        pairs, mu, below, above = problem.block.by_rows(u)
        lower = -problem.neutral[: pairs.size].reshape(pairs.shape)
        upper = lower + problem.upper[: pairs.size].reshape(pairs.shape)
        turn = np.clip(above - below, -mu[:, None], mu[:, None])[:, : self._n_free]
        wanted = -np.column_stack([_adjoint(mu), _adjoint(turn)])
        free = np.column_stack(
            [np.ones(len(problem.block.values)), problem.block.values[:, : self._n_free]]
        )
        r = lower + pairs
        self._missed = np.zeros(wanted.shape)
        for k, own in enumerate(r):
            for _ in range(PROJECTIONS):
                np.clip(own, lower[k], upper[k], out=own)
                room = np.minimum(own - lower[k], upper[k] - own)
                weighted = free * room[:, None]
                missed = wanted[k] - own @ free
                own += weighted @ np.linalg.lstsq(free.T @ weighted, missed, rcond=None)[0]
            self._missed[k] = wanted[k] - own @ free
        beyond = np.maximum(r / upper, r / lower)
        return r / max(1.0, float(beyond.max(initial=0.0)))
