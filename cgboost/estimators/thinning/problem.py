"""The linear program that chooses members, its path over C, and the second step for the weights.

    min  Σ w_j + C Σ_i s_i ℓ(t_i, Σ_j w_j h_j(x_i) + b),   w ≥ 0

For K classes there is one weight a member, and a row for every pair of a row and a wrong class,
with entries p_y − p_k (the joint margin) and t = 1. With the hinge this is the program of LPBoost
(Demiriz, Bennett, Shawe-Taylor, *Linear programming boosting via column generation*, Machine
Learning 46, 2002). The ℓ1 norm chooses well but shrinks: the weights of the members chosen are
found again (the relaxed lasso: Meinshausen, Computational Statistics & Data Analysis 52, 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.members import Cube
from cgboost.generation.columns import Column
from cgboost.generation.history import Result
from cgboost.generation.loop import ColumnGeneration
from cgboost.losses import Loss
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.masters.support_vector.support_vector_master import (
    Offset,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.penalties import L2
from cgboost.pricing.univariate.feature_pricer import STRATUM, Feature, FeaturePricer
from cgboost.tolerances import RESIDUE

COLUMNS_PER_ROUND = 20

COST_STEP = 1.5
"""From one C of a path to the next. With 1.2 as with 2 the members chosen are about the same."""

MOST_COSTS = 60
"""Of a path: C grows by 1.5⁶⁰ = 4e10, far beyond where the loss no longer falls."""

STILL = 10
"""So many values of C, a factor of 58, at which no further member comes in end a path. Vertices of
the hinge are optimal over long stretches at its beginning."""

BEYOND = 1.6
"""With losses of labels the path goes on until so many times as many members have a weight, of
which the largest count: a hinge that is held back until no others are left has hardly begun to
choose. Squared errors choose better at the size itself."""

SHRINKAGE = 1e-3
"""What the weights' squared distance from equal ones costs, besides a mean loss of 1, where equal
ones add up to their best sum. From 1e-4 to 1e-1 test errors of the study hardly differ."""

SLIGHT = 1e-6
"""The same for the best sum itself, which would else be unbounded where rows can be separated."""

MOST_DROPS = 10
"""Members with a negative weight leave so many times at most; then what is negative is 0."""


@dataclass(frozen=True, eq=False)
class ThinningProblem:
    """Rows and columns of the program.

    Attributes
    ----------
    H : ndarray of shape (n_entries, n_members)
    target : ndarray of shape (n_entries,)
    costs : ndarray of shape (n_entries,)
        s: a mean of 1.
    loss : Loss
    offset : {"none", "penalized", "free"}
    means : (ndarray of shape (n_members, n_outputs), ndarray of shape (n_outputs,)) or None
        What was taken off columns and target, where each output is centred.
    """

    H: NDArray[Any]
    target: Vector
    costs: Vector
    loss: Loss
    offset: Offset
    means: tuple[Vector, Vector] | None = None

    @property
    def least_cost(self) -> float:
        """The C up to which all weights are 0; inf if no member is of use at any."""
        own = self.loss.on(self.target, self.costs)
        output = np.zeros(len(self.target))
        if self.offset == "free":
            output += self.loss.best_constant(self.target, self.costs)
        response = own.pseudo_response(output)
        if self.offset == "free":
            response = response - self.costs * (response.sum() / self.costs.sum())
        best = float((response @ self.H).max())
        rounding = RESIDUE * float(np.abs(response).sum()) * float(np.abs(self.H).max())
        return 1.0 / best if best > rounding else np.inf

    @property
    def beyond(self) -> float:
        """How much larger than asked for the program is whose weights choose."""
        return BEYOND if self.loss.classification else 1.0

    def own_loss(self) -> Vector:
        """How far each column alone is from the target; shape (n_members,)."""
        H, weights = self.H, self.costs / self.costs.sum()
        if self.offset == "none":
            return np.array([weights @ (self.target - H[:, j]) ** 2 for j in range(H.shape[1])])
        moved = self.target - weights @ self.target
        scores = (weights * moved) @ H
        spread = np.sqrt(np.maximum(weights @ H**2 - (weights @ H) ** 2, 1e-30))
        return np.asarray(-scores / spread, dtype=np.float64)


@dataclass(frozen=True)
class ProgramOptimum:
    """The program's optimum at one C."""

    C: float
    weights: Vector
    intercept: float
    result: Result | None

    @property
    def size(self) -> int:
        """Members with a weight."""
        return int(np.count_nonzero(self.weights))


