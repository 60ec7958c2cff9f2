"""What members say of rows that they have not seen, where the rows are those of the ensemble.

A member that has seen a row knows its label. Three ways to ask it fairly:

* out of bag: of a bootstrap sample a third of the rows is left out. Where a member has seen row i,
  its entry is the mean over the members that have not, so that it speaks neither for nor against
  it (an absent entry is neutral).
* leave one out: a tree fitted to all rows has, in the leaf of row i, n values; without the row's
  own the leaf says (n v − y_i)/(n − 1), or the median of the others if v is one. Where the row is
  alone, the node above it is asked. The splits have still seen the row: this tells trees apart, and
  is no estimate of their errors.
* held out: rows that the ensemble was not fitted to; nothing has to be done.
"""

from __future__ import annotations

import copy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from scipy.sparse.linalg import lsqr

from cgboost.arrays import Indices, Mask, Vector
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, Members

TREES_READ = 20
"""From which the weights of rows are read."""

ALONE = 1e-6
"""A row that leaves less than this share of the weight of its node is alone in it: rounding."""

SAME = 1e-9
"""Weights, or values, that differ by less, relative to all of them, are the same but for
rounding."""

MEDIANS = "absolute_error"
"""The criterion of trees whose leaves hold medians; those of all others hold means."""


def drawn_entries(ensemble: Any, n_rows: int, most: int | None = None) -> Mask | None:
    """Which member was fitted to which row, shape (n_rows, n_members); None without samples.

    Parameters
    ----------
    ensemble : fitted ensemble
        With ``estimators_samples_``: the rows of each member, drawn again from its seed.
    n_rows : int
        Of the rows that it was fitted to.
    most : int, optional
        Of so many members, the first ones: the samples of each are drawn anew.
    """
    if getattr(ensemble, "bootstrap", None) is False and hasattr(ensemble, "criterion"):
        return None  # a forest on all rows
    if samples_are_lost(ensemble):
        return None
    if not hasattr(ensemble, "estimators_"):
        return None
    seeds, ensemble = _seeds(ensemble)[:most], copy.copy(ensemble)
    if len(seeds):
        ensemble._seeds = seeds
    ensemble.estimators_ = ensemble.estimators_[:most]
    samples = getattr(ensemble, "estimators_samples_", None)
    if samples is None:
        return None
    drawn = np.zeros((n_rows, len(samples)), dtype=bool)
    for j, rows in enumerate(samples):
        drawn[np.asarray(rows), j] = True
    return drawn


def samples_are_lost(ensemble: Any) -> bool:
    """Whether bagging was fitted in several steps (``warm_start``) from seeds nobody knows."""
    return hasattr(ensemble, "_seeds") and len(_seeds(ensemble)) != len(ensemble.estimators_)


def _seeds(ensemble: Any) -> NDArray[Any]:
    """Those of the samples of bagging, of which scikit-learn keeps the last step's alone."""
    last = np.asarray(getattr(ensemble, "_seeds", ()))
    count = len(getattr(ensemble, "estimators_", ()))
    if not len(last) or len(last) >= count or not isinstance(ensemble.random_state, Integral):
        return last
    rng = np.random.RandomState(int(ensemble.random_state))
    whole = rng.randint(np.iinfo(np.int32).max, size=count)
    return whole if np.array_equal(whole[-len(last) :], last) else last


def neutral(outputs: Cube, unseen: Mask) -> Cube:
    """Outputs of the members, and the mean of those that have not seen a row for all others."""
    counts = np.maximum(unseen.sum(axis=1), 1)[:, None]
    means = np.einsum("nmk,nm->nk", outputs, unseen.astype(np.float32)) / counts
    filled: Cube = np.where(unseen[:, :, None], outputs, means[:, None, :]).astype(np.float32)
    return filled


