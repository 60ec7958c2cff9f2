"""What members say of rows that they have not seen, where the rows are those of the ensemble.

A member that has seen a row knows its label. Three ways to ask it fairly:

* out of bag: of a bootstrap sample a third of the rows is left out. Where a member has seen row i,
  its entry is the mean over the members that have not, so that it speaks neither for nor against
  it (an absent entry is neutral).
* leave one out: a tree fitted to all rows has, in the leaf of row i, n values; without the row's
  own the leaf says (n v − y_i)/(n − 1). Where the row is alone, the node above it is asked. The
  splits have still seen the row: this tells trees apart, and is no estimate of their errors.
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

from cgboost.arrays import Mask, Vector
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, Members

TREES_READ = 20
"""From which the weights of rows are read."""

ALONE = 1e-6
"""A row that leaves less than this share of the weight of its node is alone in it: rounding."""


def drawn_entries(ensemble: Any, n_rows: int) -> Mask | None:
    """Which member was fitted to which row, shape (n_rows, n_members); None without samples.

    Parameters
    ----------
    ensemble : fitted ensemble
        With ``estimators_samples_``: the rows of each member, drawn again from its seed.
    n_rows : int
        Of the rows that it was fitted to.
    """
    if getattr(ensemble, "bootstrap", None) is False and hasattr(ensemble, "criterion"):
        return None  # a forest on all rows
    if samples_are_lost(ensemble):
        return None
    if len(seeds := _seeds(ensemble)):
        ensemble = copy.copy(ensemble)
        ensemble._seeds = seeds
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
    members: EstimatorMembers, X: Any, y: NDArray[Any], weights: NDArray[np.float64]
) -> Cube:
    """What trees say of training rows without the value of the row itself.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Numbers, or places of classes.
    weights : ndarray of shape (n_rows,)
        Of the rows, when the trees were fitted.
    """
    rows = np.asarray(X, dtype=np.float32)
    width = 1 if members.classes is None else len(members.classes)
    own = y[:, None].astype(float) if width == 1 else np.eye(width)[y]
    each = [
        _leave_one_out(member.estimator.tree_, rows, own, weights) for member in members.members
    ]
    return np.stack(each, axis=1)


def _leave_one_out(
    tree: Any,
    rows: NDArray[np.float32],
    own: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Cube:
    above = np.zeros(tree.node_count, dtype=np.intp)
    for children in (tree.children_left, tree.children_right):
        inner = np.flatnonzero(children >= 0)
        above[children[inner]] = inner
    node, counts = tree.apply(rows), tree.weighted_n_node_samples
    values = tree.value[:, 0, :]
    if own.shape[1] > 1:
        values = values / values.sum(axis=1, keepdims=True)
    while (alone := (counts[node] - weights < ALONE * counts[node]) & (node > 0)).any():
        node = np.where(alone, above[node], node)
    rest = np.maximum(counts[node] - weights, ALONE)[:, None]
    found = (counts[node][:, None] * values[node] - weights[:, None] * own) / rest
    return found.astype(np.float32)
