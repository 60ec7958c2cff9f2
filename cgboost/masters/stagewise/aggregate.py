"""A master that knows the rows by sums alone: they may be in a database, or on a cluster.

    f = b + Σ_k c_k h_k        of each output

The columns are where the rows are. Their coefficients follow from the value, the gradient and the
Hessian of the loss along few of them. Forward stagewise: the step along the newest column together
with the best change of the constant; columns that come together are parts of one direction, and
take the same step. Corrective: all coefficients anew. Of a loss with several outputs the steps and
the constants of all of them are chosen together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.losses.second_order_model import LossSums, Quadratic
from cgboost.masters.stagewise.stagewise import DescentMaster
from cgboost.optimizers.refits.descent import descended, descended_at_kinks, newton, within
from cgboost.optimizers.refits.refits import SEPARATED

DAMPING = 1e-6
"""Share of its diagonal that is added to the Hessian of a loss with several outputs, which does not
change where all of them grow alike. Rounding of the gradient then moves them by 10⁻¹⁰; directions
along which the loss is curved by less than this share take more Newton steps."""


class AggregateMaster(DescentMaster):
    """Master of stagewise boosting, by sums over the rows.

    Parameters
    ----------
    sums : LossSums
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

    def __init__(
        self,
        sums: LossSums,
        *,
        corrective: bool = False,
        learning_rate: float = 1.0,
        most: float = np.inf,
        positive: bool = False,
    ) -> None:
        self.sums, self.corrective = sums, corrective
        self.learning_rate, self.most, self.positive = learning_rate, most, positive
        self.n_outputs = len(self.sums.parts)
        self.columns: list[Column] = []
        self._owner = np.zeros(0, dtype=np.intp)
        self._coef, self._intercepts = np.zeros(0), np.zeros(self.n_outputs)
        self._lowest = -np.inf if sums.attains_minimum else SEPARATED * sums.weight
        self._choose()
        self._empty = self._here.value

    def holdout_loss(self, output: Vector | None = None) -> float:
        """Mean loss of the rows held out, where f is; 0 without any."""
        weight = self.sums.holdout_weight
        return self._here.holdout / weight if weight > 0 else 0.0

    def add(self, columns: Sequence[Column]) -> None:
        """Choose the coefficients of new columns."""
        if not columns:
            return
        self.columns.extend(columns)
        self._owner = np.append(self._owner, [column.output for column in columns])
        self._coef = np.append(self._coef, np.zeros(len(columns)))
        if self.corrective:
            self._choose()
        else:
            self._step(len(columns))

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Where f stands."""
        output, response = self.sums.move(self._by_output(self._coef), self._intercepts.copy())
        one, objective = self.n_outputs == 1, self._here.value
        intercept = float(self._intercepts[0]) if one else self._intercepts.copy()
        bounded = objective > self._lowest
        coef = self._coef.copy()
        return self._state(coef, intercept, output, response, objective, bounded=bounded)

    def _by_output(self, coef: Vector) -> list[Vector]:
        """Coefficients of the first columns, those of each output."""
        owner = self._owner[: len(coef)]
        return [coef[owner == k] for k in range(self.n_outputs)]

    def _at(self, coef: Vector, intercepts: Vector, last: int) -> Quadratic:
        """The loss by the intercepts and the coefficients of the last columns, in their order."""
        owner = self._owner[len(coef) - last : len(coef)]
        counts = np.bincount(owner, minlength=self.n_outputs).tolist()
        found = self.sums.quadratic(self._by_output(coef), intercepts, counts)
        order = np.argsort(owner, kind="stable")
        if (order == np.arange(last)).all():
            return found
        places = np.append(np.arange(self.n_outputs), self.n_outputs + np.argsort(order))
        return found.along(np.eye(len(places))[places].T)

    def _definite(self, here: Quadratic) -> Quadratic:
        """With a Hessian that is definite, where several outputs may all grow alike."""
        return here if self.n_outputs == 1 else here.damped(DAMPING)

    def _choose(self) -> None:
        """Choose the intercepts and all coefficients."""
        count = self.n_outputs

        def surface(point: Vector) -> Quadratic:
            return self._definite(self._at(point[count:], point[:count], len(point) - count))

        start = np.append(self._intercepts, self._coef)
        found, self._here = (
            descended(surface, start, newton, self._lowest)
            if self.sums.is_smooth
            else descended_at_kinks(surface, start)
        )
        self._coef = found[count:]
        self._take(found[:count])

    def _step(self, count: int) -> None:
        """The steps along the last columns and the changes of the constants that are best together.

        The step of an output and its constant are linear in what they add where the sum of its
        columns is least and where it is largest: bounds are a box in these. Of several columns the
        sums of their least and of their largest values are taken for that. An output without a new
        column has a constant alone.
        """
        first = len(self._coef) - count
        spread, ends_of = self._ends(count)

        def at(ends: Vector, last: int) -> Quadratic:
            move = spread @ ends
            shift, steps = move[: self.n_outputs], move[self.n_outputs :]
            coef = np.append(self._coef[:first], steps)
            return self._at(coef, self._intercepts + shift, last)

        def surface(ends: Vector) -> Quadratic:
            return self._definite(at(ends, count).along(spread))

        start = np.zeros(spread.shape[1])
        most = self.most / max(1.0, self.learning_rate)
        ends, self._here = (
            descended(surface, start, within(most), most=most)
            if self.sums.is_smooth
            else descended_at_kinks(surface, start, most)
        )
        rates = np.full(len(ends), self.learning_rate)
        for low, high in ends_of:
            if self.positive and ends[high] < ends[low]:
                rates[[low, high]] = 0.0
        if (rates != 1.0).any():
            ends = rates * ends
            self._here = at(ends, 0)
        move = spread @ ends
        self._coef[first:] = move[self.n_outputs :]
        self._take(self._intercepts + move[: self.n_outputs])

    def _ends(self, count: int) -> tuple[Vector, list[tuple[int, int]]]:
        """Constants and steps by what outputs change by at their ends, and the pairs of ends.

        Shape (n_outputs + count, n_ends).
        """
        owner = self._owner[len(self._coef) - count :]
        blocks: list[tuple[int, Vector]] = []
        pairs, place = [], 0
        for k, part in enumerate(self.sums.parts):
            own = np.flatnonzero(owner == k)
            basis = np.ones((1, 1))
            if len(own):
                there = int(np.count_nonzero(self._owner == k))
                extremes = part.extremes[there - len(own) : there]
                low, high = (sum(values) for values in zip(*extremes, strict=True))
                width = high - low or 1.0
                basis = np.array([[1.0 + low / width, -low / width], [-1.0 / width, 1.0 / width]])
                pairs.append((place, place + 1))
            blocks.append((place, basis))
            place += basis.shape[1]
        spread = np.zeros((self.n_outputs + count, place))
        for k, (start, basis) in enumerate(blocks):
            stop = start + basis.shape[1]
            spread[k, start:stop] = basis[0]
            spread[self.n_outputs + np.flatnonzero(owner == k), start:stop] = basis[-1]
        return spread, pairs

    def _take(self, intercepts: Vector) -> None:
        """Take the intercepts; several are shifted to a sum of 0, which changes no share."""
        one = self.n_outputs == 1
        self._intercepts = intercepts if one else intercepts - intercepts.mean()