def is_forest_of_all_rows(ensemble: Any, members: Members) -> bool:
    """Whether every member is a tree that was fitted to all rows, with the same weights."""
    if not isinstance(members, EstimatorMembers) or getattr(ensemble, "bootstrap", True):
        return False
    has_trees = all(hasattr(member.estimator, "tree_") for member in members.members)
    return has_trees and all(member.features is None for member in members.members)


def weights_of_the_fit(members: EstimatorMembers, X: Any, guess: Vector) -> Vector:
    """The weights that rows had when trees were fitted to all of them, shape (n_rows,).

    The trees keep the sum of them for each leaf (weights of rows times those of their classes):
    the weights next to 1, or to those given now if these are nearer, that have these sums.

    Parameters
    ----------
    guess : ndarray of shape (n_rows,)
    """
    rows, each, sums = np.asarray(X, dtype=np.float32), [], []
    for member in members.members[:TREES_READ]:
        tree = member.estimator.tree_
        places = (tree.apply(rows), np.arange(len(rows)))
        each.append(csr_array((np.ones(len(rows)), places), shape=(tree.node_count, len(rows))))
        sums.append(np.where(tree.children_left < 0, tree.weighted_n_node_samples, 0.0))
    of_leaves, total = vstack(each).tocsr(), np.concatenate(sums)
    starts = (np.ones(len(rows)), guess)
    start = min(starts, key=lambda weights: float(np.abs(of_leaves @ weights - total).sum()))
    unit = float(total.sum()) / len(each) / len(rows)
    found = lsqr(of_leaves, (total - of_leaves @ start) / unit, atol=1e-12, btol=1e-12)[0]
    return np.maximum(start + unit * found, 0.0)


def without_own(
    members: EstimatorMembers,
    X: Any,
    y: NDArray[Any],
    weights: Vector,
    asked: Indices | None = None,
) -> Cube:
    """What trees say of training rows without the value of the row itself.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        All rows that the trees were fitted to.
    y : ndarray of shape (n_rows,)
        Numbers, or places of classes.
    weights : ndarray of shape (n_rows,)
        Of the rows, when the trees were fitted.
    asked : ndarray of int, shape (n_asked,), or None
        The rows that are asked about; None: all.

    Returns
    -------
    ndarray of shape (n_asked, n_members, n_outputs)
    """
    rows = np.asarray(X, dtype=np.float32)
    chosen = np.arange(len(rows)) if asked is None else asked
    width = 1 if members.classes is None else len(members.classes)
    own = y[:, None].astype(float) if width == 1 else np.eye(width)[y]
    each = []
    for member in members.members:
        leaves = TrainedLeaves(member.estimator.tree_, rows, own, weights, chosen)
        if getattr(member.estimator, "criterion", "") == MEDIANS:
            said = leaves.medians()
        elif getattr(member.estimator, "monotonic_cst", None) is not None:
            said = leaves.clipped_means()
        else:
            said = leaves.means()
        each.append(said.astype(np.float32))
    return np.stack(each, axis=1)


