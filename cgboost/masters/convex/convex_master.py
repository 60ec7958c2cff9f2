"""A master written in CVXPY: any convex loss, any convex penalty, any convex constraint.

The restricted problem over the columns H generated so far is

    min loss(f) + penalty(a, b)   s.t.   f = H a + b,   constraints(a, b, f)

The Lagrangian ``… + r·(f − H a − b)`` shows that the dual r of ``f = H a + b`` is the
pseudo-response: without constraints on f it is −∂loss/∂f, with them it contains their pull too.

The bound. For any r, with s_j = r·h_j over *all* columns, weak duality gives

    optimum ≥ min_{f, b} {loss(f) + penalty(0, b) + r·(f − b)} − Σ_j φ*(s_j)

where ``penalty(a, b) ≥ Σ φ(a_j) + penalty(0, b)`` with ``φ(α) = λ|α| + ½μα²``; constraints on b and
f alone stay in the minimum, those on a are dropped (dropping can only lower it). The first term
has no column in it. φ* is 0 or ∞ for μ = 0, ``½(|s| − λ)₊²/μ`` otherwise. As r may be replaced by
t·r, and the best t ∈ [0, T] is wanted, the minimum and the supremum over t are exchanged: with
u = r·(f − b) and E the value of the conjugates at t = 1,

    μ = 0      t ≤ T = 1/τ = λ/max|s|          sup t·u           = u₊/τ
    μ > 0      φ*(t·s) ≤ t²φ*(s) for t ≤ 1     sup t·u − t²E     = inf_w (u − w)₊ + w²/4E
    ‖a‖₁ ≤ R   φ* = R·(max|s| − λ)₊            sup t·u − t·E     = (u − E)₊

so one small convex problem gives the best bound along the ray, and it is never below min loss.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cgboost.arrays import Vector
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import EntryRule, MasterState, Priced, gap_scale
from cgboost.losses.loss import WeightedLoss, require
from cgboost.losses.registry import require_targets
from cgboost.masters.convex.bound import lower_bound
from cgboost.masters.convex.solve import check_solver_options, minimise
from cgboost.penalties.elastic_net import ElasticNetEntry
from cgboost.penalties.l1 import FEASIBILITY, OneNormEntry
from cgboost.penalties.l1_ball import BudgetEntry

Expression = Any
"""A CVXPY expression (CVXPY's classes are not imported here)."""

RESPONSE_NOISE = 1e-8
"""Entries of r below this, relative to the largest, are rounding. The duals of cone solvers are no
more exact than about that."""

DECLARED = 1e-6
"""Relative accuracy to which the declarations about the penalty are checked. The coefficients are a
solver's, exact to about 1e-8; a wrong declaration is off by far more."""

REACHED = 1e-4
"""The same for a reach, which is a constraint: on hostile data solvers keep to it to 1e-5."""

OUTPUT_FACTOR = 10.0
"""What residuals can cost is counted up to outputs this many times as large as present sizes."""


def _on_rows(
    loss: Callable[[Expression], Expression] | WeightedLoss, n_rows: int | None
) -> tuple[int, Callable[[Expression], Expression]]:
    """The number of rows, and the loss as a function of f."""
    require_targets(loss)
    if isinstance(loss, WeightedLoss):
        require(loss.loss, ["to_cvxpy"], "ConvexMaster")
        if loss.n_outputs != 1:
            raise ValueError(f"the loss has {loss.n_outputs} outputs a row, a master has one")
        if n_rows not in (None, loss.n_rows):
            raise ValueError(
                f"n_rows={n_rows}, but the loss is of {loss.n_rows} rows; leave n_rows out"
            )
        return loss.n_rows, loss.to_cvxpy
    if n_rows is None:
        raise ValueError("n_rows is needed for a loss that is a function of f")
    return n_rows, loss


class ConvexMaster:
    """Restricted master whose loss, penalty and constraints are CVXPY expressions.

    Parameters
    ----------
    loss : callable or WeightedLoss
        ``loss(f)`` returns a convex scalar expression of the output f, shape (n_rows,). Or a loss
        of :mod:`cgboost.losses` on training rows, ``Huber().on(y, weights)``.
    penalty : callable, optional
        ``penalty(a, b)`` returns a convex scalar expression of the coefficients a, shape
        (n_columns,), and the offset b. The default is ‖a‖₁, with b free. Before the first column
        a has one entry that belongs to a column of zeros.
    constraints : callable, optional
        ``constraints(a, b, f)`` returns a list of convex constraints. See :meth:`members` for
        constraints on the columns of one stratum.
    n_rows : int, optional
        Length of f and of every column. A loss on training rows knows it.
    threshold : float, optional
        λ: a column prices out when its score exceeds λ. 1.0 with the default penalty. Together
        with ``curvature`` it declares that

            ``penalty(a, b) ≥ threshold·‖a‖₁ + ½·curvature·‖a‖² + penalty(0, b)``,

        which is what the bound needs (checked at every answer). With your own penalty and
        neither of them, every column with a score ≠ 0 prices out and there is no bound.
    curvature : float, default=0.0
        μ, see ``threshold``; positive for an elastic net or a 2-norm.
    reach : float, optional
        Largest ‖a‖₁ that the constraints allow (a budget): gives a bound without any penalty.
    coef : {"free", "nonneg"}
        Sign rule for a. "nonneg" makes pricing one-sided, which ``a >= 0`` among the constraints
        cannot: the bound drops constraints on a.
    offset : {"free", "none"}
        Whether there is a b; penalize it in ``penalty``. With "none", b is the number 0.
    solver : str
        "auto": `solvers` where the problem is an LP or a QP, Clarabel for the other cones. Or a
        name that `solvers` knows ("piqp", LP and QP only), or CVXPY ("SCS", "cvxpy:SCS"). The small
        problem of the bound is always solved with "auto".
    solver_options : mapping of str to object, optional
        Options of the solver that is named, by its own names.

    Attributes
    ----------
    columns : list of Column
        The columns in the master, in the order of a.

    Raises
    ------
    ValueError
        If the loss or the penalty is not a convex scalar, or what is declared about the penalty
        is found to be wrong.
    ImportError
        Without CVXPY.

    Notes
    -----
    The problem is built anew for every solve: for prototypes and unusual models, some ten times
    slower than :class:`OneNormMaster` and :class:`TwoNormMaster`, which solve the same problems.
    Columns are not scaled: the penalty sees the coefficients as they are. The constraints must
    have a solution with a = 0, the master before the first column. Slack, for a pricer that asks
    for error points, is |r_i|: the rows that pull.

    The bound is the value of a dual point that is made feasible, less what its last residuals and
    rounding can cost (:mod:`cgboost.masters.convex.bound`): of models whose outputs, offset and
    auxiliary variables are up to ten times as large as the present ones, the objective or the
    constants in the loss.
    """

    def __init__(
        self,
        loss: Callable[[Expression], Expression] | WeightedLoss,
        penalty: Callable[[Expression, Expression], Expression] | None = None,
        constraints: Callable[[Expression, Expression, Expression], list[Any]] | None = None,
        *,
        n_rows: int | None = None,
        threshold: float | None = None,
        curvature: float = 0.0,
        reach: float | None = None,
        coef: Literal["free", "nonneg"] = "free",
        offset: Literal["free", "none"] = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        if coef not in ("free", "nonneg"):
            raise ValueError(f"coef must be 'free' or 'nonneg', got {coef!r}")
        if offset not in ("free", "none"):
            raise ValueError(f"offset must be 'free' or 'none', got {offset!r}")
        for name, value in (("threshold", threshold), ("curvature", curvature), ("reach", reach)):
            if value is not None and not 0 <= value < np.inf:
                raise ValueError(f"{name} must be finite and not negative, got {value!r}")
        self._cp = importlib.import_module("cvxpy")
        n_rows, loss = _on_rows(loss, n_rows)
        self.n_rows = n_rows
        self.solver, self._options = solver, check_solver_options(solver, solver_options)
        self.columns: list[Column] = []
        self._loss, self._constraints = loss, constraints
        self._given_penalty = penalty
        if threshold is None:
            threshold = 1.0 if penalty is None else 0.0
        self._threshold, self._curvature, self._reach = threshold, curvature, reach
        self._two_sided, self._has_offset = coef == "free", offset == "free"
        self._matrix = np.zeros((n_rows, 0))
        self._empty = 1.0
        a, b = self._coefficients(), self._offset()
        self._require_convex("loss", self._loss(self._cp.Variable(n_rows)))
        self._require_convex("penalty", self._penalty(a, b))

    def members(self, stratum: str) -> Vector:
        """1 for the entries of a whose column is of this stratum, 0 for the others.

        ``master.members("rbf") @ cp.abs(a) <= 2`` is a budget for one kernel.
        """
        if not self.columns:
            return np.zeros(1)
        return np.array([float(column.stratum == stratum) for column in self.columns])

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""
        for column in columns:
            if np.shape(column.values) != (self.n_rows,):
                raise ValueError(
                    f"column {column.key!r} has shape {np.shape(column.values)}, the master has "
                    f"{self.n_rows} rows"
                )
        if columns:
            new = np.stack([column.values for column in columns], axis=1).astype(np.float64)
            self._matrix = np.hstack([self._matrix, new])
            self.columns.extend(columns)

    def take_up(self, columns: Sequence[Column], coef: Vector, intercept: Any) -> None:
        """Take in the columns of a run; every solve begins anew anyway."""
        self.add(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Build and solve the restricted problem; the objective is evaluated at (a, b)."""
        a, b, f = self._coefficients(), self._offset(), self._cp.Variable(self.n_rows)
        H = self._matrix if self.columns else np.zeros((self.n_rows, 1))
        link = f == H @ a + b
        loss, penalty = self._loss(f), self._penalty(a, b)
        limits = self._limits(a, b, f)
        problem = self._cp.Problem(self._cp.Minimize(loss + penalty), [link, *limits])
        minimise(problem, self.solver, time_limit, self._options)
        if not self._two_sided:
            a.value = np.maximum(a.value, 0.0)
        intercept = float(b.value)
        f.value = H @ a.value + intercept
        response = np.array(link.dual_value, dtype=np.float64)
        objective = float(loss.value) + float(penalty.value)
        if not (np.isfinite(response).all() and np.isfinite(objective)):
            raise MasterError("the solver gave no finite duals for f = H a + b")
        self._check_declaration(a.value, b, float(penalty.value))
        largest = float(np.abs(response).max(initial=0.0))
        if not self.columns:
            self._empty = objective
        scale = gap_scale(objective, self._empty)
        return MasterState(
            columns=tuple(self.columns),
            coef=np.array(a.value[: len(self.columns)]),
            intercept=intercept,
            output=np.array(f.value),
            pseudo_response=response,
            objective=objective,
            slack=np.where(np.abs(response) > RESPONSE_NOISE * largest, np.abs(response), 0.0),
            entry=self._entry(scale, largest),
            scale=scale,
        )

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """The best bound along t·r (see the module), None where nothing is known of the penalty."""
        if self._threshold == 0 and self._curvature == 0 and self._reach is None:
            return None
        cp = self._cp
        response = state.pseudo_response
        b, f = self._offset(), cp.Variable(self.n_rows)
        cost = self._loss(f) + self._penalty_of_offset(b)
        u = response @ f - math.fsum(response) * b  # Σr cancels: CVXPY's own sum would be rounded
        cost += self._ray(u, priced, state)
        problem = cp.Problem(cp.Minimize(cost), self._constraints_without_coefficients(b, f))
        present = np.append(state.output, [state.intercept, state.objective, 1.0])
        try:
            return lower_bound(problem, OUTPUT_FACTOR, float(np.abs(present).max()))
        except MasterError:
            return None

    def _ray(self, u: Expression, priced: Priced, state: MasterState) -> Expression:
        """The supremum over t of t·u − E(t)."""
        cp = self._cp
        if self._curvature > 0:
            conjugate = priced.total_excess * state.gap_scale
            if conjugate <= 1e-12 * state.gap_scale:
                return cp.pos(u - conjugate)  # t = 1 loses so little that it need not be weighed
            root = np.sqrt(conjugate)
            w = cp.Variable()
            return cp.pos(u - root * w) + cp.square(w) / 4.0
        if self._reach is not None:
            assert isinstance(state.entry, BudgetEntry)
            left_out = self._reach * state.entry.cut
            return cp.pos(u - priced.max_excess * state.gap_scale - left_out)
        return cp.pos(u) / (1.0 + priced.max_excess + FEASIBILITY)

    def _constraints_without_coefficients(self, b: Expression, f: Expression) -> list[Any]:
        if self._constraints is None:
            return []
        a = self._coefficients()
        return [
            constraint
            for constraint in self._constraints(a, b, f)
            if not any(variable.id == a.id for variable in constraint.variables())
        ]

    def _limits(self, a: Expression, b: Expression, f: Expression) -> list[Any]:
        if self._constraints is None:
            return []
        limits = self._constraints(a, b, f)
        if not isinstance(limits, (list, tuple)):
            raise ValueError(f"constraints must return a list of constraints, got {limits!r}")
        return list(limits)

    def _penalty(self, a: Expression, b: Expression) -> Expression:
        if self._given_penalty is None:
            return self._cp.norm1(a)
        penalty = self._given_penalty(a, b)
        return penalty if hasattr(penalty, "is_convex") else self._cp.Constant(penalty)

    def _coefficients(self) -> Expression:
        return self._cp.Variable(max(1, len(self.columns)), nonneg=not self._two_sided)

    def _offset(self) -> Expression:
        return self._cp.Variable() if self._has_offset else self._cp.Constant(0.0)

    def _penalty_of_offset(self, b: Expression) -> Expression:
        return self._penalty(self._cp.Constant(np.zeros(max(1, len(self.columns)))), b)

    def _entry(self, scale: float, largest: float) -> EntryRule:
        """The rule of the penalty that was declared: elastic net, ball or 1-norm."""
        sided, threshold = self._two_sided, self._threshold
        cut = FEASIBILITY * threshold
        if threshold == 0 and self._curvature == 0:
            longest = np.abs(self._matrix).sum(axis=0).max(initial=1.0)
            cut = RESPONSE_NOISE * largest * float(longest)
        if self._curvature > 0:
            return ElasticNetEntry(sided, threshold, self._curvature, scale, cut)
        if self._reach is not None or threshold == 0:
            reach = 1.0 if self._reach is None else self._reach
            return BudgetEntry(sided, threshold, cut, reach, scale)
        return OneNormEntry(sided, threshold)

    def _check_declaration(self, a: Vector, b: Expression, penalty: float) -> None:
        size = float(np.abs(a).sum())
        least = self._threshold * size + 0.5 * self._curvature * float(a @ a)
        least += float(self._penalty_of_offset(b).value)
        if least > penalty + DECLARED * max(1.0, abs(penalty)):
            raise ValueError(
                f"the penalty is {penalty:.6g}, less than the {least:.6g} that threshold="
                f"{self._threshold:g} and curvature={self._curvature:g} declare: the bound would "
                "be wrong"
            )
        if self._reach is not None and size > self._reach * (1.0 + REACHED):
            raise ValueError(
                f"‖a‖₁ = {size:.6g} is larger than the reach={self._reach:g} that was declared: "
                "the bound would be wrong"
            )

    def _require_convex(self, name: str, expression: Expression) -> None:
        if not hasattr(expression, "is_convex"):
            raise ValueError(f"{name} must return a CVXPY expression, got {expression!r}")
        if expression.size != 1 or not expression.is_convex():
            raise ValueError(
                f"{name} must return a convex scalar; it is of shape {expression.shape}, "
                f"{expression.curvature.lower()}"
            )
