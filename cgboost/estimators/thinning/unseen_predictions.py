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

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Mask
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, Members

TREES_CHECKED = 20
"""Of a forest: one alone may have the right mean by chance."""

ALONE = 1e-6
"""A row that leaves less than this share of the weight of its node is alone in it: rounding."""

BY_CHANCE = 0.01
"""A row says whether it was in the fit if a new one would seem so with this probability at most."""

ROWS_COMPARED = 500
"""Rows that are compared with those of the fit: each takes a product over all of them."""

SAME_MEAN = 1e-6
"""Means of y that differ by less, relative to its spread, are the same: trees keep them as float64,
the targets of some forests are float32."""


def drawn_rows(ensemble: Any) -> list[NDArray[Any]] | None:
    """The rows of each member, drawn again from its seed; None without bootstrap."""
    if getattr(ensemble, "bootstrap", None) is False and hasattr(ensemble, "criterion"):
        return None  # a forest on all rows
    samples = getattr(ensemble, "estimators_samples_", None)
    return None if samples is None else [np.asarray(rows) for rows in samples]


def unseen_entries(samples: list[NDArray[Any]] | None, n_rows: int) -> Mask | None:
    """Which member has not seen which row, shape (n_rows, n_members); None where that is not known.

    Parameters
    ----------
    samples : list of ndarray or None
        The rows of each member.
    n_rows : int
        Of the rows that the ensemble was fitted to.
    """
    if samples is None:
        return None
    unseen = np.ones((n_rows, len(samples)), dtype=bool)
    for j, rows in enumerate(samples):
        own = np.flatnonzero(rows) if rows.dtype == bool else rows
        if own.size and own.max() >= n_rows:
            return None
        unseen[own, j] = False
    return unseen if unseen.any(axis=1).mean() > 0.5 else None


def is_training_set(
    ensemble: Any, y: NDArray[Any], samples: Sequence[NDArray[Any] | None] | None
) -> bool:
    """Whether these are the rows that the trees were fitted to, by the mean of y at their roots.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Numbers, or places of classes.
    samples : sequence of ndarray or None
        The rows of each tree; None: all.
    """
    trees = trees_of(ensemble)[:TREES_CHECKED]
    own = [None] * len(trees) if samples is None else samples[: len(trees)]
    return bool(trees) and all(
        _is_root_of(tree, y, rows) for tree, rows in zip(trees, own, strict=True)
    )


def trees_of(ensemble: Any) -> list[Any]:
    """The trees of a forest; none of anything else."""
    members = getattr(ensemble, "estimators_", ())
    members = list(members) if isinstance(members, Sequence) else []
    return [one.tree_ for one in members] if all(hasattr(o, "tree_") for o in members) else []


def share_of_known(unseen: Mask, wrong: Mask) -> tuple[float, int]:
    """Of rows that many members are wrong on, the share that may be rows of the fit.

    Members that have memorised their rows are wrong only on others: a row of the fit has a place
    there that no wrong member has drawn. Of a new row with m wrong members that is so by chance
    with a probability of at most n·q^m, if a member leaves out the share q of the n rows.

    Parameters
    ----------
    unseen : ndarray of bool, shape (n_rows_of_the_fit, n_members)
    wrong : ndarray of bool, shape (n_rows, n_members)

    Returns
    -------
    share : float
    count : int
        The rows that say something.
    """
    drawn = (~unseen).astype(np.float32).T
    left_out = min(max(float(unseen.mean()), 1e-3), 0.999)
    least = np.log(BY_CHANCE / len(unseen)) / np.log(left_out)
    telling = np.flatnonzero(wrong.sum(axis=1) >= least)[:ROWS_COMPARED]
    if not len(telling):
        return 0.0, 0
    clashes = wrong[telling].astype(np.float32) @ drawn
    return float(np.mean(clashes.min(axis=1) == 0)), len(telling)


def _is_root_of(root: Any, y: NDArray[Any], rows: Any) -> bool:
    """Whether a tree may have been fitted to these rows; None: to all."""
    if rows is None:
        counts = np.ones(len(y), dtype=np.intp)
        if root.n_node_samples[0] != len(y):
            return False
    else:
        counts = np.bincount(np.asarray(rows), minlength=len(y))
        if len(counts) != len(y):
            return False
    values = root.value[0, 0]
    if len(values) > 1:
        own = np.bincount(y.astype(np.intp), counts, len(values))[: len(values)]
        return bool(np.allclose(own / own.sum(), values / values.sum(), atol=SAME_MEAN))
    mean, spread = float(counts @ y / counts.sum()), float(np.std(y)) or 1.0
    return abs(mean - float(values[0])) <= SAME_MEAN * spread


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
