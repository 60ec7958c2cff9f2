"""Rows in memory, or in a source of blocks with what is as long as the rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.places import spilled
from cgboost.additive.places.joint_aggregates import JointMemoryAggregates
from cgboost.additive.places.spilled import Made, Spilled, slices
from cgboost.additive.stage import Stage, StageOutputs
from cgboost.additive.statistics.passes import Passes, SplitMoments
from cgboost.additive.trees.transformation import Transformation
from cgboost.forks import cached_property
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss, spread_of
from cgboost.losses.loss import Loss, WeightedLoss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.second_order_model import Quadratic
from cgboost.parallel.threads import Mapped, Threads
from cgboost.tables.binning import (
    SAME,
    FeatureGroups,
    FloatValues,
    Prepared,
    intervals_of,
    prepared,
)
from cgboost.tables.row_blocks import Matrix, RowBlock, SourceRows, TableRows
from cgboost.tables.table_encoding import LARGEST_NUMBER, Schema

Vector = NDArray[np.float64]

Sample = tuple[Vector, Vector]
"""Values of some rows, and their weights."""

LOSS_ROWS = 2**16
"""Rows of which the loss, f and few outputs are worked on at a time, 0.5 MB each. For ten stages of
10⁶ rows the sums of the squared error take 0.16 to 0.19 CPU s with 2¹⁶ to 2¹⁸, 0.32 with 2¹⁴, whose
calls cost more, and 0.48 with all rows at once, whose arrays are obtained from the system anew."""


class MemoryPlace:
    """Rows of this process.

    Parameters
    ----------
    prepared : Prepared
    weights : ndarray of shape (n_rows,)
    mapped : callable
        ``map``, or the same on threads.
    """

    def __init__(self, prepared: Prepared, weights: Vector, mapped: Mapped = map) -> None:
        self.prepared, self.weights, self.mapped = prepared, weights, mapped
        self.has_holdout = bool(prepared.held.any())

    def passes(self) -> Passes:
        """Passes over the rows."""
        return Passes(self.prepared.rows, self.weights, self.prepared.held, self.mapped)

    def aggregates(self, loss: Loss, target: Vector) -> MemoryAggregates:
        """See :meth:`Place.aggregates`."""
        return MemoryAggregates(
            self.passes(), loss, target, self.weights, self.prepared.groups, self.prepared.sample
        )

    def joint(self, loss: Multinomial, target: Vector) -> JointMemoryAggregates:
        """See :meth:`Place.joint`."""
        groups, sample = self.prepared.groups, self.prepared.sample
        return joint_in_memory(self.passes, loss, target, self.weights, groups, sample)

    def close(self) -> None:
        """Nothing is left behind."""


def in_memory(
    X: Matrix | SourceRows,
    schema: Schema,
    y: FloatValues,
    weights: Vector,
    *,
    n_jobs: int,
    n_classes: int = 1,
    max_bins: int,
    share: float,
    seed: int,
) -> MemoryPlace:
    """The rows of a table or a source of blocks, divided.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), or SourceRows
    schema : Schema
    y, weights : ndarray of shape (n_rows,)
    n_jobs : int
        Threads.
    n_classes, max_bins, share, seed
        As of :func:`prepared`.

    Raises
    ------
    ValueError
        If there are fewer than 2 rows, or numbers whose squares cannot be summed.
    """
    check_size(len(weights), max(float(y.max(initial=0.0)), -float(y.min(initial=0.0))))
    table = X if isinstance(X, SourceRows) else TableRows(X)
    mapped = Threads(n_jobs)
    how: dict[str, Any] = {"max_bins": max_bins, "share": share, "seed": seed, "mapped": mapped}
    data = prepared(table, schema, y, weights, n_classes=n_classes, **how)
    return MemoryPlace(data, weights, mapped)


def check_size(n_rows: int, largest: float) -> None:
    """Raise a ValueError for fewer than 2 rows, or responses whose squares cannot be summed."""
    if n_rows < 2:
        raise ValueError(f"at least 2 rows are needed, got n_samples={n_rows}")
    if largest > LARGEST_NUMBER:
        raise ValueError(f"y must be at most {LARGEST_NUMBER:g} in size, it has {largest:g}")


class MemoryAggregates:
    """Sums over rows in memory.

    Parameters
    ----------
    passes : Passes
    loss : Loss
        With one output.
    target, weights : ndarray of shape (n_rows,)
    groups : sequence of Intervals or Categories
        Of the features.
    sample : ndarray of int
        Rows that intervals of outputs are made from.
    spread : float or None
        Of the targets of the sample of all rows, where these are a part of them.

    Attributes
    ----------
    respond : callable
        −∂ℓ/∂f of all rows, with weights of 1, or what gives slices of it: as f has several outputs,
        of all of them.
    spills : bool
        Whether outputs of stages are in files.
    """

    def __init__(
        self,
        passes: Passes,
        loss: Loss,
        target: Vector,
        weights: Vector,
        groups: Sequence[FeatureGroups],
        sample: NDArray[np.intp],
        spread: float | None = None,
    ) -> None:
        self.passes, self.sample = passes, sample
        self.groups, self.n_features = list(groups), len(groups)
        self.outputs = StageOutputs([])
        self.extremes: list[tuple[float, float]] = []
        self._loss, self._target, self._weights = loss, target, weights
        self._spread = spread_of(target[sample]) if spread is None else spread
        n_rows = len(target)
        self.spills = isinstance(passes.rows, SourceRows) and n_rows > spilled.LARGEST_HELD
        self._slices = slices(n_rows, LOSS_ROWS)
        self._bound: dict[int, LossOfRows] = {}
        self._coef, self._intercept = np.zeros(0), 0.0
        self._output = np.zeros(n_rows)
        self._sum: Any = np.zeros(0)
        self.respond: Callable[[], Any] = self._own_response
        for own in self.groups:
            passes.keep(own)

    @property
    def n_outputs(self) -> int:
        """See :class:`Aggregates`."""
        return len(self.outputs)

    # ------------------------------------------------------------------ for stages

    @cached_property
    def response(self) -> Any:
        """−∂ℓ/∂f of all rows, with weights of 1; made by blocks where outputs are in files."""
        return self.respond()

    def _own_response(self) -> Any:
        def on(rows: slice) -> Vector:
            everyone = self._on(self._target[rows], np.broadcast_to(1.0, rows.stop - rows.start))
            return everyone.pseudo_response(self._output[rows])

        return Made(on, len(self._target)) if self.spills else self._filled(on)

    def _filled(self, make: Callable[[slice], Vector]) -> Vector:
        """Values of all rows, made slice by slice."""
        values = np.empty(len(self._target))

        def fill(rows: slice) -> None:
            values[rows] = make(rows)

        for _ in self.passes.mapped(fill, self._slices):
            pass
        return values

    def by_group(self, inputs: Sequence[int], n_regressors: int) -> dict[int, SplitMoments]:
        """See :meth:`Aggregates.by_group`."""
        regressors = StageOutputs(self.outputs.values[:n_regressors])
        own = {number: self.groups[number] for number in inputs}
        return self.passes.by_group(own, self.outputs, regressors, self.response)

    def of_terms(
        self, terms: Sequence[Transformation], n_regressors: int, near: Vector
    ) -> SplitMoments:
        """See :meth:`Aggregates.of_terms`; the means are known well enough here."""

        def values(block: RowBlock) -> Iterator[Vector]:
            own, beside = self._outputs_on(block, n_regressors)
            for term in terms:
                yield self._value(term, self._input(term, block, own), beside, block.rows)

        return self.passes.of_values(values, len(terms), self.response)

    def linking(self, stage: Stage, max_bins: int) -> tuple[FeatureGroups, SplitMoments]:
        """See :meth:`Aggregates.linking`."""
        self.make_sum(stage)
        groups = intervals_of(*self.sum_sample(), max_bins, same=SAME)
        return groups, self.of_sum(groups)

    def make_sum(self, stage: Stage) -> None:
        """Make the sum of a stage on all rows."""
        self._sum = self._of_stage(stage)

    def sum_sample(self) -> Sample:
        """The sum that was made last, on the rows of the sample."""
        return self._sum[self.sample], self.passes.weights[self.sample]

    def of_sum(self, groups: FeatureGroups) -> SplitMoments:
        """Statistics of (sum, response) in intervals of the sum that was made last."""
        number = self.n_features
        found = self.passes.by_group(
            {number: groups}, StageOutputs([self._sum]), StageOutputs([]), self.response
        )
        return found[number]

    def append(self, stage: Stage) -> None:
        """See :meth:`Aggregates.append`."""
        values = self._of_stage(stage)

        def ends(rows: slice) -> tuple[float, float]:
            own, counts = values[rows], self._weights[rows] > 0
            least = own.min(where=counts, initial=np.inf)
            return float(least), float(own.max(where=counts, initial=-np.inf))

        lows, highs = zip(*self.passes.mapped(ends, self._slices), strict=True)
        self.outputs.values.append(values)
        self.extremes.append((min(lows), max(highs)))

    def intervals(self, number: int, max_bins: int) -> None:
        """See :meth:`Aggregates.intervals`."""
        self.divide(intervals_of(*self.output_sample(number), max_bins, same=SAME))

    def output_sample(self, number: int) -> Sample:
        """The output of a stage on the rows of the sample."""
        return self.outputs.values[number][self.sample], self.passes.weights[self.sample]

    def divide(self, groups: FeatureGroups) -> None:
        """Take the groups of the next output."""
        self.groups.append(groups)
        self.passes.keep(groups)

    def drop(self, count: int) -> None:
        """See :meth:`Aggregates.drop`."""
        del self.outputs.values[count:], self.extremes[count:]
        del self.groups[self.n_features + count :]

    def values(self, number: int) -> Vector:
        """See :meth:`Aggregates.values`; not at hand where outputs are in files."""
        values: Vector = self.outputs.values[number]
        return np.zeros(0) if self.spills else values

    def _of_stage(self, stage: Stage) -> Any:
        """What a stage is on all rows."""

        def make(block: RowBlock) -> Vector:
            evaluate = partial(self._value, rows=block.rows)
            return stage(block.X, self.outputs.on(block.rows), evaluate)

        n_rows = self.passes.rows.n_rows
        values: Any = Spilled(n_rows) if self.spills else np.empty(n_rows)
        self.passes.fill(values, make)
        return values

    def _value(
        self, term: Transformation, x: FloatValues, regressors: Vector, rows: slice
    ) -> Vector:
        """A transformation on the rows of a block; groups are looked up once in a fit."""
        if not isinstance(term, Transformation):  # a smoother, which has no groups
            return term(x, regressors)
        known = term.feature < len(self.groups)
        groups = self.groups[term.feature] if known else term.groups
        return term.on(self.passes.codes(groups, x, rows), x, regressors)

    def _outputs_on(self, block: RowBlock, n_regressors: int) -> tuple[Vector, Vector]:
        own = self.outputs.on(block.rows)
        return own, own[:, :n_regressors]

    def _input(self, term: Transformation, block: RowBlock, outputs: Vector) -> FloatValues:
        k = term.feature - self.n_features
        return block.X[:, term.feature] if k < 0 else outputs[:, k]

    # ------------------------------------------------------------------ for masters

    def _loss_of(self, rows: slice) -> LossOfRows:
        """The loss of some rows; kept unless outputs are in files."""
        if rows.start in self._bound:
            return self._bound[rows.start]
        held = self.passes.held[rows]
        target, weights = self._target[rows], self._weights[rows]
        made = LossOfRows(
            self._on(target, np.where(held, 0.0, weights)),
            self._on(target[held], weights[held]),
            np.flatnonzero(held),
        )
        if not self.spills:
            self._bound[rows.start] = made
        return made

    def _on(self, target: Vector, weights: Vector) -> WeightedLoss:
        """The loss on a part of the rows: what is at a kink follows from the sample of all rows."""
        made = self._loss.on(target, weights)
        if isinstance(made, PiecewiseLinearLoss):
            made.spread = self._spread
        return made

    @cached_property
    def _both_weights(self) -> tuple[float, float]:
        parts = [self._loss_of(rows) for rows in self._slices]
        training = sum(float(part.training.weights.sum()) for part in parts)
        return training, sum(float(part.outside.weights.sum()) for part in parts)

    @property
    def weight(self) -> float:
        """See :meth:`Aggregates.weight`."""
        return self._both_weights[0]

    @property
    def attains_minimum(self) -> bool:
        """See :attr:`Aggregates.attains_minimum`."""
        return all(self._loss_of(rows).training.attains_minimum for rows in self._slices)

    @property
    def is_smooth(self) -> bool:
        """See :attr:`Aggregates.is_smooth`."""
        return not isinstance(self._loss_of(self._slices[0]).training, PiecewiseLinearLoss)

    @property
    def holdout_weight(self) -> float:
        """See :meth:`Aggregates.holdout_weight`."""
        return self._both_weights[1]

    def quadratic(self, coef: Vector, intercept: float, last: int) -> Quadratic:
        """See :meth:`Aggregates.quadratic`."""
        found = self.curved(coef, intercept, last)
        bent = found.hessian[0, 0] > 0  # not so where all residuals are beyond Huber's δ
        return found if bent else self.curved(coef, intercept, last, straight=True)

    def curved(
        self, coef: Vector, intercept: float, last: int, *, straight: bool = False
    ) -> Quadratic:
        """The same with a Hessian of 0 where the loss is straight at all rows, or as if w bent it.

        That depends on all rows, of which these may be a part.
        """

        def on(rows: slice) -> Quadratic:
            return self._curved_on(rows, coef, intercept, last, straight)

        return reduce(Quadratic.merged, self.passes.mapped(on, self._slices))

    def _curved_on(
        self, rows: slice, coef: Vector, intercept: float, last: int, straight: bool
    ) -> Quadratic:
        own, output = self._loss_of(rows), self.output_at(coef, intercept, rows)
        response = own.training.pseudo_response(output)
        curvature = own.training.weights if straight else own.training.curvature(output)
        columns = [values[rows] for values in self.outputs.values[len(coef) - last : len(coef)]]
        gradient, hessian = np.zeros(1 + last), np.zeros((1 + last, 1 + last))
        gradient[0], hessian[0, 0] = -response.sum(), curvature.sum()
        for k, values in enumerate(columns, 1):
            bent = curvature * values
            gradient[k] = -(response @ values)
            row = [bent.sum(), *(bent @ other for other in columns[:k])]
            hessian[k, : k + 1] = hessian[: k + 1, k] = row
        outside = own.outside.value(output[own.held]) if len(own.held) else 0.0
        return Quadratic(own.training.value(output), gradient, hessian, outside)

    def move(self, coef: Vector, intercept: float) -> tuple[Vector, Vector]:
        """See :meth:`Aggregates.move`; f is not at hand where outputs are in files."""
        self.follow(coef, intercept)
        if self.spills:
            return np.zeros(0), np.zeros(0)

        def response(rows: slice) -> Vector:
            return self._loss_of(rows).training.pseudo_response(self._output[rows])

        return self._output, self._filled(response)

    def follow(self, coef: Vector, intercept: float) -> None:
        """As :meth:`move`; nothing comes back."""

        def output(rows: slice) -> Vector:
            return self.output_at(coef, intercept, rows)

        if self.spills:
            for rows in self._slices:
                self._output[rows] = output(rows)
        else:  # states have the array as it was
            self._output = self._filled(output)
        self._coef, self._intercept = coef.copy(), intercept
        vars(self).pop("response", None)

    def output_on(self, rows: slice) -> Vector:
        """The output f of some rows, where the last move has led."""
        return self._output[rows]

    def output_at(self, coef: Vector, intercept: float, rows: slice) -> Vector:
        """The output f of some rows, from where the last move has led."""
        before = np.zeros(len(coef))
        shared = min(len(coef), len(self._coef))
        before[:shared] = self._coef[:shared]
        output = self._output[rows] + (intercept - self._intercept)
        for k in np.flatnonzero(coef != before).tolist():
            output += (coef[k] - before[k]) * self.outputs.values[k][rows]
        for k in range(shared, len(self._coef)):
            output -= self._coef[k] * self.outputs.values[k][rows]
        return output


def joint_in_memory(
    passes: Callable[[], Passes],
    loss: Multinomial,
    target: Vector,
    weights: Vector,
    groups: Sequence[FeatureGroups],
    sample: NDArray[np.intp],
) -> JointMemoryAggregates:
    """Sums for all classes together.

    Parameters
    ----------
    passes : callable
        Makes passes over the rows: those of a class keep sums of their outputs.
    loss, target, weights, groups, sample
        As of :class:`MemoryAggregates`; targets are numbers of classes.
    """
    rows = [passes() for _ in range(loss.n_outputs)]
    parts = [MemoryAggregates(own, loss, target, weights, groups, sample, 0.0) for own in rows]
    return JointMemoryAggregates(parts, loss, target, weights, rows[0].held)


class LossOfRows(NamedTuple):
    """A loss on some rows.

    Attributes
    ----------
    training : WeightedLoss
        On all of them; those held out have weight 0.
    outside : WeightedLoss
        On those held out.
    held : ndarray of int
        Which these are.
    """

    training: WeightedLoss
    outside: WeightedLoss
    held: NDArray[np.intp]
