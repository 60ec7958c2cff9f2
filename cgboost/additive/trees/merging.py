"""Leaves of trees that split on one input each: groups merged bottom-up, then pruned.

Of all pairs of leaves that may be merged, that one is which raises the squared error of the
training rows least, as CHAID does (Kass, Applied Statistics 29, 1980): neighbours of a numeric
input, any two of a few categories, neighbours in mean response of many. What has been merged is a
tree, and every branch of it is pruned by itself: where its node as one leaf costs the holdout rows
no more than what is left of the branch (Breiman, Friedman, Olshen, Stone, *Classification and
Regression Trees*, 1984, chapter 3, there by a price of leaves).

All inputs of a stage are merged at once, one pair each at a time. Statistics are all it needs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.additive.statistics.moments import BETTER, Moments, full
from cgboost.arrays import Indices, Vector
from cgboost.tolerances import RESIDUE

MergeablePairs = tuple[Indices, Indices]

MERGE_RIDGE = 1e-6
"""Of the regressions that decide which leaves are merged, relative to the scatter. Far above
rounding, 1e-16, so that collinear regressors of few rows do no harm; larger, it would choose other
leaves."""

ANY_PAIR = 128
"""Categories of which any two may merge; of more, neighbours in mean response only: pairs grow with
the square."""


class Merging:
    """All nodes of the mergers of some inputs: the groups of all, then one node for each merger.

    Parameters
    ----------
    elements : Moments
        Training statistics of the groups of all inputs, those of an input together.
    input_of : ndarray of int, shape (n_elements,)
        Their inputs: 0, 1, …, ascending.
    pairs : (ndarray of int, ndarray of int)
        Groups that may be merged at first. What is next to one of two groups is next to both
        together.
    squares : ndarray of shape (n_inputs, n_regressors)
        Mean squares of the regressors over all rows.

    Attributes
    ----------
    nodes : Moments
        Training statistics, shape (n_nodes,).
    left, right : ndarray of int, shape (n_mergers,)
        What node ``n_elements + k`` is made of.
    input_of : ndarray of int, shape (n_nodes,)
    """

    def __init__(
        self, elements: Moments, input_of: Indices, pairs: MergeablePairs, squares: Vector
    ) -> None:
        self.n_elements = len(elements)
        self._squares = squares
        most = 2 * self.n_elements
        self.nodes = elements.padded(most)
        self.input_of = np.concatenate([input_of, np.zeros(most - self.n_elements, dtype=np.intp)])
        self._error = np.zeros(most)
        self._error[: self.n_elements] = self._errors(elements, input_of)
        whole = elements.joined(input_of, len(squares))
        self._equal = BETTER * self._errors(whole, np.arange(len(squares)))
        self._equal += RESIDUE * np.maximum(whole.scatter[:, -1, -1], 0.0)  # rounding may be below
        merged = self._merge(*pairs)
        count = self.n_elements + len(merged)
        self.nodes, self.input_of = self.nodes[:count], self.input_of[:count]
        self.left, self.right = merged[:, 0], merged[:, 1]

    def _merge(self, first: Indices, second: Indices) -> Indices:
        """Merge one pair of each input after another, until no pairs are left."""
        merged: list[Indices] = []
        count = self.n_elements
        order = np.lexsort((second, first, self.input_of[first]))
        first, second = first[order], second[order]
        joint = self._joint(first, second)
        while len(first):
            owner = self.input_of[first]
            starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
            cost = joint - self._error[first] - self._error[second]
            lowest = np.minimum.reduceat(cost, starts) + self._equal[owner[starts]]
            lengths = np.diff(np.append(starts, len(first)))
            places = np.flatnonzero(cost <= np.repeat(lowest, lengths))
            # of equals the first: sums in another order must not choose another pair
            chosen = places[np.searchsorted(places, starts)]
            new = np.arange(count, count + len(chosen))
            left, right = first[chosen], second[chosen]
            merged.append(np.column_stack([left, right]))
            self.nodes.put(new, self.nodes[left].merged(self.nodes[right]))
            self.input_of[new], self._error[new] = owner[chosen], joint[chosen]
            count += len(chosen)
            first, second, joint = self._beside(first, second, joint, left, right, new)
        return np.concatenate(merged) if merged else np.zeros((0, 2), dtype=np.intp)

    def _beside(
        self,
        first: Indices,
        second: Indices,
        joint: Vector,
        left: Indices,
        right: Indices,
        new: Indices,
    ) -> tuple[Indices, Indices, Vector]:
        """The pairs when nodes have been merged, where they stood, and their joint errors.

        A new node stands in the place of its left one.
        """
        become = np.arange(len(self.nodes))
        become[left] = become[right] = new
        one, other = become[first], become[second]
        changed = (one != first) | (other != second)
        size = len(become)
        keys = np.minimum(one, other) * size + np.maximum(one, other)
        once = np.zeros(len(keys), dtype=bool)
        once[np.unique(keys, return_index=True)[1]] = True
        keep = once & (one != other)
        one, other, changed, joint = one[keep], other[keep], changed[keep], joint[keep]
        joint[changed] = self._joint(one[changed], other[changed])
        return one, other, joint

    def _joint(self, first: Indices, second: Indices) -> Vector:
        """Errors of pairs as one leaf."""
        return self._errors(self.nodes[first].merged(self.nodes[second]), self.input_of[first])

    def _errors(self, nodes: Moments, input_of: Indices) -> Vector:
        return full(nodes, MERGE_RIDGE, self._squares[input_of])

    def of_nodes(self, elements: Moments) -> Moments:
        """Statistics of all nodes, from those of other rows in the same groups."""
        nodes = elements.padded(len(self.nodes))
        level, size = self._levels(), self.n_elements
        for height in range(1, int(level.max(initial=0)) + 1):
            k = np.flatnonzero(level == height)
            nodes.put(size + k, nodes[self.left[k]].merged(nodes[self.right[k]]))
        return nodes

    def _levels(self) -> Indices:
        """The height of each merger above the groups."""
        level = np.zeros(len(self.nodes), dtype=np.intp)
        size = self.n_elements
        for k, (left, right) in enumerate(
            zip(self.left.tolist(), self.right.tolist(), strict=True)
        ):
            level[size + k] = 1 + max(level[left], level[right])
        return level[size:]

    def pruned(self, error: Vector, equal: Vector) -> Indices:
        """The node that is the leaf of every group, shape (n_elements,).

        Parameters
        ----------
        error : ndarray of shape (n_nodes,)
            Of the holdout rows, of each node as a leaf.
        equal : ndarray of shape (n_inputs,)
            Differences up to this do not decide: the smaller tree is taken.
        """
        size = self.n_elements
        least, is_leaf = error.tolist(), np.ones(len(error), dtype=bool)
        allowed = equal[self.input_of].tolist()
        pairs = list(zip(self.left.tolist(), self.right.tolist(), strict=True))
        for node, (left, right) in enumerate(pairs, start=size):
            branch = least[left] + least[right]
            if least[node] > branch + allowed[node]:
                is_leaf[node], least[node] = False, branch
        leaf = np.arange(len(error))
        for node, (left, right) in reversed(list(enumerate(pairs, start=size))):
            # the leaf above holds for all below; under no leaf each side decides by itself
            if leaf[node] != node or is_leaf[node]:
                leaf[left] = leaf[right] = leaf[node]
        return leaf[:size]


def chain(nodes: Sequence[int] | Indices) -> MergeablePairs:
    """Neighbours of an order."""
    order = np.asarray(nodes, dtype=np.intp)
    return order[:-1], order[1:]


def any_two(nodes: Sequence[int] | Indices) -> MergeablePairs:
    """All pairs."""
    order = np.asarray(nodes, dtype=np.intp)
    first, second = np.triu_indices(len(order), 1)
    return order[first], order[second]
