"""Whether rows are what the user says: those that an ensemble was fitted to, or new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Mask, Vector
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, Members
from cgboost.estimators.thinning.unseen_predictions import drawn_entries, samples_are_lost
from cgboost.exceptions import DataWarning, warn_caller

TREES_CHECKED = 20
"""Of an ensemble: one small tree alone may have as many rows in its leaves by chance."""

BY_CHANCE = 0.01
"""A row says whether it was in the fit if a new one would seem so with this probability at most."""

ROWS_COMPARED = 500
"""Rows that are compared with those of the fit: each takes a product over all of them."""

MOST_ENTRIES = 60_000_000
"""Rows of the fit times members for which this is done."""

KNOWN_SHARE, LEAST_TELLING = 0.2, 5
"""At least so many rows, and of these this share, have to look like rows of the fit. By chance one
in a hundred does."""

SAME_VALUE = 1e-5
"""Predictions that differ from y by less, relative to the largest |y|, are right: float32."""

MEMORISED = 0.999
"""Members that are right on this share of the rows, in the mean, have memorised them."""


def fill_their_leaves(ensemble: Any, members: Members, X: Any, weights: Vector) -> bool | None:
    """Whether these rows fill the leaves of the trees as those of the fit did; None: unknown.

    A tree keeps how many different rows of its sample came to each leaf. The rows of the fit come
    there again, whatever their weights, labels and the criterion were; others, or the same ones in
    an order that does not belong to the samples, leave some leaf with fewer. Of a regressor of
    AdaBoost the samples are forgotten, and have rows several times: some row comes to each leaf.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        AdaBoost's trees do not count rows of weight 0.
    """
    own = members.members if isinstance(members, EstimatorMembers) else []
    resampled = hasattr(ensemble, "estimator_weights_") and members.classes is None  # by AdaBoost
    if isinstance(ensemble, (list, tuple)) or samples_are_lost(ensemble) or not own:
        return None
    if not all(hasattr(member.estimator, "tree_") for member in own):
        return None
    if max(member.estimator.tree_.node_count for member in own) == 1:
        return None
    fitted_to = getattr(ensemble, "_n_samples", None)
    counted = np.ones(len(X), dtype=bool)
    if fitted_to is None:
        fitted_to = max(int(member.estimator.tree_.n_node_samples[0]) for member in own)
        counted = counted if fitted_to == len(X) else weights > 0
    if fitted_to != counted.sum():
        return False
    drawn = drawn_entries(ensemble, len(X), TREES_CHECKED)
    for j, member in enumerate(own[:TREES_CHECKED]):
        tree = member.estimator.tree_
        leaves = tree.apply(np.asarray(member.seen(X), dtype=np.float32))
        leaves = leaves[counted if drawn is None else drawn[:, j]]
        found = np.bincount(leaves, minlength=tree.node_count)
        least = np.minimum(tree.n_node_samples, 1) if resampled else tree.n_node_samples
        if np.any((found < least) & (tree.children_left < 0)):
            return False
    return None if resampled else True


def check_training_rows(ensemble: Any, members: Members, X: Any, weights: Vector) -> None:
    """Refuse rows that are said to be those of the fit, and are not."""
    if samples_are_lost(ensemble):
        raise ValueError(
            f"training_rows=True asks members about the rows that they left out, but with "
            f"warm_start=True scikit-learn keeps the seeds of the last fit alone, and those before "
            f"do not follow from random_state={ensemble.random_state!r}: give new rows with "
            "training_rows=False, or fit the ensemble at once"
        )
    count, fitted_to = len(X), getattr(ensemble, "_n_samples", len(X))
    wrong = f", {fitted_to} of them, got {count}" if fitted_to != count else ""
    if wrong or fill_their_leaves(ensemble, members, X, weights) is False:
        found = "" if wrong else ", and these do not fill the leaves of its trees as those did"
        raise ValueError(
            f"training_rows=True says that X has all rows of the fit in their order{wrong}{found}: "
            "members are asked about those that they left out. Give all of them (with their "
            "sample_weight, where it is 0 for some), or new rows with training_rows=False"
        )


def warn_of_known_rows(
    ensemble: Any, members: Members, X: Any, weights: Vector, outputs: Cube, y: NDArray[Any]
) -> bool:
    """Whether rows that are said to be new are all those of the fit, or some of them."""
    fitted_to = int(getattr(ensemble, "_n_samples", 0))
    if fill_their_leaves(ensemble, members, X, weights):
        found = "the rows fill the leaves of the trees exactly as those of their fit did"
    elif 0 < fitted_to * len(members) <= MOST_ENTRIES and isinstance(members, EstimatorMembers):
        drawn = drawn_entries(ensemble, fitted_to)
        wrong = wrong_entries(members, outputs, y)
        share, count = (0.0, 0) if drawn is None else share_of_known(~drawn, wrong)
        if count < LEAST_TELLING or share < KNOWN_SHARE:
            return False
        found = (
            f"about {share:.0%} of the rows seem to be among the {fitted_to} that the ensemble was "
            "fitted to"
        )
    else:
        return False
    warn_caller(
        f"training_rows=False says that the rows are new, but {found}, and most members know them. "
        "Give only new rows, or all of the fit in their order with training_rows=True",
        DataWarning,
    )
    return True


def wrong_entries(members: Members, outputs: Cube, y: NDArray[Any]) -> Mask:
    """Which member is wrong on which row, shape (n_rows, n_members)."""
    if members.kind == "probability":
        return np.asarray(outputs.argmax(axis=2) != y[:, None])
    return np.asarray(np.abs(outputs[:, :, 0] - y[:, None]) > SAME_VALUE * np.abs(y).max())


def share_of_known(unseen: Mask, wrong: Mask) -> tuple[float, int]:
    """Of rows that many members are wrong on, the share that may be rows of the fit.

    Members that have memorised their rows are wrong only on others: a row of the fit has a place
    there that no wrong member has drawn. Of a new row with m wrong members that is so by chance
    with a probability of at most n·q^m, if a member leaves out the share q of the n rows. Rows that
    are drawn less than half as often as the mean, as those of weight 0, are not compared.

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
    often = 2.0 * (~unseen).mean(axis=1) > (~unseen).mean()
    if not often.any():
        return 0.0, 0
    drawn = (~unseen[often]).astype(np.float32).T
    left_out = min(max(float(unseen[often].mean()), 1e-3), 0.999)
    least = np.log(BY_CHANCE / len(unseen)) / np.log(left_out)
    telling = np.flatnonzero(wrong.sum(axis=1) >= least)[:ROWS_COMPARED]
    if not len(telling):
        return 0.0, 0
    clashes = wrong[telling].astype(np.float32) @ drawn
    return float(np.mean(clashes.min(axis=1) == 0)), len(telling)


def warn_of_memory(members: Members, outputs: Cube, y: NDArray[Any]) -> None:
    """Say so where members are right on nearly all rows: these do not tell them apart."""
    if members.kind == "score" or len(members) < 2 or not np.any(y != y[0]):
        return
    right = 1.0 - float(wrong_entries(members, outputs, y).mean())
    if members.kind == "value":
        right = 1.0 - float(np.mean((outputs[:, :, 0] - y[:, None]) ** 2)) / float(np.var(y))
    if right > MEMORISED:
        warn_caller(
            f"the members are right on {right:.1%} of these rows: they seem to have memorised "
            "them, and the rows do not show which members are better. Give rows that the ensemble "
            "was not fitted to, with training_rows=False",
            DataWarning,
        )
