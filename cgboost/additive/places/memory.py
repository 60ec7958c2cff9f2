"""Rows in memory, or in a source of blocks with what is as long as the rows in memory.

A loss of several outputs is the multinomial deviance, of one score for each class:

    L(f_1, …, f_K) = Σ w (log Σ_l e^{f_l} − f_y),      p_k = e^{f_k} / Σ_l e^{f_l}

    −∂L/∂f_k = w ([y = k] − p_k),      ∂²L/∂f_k∂f_l = w (δ_kl p_k − p_k p_l)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from cgboost.additive.places import spilled
from cgboost.additive.places.spilled import Made, Spilled
from cgboost.additive.stage import Stage, StageOutputs
from cgboost.additive.statistics.passes import Passes, SplitMoments
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Indices, Matrix, Vector, blocks_of
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss, spread_of
from cgboost.losses.loss import Loss, WeightedLoss
from cgboost.losses.second_order_model import Quadratic
from cgboost.parallel.threads import Mapped, Threads
from cgboost.tables.binning import SAME, FeatureGroups, Prepared, intervals_of, prepared
from cgboost.tables.row_blocks import RowBlock, SourceRows, TableRows
from cgboost.tables.table_encoding import LARGEST_NUMBER, Schema

Sample = tuple[Vector, Vector]
"""Values of some rows, and their weights."""

LOSS_ROWS = 2**16
"""Rows of which the loss, f and few outputs are worked on at a time, 0.5 MB each. For ten stages of
10⁶ rows the sums of the squared error take 0.16 to 0.19 CPU s with 2¹⁶ to 2¹⁸, 0.32 with 2¹⁴, whose
calls cost more, and 0.48 with all rows at once, whose arrays are obtained from the system anew."""

JOINT_ROWS = 2**14
"""The same of a loss with several outputs: scores, shares and new columns of all of them are 10 MB
with ten outputs and a new column for each."""


class MemoryPlace:
    """Rows of this process.

    Parameters
    ----------
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

    def close(self) -> None:
        """Nothing is left behind."""


