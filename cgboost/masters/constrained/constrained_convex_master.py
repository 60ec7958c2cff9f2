"""Master of any convex loss and limits, in CVXPY.

    min  Σ|α_j| + F(f) + M Σ_k max(0, a_k·f − d_k) + M Σ_l s_l
    s.t. g_l(f, b) ≤ d_l + s_l,  s ≥ 0,     f = Hα + b

Limits are exact penalties here too, so that α = 0 is feasible, as the master asks for, and every
bound is one for the problem with limits. A free offset b has its own row, behind the others,
which lets a limit see a·1·b where the master adds b.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.masters.constrained.constrained_master import MasterWithLimits
from cgboost.masters.convex.convex_master import ConvexMaster

Expression = Any


@dataclass(frozen=True)
class ConvexConstraints:
    """What a convex master is to minimise and to keep to, besides linear limits.

    Attributes
    ----------
    objective : callable
        ``objective(f)``, a convex scalar expression of the output on the training rows.
    constraints : callable
        ``constraints(f, a, b)``, a list of CVXPY constraints.
    """

    objective: Callable[[Expression], Expression]
    constraints: Callable[[Expression, Expression, Expression], list[Any]]


@dataclass
class _Slack:
    """The slack of one constraint, and the constraints that have it."""

    variable: Any
    constraints: list[Any] = field(default_factory=list)


class ConstrainedConvexMaster(MasterWithLimits):
    """Restricted master of a convex loss under the 1-norm, with limits.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    limits : ndarray of shape (n_limits,)
        What the rows behind the training rows may be at most.
    price : float
        M.
    constant : ndarray of shape (n_limits,) or None
        What the constant 1 is in the rows of limits; None: there is no free offset.
    coef : {"free", "nonneg"}
    solver_options : mapping of str to object, optional

    Attributes
    ----------
    broken, prices : list of float
        By how much each constraint is broken at the last answer, and what one unit of its limit
        costs there.
    """

    def __init__(
        self,
        convex: ConvexConstraints,
        n_rows: int,
        limits: Vector,
        price: float,
        *,
        constant: Vector | None = None,
        coef: Literal["free", "nonneg"] = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._cp = importlib.import_module("cvxpy")
        self.n_rows, self.loss = n_rows, None
        self._convex, self._limits, self._price = convex, limits, price
        self._moved = np.zeros(len(limits)) if constant is None else constant - 1.0
        self._slacks: list[_Slack] = []
        self.columns: list[Column] = []
        self._master = ConvexMaster(
            self._loss,
            constraints=self._constraints,
            n_rows=n_rows + len(limits) + 1,
            coef=coef,
            offset="none" if constant is None else "free",
            solver=solver,
            solver_options=solver_options,
        )
        self._inner: MasterState | None = None
        self.broken: list[float] = []
        self.prices: list[float] = []

    def _loss(self, f: Expression) -> Expression:
        """F(f), and what is beyond limits at its price."""
        cp, n, k = self._cp, self.n_rows, len(self._limits)
        a = cp.Variable(max(1, len(self.columns)))
        self._slacks = [
            _Slack(cp.Variable(constraint.shape, nonneg=True))
            for constraint in self._convex.constraints(f[:n], a, f[n + k])
            if self._takes(constraint)
        ]
        cost = self._convex.objective(f[:n])
        if k:
            own = f[n : n + k] + cp.multiply(self._moved, f[n + k])
            cost += self._price * cp.sum(cp.pos(own - self._limits))
        for slack in self._slacks:
            cost += self._price * cp.sum(slack.variable)
        return cost

    def _takes(self, constraint: Any) -> bool:
        """Whether a constraint may be broken at a price: inequalities and equations."""
        constraints = self._cp.constraints
        kinds = (constraints.Inequality, constraints.Equality, constraints.Zero)
        return isinstance(constraint, (*kinds, constraints.NonPos))

    def _constraints(self, a: Expression, b: Expression, f: Expression) -> list[Any]:
        """The constraints with their slack; cones as they are."""
        n, k = self.n_rows, len(self._limits)
        slacks, limits = iter(self._slacks), []
        for constraint in self._convex.constraints(f[:n], a, f[n + k]):
            if not self._takes(constraint):
                limits.append(constraint)
                continue
            slack = next(slacks)
            excess = constraint.expr if hasattr(constraint, "expr") else constraint.args[0]
            slack.constraints = [excess <= slack.variable]
            kinds = (self._cp.constraints.Equality, self._cp.constraints.Zero)
            if isinstance(constraint, kinds):
                slack.constraints.append(-excess <= slack.variable)
            limits.extend(slack.constraints)
        return limits

    def _broken(self) -> list[float]:
        """By how much each constraint is broken."""
        return [float(np.max(slack.variable.value, initial=0.0)) for slack in self._slacks]

    def _prices(self) -> list[float]:
        """What one unit of each constraint's limit costs."""
        found = []
        for slack in self._slacks:
            duals = [c.dual_value for c in slack.constraints if c.dual_value is not None]
            found.append(float(sum(np.sum(np.abs(dual)) for dual in duals)))
        return found

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""
        self.columns.extend(columns)
        self._master.add([replace(c, values=np.append(c.values, 0.0)) for c in columns])

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Build and solve the restricted problem."""
        self._inner = state = self._master.solve(time_limit=time_limit)
        self.broken, self.prices = self._broken(), self._prices()
        output = state.output[:-1].copy()
        output[self.n_rows :] += self._moved * float(state.intercept)
        self._found = replace(
            state,
            columns=tuple(self.columns),
            output=output,
            slack=state.slack[:-1],
            pseudo_response=state.pseudo_response[:-1],
        )
        return self._found

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over all columns, from an exact pricing pass."""
        if self._inner is None:
            return None
        return self._master.bound(self._inner, priced)
