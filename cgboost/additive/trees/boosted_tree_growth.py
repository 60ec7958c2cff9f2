"""Shallow linear regression trees for boosting: binary splits, ridge regressions in all nodes.

Boosting grows hundreds of trees on the same rows, each on another response with weights h. What
does not change is made once (:class:`CodedRows`): the group of every value, and the regressors z,
of mean 0 and variance 1 here. Every node has a ridge regression on some of them,

    min over a, β   Σ h (response − a − βᵀz)² + λ|β|².

A split is found from what it leaves over, r, by sums over the groups of values, as in histogram
boosting. Branches a with weights H_a = Σh gain

    Σ_a [(Σhr)²/H_a + b_a²/(v_a + λ)] + max over k of Σ_a u_ak²/(H_a + λ),      u_ak = Σ h r z_k,

what constants, lines along the feature x that splits and a change of one other slope take off Σhr².
The first two are exact, up to the places of values within their group (b_a = Σh(x̄ − m)r and
v_a = Σh(x̄ − m)², with the means x̄ of the groups and m of the branch); for the third, regressors
are taken to be in each branch as in all rows. It is a score test of the stability of the slopes,
which sees a product of features where neither shows by itself; with the sum over k in place of the
largest, correlated regressors would count again and again (friedman1: RMSE 1.164 in place of
1.137). The branches are the groups up to some place and those after it, in the order of the
numbers, or of Σhr/(Σh + c) for categories; missing values are tried on both sides.

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, section 9;
Zeileis, Hothorn, Hornik, *Model-Based Recursive Partitioning*, J. Comput. Graph. Statist. 17, 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.additive.statistics.moments import BETTER, Moments, squared_error
from cgboost.additive.tables.preparation import Groups, Intervals
from cgboost.additive.tables.rows import BLOCK, SourceRows, TableRows
from cgboost.additive.trees.model_tree import ModelTree, Node, Regressors
from cgboost.tolerances import RESIDUE, SMALLEST

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]
Places = NDArray[np.int32]
Codes = NDArray[np.unsignedinteger[Any]]
Mapped = Callable[[Callable[[slice], Any], list[slice]], Iterator[Any]]

FEW_ROWS = 10.0
"""Weight of mean response 0 that a category is given before it is put into an order: the mean of a
few rows is mostly noise, and would decide which categories can be split off."""

SINGULAR = 1e-12
"""Directions of the regressors that vary by less than this, relative to the one that varies most,
have no slope; there are such directions only without a penalty."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as trees need them, in memory: the group of every value, and the regressors.

    Attributes
    ----------
    groups : list of Intervals or Categories
        Of all features.
    regressors : Regressors
    codes : ndarray of unsigned int, shape (n_rows, n_features)
        In the smallest type that holds them.
    z : ndarray of shape (n_regressors, n_rows)
    """

    groups: list[Groups]
    regressors: Regressors
    codes: Codes
    z: Vector

    @classmethod
    def of(cls, rows: TableRows | SourceRows, groups: list[Groups]) -> CodedRows:
        """Read the rows once; all numeric features that vary are regressors."""
        regressors = Regressors.of(
            groups,
            [j for j, own in enumerate(groups) if isinstance(own, Intervals) and len(own.edges)],
        )
        codes = np.empty((rows.n_rows, len(groups)), dtype=code_type(groups))
        z = np.empty((len(regressors), rows.n_rows))
        for block in rows:
            for own, kept, column in zip(groups, codes.T, block.X.T, strict=True):
                kept[block.rows] = own.codes(column)
            z[:, block.rows] = regressors(block.X).T
        return cls(groups, regressors, codes, z)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)


def code_type(groups: list[Groups]) -> np.dtype[Any]:
    """The smallest type for the groups of all features."""
    return np.min_scalar_type(max(own.n_groups for own in groups) - 1)


class Working(NamedTuple):
    """What a tree is fitted to.

    Attributes
    ----------
    response : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        Of the squared errors; 0 for rows that are held out.
    counts : ndarray of shape (n_rows,)
        Rows that each stands for, for the size of a branch.
    """

    response: Vector
    weights: Vector
    counts: Vector


@dataclass(frozen=True)
class BinarySplit:
    """A split of a node.

    Attributes
    ----------
    feature : int
    child : ndarray of shape (n_groups,)
        0 or 1 for each group of values.
    """

    feature: int
    child: Indices


@dataclass(eq=False)
class GrowingNode:
    """A node while the tree is grown.

    Attributes
    ----------
    depth : int
    chosen : ndarray of int
        Numbers of its regressors.
    level, coef
        Its model; the coefficients are those of all regressors, shape (n_regressors,).
    moments : Moments
        Of (chosen regressors, response).
    split : BinarySplit or None
    children : list of int
    """

    depth: int
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
    tree : ModelTree
    place : ndarray of int, shape (n_rows,)
        The leaf of every row.
    gains : ndarray of shape (n_features,)
        What each feature takes off the squared training error: by splits between means, and by
        slopes in the leaves (Pratt's measure).
    """

    tree: ModelTree
    place: Places
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
    rows : CodedRows
    training : ndarray of shape (n_rows,)
        Sample weights; 0 for rows that are held out.
    max_depth : int
    min_samples_leaf : float
        Least sum of the counts of a leaf.
    max_regressors : int
        A tree has so many regressors, those that by themselves explain most of its response; a node
        has the features that it is split on besides.
    ridge : float
        λ.
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
        mapped: Mapped = map,
    ) -> None:
        self.rows, self.max_depth, self.smallest = rows, max_depth, min_samples_leaf
        self.most, self.ridge, self._mapped = max_regressors, ridge, mapped
        self._starts = np.cumsum([0, *(own.n_groups for own in rows.groups)])
        self._blocks = [
            slice(start, min(start + BLOCK, rows.n_rows)) for start in range(0, rows.n_rows, BLOCK)
        ]
        self._regressor_of = np.full(len(rows.groups), -1)
        self._regressor_of[rows.regressors.features] = np.arange(len(rows.regressors))
        weights = training / max(float(training.sum()), SMALLEST)
        self._mean = rows.z @ weights
        self._variance = np.maximum((rows.z**2) @ weights - self._mean**2, 0.0)
        self._penalty = np.zeros(len(rows.groups))
        self._penalty[rows.regressors.features] = ridge * self._variance
        self._group_means = self._means_of_groups(training)
        self._layouts = _Layout.of_all(rows.groups, self._starts)

    def grown(self, working: Working) -> GrownTree:
        """The tree of a response, and the leaf of every row."""
        best = self._best_regressors(working)
        least = BETTER * float(working.weights @ working.response**2)
        place = np.zeros(self.rows.n_rows, dtype=np.int32)
        nodes, waiting = [GrowingNode(0, best)], [0]
        self._fit(nodes, waiting, place, working)
        for _ in range(self.max_depth):
            histograms = self._histograms(nodes, waiting, best, place, working)
            coming: list[int] = []
            for number, histogram in zip(waiting, histograms, strict=True):
                if (split := self._best_split(histogram, best, least)) is not None:
                    coming.extend(self._divide(nodes, number, split, place))
            if not (waiting := coming):
                break
            self._fit(nodes, waiting, place, working)
        return self._finished(nodes, place, working)

    # ------------------------------------------------------------------ models

    def _best_regressors(self, working: Working) -> Indices:
        """Numbers of those that alone explain most of the response; ties in favour of the first."""
        z, h = self.rows.z, working.weights
        total = max(float(h.sum()), SMALLEST)
        mean = z @ h / total
        slope = z @ (h * working.response) - mean * float(h @ working.response)
        spread = np.maximum((z**2) @ h - mean**2 * total, 0.0) + self.ridge * self._variance
        worth = np.divide(slope**2, spread, out=np.zeros_like(slope), where=self._variance > 0.0)
        rounded = np.round(worth / (float(worth.max(initial=0.0)) * BETTER or 1.0))
        return np.sort(np.argsort(-rounded, kind="stable")[: self.most])

    def _fit(
        self, nodes: list[GrowingNode], new: list[int], place: Places, working: Working
    ) -> None:
        """Give new nodes their models."""

        def work(block: slice) -> list[Moments]:
            found = []
            for number in new:
                chosen = nodes[number].chosen
                rows = np.flatnonzero(place[block] == number) + block.start
                values = np.empty((len(chosen) + 1, len(rows)))
                for k, column in zip(chosen, values, strict=False):
                    self.rows.z[k].take(rows, out=column)
                working.response.take(rows, out=values[-1])
                found.append(Moments.of(values.T, working.weights.take(rows)))
            return found

        total: list[Moments] = []
        for found in self._mapped(work, self._blocks):
            total = [a.merged(b) for a, b in zip(total, found, strict=True)] if total else found
        for number, moments in zip(new, total, strict=True):
            self._set_model(nodes[number], moments)

    def _set_model(self, node: GrowingNode, moments: Moments) -> None:
        """The ridge regression of a node; slopes that are rounding beside the others are 0."""
        S, mean = moments.scatter[0], moments.mean[0]
        node.moments, node.coef = moments, np.zeros(len(self._mean))
        node.level = float(mean[-1])
        if len(node.chosen):
            A = S[:-1, :-1] + self.ridge * np.diag(self._variance[node.chosen])
            slopes = np.linalg.lstsq(A, S[:-1, -1], rcond=SINGULAR)[0]
            slopes[np.abs(slopes) <= RESIDUE * float(np.abs(slopes).max())] = 0.0
            node.coef[node.chosen] = slopes
            node.level -= float(mean[:-1] @ slopes)

    def _finished(self, nodes: list[GrowingNode], place: Places, working: Working) -> GrownTree:
        counts = np.bincount(place, weights=working.counts, minlength=len(nodes))
        gains = np.zeros(len(self.rows.groups))
        found: list[Node] = []
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
            own = Node(node.level, node.coef, node.depth, float(counts[number]), *error, *error)
            if node.split is not None:
                own.feature, own.child = node.split.feature, node.split.child
                own.children = node.children
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
            count, total = _sums(codes, columns, self.rows.groups[j].n_groups).T
            own = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
            means[self._starts[j] : self._starts[j + 1]] = own
        return means

    def _histograms(
        self,
        nodes: list[GrowingNode],
        open_nodes: list[int],
        best: Indices,
        place: Places,
        working: Working,
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
            slot = slots[place[block]]
            rows = np.flatnonzero(slot >= 0)
            slot, rows = slot[rows], rows + block.start
            left = working.response[rows] - levels[slot]
            for k in used:
                left -= coef[:, k].take(slot) * self.rows.z[k].take(rows)
            columns = np.empty((len(rows), 3 + len(best)))
            columns[:, 0], columns[:, 1] = working.counts[rows], working.weights[rows]
            columns[:, 2] = columns[:, 1] * left
            for place_of_k, k in enumerate(best):
                own = (self.rows.z[k].take(rows) - self._mean[k]) * scale[place_of_k]
                columns[:, 3 + place_of_k] = columns[:, 2] * own
            numbers = np.add(self.rows.codes[rows], self._starts[:-1], dtype=np.int32)
            numbers += (slot * np.int32(n_groups))[:, None]
            return _sums(numbers, columns, n_open * n_groups)

        total = np.zeros((n_open * n_groups, 3 + len(best)))
        for found in self._mapped(work, self._blocks):
            total += found
        return total.reshape(n_open, n_groups, -1).transpose(0, 2, 1)

    # ------------------------------------------------------------------ splits

    def _best_split(self, histogram: Vector, best: Indices, least: float) -> BinarySplit | None:
        """The split that gains most; of equals that of the first feature, at its first place."""
        (_, h, r), x = histogram[:3], self._group_means
        sums = np.vstack([histogram[:3], h * x, r * x, h * x * x, histogram[3:]])
        sums = np.pad(sums, ((0, 0), (0, 1)))
        tops, found = np.empty(len(self.rows.groups)), []
        for layout in self._layouts:
            order = layout.ordered(sums)
            groups, missing = sums[:, order], sums[:, layout.missing]
            other = best[:, None, None] != self._regressor_of[layout.features][:, None]
            groups[6:] *= other
            missing[6:] *= other
            gains = self._gains(groups, missing, self._penalty[layout.features])
            tops[layout.features] = gains.max(axis=(1, 2))
            found.append((layout, order, gains))
        most = float(tops.max())
        if not most > least:
            return None
        feature = int(np.argmax(tops >= most - least))
        first, end = self._starts[feature : feature + 2]
        left = np.zeros(0, dtype=np.intp)
        beside = 0
        for layout, order, gains in found:
            for row in np.flatnonzero(layout.features == feature):
                place = int(np.argmax(gains[row] >= tops[feature] - least))
                beside, last = divmod(place, gains.shape[2])
                left = order[row, : last + 1]
        ordered = self.rows.groups[feature].ordered
        child = _child(histogram[0, first:end], left[left < end] - first, bool(beside), ordered)
        return BinarySplit(feature, child)

    def _gains(self, groups: Vector, missing: Vector, penalty: Vector) -> Vector:
        """Of splits behind every group, shape (n_features, 2, n_places).

        Missing values are on the right, and then on the left; −inf where a branch is too small.

        Parameters
        ----------
        groups : ndarray of shape (6 + n_best, n_features, n_places)
            Sums of (counts, h, hr, hx, hrx, hx², u…), in the order in which groups go to the left.
        missing : ndarray of shape (6 + n_best, n_features, 1)
        penalty : ndarray of shape (n_features,)
            Of the slope along the feature.
        """
        below = np.cumsum(groups, axis=2)
        whole = (below[:, :, -1:] + missing)[:, :, None]
        left = np.stack([below, below + missing], axis=2)
        right = whole - left
        gain = self._score(left, penalty) + self._score(right, penalty)
        gain += (self._changes(left) + self._changes(right)).max(axis=0, initial=0.0)
        least = self.smallest * (1.0 - BETTER)
        large = (left[0] >= least) & (right[0] >= least)
        return np.where(large, gain - self._score(whole, penalty), -np.inf)

    def _score(self, branches: Vector, penalty: Vector) -> Vector:
        """What mean and line take off Σhr², from sums of shape (6 + n_best, n_features, 2, …)."""
        h, r, hx, rx, hxx = branches[1:6]
        there = h > 0.0
        h = np.where(there, h, 1.0)
        mean = hx / h
        spread = np.maximum(hxx - mean * hx, 0.0)
        varies = spread > BETTER * hxx
        slope = np.where(varies, rx - mean * r, 0.0)
        line = slope**2 / np.where(varies, spread + penalty[:, None, None], 1.0)
        return np.where(there, r**2 / h + line, 0.0)

    def _changes(self, branches: Vector) -> Vector:
        """What a change of each of the other slopes takes off, shape (n_best, n_features, 2, …)."""
        h = branches[1]
        there = h > 0.0
        return np.where(there, branches[6:] ** 2 / np.where(there, h + self.ridge, 1.0), 0.0)

    def _divide(
        self, nodes: list[GrowingNode], number: int, split: BinarySplit, place: Places
    ) -> list[int]:
        """Give a node two children and move its rows on; the numbers of the children."""
        node, first = nodes[number], len(nodes)
        node.split, node.children = split, [first, first + 1]
        own = self._regressor_of[[split.feature]]
        chosen = np.union1d(node.chosen, own[own >= 0])
        nodes += [GrowingNode(node.depth + 1, chosen) for _ in range(2)]
        rows = np.flatnonzero(place == number)
        child = split.child.astype(np.int32) + np.int32(first)
        place[rows] = child.take(self.rows.codes[rows, split.feature])
        return node.children


@dataclass(frozen=True, eq=False)
class _Layout:
    """Groups of some features one below the other, padded to one length.

    Attributes
    ----------
    features : ndarray of int, shape (n_features,)
    groups : ndarray of int, shape (n_features, n_places)
        Numbers among the groups of all features, the count of these for padding.
    missing : ndarray of int, shape (n_features, 1)
    is_ordered : ndarray of bool, shape (n_features,)
    """

    features: Indices
    groups: Indices
    missing: Indices
    is_ordered: NDArray[np.bool_]

    @classmethod
    def of_all(cls, groups: list[Groups], starts: Indices) -> list[_Layout]:
        """Of the groups of all features, and the numbers of the first ones.

        Features of similar size stand together: padding at most quadruples them.
        """
        sizes = np.diff(starts) - 1
        levels = np.ceil(0.5 * np.log2(np.maximum(sizes, 1))).astype(np.intp)
        layouts = []
        for level in np.unique(levels):
            features = np.flatnonzero(levels == level)
            own, first = sizes[features][:, None], starts[features][:, None]
            places = np.arange(max(1, int(own.max())))
            numbers = np.where(places < own, first + places, starts[-1])
            ordered = np.array([groups[j].ordered for j in features])
            layouts.append(cls(features, numbers, first + own, ordered))
        return layouts

    def ordered(self, sums: Vector) -> Indices:
        """Numbers of the groups in the order in which they go to the left.

        Intervals as they are; categories by their mean response, those without rows last.

        Parameters
        ----------
        sums : ndarray of shape (n_sums, n_groups + 1)
            Of counts, h, hr and more.
        """
        if self.is_ordered.all():
            return self.groups
        numbers = self.groups.copy()
        own = numbers[~self.is_ordered]
        counts, h, r = sums[:3, own]
        mean = r / (h + FEW_ROWS)
        rounded = np.round(mean / (float(np.abs(mean).max()) * BETTER or 1.0))
        order = np.argsort(np.where(counts > 0, rounded, np.inf), axis=1, kind="stable")
        numbers[~self.is_ordered] = np.take_along_axis(own, order, axis=1)
        return numbers


def _sums(numbers: NDArray[np.int32], columns: Vector, n_groups: int) -> Vector:
    """Sums of the columns by group, shape (n_groups, n_columns), where a row is in several groups.

    Parameters
    ----------
    numbers : ndarray of int, shape (n_rows, n_numbers)
        Of the groups of every row.
    columns : ndarray of shape (n_rows, n_columns)
    n_groups : int
    """
    n_rows, width = numbers.shape
    ends = np.arange(0, n_rows * width + 1, width, dtype=np.int32)
    entries = (np.ones(n_rows * width), numbers.ravel(), ends)
    return np.asarray(sparse.csc_array(entries, shape=(n_groups, n_rows)) @ columns)


def _child(counts: Vector, left: Indices, missing_left: bool, ordered: bool) -> Indices:
    """The branch of each group; missing values and categories without rows join the larger one."""
    child = np.ones(len(counts), dtype=np.intp)
    child[left] = 0
    child[-1] = 0 if missing_left else 1
    empty = counts <= 0
    empty[:-1] &= not ordered
    sizes = np.bincount(child, weights=counts, minlength=2)
    child[empty] = int(sizes[1] > sizes[0])
    return child