def in_memory(
    X: Matrix | SourceRows,
    schema: Schema,
    y: Matrix,
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
    """Sums over rows in memory: see :class:`Aggregates`.

    Parameters
    ----------
    target, weights : ndarray of shape (n_rows,)
    groups : sequence of Intervals or Categories
        Of the features.
    sample : ndarray of int
        Rows that intervals of outputs are made from.
    spread : float or None
        Of the targets of the sample of all rows, where these are a part of them.
    """

    def __init__(
        self,
        passes: Passes,
        loss: Loss,
        target: Vector,
        weights: Vector,
        groups: Sequence[FeatureGroups],
        sample: Indices,
        spread: float | None = None,
    ) -> None:
        loss.check_target(target)
        held, n = passes.held, loss.n_outputs
        self._slices = list(blocks_of(len(target), LOSS_ROWS if n == 1 else JOINT_ROWS))
        self.parts = [
            MemoryOutput(own, weights, groups, sample, self._slices)
            for own in (passes, *(passes.copy() for _ in range(1, n)))
        ]
        self._loss, self._target, self._weights, self._held = loss, target, weights, held
        self._mapped, self._spills = passes.mapped, self.parts[0].spills
        self._spread = spread_of(target[sample]) if spread is None else spread
        self._losses: dict[int, LossOfRows] = {}
        self.weight = float(weights.sum(where=~held))
        self.holdout_weight = float(weights.sum(where=held))
        counting = target[(weights > 0) & ~held]
        self.attains_minimum = n == 1 and loss.attains_minimum_of(counting)
        self.is_smooth = not isinstance(loss.on(target[:0], weights[:0]), PiecewiseLinearLoss)
        self._respond()

    def quadratic(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """See :meth:`LossSums.quadratic`."""
        return bent(self.curved, coefs, intercepts, last)

    def curved(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int], straight: bool
    ) -> Quadratic:
        """The same with a Hessian of 0 where the loss is straight at all rows, or as if w bent it.

        That depends on all rows, of which these may be a part.
        """

        def on(rows: slice) -> Quadratic:
            return self._curved_on(rows, coefs, intercepts, last, straight)

        return reduce(Quadratic.merged, self._mapped(on, self._slices))

    def move(self, coefs: Sequence[Vector], intercepts: Vector) -> tuple[Vector, Vector]:
        """See :meth:`LossSums.move`; f is not at hand where outputs are in files."""
        self.follow(coefs, intercepts)
        if self._spills:
            return np.zeros(0), np.zeros(0)
        training = np.where(self._held, 0.0, self._weights)
        if len(self.parts) == 1:
            return self.parts[0].f, training * self.parts[0].response
        responses = np.array([part.response for part in self.parts])
        return np.array([part.f for part in self.parts]).T, (training * responses).T

    def follow(self, coefs: Sequence[Vector], intercepts: Vector) -> None:
        """As :meth:`move`; nothing comes back."""
        for part, coef, intercept in zip(self.parts, coefs, intercepts.tolist(), strict=True):
            part.follow(coef, intercept)
        self._respond()

    # ------------------------------------------------------------------ some rows

    def _respond(self) -> None:
        """Give each output its response; made by blocks where outputs are in files."""
        n_rows, count = len(self._target), len(self.parts)
        if self._spills:
            for k, part in enumerate(self.parts):
                part.response = Made(partial(self._response_on, k), n_rows)
            return
        responses = np.empty((count, n_rows))

        def fill(rows: slice) -> None:
            responses[:, rows] = self._responses_on(rows)

        for _ in self._mapped(fill, self._slices):
            pass
        for part, response in zip(self.parts, responses, strict=True):
            part.response = response

    def _response_on(self, k: int, rows: slice) -> Vector:
        return self._responses_on(rows)[k]

    def _responses_on(self, rows: slice) -> Vector:
        """−∂ℓ/∂f of each output, with weights of 1, shape (n_outputs, n_chosen)."""
        f = np.array([part.f[rows] for part in self.parts])
        if len(f) > 1:
            return self._indicators(rows) - np.exp(f - logsumexp(f, axis=0))
        everyone = self._on(self._target[rows], np.broadcast_to(1.0, f.shape[1]))
        return everyone.pseudo_response(f[0])[None]

    def _indicators(self, rows: slice) -> Vector:
        """[y = k] of each output."""
        numbers = np.arange(len(self.parts))[:, None]
        return np.asarray(self._target[rows] == numbers, dtype=np.float64)

    def _curved_on(
        self,
        rows: slice,
        coefs: Sequence[Vector],
        intercepts: Vector,
        last: Sequence[int],
        straight: bool,
    ) -> Quadratic:
        """The loss on some rows, with Σ c_kl h h' as its Hessian.

        Of one output c is the curvature, of several w (δ_kl p_k − p_k p_l).
        """
        own = list(zip(self.parts, coefs, intercepts.tolist(), last, strict=True))
        f = np.array([part.output_at(coef, b, rows) for part, coef, b, _ in own])
        columns = [
            values[rows]
            for part, coef, _, count in own
            for values in part.outputs.values[len(coef) - count : len(coef)]
        ]
        if len(own) == 1:
            return self._of_one(self._loss_of(rows), f[0], columns, straight)
        everything = logsumexp(f, axis=0)
        losses = everything - f[self._target[rows].astype(np.intp), np.arange(f.shape[1])]
        held, weights = self._held[rows], self._weights[rows]
        training = np.where(held, 0.0, weights)
        p = np.exp(f - everything)
        response = training * (self._indicators(rows) - p)
        classes = np.arange(len(own))
        owner = np.concatenate([classes, np.repeat(classes, last)])
        h = np.concatenate([np.ones((len(own), f.shape[1])), *(own[None] for own in columns)])
        shared = p[owner] * h
        hessian = -(training * shared) @ shared.T
        for k in classes.tolist():
            mine = np.flatnonzero(owner == k)
            hessian[np.ix_(mine, mine)] += (training * shared[mine]) @ h[mine].T
        gradient = -(response[owner] * h).sum(axis=1)
        outside = float(weights[held] @ losses[held])
        return Quadratic(float(training @ losses), gradient, hessian, outside)

    @staticmethod
    def _of_one(
        own: LossOfRows, output: Vector, columns: Sequence[Vector], straight: bool
    ) -> Quadratic:
        """The loss of one output, column by column: no copies of those that are there."""
        last = len(columns)
        response = own.training.pseudo_response(output)
        curvature = own.training.weights if straight else own.training.curvature(output)
        gradient, hessian = np.zeros(1 + last), np.zeros((1 + last, 1 + last))
        gradient[0], hessian[0, 0] = -response.sum(), curvature.sum()
        for k, values in enumerate(columns, 1):
            bent = curvature * values
            gradient[k] = -(response @ values)
            row = [bent.sum(), *(bent @ other for other in columns[:k])]
            hessian[k, : k + 1] = hessian[: k + 1, k] = row
        outside = own.outside.value(output[own.held]) if len(own.held) else 0.0
        return Quadratic(own.training.value(output), gradient, hessian, outside)

    def _loss_of(self, rows: slice) -> LossOfRows:
        """The loss of some rows; kept unless outputs are in files."""
        if rows.start in self._losses:
            return self._losses[rows.start]
        held = self._held[rows]
        target, weights = self._target[rows], self._weights[rows]
        made = LossOfRows(
            self._on(target, np.where(held, 0.0, weights)),
            self._on(target[held], weights[held]),
            np.flatnonzero(held),
        )
        if not self._spills:
            self._losses[rows.start] = made
        return made

    def _on(self, target: Vector, weights: Vector) -> WeightedLoss:
        """The loss on a part of the rows: what is at a kink follows from the sample of all rows."""
        made = self._loss.on(target, weights)
        if isinstance(made, PiecewiseLinearLoss):
            made.spread = self._spread
        return made


def bent(
    curved: Callable[..., Quadratic],
    coefs: Sequence[Vector],
    intercepts: Vector,
    last: Sequence[int],
) -> Quadratic:
    """The loss; as if w bent it where it is straight at all rows, as beyond Huber's δ."""
    found = curved(coefs, intercepts, last, False)
    is_bent = len(coefs) > 1 or found.hessian[0, 0] > 0
    return found if is_bent else curved(coefs, intercepts, last, True)


class MemoryOutput:
    """Stages of one output of a model on rows in memory: see :class:`OutputSums`.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
    groups : sequence of Intervals or Categories
        Of the features.
    sample : ndarray of int
        Rows that intervals of outputs are made from.
    slices : sequence of slice
        Rows that are worked on at a time.

    Attributes
    ----------
    response : ndarray of shape (n_rows,), or what gives slices of it
        −∂ℓ/∂f of all rows, with weights of 1.
    f : ndarray of shape (n_rows,)
        Where the last move has led.
    spills : bool
        Whether outputs of stages are in files.
    """

    response: Any

    def __init__(
        self,
        passes: Passes,
        weights: Vector,
        groups: Sequence[FeatureGroups],
        sample: Indices,
        slices: Sequence[slice],
    ) -> None:
        self.passes, self.sample = passes, sample
        self.groups, self.n_features = list(groups), len(groups)
        self.outputs = StageOutputs([])
        self.extremes: list[tuple[float, float]] = []
        self.f = np.zeros(len(weights))
        self.spills = isinstance(passes.rows, SourceRows) and len(weights) > spilled.LARGEST_HELD
        self._weights, self._slices = weights, slices
        self._coef, self._intercept = np.zeros(0), 0.0
        self._sum: Any = np.zeros(0)
        for own in self.groups:
            passes.keep(own)

    @property
    def n_outputs(self) -> int:
        """See :class:`Aggregates`."""
        return len(self.outputs)

    def by_group(self, inputs: Sequence[int], n_regressors: int) -> dict[int, SplitMoments]:
        """See :meth:`Aggregates.by_group`."""
        regressors = StageOutputs(self.outputs.values[:n_regressors])
        own = {number: self.groups[number] for number in inputs}
        return self.passes.by_group(own, self.outputs, regressors, self.response)

    def of_terms(
        self, terms: Sequence[Transformation], n_regressors: int, near_means: Vector
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

        def make(block: RowBlock) -> Vector:
            evaluate = partial(self._value, rows=block.rows)
            return stage(block.X, self.outputs.on(block.rows), evaluate)

        n_rows = self.passes.rows.n_rows
        values: Any = Spilled(n_rows) if self.spills else np.empty(n_rows)
        self.passes.fill(values, make)
        return values

    def _value(self, term: Transformation, x: Matrix, regressors: Vector, rows: slice) -> Vector:
        """A transformation on the rows of a block; groups are looked up once in a fit."""
        if not isinstance(term, Transformation):  # a smoother, which has no groups
            return term(x, regressors)
        known = term.feature < len(self.groups)
        groups = self.groups[term.feature] if known else term.groups
        return term.on(self.passes.codes(groups, x, rows), x, regressors)

    def _outputs_on(self, block: RowBlock, n_regressors: int) -> tuple[Vector, Vector]:
        own = self.outputs.on(block.rows)
        return own, own[:, :n_regressors]

    def _input(self, term: Transformation, block: RowBlock, outputs: Vector) -> Matrix:
        k = term.feature - self.n_features
        return block.X[:, term.feature] if k < 0 else outputs[:, k]

    # ------------------------------------------------------------------ f

    def follow(self, coef: Vector, intercept: float) -> None:
        """Make f = intercept + Σ coef·output."""
        f = self.f if self.spills else np.empty(len(self.f))  # states have the array as it was

        def fill(rows: slice) -> None:
            f[rows] = self.output_at(coef, intercept, rows)

        for _ in self.passes.mapped(fill, self._slices):
            pass
        self.f, self._coef, self._intercept = f, coef.copy(), intercept

    def output_at(self, coef: Vector, intercept: float, rows: slice) -> Vector:
        """The output of some rows, from where the last move has led."""
        before = np.zeros(len(coef))
        shared = min(len(coef), len(self._coef))
        before[:shared] = self._coef[:shared]
        output = self.f[rows] + (intercept - self._intercept)
        for k in np.flatnonzero(coef != before).tolist():
            output += (coef[k] - before[k]) * self.outputs.values[k][rows]
        for k in range(shared, len(self._coef)):
            output -= self._coef[k] * self.outputs.values[k][rows]
        return output


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
    held: Indices
