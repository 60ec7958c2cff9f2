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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Mask
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, Members

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
    samples = getattr(ensemble, "estimators_samples_", None)
    if samples is None:
        return None
    drawn = np.zeros((n_rows, len(samples)), dtype=bool)
    for j, rows in enumerate(samples):
        drawn[np.asarray(rows), j] = True
    return drawn


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
