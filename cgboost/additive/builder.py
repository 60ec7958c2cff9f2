"""How a stage is made: transform every input against the response, then combine by regression.

The greedy one-pass method of Pednault, *Transform Regression and the Kolmogorov Superposition
Theorem*, SDM 2006, Table 3, from two passes over the rows; with a link (Table 4) a third.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.stage import Outputs, Stage
from cgboost.additive.statistics.moments import BETTER, stepwise
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.tables.preparation import SAME, Groups, Intervals, intervals_of
from cgboost.additive.tables.rows import Block
from cgboost.additive.trees.transformation import (
    Transformation,
    judges,
    straight,
    together,
    transformation,
    transformations,
)

Vector = NDArray[np.float64]


@dataclass
class StageBuilder:
    """Makes one stage after another.

    Parameters
    ----------
    passes : Passes
    groups : list of Intervals or Categories
        Of the features.
    sample : ndarray of int
        Rows that intervals of outputs are made from.
    max_bins : int
    feed_forward : bool
        Whether outputs of earlier stages are inputs.
    regressors : bool
        Whether they are regressors in the leaves.
    link : bool
        Whether the sum is transformed in the end.
    """

    passes: Passes
    groups: list[Groups]
    sample: NDArray[np.intp]
    max_bins: int
    feed_forward: bool = True
    regressors: bool = True
    link: bool = False

    def __post_init__(self) -> None:
        self._output_groups: list[Groups] = []
        for groups in self.groups:
            self.passes.keep(groups)

    def stage(self, response: Vector, outputs: Outputs) -> Stage:
        """The additive model of a response.

        Parameters
        ----------
        response : ndarray of shape (n_rows,)
            On holdout rows too.
        outputs : Outputs
            Of the stages so far.
        """
        n_features, n_stages = len(self.groups), len(outputs)
        for k in range(len(self._output_groups), n_stages):
            self._output_groups.append(self._intervals(outputs.values[k]))
            self.passes.keep(self._output_groups[k])
        inputs = dict(enumerate(self.groups))
        if self.feed_forward:
            inputs |= {n_features + k: g for k, g in enumerate(self._output_groups)}
        leaves = outputs if self.regressors else Outputs([])
        found = self.passes.by_group(inputs, outputs, leaves, response)
        trees = transformations(
            inputs,
            [parts.training for parts in found.values()],
            [parts.holdout for parts in found.values()],
        )
        terms = [term for term in trees if not term.is_constant]
        lines = [
            straight(number, groups, parts.training)
            for (number, groups), parts in zip(inputs.items(), found.values(), strict=True)
            if number < n_features and isinstance(groups, Intervals) and len(groups.edges)
        ]
        stage = self._combined(terms, lines, response, outputs, leaves)
        return self._linked(stage, response, outputs) if self.link else stage

    def bounded(self, stage: Stage, values: Vector) -> Stage:
        """The stage between its extremes on the rows that count, where leaves will use it.

        Parameters
        ----------
        stage : Stage
        values : ndarray of shape (n_rows,)
            What it is on all rows.
        """
        if not self.regressors:
            return stage
        counts = self.passes.weights > 0
        low = float(values.min(where=counts, initial=np.inf))
        high = float(values.max(where=counts, initial=-np.inf))
        return replace(stage, low=low, high=high)

    def _combined(
        self,
        trees: list[Transformation],
        lines: list[Transformation],
        response: Vector,
        outputs: Outputs,
        leaves: Outputs,
    ) -> Stage:
        """The stepwise regression of the response on trees, or on trees and the features.

        What came in stays in: a value far from all others, in a feature that came first, would
        spoil all that comes later. So both are tried.
        """
        terms = [*trees, *lines]

        def values(block: Block) -> Vector:
            own, n_features = outputs.on(block.rows), block.X.shape[1]
            beside = leaves.on(block.rows)
            columns = np.empty((len(block.X), len(terms)))
            for j, term in enumerate(terms):
                x = (
                    block.X[:, term.feature]
                    if term.feature < n_features
                    else own[:, term.feature - n_features]
                )
                columns[:, j] = self.passes.values_of(term, x, beside, block.rows)
            return columns

        parts = self.passes.of_values(values, response)
        holdout, price = judges(parts.training, parts.holdout)
        model = stepwise(parts.training, holdout, price=price)
        if lines:
            some = [*range(len(trees)), len(terms)]
            plain = stepwise(
                parts.training.of_variables(some), holdout.of_variables(some), price=price
            )
            if not model.holdout[0] < (1.0 - BETTER) * plain.holdout[0]:
                model = plain
        weights = dict(zip(terms, model.coef[0].tolist(), strict=False))
        own = {line.feature: line for line in lines if weights.get(line)}
        chosen = [(weights[h], h) for h in trees if weights[h] and h.feature not in own]
        for line in own.values():
            both = [(weights[h], h) for h in (*trees, line) if h.feature == line.feature]
            chosen.append((1.0, together(both)))
        return Stage(float(model.intercept[0]), chosen)

    def _linked(self, stage: Stage, response: Vector, outputs: Outputs) -> Stage:
        """The same with a transformation of its sum."""
        total = self.values(stage, outputs)
        groups = self._intervals(total)
        found = self.passes.by_group(
            {len(self.groups): groups}, Outputs([total]), Outputs([]), response
        )
        (parts,) = found.values()
        link = transformation(len(self.groups), groups, parts.training, parts.holdout)
        return Stage(stage.intercept, stage.terms, link)

    def values(self, stage: Stage, outputs: Outputs) -> Vector:
        """What a stage is on all rows."""

        def make(block: Block) -> Vector:
            evaluate = partial(self.passes.values_of, rows=block.rows)
            return stage(block.X, outputs.on(block.rows), evaluate)

        return self.passes.values(make)

    def _intervals(self, values: Vector) -> Groups:
        weights = self.passes.weights[self.sample]
        return intervals_of(values[self.sample], weights, self.max_bins, same=SAME)
