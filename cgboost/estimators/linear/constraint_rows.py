"""Linear constraints in the units of a sparse linear model's master, and a point that obeys.

With β_j = u·a_j/s_j for the coefficients a of the master, a row A_k·β ≤ b_k is

    Σ_j (u A_kj/s_j)/σ_k a_j ≤ b_k/σ_k

where σ_k makes the largest entry 1. A multiplier λ of it, in the units t of the master's objective,
is a price of −tλ/σ_k for a unit of b_k.

Where a = 0 does not obey, the columns of a point that does are there from the start: with them, all
restricted problems have a solution. That point is one of least Σ|a_j|, by a linear program over all
features; where there is none, multipliers of another program are a proof (Farkas).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from cgboost._solvers import (
    InfeasibleError,
    InfeasibleOrUnboundedError,
    Program,
    SolverError,
    solve,
)
from cgboost.arrays import Indices, Vector
from cgboost.estimators.linear.linear_constraints import LinearConstraints, shortened
from cgboost.exceptions import InfeasibleConstraintsError, MasterError, see
from cgboost.losses.dual.limited import Limits

NAMED_WEIGHT = 1e-6
"""Constraints with a multiplier above this, relative to the largest, are part of a proof."""

LEAST_CONTRADICTION = 1e-7
"""Rows with a largest entry of 1 are exceeded if together by more than this, relative to limits."""

LARGEST_POINT = 1e6
"""A point that must be larger than this, relative to the limits, is none that obeys."""

MOST_TERMS = 5
"""Terms of a proof that a message shows."""

LP = "highs"
"""The solver of the programs here: a vertex has few columns."""


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """Constraints in the units of the master.

    Attributes
    ----------
    words : tuple of str
        What the rows of the user are called.
    below : csr_array of shape (n_limits, n_features)
    owner : ndarray of int, shape (n_limits,)
        The row of the user that each limit is.
    sign : ndarray of shape (n_limits,)
        −1 where that is one from below.
    sizes : ndarray of shape (n_limits,)
        σ.
    obeying : ndarray of int
        Features of a point that obeys; none where 0 does.
    """

    words: tuple[str, ...]
    below: Any
    limits: Limits
    owner: Indices
    sign: Vector
    sizes: Vector
    obeying: Indices

    @classmethod
    def of(
        cls,
        constraints: LinearConstraints,
        scales: Vector,
        unit: float,
        *,
        positive: bool,
        free: Indices,
        splits: bool,
    ) -> ConstraintRows:
        """The rows of constraints.

        Parameters
        ----------
        constraints : LinearConstraints
        scales : ndarray of shape (n_features,)
            s.
        unit : float
            u.
        positive : bool
            Whether coefficients are at least 0.
        free : ndarray of int
            Features without a penalty.
        splits : bool
            Whether an equation is two limits, for losses that cannot have one.

        Raises
        ------
        InfeasibleConstraintsError
            If no coefficients obey.
        """
        sign = np.where(constraints.sense < 0, -1.0, 1.0)
        is_equation, owner = constraints.sense == 0, np.arange(len(sign))
        if splits:
            owner = np.append(owner, np.flatnonzero(is_equation))
            sign = np.append(sign, -np.ones(int(is_equation.sum())))
            is_equation = np.zeros(len(owner), dtype=bool)
        by_row, by_column = sparse.diags_array(sign), sparse.diags_array(unit / scales)
        below = sparse.csr_array(by_row @ constraints.matrix[owner] @ by_column)
        limit = sign * constraints.right[owner]
        sizes = np.asarray(abs(below).max(axis=1).toarray()).ravel()
        sizes = np.where(sizes > 0, sizes, 1.0)
        below = sparse.csr_array(sparse.diags_array(1.0 / sizes) @ below)
        limits = Limits(limit / sizes, is_equation)
        obeying = np.zeros(0, dtype=np.intp)
        if not constraints.holds_without_features():
            given: dict[str, Any] = {"positive": positive, "free": free}
            obeying = _obeying(below, limits, constraints, owner, sign, sizes, **given)
        counts = np.diff(below.indptr) > 0  # a row of zeros holds, or has been refused
        return cls(
            constraints.words,
            below[counts],
            Limits(limits.limit[counts], is_equation[counts]),
            owner[counts],
            sign[counts],
            sizes[counts],
            obeying,
        )

    def prices(self, multipliers: Vector, unit: float) -> Vector:
        """What the objective changes by with a unit of b, of each row of the user.

        Parameters
        ----------
        multipliers : ndarray of shape (n_limits,)
            λ, in the units of the master.
        unit : float
            t: one unit of the master's objective.
        """
        each = -self.sign * unit * multipliers / self.sizes
        prices = np.bincount(self.owner, each, len(self.words)).astype(np.float64)
        return prices + 0.0  # no −0


def _obeying(
    below: Any,
    limits: Limits,
    constraints: LinearConstraints,
    owner: Indices,
    sign: Vector,
    sizes: Vector,
    *,
    positive: bool,
    free: Indices,
) -> Indices:
    """The columns of a point of least penalty that obeys."""
    cost = np.ones(below.shape[1])
    cost[free] = 0.0
    signed = [below] if positive else [below, -below]
    lower = np.where(limits.is_equation, limits.limit, -np.inf)
    matrix = sparse.csc_array(sparse.hstack(signed, format="csc"))
    bounds: dict[str, Any] = {"row_lower": lower, "row_upper": limits.limit}
    try:
        found = solve(Program(np.tile(cost, len(signed)), matrix, **bounds), LP)
    except (InfeasibleError, InfeasibleOrUnboundedError) as error:
        weights, least = _proof(matrix, bounds)
        raise InfeasibleConstraintsError(
            _contradiction(weights * sign / sizes, least, constraints, owner, positive=positive)
        ) from error
    except SolverError as error:
        raise MasterError(
            f"no coefficients were found that obey the constraints, since the solver failed: "
            f"{error}{see('constraints')}"
        ) from error
    size = np.abs(found.x).reshape(len(signed), -1).sum(axis=0)
    return np.flatnonzero(size > 0)


def _proof(matrix: Any, bounds: dict[str, Any]) -> tuple[Vector, float]:
    """The multipliers y of the least Σ|missing|, and by how much they contradict the limits.

    With y·A ≤ 0 column by column (0 where coefficients have both signs) and y·b > 0 no
    coefficients obey. With y·A ≤ ε those that do have Σ|a| ≥ y·b/ε.
    """
    k, n = matrix.shape
    missing = sparse.hstack([matrix, sparse.eye_array(k), -sparse.eye_array(k)], format="csc")
    cost = np.append(np.zeros(n), np.ones(2 * k))
    weights = np.asarray(solve(Program(cost, sparse.csc_array(missing), **bounds), LP).row_duals)
    right = bounds["row_upper"]
    weights = np.where(np.isfinite(bounds["row_lower"]), weights, np.minimum(weights, 0.0))
    left = float((matrix.T @ weights).max(initial=0.0))
    scale = 1.0 + float(np.abs(right).max(initial=0.0))
    return weights, float(weights @ right) / scale - LARGEST_POINT * left


def _contradiction(
    weights: Vector,
    least: float,
    constraints: LinearConstraints,
    owner: Indices,
    *,
    positive: bool,
) -> str:
    """The proof in words, with the weights of the rows of the user."""
    each = np.bincount(owner, weights, len(constraints.words)).astype(np.float64)
    largest = float(np.abs(each).max(initial=0.0))
    places = np.argsort(-np.abs(each), kind="stable")
    places = places[np.abs(each[places]) > NAMED_WEIGHT * largest]
    if least <= LEAST_CONTRADICTION or not len(places):
        return (
            "no coefficients were found that obey all constraints, and there is no proof that none "
            "exist: they meet in a point or hardly so; allow a little more"
        )
    each /= largest
    names = [shortened(constraints.words[place]) for place in places]
    shown, more = " and ".join(names[:MOST_TERMS]), len(names) - MOST_TERMS
    terms = [f"{each[place]:.3g}" for place in places[:MOST_TERMS]]
    one = len(names) == 1
    subject, verb = ("constraint", "hold") if one else ("constraints", "hold together")
    left = "with positive=True nothing above 0" if positive else "nothing"
    return (
        f"the {subject} {shown}{f' and {more} more' if more > 0 else ''} cannot {verb}: added up "
        f"with the weights {', '.join(terms)}{', …' if more > 0 else ''}, {left} is left of the "
        f"coefficients, and at least {float(each @ constraints.right):.3g} of the right-hand "
        "sides. Allow more, or leave one out"
    )
