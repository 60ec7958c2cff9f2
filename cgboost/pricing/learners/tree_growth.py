"""Regression trees over binned features, by least squares on one or several responses.

In a node with the rows R a split into L and R∖L takes

    S_L²/W_L + S_R²/W_R − S²/W,     S = Σ w·t,   W = Σ w,

off Σ w (t − mean)², for the targets t and weights w; of several targets, the sum of that. Sums over
the bins of the rows of a node give S_L and W_L of every cut between two bins. Of two children only
the smaller one is summed: the other has what is left of the parent's sums.

Trees are stored as scikit-learn's. Where each value has a bin to itself, the splits are those of
``DecisionTreeRegressor``; thresholds lie in the middle between the values that are in the node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from cgboost.arrays import Indices, Mask, Vector
from cgboost.tables.histograms import BinnedFeatures, midpoints
from cgboost.tolerances import RESIDUE

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor


SAME_WORTH = 1e-14
"""Splits whose worth differs by less than this, relative to Σ w·t², are the same but for rounding;
on one feature that of the lowest threshold is taken."""

PURE_NODE = 1e-16
"""A node with less variance than this, relative to the largest t², is a leaf."""

NODES_AT_ONCE = 2**21
"""Sums of nodes that are searched together: they take 16 MB, and as much again for each column."""

LEAF = -1
UNDEFINED = -2


@dataclass(frozen=True)
class TreeLimits:
    """Limits of the growth, with the names and the meaning that they have in scikit-learn.

    Shares of the rows, for a float, are rounded up.
    """

    max_depth: int | None = 3
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    max_features: int | float | str | None = None
    max_leaf_nodes: int | None = None

    def rows_to_split(self, n_rows: int) -> int:
        """Least number of rows of a node that is split."""
        return max(2, 2 * self.rows_of_leaf(n_rows), _count(self.min_samples_split, n_rows))

    def rows_of_leaf(self, n_rows: int) -> int:
        """Least number of rows of a leaf."""
        return max(1, _count(self.min_samples_leaf, n_rows))

    def features(self, n_features: int) -> int:
        """How many features are looked at for a split."""
        most = self.max_features
        if most is None:
            return n_features
        if isinstance(most, str):
            return max(1, int({"sqrt": math.sqrt, "log2": math.log2}[most](n_features)))
        count = int(most) if isinstance(most, Integral) else int(most * n_features)
        return min(max(1, count), n_features)


def _count(wanted: float, n_rows: int) -> int:
    return int(wanted) if isinstance(wanted, Integral) else math.ceil(wanted * n_rows)


@dataclass(eq=False)
class BinnedTreeNode:
    """A node while the tree is grown.

    Attributes
    ----------
    totals : ndarray of shape (n_sums,)
        Of the rows: their number, S of every target, and W unless it is their number.
    weight, fitted : float
        W, and S²/W, what the means take off Σ w·t².
    squares : float
        Σ w·t² over the rows and targets.
    sums : ndarray of shape (n_sums, n_features, n_bins) or None
        The same of the rows in each bin, until its children are made.
    worth : float
        S_L²/W_L + S_R²/W_R of its best split.
    feature, cut, threshold : int, int, float
        Its best split, if it has one: rows in the bins up to ``cut`` go to the first child.
    first : int
        Its first child, the second one is the next; LEAF if it has none.
    left : ndarray of shape (n_sums,)
        The totals of its first child.
    """

    depth: int
    totals: Vector
    weight: float
    fitted: float
    squares: float = 0.0
    sums: Vector | None = None
    worth: float = -np.inf
    feature: int = 0
    cut: int = 0
    threshold: float = 0.0
    first: int = LEAF
    left: Vector | None = None


@dataclass(frozen=True)
class GrownBinnedTree:
    """A tree without values, and the node of every row that it was grown on.

    Attributes
    ----------
    nodes : list of BinnedTreeNode
        Parents before children.
    place : ndarray of int, shape (n_rows_seen,)
        The leaf of each row.
    """

    nodes: Sequence[BinnedTreeNode]
    place: Indices
    n_targets: int

    def estimator(
        self, limits: TreeLimits, n_features: int, unit: float, weight_unit: float
    ) -> DecisionTreeRegressor:
        """As a regressor of scikit-learn that predicts 0; t was in ``unit``, w in the other one."""
        from sklearn.tree import DecisionTreeRegressor
        from sklearn.tree._tree import Tree

        tree = Tree(n_features, np.ones(self.n_targets, dtype=np.intp), self.n_targets)
        state, nodes = tree.__getstate__(), self.nodes
        weight = np.array([node.weight for node in nodes])
        left_over = np.array([node.squares - node.fitted for node in nodes])
        first = np.array([node.first for node in nodes])
        inner = first != LEAF
        table = np.zeros(len(nodes), dtype=state["nodes"].dtype)
        table["left_child"], table["right_child"] = first, np.where(inner, first + 1, LEAF)
        table["feature"] = np.where(inner, [node.feature for node in nodes], UNDEFINED)
        table["threshold"] = np.where(inner, [node.threshold for node in nodes], UNDEFINED)
        variance = np.maximum(left_over, 0.0) / weight
        table["impurity"] = unit**2 * variance / self.n_targets
        table["n_node_samples"] = [node.totals[0] for node in nodes]
        table["weighted_n_node_samples"] = weight_unit * weight
        tree.__setstate__(
            state
            | {
                "max_depth": max(node.depth for node in nodes),
                "node_count": len(nodes),
                "nodes": table,
                "values": np.zeros((len(nodes), self.n_targets, 1)),
            }
        )
        found = DecisionTreeRegressor(**vars(limits))
        found.tree_, found.n_features_in_, found.n_outputs_ = tree, n_features, self.n_targets
        found.max_features_ = limits.features(n_features)
        return found


class BinnedTreeGrower:
    """Grows one tree after another on the same rows.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        None: all are 1.
    """

    def __init__(self, bins: BinnedFeatures, weights: Vector | None, limits: TreeLimits) -> None:
        self.bins, self.weights, self.limits = bins, weights, limits
        self.n_features, self.n_bins = bins.thresholds.shape
        self.n_looked_at = limits.features(self.n_features)
        self._ones = np.ones(len(bins.rows.numbers))
        self._counts = bins.rows.sums(self._ones)
        self._numbers = bins.rows.numbers.ravel()

    def grown(
        self,
        targets: Vector,
        rows: Indices,
        random: np.random.RandomState,
        first: int = 0,
        weights: Vector | None = None,
    ) -> GrownBinnedTree:
        """The tree of some targets.

        Parameters
        ----------
        targets : ndarray of shape (n_rows, n_targets)
        rows : ndarray of int
            Those that it sees, in ascending order; they have positive weights.
        random : RandomState
            Chooses features, where not all are looked at.
        first : int, default=0
            Of splits that are the same, that of this feature is taken, or of the next after it.
        weights : ndarray of shape (n_rows,) or None
            Of this tree; None: those of the grower.
        """
        self._first, own = first, self.weights if weights is None else weights
        weighted = targets if own is None else own[:, None] * targets
        columns = [self._ones, *weighted.T] + ([] if own is None else [own])
        self._is_even = own is None
        self._columns = np.column_stack(columns)
        self._rows, self._squares = rows, np.einsum("ij,ij->i", weighted, targets).take(rows)
        self._targets = slice(1, 1 + targets.shape[1])
        self._flat = PURE_NODE * float((targets**2).max(initial=0.0))
        self._least, self._random = self.limits.rows_of_leaf(len(rows)), random
        self._to_split = self.limits.rows_to_split(len(rows))
        best, most = self.limits.max_leaf_nodes is not None, self.limits.max_leaf_nodes or len(rows)
        place = np.zeros(len(rows), dtype=np.intp)
        sums = self._all_sums()
        nodes = [self._node(0, sums[0, :, 0].sum(axis=1))]
        nodes[0].squares = float(self._squares.sum())
        ready = self._searched(nodes, [0], sums)
        n_leaves = 1
        while ready and n_leaves < most:
            chosen = self._next(nodes, ready, best=best)
            n_leaves += len(chosen)
            ready += self._divided(nodes, chosen, place)
        return GrownBinnedTree(nodes, place, targets.shape[1])

    # ------------------------------------------------------------------ nodes

    def _weight(self, sums: Vector) -> Vector:
        """W, among sums whose first axis says of what they are."""
        weight: Vector = sums[0 if self._is_even else -1]
        return weight

    def _node(self, depth: int, totals: Vector) -> BinnedTreeNode:
        weight, sums = float(self._weight(totals)), totals[self._targets]
        return BinnedTreeNode(depth, totals, weight, float(sums @ sums) / weight)

    def _splits(self, node: BinnedTreeNode) -> bool:
        """Whether it may be split: deep enough, enough rows, and something to explain."""
        if node.totals[0] < self._to_split or node.depth == self.limits.max_depth:
            return False
        return node.squares - node.fitted > self._flat * node.weight

    def _next(self, nodes: list[BinnedTreeNode], ready: list[int], *, best: bool) -> list[int]:
        """Take the nodes to divide: the best split, or the last ones, as many as fit in memory."""
        if best:
            gains = [nodes[number].worth - nodes[number].fitted for number in ready]
            return [ready.pop(int(np.argmax(gains)))]
        size = self.n_features * self.n_bins * self._columns.shape[1]
        chosen = ready[-max(1, NODES_AT_ONCE // size) :]
        del ready[-len(chosen) :]
        return chosen

    def _divided(self, nodes: list[BinnedTreeNode], chosen: list[int], place: Indices) -> list[int]:
        """Give nodes their children and move their rows on; the children that have a split."""
        start = len(nodes)
        for number in chosen:
            node = nodes[number]
            assert node.left is not None
            node.first = len(nodes)
            for totals in (node.left, node.totals - node.left):
                nodes.append(self._node(node.depth + 1, totals))
        moved = self._move(nodes, chosen, place)
        squares = np.bincount(place[moved], self._squares[moved], minlength=len(nodes))
        for child in range(start, len(nodes)):
            nodes[child].squares = float(squares[child])
        deeper = [k for k in chosen if any(map(self._splits, self._children(nodes, k)))]
        smaller = [
            nodes[k].first + int(left.totals[0] > right.totals[0])
            for k in deeper
            for left, right in [self._children(nodes, k)]
        ]
        order, found = [], []
        for number, child, own in zip(
            deeper, smaller, self._sums(smaller, place, moved), strict=True
        ):
            node, other = nodes[number], 2 * nodes[number].first + 1 - child
            assert node.sums is not None
            for k, sums in ((child, own), (other, node.sums - own)):
                if self._splits(nodes[k]):
                    order.append(k)
                    found.append(sums)
        for number in chosen:
            nodes[number].sums = None
        return self._searched(nodes, order, np.array(found)) if order else []

    @staticmethod
    def _children(nodes: list[BinnedTreeNode], number: int) -> list[BinnedTreeNode]:
        first = nodes[number].first
        return nodes[first : first + 2]

    def _move(self, nodes: list[BinnedTreeNode], chosen: list[int], place: Indices) -> Indices:
        """Move the rows of nodes on to their children; which rows these are, among those seen."""
        feature, last, first = np.zeros((3, len(nodes)), dtype=np.intp)
        for number in chosen:
            node = nodes[number]
            feature[number], first[number] = node.feature, node.first
            last[number] = node.feature * self.n_bins + node.cut
        moved = np.flatnonzero(first.take(place))  # no child is the root, which has the number 0
        own = place.take(moved)
        numbers = self._numbers.take(self._rows.take(moved) * self.n_features + feature.take(own))
        place[moved] = first.take(own) + (numbers > last.take(own))
        return moved

    # ------------------------------------------------------------------ splits

    def _all_sums(self) -> Vector:
        """Sums over the bins of the root, shape (1, n_sums, n_features, n_bins)."""
        if len(self._rows) == len(self._ones):
            new = self.bins.rows.sums(self._columns[:, 1:]).T
            sums = np.concatenate([self._counts[None], new])
            return sums.reshape(1, -1, self.n_features, self.n_bins)
        nowhere = np.zeros(len(self._rows), dtype=np.intp)
        return self._sums([0], nowhere, np.arange(len(self._rows)))

    def _sums(self, numbers: Sequence[int], place: Indices, among: Indices) -> Vector:
        """Sums over the bins of nodes, whose rows are among these, shape as above."""
        if not numbers:
            return np.zeros((0, self._columns.shape[1], self.n_features, self.n_bins))
        part_of = np.full(max(int(place.max()), *numbers) + 1, -1, dtype=np.int32)
        part_of[numbers] = np.arange(len(numbers))
        part = part_of.take(place.take(among))
        inside = np.flatnonzero(part >= 0)
        rows = self._rows.take(among.take(inside))
        columns = self._columns.take(rows, axis=0)
        sums = self.bins.rows.sums_by_part(rows, part.take(inside), len(numbers), columns)
        shape = (len(numbers), -1, self.n_features, self.n_bins)
        return np.ascontiguousarray(sums.swapaxes(1, 2)).reshape(shape)

    def _searched(self, nodes: list[BinnedTreeNode], numbers: list[int], sums: Vector) -> list[int]:
        """Find the best split of nodes with the given sums; those that have one."""
        sums = sums.swapaxes(0, 1)  # first of what they are
        below = sums.cumsum(axis=3)
        total, below = below[..., -1:], below[..., :-1]
        above = total - below
        least = RESIDUE * self._weight(total)
        worth = np.zeros(below.shape[1:])
        for part in (below, above):
            squares = np.einsum("kmfb,kmfb->mfb", part[self._targets], part[self._targets])
            worth += squares / np.maximum(self._weight(part), least)
        allowed = (below[0] >= self._least) & (above[0] >= self._least)
        if self.n_looked_at < self.n_features:
            allowed &= self._looked_at(allowed.any(axis=2))[:, :, None]
        worths = np.where(allowed, worth, -np.inf).reshape(len(numbers), -1)
        found, ends = [], []
        for k, (number, own) in enumerate(zip(numbers, worths, strict=True)):
            node, best = nodes[number], float(own.max(initial=-np.inf))
            if best == -np.inf or not self._splits(node):
                continue
            same = np.flatnonzero(own >= best - SAME_WORTH * node.squares)
            turn = (same // (self.n_bins - 1) - self._first) % self.n_features
            node.feature, node.cut = divmod(int(same[turn.argmin()]), self.n_bins - 1)
            node.worth, node.sums = best, sums[:, k]
            node.left = below[:, k, node.feature, node.cut]
            after = sums[0, k, node.feature, node.cut + 1 :] > 0  # the next bin that has rows
            ends.append((node.feature, node.cut, node.cut + int(after.argmax())))
            found.append(number)
        if found:
            feature, low, high = np.array(ends).T
            cuts = midpoints(self.bins.highest[feature, low], self.bins.lowest[feature, high])
            for number, cut in zip(found, cuts.tolist(), strict=True):
                nodes[number].threshold = cut
        return found

    def _looked_at(self, varies: Mask) -> Mask:
        """Of each node a random choice of features, of those that can split it."""
        order = np.where(varies, self._random.random_sample(varies.shape), 2.0).argsort(axis=1)
        chosen = np.zeros_like(varies)
        np.put_along_axis(chosen, order[:, : self.n_looked_at], values=True, axis=1)
        return chosen
