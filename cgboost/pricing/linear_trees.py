"""Linear regression trees as columns: one for every output, grown on its pseudo-response.

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, section 9:
tree boosting with linear regression trees. Greedy, without a certificate.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cgboost.additive.trees.boosted_tree_growth import TreeGrower
from cgboost.additive.trees.boosted_trees import BoostedTree, BoostedTrees, WorkingResponse
from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced

STRATUM = "linear tree"

LEAST_NEWTON_WEIGHT = 1e-6
"""Newton weights are at least this, relative to the sample weights: a row whose probability is as
good as certain would otherwise have a response r/h of any size."""


class LinearTreePricer:
    """Grows a tree for every output on r/h, with the Newton weights h of the loss.

    Where the loss has no curvature in some row (it is piecewise linear, or Huber's beyond δ), the
    sample weights take the place of h: the step along the tree is then the master's to find.

    Parameters
    ----------
    training : ndarray of shape (n_rows,)
        Sample weights; 0 for rows that are held out, as in the master's loss. A row of weight 2
        counts as two rows. Weights with a mean below 1, over the rows that have any, are multiplied
        to have the mean 1: there cannot be less than one row behind each.
    """

    def __init__(self, grower: TreeGrower, training: Vector) -> None:
        self.grower, self.training = grower, training
        self._unit = min(1.0, float(training[training > 0].mean()))
        self.family = BoostedTrees(grower.rows.groups, grower.rows.regressors)

    def memory(self) -> BoostedTrees:
        """The family of the trees."""
        return self.family

    def recall(self, memory: BoostedTrees) -> None:
        """Grow further trees of the same family."""
        self.family = memory

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` trees, output by output; none where they would be constant."""
        columns = list(self._grown(state, limit))
        return Priced(columns=columns, n_evaluated=len(columns), stratum=STRATUM)

    def _grown(self, state: MasterState, limit: int) -> Iterator[Column]:
        n_outputs = 1 if state.output.ndim == 1 else state.output.shape[1]
        for output in range(min(limit, n_outputs)):
            grown = self.grower.grown(self._working(state, output))
            if grown.gains.any():
                number = len(state.columns) // n_outputs
                tree = BoostedTree(self.family, number, grown.tree, grown.gains)
                values = grown.values(self.grower.rows.z)
                yield Column(values, (STRATUM, number, output), tree, STRATUM, output=output)

    def _working(self, state: MasterState, output: int) -> WorkingResponse:
        """What the tree of an output is fitted to."""
        assert state.curvature is not None
        response, curvature = (
            values if values.ndim == 1 else values[:, output]
            for values in (state.pseudo_response, state.curvature)
        )
        counts = self.training
        there = counts > 0
        weights = counts
        if (curvature[there] > 0).all():
            weights = np.maximum(curvature, LEAST_NEWTON_WEIGHT * counts)
        target = np.divide(response, weights, out=np.zeros_like(response), where=there)
        return WorkingResponse(target, weights / self._unit, counts / self._unit)
