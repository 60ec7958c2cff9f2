"""Trees that say −1 or 1 as columns: grown on bins of the features, greedily, for the largest r·h.

Among all trees with given leaves the best one says the sign of Σ r in each leaf, where r is the
pseudo-response. Splits are those of a classification tree for the signs of r with the weights |r|
(Gini's impurity is half the variance of the signs): the rows that r is 0 on, which in a linear
program are many, do not count. The features are cut into bins once, and a round only sums r and |r|
over these.

Of several trees a round, each sees half the weight of what the one before has right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import MasterState
from cgboost.pricing.learners.learners import LearnerFamily, LearnerHypothesis, LearnerPricer
from cgboost.pricing.learners.tree_growth import BinnedTreeGrower, TreeLimits
from cgboost.pricing.learners.trees import as_single
from cgboost.tables.histograms import BinnedFeatures

MOST_BINS = 255
"""Of a feature; where it has more distinct values, they are cut into bins of equally many rows."""

NO_WEIGHT = 1e-9
"""Rows whose |r| is smaller, relative to the largest, are not seen: rounding of an optimizer."""

RIGHT = 0.5
"""What rows weigh for the next tree of the round that the last one has right."""


class SignTreePricer(LearnerPricer):
    """Greedy pricing by trees of one depth, with leaves of −1 and 1.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Training rows; read as float32.
    tol : float, default=1e-4
        A column is offered if it adds more than this to the relative gap.
    """

    def __init__(self, X: Any, max_depth: int, *, tol: float = 1e-4) -> None:
        self.X, self.tol, self.repeats = as_single(X), tol, False
        self.family, self.limits = LearnerFamily(), TreeLimits(max_depth=max_depth)
        self._grower = BinnedTreeGrower(BinnedFeatures(self.X, MOST_BINS), None, self.limits)
        self._random = np.random.RandomState(0)  # all features are looked at: it decides nothing

    def memory(self) -> tuple[Any, int]:
        """Nothing is drawn."""
        return None, 0

    def recall(self, memory: Any) -> None:
        """Nothing is drawn."""

    def _fits(self, state: MasterState, limit: int) -> Iterator[tuple[LearnerHypothesis, Vector]]:
        response = state.pseudo_response
        weights = np.abs(response) / (np.abs(response).max(initial=0.0) or 1.0)
        rows, signs = np.flatnonzero(weights > NO_WEIGHT), np.sign(response)
        for _ in range(limit if len(rows) else 0):
            tree, said = self._grown(rows, signs, weights, response)
            yield tree, said
            weights = np.where(said == signs, RIGHT * weights, weights)

    def _grown(
        self, rows: Any, signs: Vector, weights: Vector, response: Vector
    ) -> tuple[LearnerHypothesis, Vector]:
        """A tree, and what it says of all rows."""
        grown = self._grower.grown(signs[:, None], rows, self._random, weights=weights)
        estimator = grown.estimator(self.limits, self.X.shape[1], 1.0, 1.0)
        sums = np.bincount(grown.place, response[rows], minlength=len(grown.nodes))
        estimator.tree_.value[:, 0, 0] = np.where(sums < 0, -1.0, 1.0)
        return LearnerHypothesis(self.family, estimator), estimator.tree_.predict(self.X)[:, 0]
