"""A master that knows the rows by sums alone: they may be in a database, or on a cluster.

    f = b + Σ_k c_k h_k

The columns are where the rows are. Their coefficients follow from the value, the gradient and the
Hessian of the loss along few of them. Forward stagewise: the step along the newest column together
with the best change of the constant; columns that come together are parts of one direction, and
take the same step. Corrective: all coefficients anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses.quadratic import Quadratic
from cgboost.masters.stagewise.descent import (
    descended,
    descended_at_kinks,
    newton,
    within,
)
from cgboost.masters.stagewise.refits import SEPARATED
from cgboost.masters.stagewise.stagewise import DescentEntry, optimum_if_settled

Vector = NDArray[np.float64]


class RowSums(Protocol):
    """A loss with one output, along columns that are where its rows are."""

    @property
    def weight(self) -> float:
        """Σ w of the training rows."""
        ...

    @property
    def holdout_weight(self) -> float:
        """Σ w of the rows held out."""
        ...

    @property
    def attains_minimum(self) -> bool:
        """Whether a loss near 0 is near a minimum; otherwise only f without end makes it 0."""
        ...

    @property
    def is_smooth(self) -> bool:
        """Whether the loss has a curvature."""
        ...

    @property
    def extremes(self) -> Sequence[tuple[float, float]]:
        """The least and the largest value of every column."""
        ...

    def quadratic(self, coef: Vector, intercept: float, last: int) -> Quadratic:
        """The loss at f = intercept + Σ coef·h, by the intercept and the ``last`` coefficients."""
        ...

    def move(self, coef: Vector, intercept: float) -> tuple[Vector, Vector]:
        """F is this from now on; f and the pseudo-response, where they are at hand."""
        ...


class AggregateMaster:
    """Master of stagewise boosting, by sums over the rows.

    Parameters
    ----------
    sums : RowSums
        It has a new column before the column is added here.
    corrective : bool, default=False
        Whether all coefficients and the intercept are chosen anew in every round. Otherwise they
        stay, and the intercept moves with each step.
    learning_rate : float, default=1.0
        Multiplies a step and its change of the constant. Not where all are chosen anew.
    most : float, default=inf
        What a step changes an output by, at most. Not where all are chosen anew.
    positive : bool, default=False
        Whether a step that would be negative is not taken. Not where all are chosen anew.
    """

    descends = False
    proves = False

    def __init__(
        self,
        sums: RowSums,
        *,
        corrective: bool = False,
        learning_rate: float = 1.0,
        most: float = np.inf,
        positive: bool = False,
    ) -> None:
        self.sums, self.corrective = sums, corrective
        self.learning_rate, self.most, self.positive = learning_rate, most, positive
        self.columns: list[Column] = []
        self._coef, self._intercept = np.zeros(0), 0.0
        self._lowest = -np.inf if sums.attains_minimum else SEPARATED * sums.weight
        self._choose()

    def holdout_loss(self, output: Vector | None = None) -> float:
        """Mean loss of the rows held out, where f is; 0 without any."""
        weight = self.sums.holdout_weight
        return self._here.holdout / weight if weight > 0 else 0.0

    def add(self, columns: Sequence[Column]) -> None:
        """Choose the coefficients of new columns."""
        if not columns:
            return
        self.columns.extend(columns)
        self._coef = np.append(self._coef, np.zeros(len(columns)))
        if self.corrective:
            self._choose()
        else:
            self._step(len(columns))

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Where f stands."""
        output, response = self.sums.move(self._coef, self._intercept)
        objective = self._here.value
        bounded = objective > self._lowest
        return MasterState(
            columns=tuple(self.columns),
            coef=self._coef.copy(),
            intercept=self._intercept,
            output=output,
            pseudo_response=response if bounded else np.zeros_like(response),
            objective=objective,
            slack=np.abs(response),
            entry=DescentEntry(max(1.0, abs(objective))),
            bounded=bounded,
        )

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """The objective, where no column at all leads down; otherwise none."""
        return optimum_if_settled(state, priced)

    def _choose(self) -> None:
        """Choose the intercept and all coefficients."""

        def surface(point: Vector) -> Quadratic:
            return self.sums.quadratic(point[1:], float(point[0]), len(point) - 1)

        start = np.append(self._intercept, self._coef)
        found, self._here = (
            descended(surface, start, newton, self._lowest)
            if self.sums.is_smooth
            else descended_at_kinks(surface, start)
        )
        self._intercept, self._coef = float(found[0]), found[1:]

    def _step(self, count: int) -> None:
        """The step along the last columns and the change of the constant that are best together.

        Both together are linear in what they add where the sum of these columns is least and where
        it is largest: bounds are a box in these two. Of several columns the sums of their least and
        of their largest values are taken for that.
        """
        first = len(self._coef) - count
        extremes = self.sums.extremes[first : len(self._coef)]
        low, high = (sum(values) for values in zip(*extremes, strict=True))
        width = high - low or 1.0
        basis = np.array([[1.0 + low / width, -low / width], [-1.0 / width, 1.0 / width]])
        spread = basis[[0] + count * [1]]

        def at(ends: Vector, last: int) -> Quadratic:
            shift, step = basis @ ends
            coef = np.append(self._coef[:first], np.full(count, step))
            return self.sums.quadratic(coef, self._intercept + float(shift), last)

        def surface(ends: Vector) -> Quadratic:
            return at(ends, count).along(spread)

        rate = self.learning_rate
        most = self.most / max(1.0, rate)
        ends, self._here = (
            descended(surface, np.zeros(2), within(most))
            if self.sums.is_smooth
            else descended_at_kinks(surface, np.zeros(2), most)
        )
        if self.positive and ends[1] < ends[0]:
            rate = 0.0
        if rate != 1.0:
            ends = rate * ends
            self._here = at(ends, 0)
        shift, self._coef[first:] = basis @ ends
        self._intercept += float(shift)
