"""How a model tree is grown: level by level, each from one pass over the rows.

A pass makes statistics of the regressors and the response in every group of values of every
feature, in every open node, for training and holdout rows. All else follows from them. What a
node's linear model leaves over is transformed along each feature
(:mod:`cgboost.additive.trees.transformation`): groups are merged bottom-up as long as linear
corrections in the branches do not become worse on the holdout rows. The feature whose branches
lower that error most, at a price for each coefficient, splits the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cgboost.additive.stage import StageOutputs
from cgboost.additive.statistics.moments import BETTER, Moments, squared_error
from cgboost.additive.statistics.passes import Passes, SplitMoments
from cgboost.additive.statistics.products import SharedGroupProducts
from cgboost.additive.trees.model_tree import (
    Judge,
    ModelTree,
    ModelTreeNode,
    ModelTreeSplit,
    Regressors,
    branches,
    linear_model,
    split_of,
)
from cgboost.additive.trees.transformation import transformation
from cgboost.arrays import Indices, Matrix, ShortIndices, Vector, blocks_of
from cgboost.tables.binning import FeatureGroups, Intervals
from cgboost.tables.row_blocks import RowBlock

PRODUCTS = 2**23
"""Products of variables that are held for rows at once (64 MB)."""

STATISTICS = 2**25
"""Numbers that the statistics of a pass may have (256 MB); more nodes take another pass."""

PURE = 1e-10
"""A node is not split whose squared error, relative to that of the constant, is below this. That is
a fit to five digits: leaves below it would follow the rounding of sums of squares."""


@dataclass(frozen=True)
class GrowthLimits:
    """How far a tree may grow.

    Attributes
    ----------
    min_samples_leaf : float
        Training rows of a leaf, in weights.
    tol : float
        Least decrease of the judged error by a split, relative to that of the constant.
    """

    max_depth: int
    min_samples_leaf: float
    tol: float


class NodePasses(Passes):
    """Passes that make statistics in the nodes of a tree."""

    def by_node(
        self, tree: ModelTree, place: ShortIndices, nodes: list[int], response: Vector
    ) -> Iterator[tuple[int, list[SplitMoments]]]:
        """Statistics of (regressors, response) in each group of each feature, node by node.

        Parameters
        ----------
        place : ndarray of shape (n_rows,)
            The node of every row when it was last looked at; moved on.
        response : ndarray of shape (n_rows,)
        """
        width = len(tree.regressors) + 1
        size = 2 * width**2 * sum(groups.n_groups for groups in tree.groups)
        step = max(1, STATISTICS // size)
        for block in blocks_of(len(nodes), step):
            chosen = nodes[block]
            found = self._of_nodes(tree, place, chosen, response)
            for slot, number in enumerate(chosen):
                yield number, [_part(both, slot, len(chosen)) for both in found]

    def _of_nodes(
        self, tree: ModelTree, place: ShortIndices, nodes: list[int], response: Vector
    ) -> list[Moments]:
        """For each feature, statistics of groups that are numbered by node, part and value."""
        slots = np.full(len(tree.nodes), -1)
        slots[nodes] = np.arange(len(nodes))

        def work(block: RowBlock) -> list[Moments]:
            where = place[block.rows]  # a view
            _move_on(tree, where, block.X)
            rows = np.flatnonzero(slots[where] >= 0)
            total: list[Moments] = []
            width = len(tree.regressors) + 1
            step = max(1024, PRODUCTS // (width * (width + 3)))
            for start in range(0, max(1, len(rows)), step):
                own = rows[start : start + step]
                numbers = own + block.rows.start
                part = 2 * slots[where[own]] + self.held[numbers]
                found = _grouped(
                    tree, block.X[own], response[numbers], self.weights[numbers], part, len(nodes)
                )
                total = [a.merged(b) for a, b in zip(total, found, strict=True)] if total else found
            return total

        totals: list[Moments] = []
        for found in self.mapped(work, self.rows):
            totals = [a.merged(b) for a, b in zip(totals, found, strict=True)] if totals else found
        return totals


def _move_on(tree: ModelTree, where: ShortIndices, X: Matrix) -> None:
    """Bring rows to the children of nodes that have been split since."""
    for number in np.unique(where).tolist():
        node = tree.nodes[number]
        if node.children:
            rows = np.flatnonzero(where == number)
            where[rows] = node.descend(number, X[rows], tree.groups)


def _grouped(
    tree: ModelTree, X: Matrix, response: Vector, weights: Vector, part: Indices, n_nodes: int
) -> list[Moments]:
    """Statistics of some rows for every feature; a feature's own regressor loses no digits."""
    z = tree.regressors(X)
    width = z.shape[1]
    shared = SharedGroupProducts(np.column_stack([z, response]), weights)
    place_of = {int(j): k for k, j in enumerate(tree.regressors.features)}
    result = []
    for j, groups in enumerate(tree.groups):
        n_groups = 2 * n_nodes * groups.n_groups
        codes = groups.codes(X[:, j]) + groups.n_groups * part
        k = place_of.get(j)
        if k is None:
            result.append(shared.grouped(codes, n_groups).without_noise(slice(0, width)))
            continue
        middle, scale = tree.regressors.middle[k], tree.regressors.scale[k]
        centres = (groups.centres - middle) / scale
        centres[-1] = 0.0
        all_centres = np.tile(centres, 2 * n_nodes)
        both = shared.grouped_with(z[:, k], codes, n_groups, all_centres)
        kept = [1 + i for i in range(width + 1)]
        kept[k] = 0
        result.append(both.without_noise(slice(1, 1 + width), all_centres).of_variables(kept))
    return result