class TrainedLeaves:
    """The nodes of a tree that say something of training rows without the rows themselves.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        All rows of the fit.
    own : ndarray of shape (n_rows, n_outputs)
        What is predicted, of each row.
    weights : ndarray of shape (n_rows,)
    asked : ndarray of int, shape (n_asked,)

    Attributes
    ----------
    node : ndarray of int, shape (n_asked,)
        The leaf of each row, or the first node above it that has other rows.
    """

    def __init__(
        self,
        tree: Any,
        rows: NDArray[np.float32],
        own: NDArray[np.float64],
        weights: Vector,
        asked: Indices,
    ) -> None:
        self.tree, self.rows, self.own, self.weights, self.asked = tree, rows, own, weights, asked
        above = np.zeros(tree.node_count, dtype=np.intp)
        for children in (tree.children_left, tree.children_right):
            inner = np.flatnonzero(children >= 0)
            above[children[inner]] = inner
        node, counts, less = tree.apply(rows[asked]), self._counts, weights[asked]
        while (alone := (counts[node] - less < ALONE * counts[node]) & (node > 0)).any():
            node = np.where(alone, above[node], node)
        self.node = node

    @property
    def _counts(self) -> Vector:
        """The weight of the rows in each node."""
        counts: Vector = self.tree.weighted_n_node_samples
        return counts

    @property
    def _values(self) -> Vector:
        """What each node says, shape (n_nodes, n_outputs)."""
        values: Vector = self.tree.value[:, 0, :]
        return values / values.sum(axis=1, keepdims=True) if values.shape[1] > 1 else values

    def means(self) -> Vector:
        """Where nodes say the mean of their rows; shape (n_asked, n_outputs)."""
        return self._means_of(self._values)

    def _means_of(self, values: Vector) -> Vector:
        count, less = self._counts[self.node], self.weights[self.asked]
        sums = count[:, None] * values[self.node] - less[:, None] * self.own[self.asked]
        return sums / np.maximum(count - less, ALONE)[:, None]

    def clipped_means(self) -> Vector:
        """Where nodes say the mean, but no more or less than some limit (``monotonic_cst``).

        The limit of a node is known where it holds, and is kept there.
        """
        held = self._entries(np.arange(self.tree.node_count))
        of_nodes = csr_array(
            (self.weights[held[1]], held), shape=(self.tree.node_count, len(self.own))
        )
        means = (of_nodes @ self.own) / np.maximum(of_nodes.sum(axis=1), ALONE)[:, None]
        without, said, mean = self._means_of(means), self._values[self.node], means[self.node]
        off = SAME * (1.0 + np.abs(mean))
        lowered = np.where(said < mean - off, np.minimum(without, said), without)
        return np.where(said > mean + off, np.maximum(without, said), lowered)

    def medians(self) -> Vector:
        """Where nodes say the median of their rows; shape (n_asked, 1).

        Of values in ascending order, the first one up to which there is half of the weight, or the
        middle between it and the next if that is exactly half.
        """
        y, weights, asked = self.own[:, 0], self.weights, self.asked
        said, seen = self._values[self.node].copy(), np.flatnonzero(weights[asked] > 0)
        nodes, rows = self._entries(np.unique(self.node))
        order = np.lexsort((y[rows], nodes))
        nodes, rows = nodes[order], rows[order]
        upto = np.concatenate([[0.0], np.cumsum(weights[rows])])
        place_of = csr_array(
            (np.arange(1, len(rows) + 1), (nodes, rows)), shape=(self.tree.node_count, len(y))
        )
        node, less = self.node[seen], weights[asked[seen]]
        own = np.asarray(place_of[node, asked[seen]]).ravel() - 1
        start = upto[np.searchsorted(nodes, node)]
        half = 0.5 * (upto[np.searchsorted(nodes, node, side="right")] - start - less)
        rounding = SAME * upto[-1]
        below = np.searchsorted(upto[1:], start + half - rounding)
        beyond = below >= own  # the row itself would count
        first = np.where(beyond, np.searchsorted(upto[1:], start + half + less - rounding), below)
        before = upto[first + 1] - start - np.where(beyond, less, 0.0)
        next_one = first + 1 + (first + 1 == own)
        even = np.abs(before - half) <= rounding
        sorted_y = y[rows]
        other = sorted_y[np.where(even, next_one, first)]
        said[seen, 0] = 0.5 * sorted_y[first] + 0.5 * other
        return said

    def _entries(self, nodes: Indices) -> tuple[Indices, Indices]:
        """Nodes and the rows with weight in them, one pair for each."""
        wanted = np.zeros(self.tree.node_count, dtype=bool)
        wanted[nodes] = True
        rows, found = self.tree.decision_path(self.rows).nonzero()
        kept = wanted[found] & (self.weights[rows] > 0)
        return found[kept], rows[kept]
