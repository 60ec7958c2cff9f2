"""Sums of shallow linear trees that share intervals and regressors: the model of their boosting.

What all trees need of a row, the groups of its values and the regressors z, is made once for a
block of rows. A tree then takes a look-up for every split, and for every regressor that one of its
leaves has a product and a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.trees.boosted_rows import code_type
from cgboost.additive.trees.model_tree import ModelTree, Regressors
from cgboost.arrays import Matrix, Vector
from cgboost.generation.columns import Term
from cgboost.tables.binning import FeatureGroups
from cgboost.tables.row_blocks import BLOCK

BinCodes = NDArray[np.unsignedinteger[Any]]


@dataclass(eq=False)
class BoostedTrees:
    """The family of all trees of a model.

    Attributes
    ----------
    groups : list of Intervals or Categories
        Of all features.
    regressors : Regressors
    """

    groups: list[FeatureGroups]
    regressors: Regressors

    def outputs(self, X: Matrix, hypotheses: Sequence[BoostedTree]) -> Vector:
        """Values of some trees, shape (n_rows, n_hypotheses)."""
        values = np.empty((len(X), len(hypotheses)))
        for block, rows in self._blocks(X, hypotheses):
            for k, hypothesis in enumerate(hypotheses):
                values[block, k] = 0.0
                rows.add(hypothesis.tree, 1.0, values[block, k])
        return values

    @staticmethod
    def weighted_sum(X: Matrix, terms: Sequence[Term]) -> Vector:
        """Σ coef·tree, by blocks of rows."""
        total = np.zeros(len(X))
        for family, hypotheses, coef in terms:
            for block, rows in family._blocks(X, hypotheses):
                for hypothesis, weight in zip(hypotheses, coef.tolist(), strict=True):
                    rows.add(hypothesis.tree, weight, total[block])
        return total

    def _blocks(
        self, X: Matrix, hypotheses: Sequence[BoostedTree]
    ) -> Iterator[tuple[slice, _Rows]]:
        """Blocks of rows, with what the trees need of them."""
        nodes = [node for hypothesis in hypotheses for node in hypothesis.tree.nodes]
        features = sorted({node.feature for node in nodes if node.children})
        dtype = code_type(self.groups)
        for start in range(0, len(X), BLOCK):
            block = slice(start, min(start + BLOCK, len(X)))
            codes = {j: self.groups[j].codes(X[block, j]).astype(dtype) for j in features}
            z = np.ascontiguousarray(self.regressors(X[block]).T)
            yield block, _Rows(codes, z)


@dataclass(frozen=True, eq=False)
class BoostedTree:
    """A tree as a hypothesis.

    Attributes
    ----------
    family : BoostedTrees
    number : int
        In the order in which the trees of an output were grown.
    tree : ModelTree
    gains : ndarray of shape (n_features,)
        What each feature takes off the squared error of its response.
    """

    family: BoostedTrees
    number: int
    tree: ModelTree
    gains: Vector = field(repr=False)

    def importances(self, n_features: int) -> Vector:
        """Shares of the features in what it takes off, shape (n_features,)."""
        return self.gains / (self.gains.sum() or 1.0)


@dataclass(frozen=True, eq=False)
class _Rows:
    """A block of rows as trees need it: groups of the features with splits, and regressors."""

    codes: dict[int, BinCodes]
    z: Vector

    def add(self, tree: ModelTree, weight: float, total: Vector) -> None:
        """Add weight times the values of a tree to a total."""
        place = np.zeros(self.z.shape[1], dtype=np.int32)
        place += self._leaves(tree, 0)
        levels = weight * np.array([node.level for node in tree.nodes])
        coef = weight * np.array([node.coef for node in tree.nodes])
        total += levels.take(place)
        for k in np.flatnonzero(coef.any(axis=0)):
            total += coef[:, k].take(place) * self.z[k]

    def _leaves(self, tree: ModelTree, number: int) -> NDArray[np.int32]:
        """The node at or below a node whose model each row has; its number alone for a leaf."""
        node = tree.nodes[number]
        if not node.children:
            return np.array(number, dtype=np.int32)
        codes = self.codes[node.feature]
        left, right = (self._leaves(tree, k) for k in node.children)
        found = np.where((node.child > 0).take(codes), right, left)
        return (
            np.where((node.child < 0).take(codes), np.int32(number), found)
            if (node.keeps_rows)
            else found
        )