def solve(
    problem: ThinningProblem,
    C: float,
    *,
    tol: float,
    solver: str = "auto",
    solver_options: Mapping[str, Any] | None = None,
    max_columns: int | None = None,
    start: WarmStart | None = None,
) -> tuple[ProgramOptimum, WarmStart]:
    """The optimum at one C, certified over all members, and where a similar problem may start."""
    loss = problem.loss.on(problem.target, C * problem.costs)
    master = OneNormMaster(
        loss,
        coef="nonneg",
        offset=problem.offset,
        solver=solver,
        solver_options=solver_options,
    )
    if start is not None:
        master.start_from(start)
    loop = ColumnGeneration(
        master,
        FeaturePricer(problem.H),
        tol=tol,
        columns_per_round=COLUMNS_PER_ROUND if max_columns is None else 1,
        max_columns=max_columns,
    )
    result = loop.run()
    weights = np.zeros(problem.H.shape[1])
    for column, weight in zip(result.columns, result.coef, strict=True):
        weights[column.hypothesis.index] = weight  # type: ignore[union-attr]
    return ProgramOptimum(C, weights, float(result.intercept), result), master.warm_start


def path(
    problem: ThinningProblem,
    size: int,
    *,
    tol: float,
    solver: str,
    solver_options: Mapping[str, Any] | None = None,
) -> list[ProgramOptimum]:
    """Optima for growing C, from the first member until far more than ``size`` have a weight."""
    own: dict[str, Any] = {"tol": tol, "solver": solver, "solver_options": solver_options}
    least = problem.least_cost
    if not np.isfinite(least):  # no member is of use at any C
        return [solve(problem, 1.0, **own)[0]]
    choices: list[ProgramOptimum] = []
    start: WarmStart | None = None
    for C in least * 1.01 * COST_STEP ** np.arange(MOST_COSTS):
        choice, start = solve(problem, float(C), start=start, **own)
        choices.append(choice)
        most = max(other.size for other in choices)
        still = len(choices) > STILL and choices[-1 - STILL].size == most > 1
        if choice.size > problem.beyond * size or still:
            break
    return choices


def members_of_size(problem: ThinningProblem, choices: list[ProgramOptimum], size: int) -> Indices:
    """The ``size`` members that matter: by weight at the last C, then by their own loss."""
    enough = (own for own in choices if own.size >= problem.beyond * size)
    weights = next(enough, choices[-1]).weights
    order = np.lexsort((problem.own_loss(), -weights))
    chosen: Indices = np.sort(order[:size])
    return chosen


def refit(problem: ThinningProblem, chosen: Indices, *, tol: float) -> ProgramOptimum:
    """Weights of the members chosen, drawn to equal ones instead of to 0.

        min ½Σ(w_j − s/m)² + C Σ_i c_i ℓ(t_i, Σ_j w_j h_j(x_i) + b)    over w, s and b

    The mean of the m columns enters without a penalty. Members whose weight would be negative
    leave, and the others are weighed again.
    """
    scale, final = _scale(problem, chosen, tol=tol)
    count = problem.H.shape[1]
    left = chosen
    for _ in range(MOST_DROPS):
        if len(left) < 2 or not scale > 0:
            break
        weights, intercept, result = _around_mean(problem, left, scale, tol=tol)
        if (weights >= 0).all():
            final = ProgramOptimum(np.inf, _placed(left, weights, count), intercept, result)
            break
        left = left[weights > 0]
    else:
        weights, intercept, result = _around_mean(problem, left, scale, tol=tol)
        own = np.maximum(weights, 0.0)
        final = ProgramOptimum(np.inf, _placed(left, own, count), intercept, result)
    return final