def _part(both: Moments, slot: int, n_nodes: int) -> SplitMoments:
    size = len(both) // n_nodes
    return SplitMoments.of(both[slot * size : (slot + 1) * size])


def regressors_of(
    passes: Passes, groups: list[FeatureGroups], response: Vector, most: int
) -> Regressors:
    """Numeric features as regressors: all, or those that alone explain most."""
    numeric = {j: own for j, own in enumerate(groups) if isinstance(own, Intervals)}
    if len(numeric) <= most:
        return Regressors.of(groups, list(numeric))
    nothing = StageOutputs([])
    found = passes.by_group(dict(numeric), nothing, nothing, response)
    errors = []
    for j, parts in found.items():
        term = transformation(j, groups[j], parts.training, parts.holdout)
        leaves = parts.training.joined(term.leaf, term.n_leaves)
        coef = np.column_stack([term.slope, term.coef])
        errors.append(float(squared_error(leaves, coef, term.intercept).sum()))
    rounded = np.round(np.array(errors) / (max(errors) * BETTER or 1.0))
    best = np.argsort(rounded, kind="stable")[:most]
    return Regressors.of(groups, sorted(list(numeric)[k] for k in best))


def grown(
    passes: NodePasses,
    groups: list[FeatureGroups],
    regressors: Regressors,
    response: Vector,
    limits: GrowthLimits,
) -> ModelTree:
    """The tree of a response, grown and pruned.

    Parameters
    ----------
    groups : list of Intervals or Categories
        Of every feature.
    response : ndarray of shape (n_rows,)
    """
    empty = ModelTreeNode(0.0, np.zeros(len(regressors)), 0, 0.0, 0.0, 0.0)
    tree = ModelTree(groups, regressors, [empty], np.zeros(len(regressors)))
    place = np.zeros(passes.rows.n_rows, dtype=np.int32)
    judge = Judge(bool(passes.held.any()))
    start, waiting = 0.0, [0]
    while waiting:
        coming: list[int] = []
        for number, parts in passes.by_node(tree, place, waiting, response):
            if number == 0:
                whole = parts[0].each(Moments.together)
                tree.nodes[0] = linear_model(whole, judge, 0)
                tree.explained = _explained(tree.nodes[0], whole.training)
                start = float(judge.rows(whole).scatter[0, -1, -1])
            node = tree.nodes[number]
            if not _may_split(node, start, limits):
                continue
            if split := _best_split(node, parts, groups, judge, limits, start):
                coming.extend(_grow(tree, node, split, judge))
        waiting = coming
    return _pruned(tree, limits.tol * start)


def _explained(root: ModelTreeNode, training: Moments) -> Vector:
    """What each regressor takes off the squared error of the constant (Pratt's measure)."""
    shares = np.maximum(root.coef * training.scatter[0, :-1, -1], 0.0)
    total = float(training.scatter[0, -1, -1]) - root.training
    return shares * (max(total, 0.0) / (float(shares.sum()) or 1.0))


def _may_split(node: ModelTreeNode, start: float, limits: GrowthLimits) -> bool:
    large = node.count >= 2.0 * limits.min_samples_leaf
    return large and node.depth < limits.max_depth and node.judged > PURE * start


def _best_split(
    node: ModelTreeNode,
    parts: list[SplitMoments],
    groups: list[FeatureGroups],
    judge: Judge,
    limits: GrowthLimits,
    start: float,
) -> ModelTreeSplit | None:
    """The split that lowers the judged error most; of equals that of the first feature."""
    best: ModelTreeSplit | None = None
    for feature, own in enumerate(parts):
        split = split_of(node, feature, groups[feature], own, judge, limits.min_samples_leaf)
        if split is None or split.gain <= limits.tol * start:
            continue
        if best is None or split.gain > best.gain + BETTER * start:
            best = split
    return best


def _grow(tree: ModelTree, node: ModelTreeNode, split: ModelTreeSplit, judge: Judge) -> list[int]:
    """Give a node its children; their numbers."""
    first, below = len(tree.nodes), branches(node, split, judge)
    node.feature, node.child, node.price = split.feature, split.child, split.price
    node.stays = split.stays
    node.children = list(range(first, first + len(below)))
    tree.nodes.extend(below)
    return node.children


def _pruned(tree: ModelTree, least: float) -> ModelTree:
    """Without the branches that do not pay on the rows that judge, from the leaves up."""
    errors = [node.judged for node in tree.nodes]
    leaves = [1] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, -1, -1):
        node = tree.nodes[number]
        if not node.children:
            continue
        below = node.stays + sum(errors[k] for k in node.children)
        count = sum(leaves[k] for k in node.children)
        if below + node.price * (count - 1) < node.judged - least:
            errors[number], leaves[number] = below, count
        else:
            node.children, node.feature = [], -1
    return ModelTree(tree.groups, tree.regressors, _reachable(tree), tree.explained)


def _reachable(tree: ModelTree) -> list[ModelTreeNode]:
    """The nodes that are left, renumbered, parents before children."""
    order = [0]
    for number in order:
        order.extend(tree.nodes[number].children)
    renumbered = {old: new for new, old in enumerate(order)}
    nodes = [tree.nodes[number] for number in order]
    for node in nodes:
        node.children = [renumbered[k] for k in node.children]
    return nodes
