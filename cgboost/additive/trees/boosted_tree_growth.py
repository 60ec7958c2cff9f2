"""Shallow linear regression trees for boosting: binary splits, ridge regressions in all nodes.

Boosting grows hundreds of trees on the same rows, each on another response with weights h. What
does not change is made once (:class:`CodedRows`): the group of every value, and the regressors z,
of mean 0 and variance 1 here. Every node has a ridge regression on some of them,

    min over a, β   Σ h (response − a − βᵀz)² + λ|β|².

Splits are found from what it leaves over (:mod:`cgboost.additive.trees.split_search`).

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, section 9.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cgboost.additive.statistics.moments import BETTER, Moments, squared_error
from cgboost.additive.trees.boosted_trees import CodedRows, WorkingResponse
from cgboost.additive.trees.model_tree import ModelTree, ModelTreeNode
from cgboost.additive.trees.split_search import BinarySplit, Interactions, SplitLimits, SplitSearch
from cgboost.arrays import Indices, Mask, ShortIndices, Vector, blocks_of
from cgboost.parallel.threads import Mapped
from cgboost.tables.histograms import bin_matrix, ones_for
from cgboost.tables.row_blocks import BLOCK
from cgboost.tolerances import RESIDUE, SMALLEST

SINGULAR = 1e-12
"""Directions of the regressors that vary by less than this, relative to the one that varies most,
have no slope; there are such directions only without a penalty."""


@dataclass(eq=False)
class GrowingNode:
    """A node while the tree is grown.

    Attributes
    ----------
    path : tuple of int
        Features that it is split on.
    chosen : ndarray of int
        Numbers of its regressors.
    level, coef
        Its model; the coefficients are those of all regressors, shape (n_regressors,).
    moments : Moments
        Of (chosen regressors, response).
    """

    path: tuple[int, ...]
    chosen: Indices
    level: float = 0.0
    coef: Vector = field(default_factory=lambda: np.zeros(0))
    moments: Moments = field(default_factory=lambda: Moments.empty(1, 1))
    split: BinarySplit | None = None
    children: list[int] = field(default_factory=list)

    @property
    def between(self) -> float:
        """What the mean takes off Σh·response²."""
        return float(self.moments.count[0] * self.moments.mean[0, -1] ** 2)


@dataclass(frozen=True)
class GrownTree:
    """A tree, and what growing it has told.

    Attributes
    ----------
    place : ndarray of int, shape (n_rows,)
        The leaf of every row.
    gains : ndarray of shape (n_features,)
        What each feature takes off the squared training error: by splits between means, and by
        slopes in the leaves (Pratt's measure).
    """

    tree: ModelTree
    place: ShortIndices
    gains: Vector

    def values(self, z: Vector) -> Vector:
        """The tree on the rows that it was grown on, whose regressors are z."""
        coef = np.array([node.coef for node in self.tree.nodes])
        total = np.array([node.level for node in self.tree.nodes]).take(self.place)
        for k in np.flatnonzero(coef[self.tree.leaves].any(axis=0)):
            total += coef[:, k].take(self.place) * z[k]
        return total


class TreeGrower:
    """Grows one tree after another on the same rows.

    Parameters
    ----------
    training : ndarray of shape (n_rows,)
        Sample weights; 0 for rows that are held out.
    min_samples_leaf : float
        Least sum of the counts of a leaf.
    max_regressors : int
        A tree has so many regressors, those that by themselves explain most of its response; a node
        has the features that it is split on besides.
    ridge : float
        λ.
    interactions : Interactions or None
        Which features may meet; None: all.
    mapped : callable
        ``mapped(work, items)`` yields ``work(item)`` in the order of the items, on several threads
        perhaps.
    """

    def __init__(
        self,
        rows: CodedRows,
        training: Vector,
        *,
        max_depth: int,
        min_samples_leaf: float,
        max_regressors: int,
        ridge: float,
        interactions: Interactions | None = None,
        mapped: Mapped = map,
    ) -> None:
        self.rows, self.max_depth = rows, max_depth
        self.most, self.ridge, self._mapped = max_regressors, ridge, mapped
        n_features, features = len(rows.groups), rows.regressors.features
        self.interactions = interactions or Interactions(np.ones((1, n_features), dtype=bool))
        self._starts = np.cumsum([0, *(own.n_groups for own in rows.groups)])
        self._blocks = list(blocks_of(rows.n_rows, BLOCK))
        self._numbers = np.add(rows.codes, self._starts[:-1], dtype=np.int32)
        self._ones = ones_for(min(rows.n_rows, BLOCK), n_features)
        self._sums_of_z = _SumsOfRegressors(rows.z)
        weights = training / max(float(training.sum()), SMALLEST)
        self._mean = rows.z @ weights
        self._variance = np.maximum((rows.z**2) @ weights - self._mean**2, 0.0)
        variance = np.zeros(n_features)
        variance[features] = self._variance
        means = self._means_of_groups(training)
        self._search = SplitSearch(
            rows.groups, self._starts, means, variance, ridge, min_samples_leaf
        )

    def grown(self, working: WorkingResponse) -> GrownTree:
        """The tree of a response, and the leaf of every row."""
        best = self._best_regressors(working)
        least = BETTER * float(working.weights @ working.response**2)
        place = np.zeros(self.rows.n_rows, dtype=np.int32)
        features = self.rows.regressors.features[best]
        nodes, waiting = [GrowingNode((), best)], [0]
        self._fit(nodes, waiting, place, working)
        for _ in range(self.max_depth):
            histograms = self._histograms(nodes, waiting, best, place, working)
            limits = [self._limits(nodes[number], features) for number in waiting]
            splits = self._search.best(histograms, features, least, limits)
            coming: list[int] = []
            for number, split in zip(waiting, splits, strict=True):
                if split is not None:
                    coming.extend(self._divide(nodes, number, split, place))
            if not (waiting := coming):
                break
            self._fit(nodes, waiting, place, working)
        return self._finished(nodes, place, working)

    # ------------------------------------------------------------------ models

    def _best_regressors(self, working: WorkingResponse) -> Indices:
        """Numbers of those that alone explain most of the response; ties in favour of the first."""
        h = working.weights
        total = max(float(h.sum()), SMALLEST)
        sums, squares = self._sums_of_z(h)
        mean = sums / total
        slope = self.rows.z @ (h * working.response) - mean * float(h @ working.response)
        spread = np.maximum(squares - mean**2 * total, 0.0) + self.ridge * self._variance
        worth = np.divide(slope**2, spread, out=np.zeros_like(slope), where=self._variance > 0.0)
        rounded = np.round(worth / (float(worth.max(initial=0.0)) * BETTER or 1.0))
        return np.sort(np.argsort(-rounded, kind="stable")[: self.most])

    def _fit(
        self,
        nodes: list[GrowingNode],
        new: list[int],
        place: ShortIndices,
        working: WorkingResponse,
    ) -> None:
        """Give new nodes their models."""

        def work(block: slice) -> list[Moments]:
            found = []
            for number in new:
                chosen, rows = nodes[number].chosen, _some(place[block] == number, block)
                values = [*(self.rows.z[k][rows] for k in chosen), working.response[rows]]
                found.append(Moments.from_rows(np.array(values).T, working.weights[rows]))
            return found

        total: list[Moments] = []
        for found in self._mapped(work, self._blocks):
            total = [a.merged(b) for a, b in zip(total, found, strict=True)] if total else found
        for number, moments in zip(new, total, strict=True):
            self._set_model(nodes[number], moments)

    def _set_model(self, node: GrowingNode, moments: Moments) -> None:
        """The ridge regression of a node; slopes that are rounding, given the others, are 0."""
        mean = moments.mean[0]
        node.moments, node.coef = moments, np.zeros(len(self._mean))
        node.level = float(mean[-1])
        if len(node.chosen):
            slopes = self._slopes(node, np.ones(len(node.chosen), dtype=bool))
            slopes[np.abs(slopes) <= RESIDUE * float(np.abs(slopes).max())] = 0.0
            node.coef[node.chosen] = slopes
            node.level -= float(mean[:-1] @ slopes)

    def _slopes(self, node: GrowingNode, kept: Mask) -> Vector:
        """The ridge regression on some of a node's regressors."""
        A = node.moments.scatter[0, :-1, :-1] + self.ridge * np.diag(self._variance[node.chosen])
        b = node.moments.scatter[0, :-1, -1]
        return np.asarray(np.linalg.lstsq(A[np.ix_(kept, kept)], b[kept], rcond=SINGULAR)[0])

    def _limits(self, node: GrowingNode, features: Indices) -> SplitLimits:
        """Which splits a node may have."""
        after = self.interactions.after(node.path)
        return SplitLimits(after, self.interactions.beside(node.path, features), self._lost(node))

    def _lost(self, node: GrowingNode) -> Vector:
        """What a split on each feature loses: slopes of the node's model that must not meet it.

        The gain of a split is over this model, of which the branches keep what may be there.
        """
        lost = np.zeros(len(self.rows.groups))
        if self.interactions.sets.all() or not len(node.chosen):
            return lost
        features = self.rows.regressors.features[node.chosen]
        paths = [(*node.path, j) for j in range(len(lost))]
        keeps = np.array([self.interactions.after(path)[features] for path in paths])
        b = node.moments.scatter[0, :-1, -1]
        for kept in np.unique(keeps[~keeps.all(axis=1)], axis=0):
            left = b[kept] @ self._slopes(node, kept) if kept.any() else 0.0
            whole = b @ self._slopes(node, np.ones(len(kept), dtype=bool))
            lost[(keeps == kept).all(axis=1)] = whole - left
        return lost

    def _finished(
        self, nodes: list[GrowingNode], place: ShortIndices, working: WorkingResponse
    ) -> GrownTree:
        counts = np.bincount(place, weights=working.counts, minlength=len(nodes))
        gains = np.zeros(len(self.rows.groups))
        found: list[ModelTreeNode] = []
        for number in range(len(nodes) - 1, -1, -1):
            node, regressors = nodes[number], self.rows.regressors
            slopes = node.coef[node.chosen]
            if node.split is None:
                shares = np.maximum(slopes * node.moments.scatter[0, :-1, -1], 0.0)
                gains[regressors.features[node.chosen]] += shares
            else:
                counts[number] = counts[node.children].sum()
                below = sum(nodes[k].between for k in node.children)
                gains[node.split.feature] += max(0.0, below - node.between)
            error = squared_error(node.moments, slopes[None], np.array([node.level]))
            own = ModelTreeNode(
                node.level, node.coef, len(node.path), float(counts[number]), *error, *error
            )
            if node.split is not None:
                own.feature, own.child = node.split.feature, node.split.child
                own.children = node.children
                if own.keeps_rows:
                    # of unknown categories, what a row has beside what all rows have: where classes
                    # are separated, a Newton step of all rows is long, and of either sign
                    own.level, own.coef = own.level - nodes[0].level, own.coef - nodes[0].coef
            found.append(own)
        tree = ModelTree(self.rows.groups, self.rows.regressors, found[::-1], np.zeros(len(slopes)))
        return GrownTree(tree, place, gains)

    # ------------------------------------------------------------------ statistics

    def _means_of_groups(self, training: Vector) -> Vector:
        """The mean regressor of every group of values of a feature; 0 for features without one."""
        means = np.zeros(int(self._starts[-1]))
        for k, j in enumerate(self.rows.regressors.features):
            codes = self.rows.codes[:, [j]].astype(np.int32)
            columns = np.column_stack([training, training * self.rows.z[k]])
            ones = ones_for(*codes.shape)
            count, total = (bin_matrix(codes, self.rows.groups[j].n_groups, ones) @ columns).T
            own = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
            means[self._starts[j] : self._starts[j + 1]] = own
        return means

    def _histograms(
        self,
        nodes: list[GrowingNode],
        open_nodes: list[int],
        best: Indices,
        place: ShortIndices,
        working: WorkingResponse,
    ) -> Vector:
        """Sums of (counts, h, hr, h r z…) by node and group of values, z of unit variance.

        Returns
        -------
        ndarray of shape (n_open, 3 + n_best, n_groups of all features)
        """
        n_open, n_groups = len(open_nodes), int(self._starts[-1])
        slots = np.full(len(nodes), -1, dtype=np.int32)
        slots[open_nodes] = np.arange(n_open)
        levels = np.array([nodes[k].level for k in open_nodes])
        coef = np.array([nodes[k].coef for k in open_nodes])
        used = np.flatnonzero(coef.any(axis=0))
        varies = self._variance[best] > 0.0
        scale = np.where(varies, 1.0 / np.sqrt(np.where(varies, self._variance[best], 1.0)), 0.0)

        def work(block: slice) -> Vector:
            slot = slots.take(place[block])
            rows = _some(slot >= 0, block)
            if not isinstance(rows, slice):
                slot = slot[slot >= 0]
            left = working.response[rows] - levels.take(slot)
            for k in used:
                left -= coef[:, k].take(slot) * self.rows.z[k][rows]
            columns = np.empty((len(left), 3 + len(best)))
            columns[:, 0], columns[:, 1] = working.counts[rows], working.weights[rows]
            np.multiply(columns[:, 1], left, out=columns[:, 2])
            for place_of_k, k in enumerate(best):
                np.multiply(columns[:, 2], self.rows.z[k][rows], out=columns[:, 3 + place_of_k])
            numbers = self._numbers[rows]
            if n_open > 1:
                numbers = numbers + (slot * np.int32(n_groups))[:, None]
            return np.asarray(bin_matrix(numbers, n_open * n_groups, self._ones) @ columns)

        total = np.zeros((n_open * n_groups, 3 + len(best)))
        for found in self._mapped(work, self._blocks):
            total += found
        total[:, 3:] = (total[:, 3:] - total[:, 2:3] * self._mean[best]) * scale  # Σ h r (z − z̄)/σ
        return total.reshape(n_open, n_groups, -1).transpose(0, 2, 1)

    def _divide(
        self, nodes: list[GrowingNode], number: int, split: BinarySplit, place: ShortIndices
    ) -> list[int]:
        """Give a node two children and move its rows on; the numbers of the children."""
        node, first = nodes[number], len(nodes)
        node.split, node.children = split, [first, first + 1]
        path, features = (*node.path, split.feature), self.rows.regressors.features
        chosen = np.union1d(node.chosen, np.flatnonzero(features == split.feature))
        chosen = chosen[self.interactions.after(path)[features[chosen]]]
        nodes += [GrowingNode(path, chosen) for _ in range(2)]
        rows = np.flatnonzero(place == number)
        child = np.where(split.child < 0, number, split.child + first).astype(np.int32)
        place[rows] = child.take(self.rows.codes[rows, split.feature])
        return node.children


class _SumsOfRegressors:
    """Σ h z and Σ h z², kept while the weights h stay the same, as those of squared errors do."""

    def __init__(self, z: Vector) -> None:
        self.z = z
        self._known: tuple[Vector, Vector, Vector] | None = None

    def __call__(self, weights: Vector) -> tuple[Vector, Vector]:
        if self._known is None or not np.array_equal(self._known[0], weights):
            squares = np.einsum("kn,kn,n->k", self.z, self.z, weights)
            self._known = weights, self.z @ weights, squares
        return self._known[1:]


def _some(mask: Mask, block: slice) -> slice | Indices:
    """The rows of a block where a mask holds; as a slice where it always does."""
    return block if mask.all() else np.flatnonzero(mask) + block.start