def _placed(chosen: Indices, weights: Vector, count: int) -> Vector:
    placed = np.zeros(count)
    placed[chosen] = weights
    return placed


def _scale(
    problem: ThinningProblem, chosen: Indices, *, tol: float
) -> tuple[float, ProgramOptimum]:
    """The sum of equal weights that fits best, and the model with it."""
    mean = problem.H[:, chosen].mean(axis=1, dtype=np.float64)
    centre = float(np.average(mean, weights=problem.costs)) if problem.offset == "free" else 0.0
    moved = (mean - centre)[:, None]
    square = float(np.average(moved[:, 0] ** 2, weights=problem.costs)) or 1.0
    loss = problem.loss.on(problem.target, problem.costs / (SLIGHT * square * problem.costs.sum()))
    master = TwoNormMaster(loss, coef="nonneg", offset=problem.offset)
    result = ColumnGeneration(master, FeaturePricer(moved), tol=tol).run()
    scale = float(result.coef[0]) if len(result.coef) else 0.0
    intercept = float(result.intercept) - scale * centre
    weights = _placed(chosen, np.full(len(chosen), scale / len(chosen)), problem.H.shape[1])
    return scale, ProgramOptimum(np.inf, weights, intercept, result)


def _around_mean(
    problem: ThinningProblem, chosen: Indices, scale: float, *, tol: float
) -> tuple[Vector, float, Result]:
    own = problem.H[:, chosen].astype(np.float64)
    count = len(chosen)
    H = np.column_stack([own.mean(axis=1), own])
    mean = Column(H[:, 0].copy(), (STRATUM, 0), Feature(0), STRATUM)
    C = scale**2 / (SHRINKAGE * count * problem.costs.sum())
    master = SupportVectorMaster(
        problem.loss.on(problem.target, C * problem.costs),
        L2(),
        offset=problem.offset,
        free_columns=[mean],
    )
    loop = ColumnGeneration(master, FeaturePricer(H), tol=tol, columns_per_round=count)
    result = loop.run()
    weights = np.zeros(count + 1)
    for column, weight in zip(result.columns, result.coef, strict=True):
        weights[column.hypothesis.index] = weight  # type: ignore[union-attr]
    return weights[1:] + weights[0] / count, float(result.intercept), result


def equal(problem: ThinningProblem, chosen: Indices, *, scaled: bool, tol: float) -> ProgramOptimum:
    """The same weight for all members chosen, with the sum 1.

    Parameters
    ----------
    scaled : bool
        Whether, where outputs are numbers, their mean is stretched and moved to fit the target.
    """
    weights = np.zeros(problem.H.shape[1])
    weights[chosen] = 1.0 / len(chosen)
    if not scaled or problem.offset == "none":
        return ProgramOptimum(np.inf, weights, 0.0, None)
    scale, found = _scale(problem, chosen, tol=tol)
    return found if scale > 0 else ProgramOptimum(np.inf, weights, 0.0, None)


def joint_margins(
    outputs: Cube, places: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """p_y − p_k for every row and wrong class k, and the row that each entry is of.

    Parameters
    ----------
    outputs : ndarray of shape (n_rows, n_members, n_classes)
    places : ndarray of shape (n_rows,)
        The class of each row.

    Returns
    -------
    entries : ndarray of shape (n_rows·(n_classes − 1), n_members)
    rows : ndarray of shape (n_rows·(n_classes − 1),)
    """
    n_rows, _, n_classes = outputs.shape
    right = outputs[np.arange(n_rows), :, places]
    wrong = np.arange(n_classes) != places[:, None]
    rows, classes = np.nonzero(wrong)
    entries: NDArray[np.float32] = right[rows] - outputs[rows, :, classes]
    return entries, rows
