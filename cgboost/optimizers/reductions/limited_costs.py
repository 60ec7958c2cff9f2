"""Costs so large that only a few rows, or none, ever have to pay them.

The box of a pseudo-response ends at its cost C·w. Where that is huge, at the optimum r is inside
but for rows that no model can serve, and a solver that is handed a box of 10¹² for an r of 1
loses all digits. So costs are limited at first. The dual of limited costs is feasible for the
whole ones, so that its bound holds; and where no r stands at the limit, its optimum is that of the
whole costs. Where some do, and no new column helps, the limit is raised: an exact penalty method
(Bertsekas, *Constrained Optimization and Lagrange Multiplier Methods*, 1982, section 4.1). Where a
problem is not solved at its limit, a lower one is tried: a model of it is worth more than none.

The limit counts in units of what an r is that balances the penalty: 1/|h| where that is |α|, and
|target|/|h|² where it is ½α².
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from cgboost._solvers import SolverError, Status
from cgboost.forks import cached_property
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.interior_point.interior_session import DIRECTION, InteriorSession
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.reduction import Problem, Reduction
from cgboost.optimizers.restricted_dual import OpenSession, RestrictedDual
from cgboost.penalties.penalty import DualForm

logger = logging.getLogger(__name__)

FIRST_LIMIT = 1e8
"""Costs up to this are handed on as they are: own methods and backends solve such problems to gaps
of 1e-6, while at 1e12 most fail."""

LIMIT_GROWTH = 1e3
"""The factor of the next limit, which is solved from the answer of the one before; less, where one
above is known to fail: half way, in digits."""

LIMITS_APART = 4.0
"""No limit is tried between two that differ by no more than this factor."""

LOWER, LOWER_LIMITS = 1e-2, 4
"""The factor of a lower limit, and how many are tried in one solve."""

AT_LIMIT = 1.0 - 1e-6
"""A pseudo-response of this share of the limit stands at it; solvers answer to about 1e-8."""

SHRUNK = 1e-2
"""Larger columns make the limit smaller: by less than this, the problem is not opened anew."""

MARGIN_TO_SPARE = 1e-12
"""Margins are met with this much to spare, so that rounding of an output costs nothing."""

STRETCH = 2.0
"""A model is stretched by no more than this to meet all margins: else it would be another model."""


@dataclass(frozen=True)
class LimitedCosts(Reduction):
    """Costs above a limit count as this much.

    Attributes
    ----------
    loss : SupportVectorLoss
        With its own costs.
    """

    loss: SupportVectorLoss
    form: DualForm
    limit: float

    @cached_property
    def largest(self) -> float:
        """The largest cost."""
        return max(float(self.loss.upper.max()), float(-self.loss.lower.min()))

    @property
    def changes(self) -> bool:
        """Whether a cost is above the limit."""
        return self.limit < self.largest

    def apply(self, problem: Problem) -> Problem:
        """The loss of limited costs."""
        if not self.changes:
            return problem
        lower = np.maximum(self.loss.lower, -self.limit)
        upper = np.minimum(self.loss.upper, self.limit)
        return replace(problem, loss=replace(self.loss, lower=lower, upper=upper))

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """The model times what makes it meet all margins, where that costs less than missing some.

        A solver misses margins by 1e-9 or so, which at a cost of 10¹⁵ make a million.
        """
        loss = self.loss
        one_sided = (loss.lower >= 0) | (loss.upper <= 0)
        if not self.changes or loss.curvature is not None:
            return point
        if not (one_sided & (loss.target != 0)).all():
            return point
        served = point.output * loss.target
        if not (served > 0).all():
            return point
        factor = float((loss.target**2 / served).max()) * (1.0 + MARGIN_TO_SPARE)
        if not 1.0 < factor <= STRETCH:
            return point
        longer = replace(
            point,
            coef=factor * point.coef,
            intercept=factor * point.intercept,
            output=factor * point.output,
        )
        return min(point, longer, key=self._objective)

    def _objective(self, point: RestrictedPoint) -> float:
        return self.form.value(point.coef, point.intercept) + self.loss.value(point.output)


def may_be_limited(loss: object, form: DualForm) -> bool:
    """Whether a loss has costs that may be limited: finite ones, of a box alone."""
    if type(loss) is not SupportVectorLoss or loss.mass is not None or form.radius is not None:
        return False
    costs = loss.variables.costs
    return bool(len(costs) and np.isfinite(costs).all() and loss.shrinks)


class GrowingCosts(RestrictedDual):
    """A live restricted problem that is solved at limited costs while these will do.

    Parameters
    ----------
    loss : SupportVectorLoss
        See :func:`may_be_limited`.
    form, open_session, solver, free_columns
        As for :class:`RestrictedDual`.

    Attributes
    ----------
    costs : LimitedCosts
        At the present limit; ``loss`` is what they make of its loss.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        form: DualForm,
        open_session: OpenSession,
        solver: str = "auto",
        free_columns: FreeColumns | None = None,
    ) -> None:
        # in units of what balances the penalty: this limit, one that was solved, one that was not
        self._factor, self._solved, self._failed = FIRST_LIMIT, 0.0, np.inf
        self._last: RestrictedPoint | None = None
        self._stuck_with = -1  # columns at an answer that stood at the limit
        self.costs = LimitedCosts(loss, form, self._factor * balance(loss, form, None))
        limited = self.costs.apply(Problem(loss, form)).loss
        super().__init__(limited, form, open_session, solver, free_columns=free_columns)

    @property
    def is_limited(self) -> bool:
        """Whether a higher limit may change the answer."""
        return self.costs.changes

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """See :class:`RestrictedDual`; ``solved`` is False while a higher limit may change it."""
        if self._stuck_with == self.columns.count and self._may_grow:
            self._open(
                min(LIMIT_GROWTH * self._factor, float(np.sqrt(self._factor * self._failed)))
            )
        elif self._factor * self._balance() < SHRUNK * min(self.costs.limit, self.costs.largest):
            self._open(self._factor)
        point = self._last = self._answer(time_limit, accuracy)
        at_limit = np.abs(point.response) >= AT_LIMIT * self.costs.limit
        stuck = self.is_limited and bool(at_limit.any())  # a higher one may change the optimum
        self._stuck_with = self.columns.count if stuck and point.solved else -1
        solved = point.solved and not (stuck and self._may_grow)
        return replace(self.costs.invert(point), solved=solved)

    @property
    def _may_grow(self) -> bool:
        return LIMITS_APART * self._factor < self._failed

    def _answer(self, time_limit: float | None, accuracy: float) -> RestrictedPoint:
        """The optimum at the present limit, or at a lower one where no solver can find it."""
        for _ in range(LOWER_LIMITS):
            try:
                point = super().solve(time_limit, accuracy)
                self._solved = self._factor
                return point
            except SolverError as error:
                if error.status is Status.TIME_LIMIT or not self.columns.count:
                    raise
                limit = min(self.costs.limit, self.costs.largest)
                logger.info("not solved at costs up to %g: %s", limit, error)
                self._failed = limit / self._balance()
                before = self._solved if self._solved < self._failed else 0.0
                self._open(before or LOWER * self._failed)
                self._solved = 0.0
        return super().solve(time_limit, accuracy)

    def _balance(self) -> float:
        return balance(self.costs.loss, self.form, self.columns)

    def _open(self, factor: float) -> None:
        """Begin anew at another limit, near the last answer if there is none but that."""
        start, columns = self._last, self.columns
        self._factor, self._stuck_with = factor, -1
        self.costs = replace(self.costs, limit=factor * self._balance())
        self._begin(self.costs.apply(Problem(self.costs.loss, self.form)).loss)
        self._waiting = np.append(columns.directions, np.arange(columns.n_free, columns.count))
        if count := len(columns.large):
            if not isinstance(self.session, InteriorSession):
                self.session = InteriorSession(self.loss, columns, self.form)
            self.session.activate(DIRECTION - np.arange(count))
        if start is not None and len(start.coef) == columns.count:
            self.start_near(start.coef, start.intercept)


def balance(loss: SupportVectorLoss, form: DualForm, columns: ColumnStore | None) -> float:
    """The size of an r that balances the penalty, for columns as solvers see them."""
    entry = 1.0 if columns is None else float(columns.scales.max(initial=0.0)) or 1.0
    if form.quadratic == 0:
        return 1.0 / entry
    target = float(np.abs(loss.target).max(initial=0.0)) + loss.epsilon
    return (target or 1.0) / entry**2
