"""How a stage is made: transform every input against the response, then combine by regression.

The greedy one-pass method of Pednault, *Transform Regression and the Kolmogorov Superposition
Theorem*, SDM 2006, Table 3, from sums over the rows in two passes; with a link (Table 4) a third.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.places.place import Aggregates
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.moments import BETTER, stepwise
from cgboost.additive.tables.preparation import Intervals
from cgboost.additive.trees.transformation import (
    Transformation,
    judges,
    mean_of,
    straight,
    together,
    transformation,
    transformations,
)

Vector = NDArray[np.float64]

MOST_REGRESSORS = 16
"""Outputs of so many stages, the first ones, are regressors in leaves. The work in a leaf grows
with their third power: 80 stages of 2000 rows took five minutes with all of them."""


@dataclass
class StageBuilder:
    """Makes one stage after another.

    Parameters
    ----------
    max_bins : int
        Intervals of the output of a stage.
    feed_forward : bool
        Whether outputs of earlier stages are inputs.
    regressors : bool
        Whether they are regressors in the leaves.
    link : bool
        Whether the sum is transformed in the end.
    """

    max_bins: int
    feed_forward: bool = True
    regressors: bool = True
    link: bool = False

    def n_inputs(self, sums: Aggregates) -> int:
        """Inputs of the next stage."""
        return sums.n_features + (sums.n_outputs if self.feed_forward else 0)

    def stage(self, sums: Aggregates) -> Stage:
        """The additive model of the response as it is now."""
        if self.feed_forward:
            for k in range(len(sums.groups) - sums.n_features, sums.n_outputs):
                sums.intervals(k, self.max_bins)
        inputs = {number: sums.groups[number] for number in range(self.n_inputs(sums))}
        n_regressors = min(sums.n_outputs, MOST_REGRESSORS) if self.regressors else 0
        found = {
            number: parts.without_noise(slice(1, -1))  # x is about a centre of its own
            for number, parts in sums.by_group(list(inputs), n_regressors).items()
        }
        trees = transformations(
            inputs,
            [parts.training for parts in found.values()],
            [parts.holdout for parts in found.values()],
        )
        terms = [term for term in trees if not term.is_constant]
        lines = [
            straight(number, groups, parts.training)
            for (number, groups), parts in zip(inputs.items(), found.values(), strict=True)
            if number < sums.n_features and isinstance(groups, Intervals) and len(groups.edges)
        ]
        near = [mean_of(term, found[term.feature].training) for term in (*terms, *lines)]
        whole = next(iter(found.values())).training.together()
        near.append(float(whole.mean[0, -1]))
        stage = self._combined(terms, lines, sums, n_regressors, np.array(near))
        return self._linked(stage, sums) if self.link else stage

    def bounded(self, stage: Stage, extremes: tuple[float, float]) -> Stage:
        """The stage between its extremes on the rows that count, where leaves will use it."""
        if not self.regressors:
            return stage
        low, high = extremes
        return replace(stage, low=low, high=high)

    def _combined(
        self,
        trees: list[Transformation],
        lines: list[Transformation],
        sums: Aggregates,
        n_regressors: int,
        near: Vector,
    ) -> Stage:
        """The stepwise regression of the response on trees, or on trees and the features.

        What came in stays in: a value far from all others, in a feature that came first, would
        spoil all that comes later. So both are tried.
        """
        terms = [*trees, *lines]
        parts = sums.of_terms(terms, n_regressors, near)
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

    def _linked(self, stage: Stage, sums: Aggregates) -> Stage:
        """The same with a transformation of its sum."""
        groups, parts = sums.linking(stage, self.max_bins)
        parts = parts.without_noise(slice(1, -1))
        link = transformation(sums.n_features, groups, parts.training, parts.holdout)
        return Stage(stage.intercept, stage.terms, link)
