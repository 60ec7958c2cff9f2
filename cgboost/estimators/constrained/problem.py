"""The problem of a fit: what constraints declare of it, its masters and pricers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedOutput
from cgboost.estimators.common.objective import Objective
from cgboost.estimators.common.plan import RunTask
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.constrained.constraints.constraint import Constraint
from cgboost.estimators.constrained.data import Declarations, Features, Grouping
from cgboost.estimators.constrained.obeying_columns import ConstrainedColumns
from cgboost.generation.columns import Column
from cgboost.generation.history import Round
from cgboost.losses import Loss, SupportVectorLoss
from cgboost.masters.constrained.constrained_convex_master import (
    ConstrainedConvexMaster,
    ConvexConstraints,
)
from cgboost.masters.constrained.constrained_master import ConstrainedMaster
from cgboost.masters.support_vector.formulations import VERTICES
from cgboost.masters.support_vector.support_vector_master import Offset, SupportVectorMaster
from cgboost.optimizers.newton.smooth_loss import as_master_loss
from cgboost.penalties import L1
from cgboost.pricing.constrained.limit_rows import ExtendedPricer, LimitRows

FIRST_PRICE = 10.0
"""The price of one unit beyond a limit that a fit begins with, relative to the cost of all rows at
an error of 1: what a limit costs is mostly below the loss of the model without columns."""

ROWS_OF_INTERIOR_POINT = 5000
"""From so many rows on interior points are quicker with limits too: on Adult, 8000 rows of 56
features, they took 0.5 to 0.8 of the time with limits on rates, on scores and on a slope."""


@dataclass
class Multipliers:
    """A callback that keeps what limits cost in every round.

    Attributes
    ----------
    n_rows : int
        Number of training rows.
    of_round : dict of int to ndarray
        Multipliers of the rows of limits, of budgets behind them.
    convex : dict of int to (list of float, list of float)
        Prices of convex limits, and by how much they are broken.
    """

    n_rows: int
    master: Any
    of_round: dict[int, Vector] = field(default_factory=dict)
    convex: dict[int, tuple[list[float], list[float]]] = field(default_factory=dict)

    def __call__(self, current: Round) -> bool:
        """Note the duals of a round; it never stops the loop."""
        self.of_round[current.number] = -current.state.pseudo_response[self.n_rows :]
        if isinstance(self.master, ConstrainedConvexMaster):
            self.convex[current.number] = self.master.prices, self.master.broken
        return False


@dataclass
class ConstrainedProblem:
    """What a fit solves, at a price of what is beyond limits.

    Attributes
    ----------
    rows : TrainingRows
        Training rows, with costs.
    weights : ndarray of shape (n_rows,)
        Sample weights, without those of classes.
    groups : mapping of str to Grouping
    pool : object
        Of the family.
    options : mapping of str to object
        Solver and its options.
    target : ndarray of shape (n_rows,)
        Of the first run, the only one where there are constraints.
    price : float
        Relative to the cost of all rows.
    rate_prices : dict
        Prices of rates of positive predictions, relative to the cost of all rows.
    balanced : bool
        Whether rows that should be positive at these prices weigh as much as the others together:
        a constant, which has no order of rows, then pays only where no column does.
    step_feature : int or None
        The feature that tells groups apart, where each has a separate threshold.
    errors : (float, float) or None
        With such thresholds: the share of errors, and a lower bound on that of all thresholds.
    known : dict
        Columns as their pricer knows them.
    multipliers : Multipliers or None
        Of the last run.
    """

    rows: TrainingRows
    weights: Vector
    constraints: Sequence[Constraint]
    groups: Mapping[Any, Grouping]
    features: Features
    family: ConstrainedColumns
    pool: Any
    objective: Objective
    cost: Loss
    C: float
    free_offset: bool
    is_classifier: bool
    options: Mapping[str, Any]
    target: Vector
    price: float = FIRST_PRICE
    rate_prices: dict[tuple[int, str], float] = field(default_factory=dict)
    balanced: bool = False
    step_feature: int | None = None
    errors: tuple[float, float] | None = None
    known: dict[Any, Column] = field(default_factory=dict)
    multipliers: Multipliers | None = None

    def declared(self, target: Vector) -> Declarations:
        """What the constraints say of the problem of a target."""
        problem = Declarations(
            self.features,
            target,
            self.weights,
            self.groups,
            self.cost,
            self.is_classifier,
            self.rows.X,
        )
        for number, constraint in enumerate(self.constraints):
            problem.owner = number
            constraint.declare(problem)
        return problem

    @property
    def total(self) -> float:
        """The cost of all rows at an error of 1."""
        return float(self.C * self.rows.weights.sum())

    def limit_rows(self, problem: Declarations) -> tuple[LimitRows, Vector]:
        """The rows of limits and budgets, and their right-hand sides."""
        n = len(self.rows.weights)
        vectors = [csr_array(row.vector[None]) for row in problem.rows]
        matrix = _stacked(vectors, n)
        limits = [row.limit for row in problem.rows] + [b.limit for b in problem.budgets]
        return LimitRows(matrix, len(problem.budgets)), np.array(limits, dtype=np.float64)

    def task(self, target: Vector, tol: float, columns_per_round: int, start: Any) -> RunTask:
        """Master and pricer of one run, started from the columns of an earlier one."""
        problem = self.declared(target)
        extension, limits = self.limit_rows(problem)
        pricer, sign = self.family.obeying(self.pool, problem, tol)
        loss = self.objective.make_loss(*self._at_rate_prices(target))
        master = self._master(problem, extension, limits, sign, loss)
        if self.constraints:
            pricer = ExtendedPricer(pricer, extension, self.known)
        if start is not None:  # limits may have come or gone since
            columns = [extension.extended(self.known[column.key]) for column in start.columns]
            master.start_from(replace(start, columns=columns))
        return RunTask(
            master,
            pricer,
            columns_per_round=columns_per_round,
            callbacks=(Multipliers(len(target), master),),
            max_columns=self.family.most_columns(len(target)),
        )

    def value(self, output: FittedOutput) -> float:
        """The objective of a model, without the prices of rates."""
        f, declared = output.values(self.rows.X), self.declared(self.target)
        if declared.minimax:
            cost = self.total * max(self._mean_losses(declared.minimax[0][1], f))
        else:
            cost = float(self.objective.make_loss(self.target, self.rows.weights).value(f))
        for other, weight in declared.also:
            cost += weight * float(other.on(self.target, self.C * self.rows.weights).value(f))
        moved = 0.0 if self.free_offset else abs(float(output.intercept))  # a constant column
        return float(np.abs(output.coef).sum()) + moved + cost

    def _mean_losses(self, grouping: Grouping, f: Vector) -> list[float]:
        """The mean loss of each group at an output."""
        losses = self.cost.value(self.target, f)
        members = [grouping.members(k) for k in range(len(grouping.labels))]
        return [float(np.average(losses[own], weights=self.weights[own])) for own in members]

    def _at_rate_prices(self, target: Vector) -> tuple[Vector, Vector]:
        """Labels and weights at which a positive prediction costs what rates ask for.

        A row of the label y and the weight w that costs v more where it is predicted positive has
        the net weight |w·y − v| and the sign of w·y − v for its label.
        """
        weights, extra = self.rows.weights, np.zeros(len(target))
        for (owner, part), price in self.rate_prices.items():
            constraint: Any = self.constraints[owner]
            grouping = self.groups[constraint.groups_of]
            vector = dict(constraint.differences(grouping, target, self.weights))[part]
            extra += price * float(weights.sum()) * vector
        if not extra.any():
            return target, weights
        net = weights * target - extra
        positive, negative = float(net[net > 0].sum()), -float(net[net < 0].sum())
        if self.balanced and positive and negative:
            half = 0.5 * (positive + negative)
            net = net * np.where(net > 0, half / positive, half / negative)
        return np.where(net == 0, target, np.sign(net)), np.abs(net)

    def _master(
        self,
        problem: Declarations,
        extension: LimitRows,
        limits: Vector,
        sign: Any,
        loss: Any,
    ) -> Any:
        """By the dual where loss and limits are boxes; in CVXPY for all else that is convex."""
        box = as_master_loss(loss)
        plain = isinstance(box, SupportVectorLoss) and box.curvature is None and box.mass is None
        constant = extension.constant if self.free_offset else None
        options: dict[str, Any] = {"coef": sign, **self.options}
        if problem.needs_cvxpy or (len(limits) and not plain):
            convex = self.convex(problem, loss)
            return ConstrainedConvexMaster(
                convex,
                len(problem.y),
                limits,
                self.price * self.total,
                constant=constant,
                **options,
            )
        if plain:
            few = len(problem.y) < ROWS_OF_INTERIOR_POINT and (len(limits) or self.family.repeats)
            if options["solver"] == "auto" and few:
                options["solver"] = VERTICES  # interior points take many steps with limits
            return ConstrainedMaster(
                box, limits, self.price * self.total, constant=constant, **options
            )
        offset: Offset = "free" if self.free_offset else "none"
        return SupportVectorMaster(loss, L1(), offset=offset, **options)

    def convex(self, problem: Declarations, loss: Any, *, bare: bool = False) -> ConvexConstraints:
        """Objective and constraints in CVXPY; ``bare``: without the objective."""
        import cvxpy as cp

        worst = cp.Variable()

        def objective(f: Any) -> Any:
            if bare:
                return cp.Constant(0.0)
            cost = self.total * worst if problem.minimax else loss.to_cvxpy(f)
            for other, weight in problem.also:
                cost += weight * other.on(problem.y, self.C * self.rows.weights).to_cvxpy(f)
            return cost

        def constraints(f: Any, a: Any, b: Any) -> list[Any]:
            limits = []
            if problem.minimax and not bare:
                limits = [own <= worst for own in self._group_losses(problem, f)]
            limits += [limit.expression(f) <= limit.limit for limit in problem.convex]
            for owner, function in problem.own:
                limits += own_constraints(function, f, a, b, problem, self.constraints[owner])
            return limits

        return ConvexConstraints(objective, constraints)

    def _group_losses(self, problem: Declarations, f: Any) -> Iterator[Any]:
        _, grouping = problem.minimax[0]
        for k in range(len(grouping.labels)):
            rows = np.flatnonzero(grouping.members(k) & (problem.weights > 0))
            share = problem.weights[rows] / problem.weights[rows].sum()
            yield share @ self.cost.to_cvxpy(problem.y[rows], f[rows])


def own_constraints(
    function: Callable[..., Any], f: Any, a: Any, b: Any, data: Any, constraint: Any
) -> list[Any]:
    """What a function of the user's returns, checked.

    Raises
    ------
    ValueError
        If it is no list of CVXPY constraints that are convex.
    """
    try:
        found = function(f, a, b, data)
    except TypeError as error:
        raise ValueError(
            f"{constraint!r}: calling the function as function(f, a, b, data) failed: {error}"
        ) from error
    if not isinstance(found, (list, tuple)) or not all(hasattr(c, "is_dcp") for c in found):
        raise ValueError(
            f"{constraint!r}: the function must return a list of CVXPY constraints, got {found!r}"
        )
    for one in found:
        if not one.is_dcp():
            raise ValueError(f"{constraint!r}: {one} is not convex by the rules of CVXPY (is_dcp)")
    return list(found)


def _stacked(vectors: Sequence[csr_array], n_rows: int) -> csr_array:
    if not vectors:
        return csr_array((0, n_rows))
    from scipy.sparse import vstack

    return csr_array(vstack(vectors))
