"""The best binary split of a node, from sums over the groups of values of all features.

Branches a with weights H_a = Σh gain

    Σ_a [(Σhr)²/H_a + b_a²/(v_a + λ)] + max over k of Σ_a u_ak²/(H_a + λ),      u_ak = Σ h r z_k,

what constants, lines along the feature x that splits and a change of one other slope take off Σhr²,
where r is what the regression of the node leaves over and the regressors z have mean 0 and variance
1. The first two are exact, up to the places of values within their group (b_a = Σh(x̄ − m)r and
v_a = Σh(x̄ − m)², with the means x̄ of the groups and m of the branch); for the third, regressors
are taken to be in each branch as in all rows. It is a score test of the stability of the slopes,
which sees a product of features where neither shows by itself; with the sum over k instead of the
largest, correlated regressors would count again and again (friedman1: RMSE 1.164 instead of
1.137). The branches are the groups up to some place and those after it, in the order of the
numbers, or of Σhr/(Σh + c) for categories; missing values are tried on both sides.

Zeileis, Hothorn, Hornik, *Model-Based Recursive Partitioning*, J. Comput. Graph. Statist. 17, 2008.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cgboost.additive.statistics.moments import BETTER
from cgboost.arrays import Indices, Mask, Vector
from cgboost.forks import cached_property
from cgboost.tables.binning import FeatureGroups

CATEGORY_PRIOR = 10.0
"""Weight of mean response 0 that a category is given before it is put into an order: the mean of a
few rows is mostly noise, and would decide which categories can be split off."""


FEW_PLACES = 4096
"""Up to so many places, padding included, all features are searched at once: calls cost more than
numbers there."""


@dataclass(frozen=True)
class BinarySplit:
    """A split of a node.

    Attributes
    ----------
    child : ndarray of shape (n_groups,)
        0 or 1 for each group of values.
    """

    feature: int
    child: Indices


class Interactions(NamedTuple):
    """Which features may meet on the way to a leaf and in it: those that some set has together.

    Attributes
    ----------
    sets : ndarray of bool, shape (n_sets, n_features)
    """

    sets: Mask

    @classmethod
    def of(cls, sets: Sequence[Collection[int]], n_features: int) -> Interactions:
        """From sets of numbers of features."""
        rows = np.zeros((len(sets), n_features), dtype=bool)
        for row, own in zip(rows, sets, strict=True):
            row[list(own)] = True
        return cls(rows)

    def after(self, path: tuple[int, ...]) -> Mask:
        """Features that may follow those of a path, shape (n_features,); all follow none."""
        if not path:
            return np.ones(self.sets.shape[1], dtype=bool)
        return np.asarray(self.sets[self.sets[:, path].all(axis=1)].any(axis=0))

    def beside(self, path: tuple[int, ...], features: Indices) -> Mask:
        """Whether each of some features may follow a path together with each of all features.

        Returns
        -------
        ndarray of bool, shape (len(features), n_features)
        """
        own = self.sets[self.sets[:, path].all(axis=1)]
        return np.asarray((own[:, features, None] & own[:, None, :]).any(axis=0))


class SplitLimits(NamedTuple):
    """Which splits a node may have.

    Attributes
    ----------
    may_split : ndarray of bool, shape (n_features,)
    may_meet : ndarray of bool, shape (n_regressors, n_features)
        Whether a slope may change with a feature.
    lost : ndarray of shape (n_features,)
        What a split on a feature has to gain in addition, since its branches lose it.
    """

    may_split: Mask
    may_meet: Mask
    lost: Vector


@dataclass(frozen=True, eq=False)
class SplitSearch:
    """What the splits of all nodes of all trees have in common.

    Attributes
    ----------
    groups : list of Intervals or Categories
        Of all features.
    starts : ndarray of int, shape (n_features + 1,)
        Where each begins among the groups of all.
    means : ndarray of shape (n_groups of all,)
        The regressor of the feature in each group; 0 where it has none.
    variance : ndarray of shape (n_features,)
        Of this regressor over all rows.
    ridge : float
        λ.
    smallest : float
        Least sum of the counts of a branch.
    """

    groups: list[FeatureGroups]
    starts: Indices
    means: Vector
    variance: Vector
    ridge: float
    smallest: float

    @cached_property
    def layouts(self) -> list[_Layout]:
        """The groups, one feature below the other."""
        return _Layout.of_all(self.groups, self.starts)

    def best(
        self, histograms: Vector, regressors: Indices, least: float, limits: Sequence[SplitLimits]
    ) -> list[BinarySplit | None]:
        """The split of every node that gains most; of equals the first feature, at its first place.

        Parameters
        ----------
        histograms : ndarray of shape (n_nodes, 3 + n_regressors, n_groups of all)
            Sums of (counts, h, hr, h r z…) of every group of values.
        regressors : ndarray of int, shape (n_regressors,)
            The features z whose slopes may change.
        least : float
            A split gains more than this; differences below it do not count.
        limits : sequence of SplitLimits
            Of every node.
        """
        n_nodes, n_features = len(histograms), len(self.groups)
        counts, h, r = histograms[:, :3].swapaxes(0, 1)
        x, others = self.means, histograms[:, 3:].swapaxes(0, 1)
        sums = np.zeros((6 + len(others), n_nodes, histograms.shape[2] + 1))
        sums[:6, :, :-1] = counts, h, r, h * x, r * x, h * x * x
        sums[6:, :, :-1] = others
        meet = np.array([own.may_meet for own in limits]).swapaxes(0, 1)
        meet = meet & (regressors[:, None, None] != np.arange(n_features))
        nodes, tops, found = np.arange(n_nodes)[:, None, None], np.empty((n_nodes, n_features)), []
        for layout in self.layouts:
            order = layout.ordered(sums)
            groups, missing = sums[:, nodes, order], sums[:, :, layout.missing]
            if not meet.all():
                groups[6:] *= meet[:, :, layout.features, None]
                missing[6:] *= meet[:, :, layout.features, None]
            gains = self._gains(groups, missing, self.ridge * self.variance[layout.features])
            tops[:, layout.features] = gains.max(axis=(2, 3))
            found.append((layout, order, gains))
        return [
            self._split(
                histograms[number, 0],
                tops[number],
                [(layout, order[number], gains[number]) for layout, order, gains in found],
                least,
                own,
            )
            for number, own in enumerate(limits)
        ]

    def _split(
        self,
        counts: Vector,
        tops: Vector,
        found: Sequence[tuple[_Layout, Indices, Vector]],
        least: float,
        limits: SplitLimits,
    ) -> BinarySplit | None:
        """The best split of a node, from the gains at all places."""
        worth = tops - limits.lost
        most = float(worth[limits.may_split].max(initial=-np.inf))
        if not most > least:
            return None
        feature = int(np.argmax(limits.may_split & (worth >= most - least)))
        first, end = self.starts[feature : feature + 2]
        left = np.zeros(0, dtype=np.intp)
        beside = 0
        for layout, order, gains in found:
            for row in np.flatnonzero(layout.features == feature):
                place = int(np.argmax(gains[row] >= tops[feature] - least))
                beside, last = divmod(place, gains.shape[2])
                left = order[row, : last + 1]
        ordered = self.groups[feature].ordered
        child = _child(counts[first:end], left[left < end] - first, bool(beside), ordered)
        return BinarySplit(feature, child)

    def _gains(self, groups: Vector, missing: Vector, penalty: Vector) -> Vector:
        """Of splits behind every group, shape (n_nodes, n_features, n_sides, n_places).

        Missing values are on the right, and then on the left, where there are any; −inf where a
        branch is too small.

        Parameters
        ----------
        groups : ndarray of shape (6 + n_best, n_nodes, n_features, n_places)
            Sums of (counts, h, hr, hx, hrx, hx², u…), in the order in which groups go to the left.
        missing : ndarray of shape (6 + n_best, n_nodes, n_features, 1)
        penalty : ndarray of shape (n_features,)
            Of the slope along the feature.
        """
        below = np.cumsum(groups, axis=-1)
        sides = [below, below + missing] if missing[0].any() else [below]
        branches = np.empty((len(below), 2, *below.shape[1:3], len(sides), below.shape[3]))
        left, right = branches.swapaxes(0, 1)
        for side, values in enumerate(sides):
            left[..., side, :] = values
        np.subtract(left[..., -1:, -1:], left, out=right)  # all that there is less the left
        score = self._score(branches, penalty).sum(axis=0)
        gain = score - score[..., -1:, -1:]  # there the left has all
        if len(branches) > 6:
            gain += self._changes(branches).sum(axis=1).max(axis=0)
        least = self.smallest * (1.0 - BETTER)
        return np.where((branches[0] >= least).all(axis=0), gain, -np.inf)

    def _score(self, branches: Vector, penalty: Vector) -> Vector:
        """What mean and line take off Σhr², from sums of shape (6 + n_best, 2, n_nodes, …)."""
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
        """What a change of each of the other slopes takes off, shape (n_best, 2, n_nodes, …)."""
        h = branches[1]
        there = h > 0.0
        return np.where(there, branches[6:] ** 2 / np.where(there, h + self.ridge, 1.0), 0.0)


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
    is_ordered: Mask

    @classmethod
    def of_all(cls, groups: list[FeatureGroups], starts: Indices) -> list[_Layout]:
        """Of the groups of all features, and the numbers of the first ones.

        Features of similar size stand together where there are many: padding at most quadruples
        them.
        """
        sizes = np.diff(starts) - 1
        levels = np.ceil(0.5 * np.log2(np.maximum(sizes, 1))).astype(np.intp)
        if len(sizes) * int(sizes.max(initial=0)) <= FEW_PLACES:
            levels[:] = 0
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
        """Numbers of the groups in the order in which they go to the left, (n_nodes, …).

        Intervals as they are; categories by their mean response, those without rows last.

        Parameters
        ----------
        sums : ndarray of shape (n_sums, n_nodes, n_groups + 1)
            Of counts, h, hr and more.
        """
        numbers = np.tile(self.groups, (sums.shape[1], 1, 1))
        own = numbers[:, ~self.is_ordered]
        if own.size:
            counts, h, r = sums[:3, np.arange(len(own))[:, None, None], own]
            mean = r / (h + CATEGORY_PRIOR)
            largest = np.abs(mean).max(axis=(1, 2), keepdims=True) * BETTER
            rounded = np.round(mean / np.where(largest > 0.0, largest, 1.0))
            order = np.argsort(np.where(counts > 0, rounded, np.inf), axis=2, kind="stable")
            numbers[:, ~self.is_ordered] = np.take_along_axis(own, order, axis=2)
        return numbers


def _child(counts: Vector, left: Indices, missing_left: bool, ordered: bool) -> Indices:
    """The branch of each group; without rows missing values of numbers join the larger one.

    Categories without rows join none (−1), as in
    :func:`cgboost.additive.trees.model_tree.large_branches`.
    """
    child = np.ones(len(counts), dtype=np.intp)
    child[left] = 0
    child[-1] = 0 if missing_left else 1
    empty = counts <= 0
    empty[:-1] &= not ordered
    sizes = np.bincount(child, weights=counts, minlength=2)
    child[empty] = int(sizes[1] > sizes[0]) if ordered else -1
    return child
