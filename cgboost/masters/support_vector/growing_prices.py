"""Prices so large that only a few rows, or none, ever have to pay them.

The box of a pseudo-response ends at its price C. Where C is huge, at the optimum r is far inside of
it but for rows that no model can serve, and a solver that is handed a box of 10¹² for an r of 1
loses all digits. So prices are limited at first. The dual of limited prices is feasible for the
whole ones, so that its bound holds; and where no r stands at the limit, its optimum is that of the
whole prices. Where some do, and no new column helps, the limit is raised: a penalty method whose
multipliers stay finite (Bertsekas, *Constrained Optimization and Lagrange Multiplier Methods*,
1982, section 4.1: exact penalties).

The limit counts in units of what an r is that balances the penalty: 1/|h| where that is |α|, and
|target|/|h|² where it is ½α².
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.losses import SupportVectorLoss
from cgboost.masters.column_store import ColumnStore
from cgboost.masters.dual_solvers.interior_point import DIRECTION, InteriorSession
from cgboost.masters.free_columns import FreeColumns
from cgboost.masters.support_vector.working_set import DualPoint, RestrictedDual
from cgboost.penalties.base import DualForm
from solvers import LimitError, SolverError

logger = logging.getLogger(__name__)

FIRST_LIMIT = 1e8
"""Prices up to this are handed on as they are: own methods and backends solve such problems to gaps
of 1e-6, while at 1e12 most fail."""

GROWTH = 1e3
"""The factor of the limit. The next one is solved from the answer of the one before."""

AT_LIMIT = 1.0 - 1e-6
"""A pseudo-response of this share of the limit stands at it; solvers answer to about 1e-8."""

SMALLER = 1e-2
"""Larger columns make the limit smaller: by less than this, the problem is not opened anew."""

ROOM = 1e-12
"""Margins are met with this much to spare, so that rounding of an output costs nothing."""

STRETCH = 2.0
"""A model is stretched by no more than this to meet all margins: else it would be another model."""


def outgrows(loss: object, form: DualForm) -> bool:
    """Whether a loss has prices that are limited at first: finite ones, of a box alone."""
    if type(loss) is not SupportVectorLoss or loss.mass is not None or form.radius is not None:
        return False
    caps = loss.variables.cap
    return bool(len(caps) and np.isfinite(caps).all() and loss.shrinks)


class GrowingPrices(RestrictedDual):
    """A live restricted problem that is solved at limited prices while these will do.

    Parameters
    ----------
    loss : SupportVectorLoss
        See :func:`outgrows`.
    form, solver, options, columns, free
        As for :class:`RestrictedDual`.

    Attributes
    ----------
    whole : SupportVectorLoss
        With its own prices; ``loss`` has those of the present limit.
    limit : float
        Prices above it count as this much.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        form: DualForm,
        solver: str,
        options: Mapping[str, Any] | None = None,
        columns: ColumnStore | None = None,
        free: FreeColumns | None = None,
    ) -> None:
        self.whole, self.form, self._raised, self._failed = loss, form, 1.0, False
        self._last: DualPoint | None = None
        self._answered = -1  # number of columns at the last answer that stood at the limit
        self._largest = max(float(loss.upper.max()), float(-loss.lower.min()))
        self.limit = self._fitting(0.0 if columns is None else columns.largest)
        super().__init__(self._limited(), form, solver, options, columns, free)

    @property
    def is_limited(self) -> bool:
        """Whether a higher limit may change the answer."""
        return self.limit < self._largest

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> DualPoint:
        """See :class:`RestrictedDual`; ``solved`` is False while a higher limit may change it."""
        if self.limit >= self._largest and self._fitting(self.columns.largest) >= self._largest:
            return super().solve(time_limit, accuracy)
        return self._at_limits(time_limit, accuracy)

    def _at_limits(self, time_limit: float | None, accuracy: float) -> DualPoint:
        """The optimum at the present limit, or at the next one where nothing else has changed."""
        before = self._last
        if self._answered == self.columns.count and not self._failed:
            self._raised *= GROWTH
            self._open(before)
        elif self._fitting(self.columns.largest) < SMALLER * self.limit:
            self._open(None)
        try:
            point = super().solve(time_limit, accuracy)
        except SolverError as error:
            lower = self._raised > 1.0 and before is not None
            if not lower or (isinstance(error, LimitError) and time_limit is not None):
                raise
            logger.info("prices stay limited to %g: %s", self.limit / GROWTH, error)
            self._failed = True
            self._raised /= GROWTH
            self._open(before)
            point = super().solve(time_limit, accuracy)
        self._last = point
        at_limit = self.limit < self._largest and bool(
            (np.abs(point.response) >= AT_LIMIT * self.limit).any()
        )
        self._answered = self.columns.count if at_limit and point.solved else -1
        solved = point.solved and not (at_limit and not self._failed)
        return replace(self._stretched(point), solved=solved)

    def _fitting(self, largest: float) -> float:
        """The limit for columns of this largest entry; all prices where these are below it."""
        entry = largest or 1.0
        natural = 1.0 / entry
        if self.form.quadratic > 0:
            target = float(np.abs(self.whole.target).max(initial=0.0)) + self.whole.epsilon
            natural = (target or 1.0) / entry**2
        return min(FIRST_LIMIT * self._raised * natural, self._largest)

    def _limited(self) -> SupportVectorLoss:
        if self.limit >= self._largest:
            return self.whole
        return replace(
            self.whole,
            lower=np.maximum(self.whole.lower, -self.limit),
            upper=np.minimum(self.whole.upper, self.limit),
        )

    def _open(self, start: DualPoint | None) -> None:
        """Begin anew at another limit, near a point if one is given."""
        self.limit = self._fitting(self.columns.largest)
        columns, options = self.columns, self._options
        super().__init__(self._limited(), self.form, self._solver, options, columns)
        self._waiting = np.append(columns.directions, np.arange(columns.n_free, columns.count))
        if count := len(columns.large):
            if not isinstance(self.session, InteriorSession):
                self.session = InteriorSession(self.loss, columns, self.form)
            self.session.activate(DIRECTION - np.arange(count))
        if start is not None and len(start.coef) == columns.count:
            self.expect(start.coef, start.intercept)

    def _stretched(self, point: DualPoint) -> DualPoint:
        """The model times what makes it meet all margins, where that costs less than missing some.

        A solver misses margins by 1e-9 or so, which at a price of 10¹⁵ would cost a million.
        """
        loss = self.whole
        one_sided = (loss.lower >= 0) | (loss.upper <= 0)
        if loss.curvature is not None or not (one_sided & (loss.target != 0)).all():
            return point
        served = point.output * loss.target
        if not (served > 0).all():
            return point
        factor = float((loss.target**2 / served).max()) * (1.0 + ROOM)
        if not 1.0 < factor <= STRETCH:
            return point
        longer = replace(
            point,
            coef=factor * point.coef,
            intercept=factor * point.intercept,
            output=factor * point.output,
        )
        return min(point, longer, key=self._objective)

    def _objective(self, point: DualPoint) -> float:
        return self.form.value(point.coef, point.intercept) + self.whole.value(point.output)
