"""New values for the leaves of the trees kept, all of them at once ("global refinement").

    f_k(x) = Σ_t v_k[leaf of x in tree t],

and for each class k against the rest (t_i = ±1), with T trees,

    min over v   ½ T Σ v² + C Σ_i s_i max(0, 1 − t_i f(x_i))²

the ridge of columns h/√T, so that C means the same for any number of trees. The leaves of a tree
then serve all classes, also those of boosting, whose trees were grown for one class each.

Ren, Cao, Wei, Sun, *Global refinement of random forest*, CVPR 2015.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from cgboost.estimators.thinning.boosted import BoostedMembers
from cgboost.estimators.thinning.members import (
    Cube,
    EstimatorMembers,
    Indices,
    Kind,
    Members,
    Vector,
)

COST = 10.0
"""C. From 1 to 100 test errors of the study hardly differ."""

FOLDS = 3
"""Of the training rows, for the unit in which scores are logarithms of odds."""

UNITS = (1e-2, 1e2)
"""Between these the unit is looked for."""

MOST_PASSES = 10_000
SOLVED = 1e-4
"""Tolerance of liblinear, relative to its first gradient."""

Design = Any
"""A sparse matrix of rows and leaves."""

Keys = list[NDArray[Any]]


def is_refittable(members: Members) -> bool:
    """Whether these are the trees of a classifier, whose leaves can be told apart."""
    if members.classes is None:
        return False
    if isinstance(members, EstimatorMembers):
        return members.are_trees
    return isinstance(members, BoostedMembers)


def leaves_of(members: Members, X: Any, places: Indices) -> NDArray[Any]:
    """The leaf of each row in each tree, by something that differs from leaf to leaf.

    Of trees of scikit-learn that is the number of the node, of boosting the value: two leaves of a
    tree with the same value are one.

    Returns
    -------
    ndarray of shape (n_rows, n_trees)
    """
    if isinstance(members, EstimatorMembers):
        rows = np.ascontiguousarray(np.asarray(X), dtype=np.float32)
        trees = [members.members[j].estimator.tree_ for j in places.tolist()]
        return np.column_stack([tree.apply(rows) for tree in trees])
    return members.outputs(X, places).reshape(len(X), -1)


@dataclass(eq=False)
class RefittedLeaves(Members):
    """The members kept, with new values in their leaves; the sum of all is the model.

    Attributes
    ----------
    members : Members
    places : ndarray of int, shape (n_members,)
        Those kept.
    keys : list of ndarray
        For each tree its leaves, in increasing order.
    values : list of ndarray of shape (n_leaves, n_outputs)
        Of these leaves; a leaf without training rows says nothing.
    gap : float
        Of the quadratic programs, relative; the largest.
    """

    members: Members
    places: Indices
    keys: Keys
    values: list[NDArray[np.float64]]
    gap: float
    has_link: bool = True
    kind: Kind = field(default="score")

    def __post_init__(self) -> None:
        self.classes = self.members.classes
        self.weights = np.ones(len(self.places))

    def of(self, index: int) -> Any:
        """See :meth:`Members.of`."""
        return self.members.of(int(self.places[index]))

    def of_part(self) -> RefittedLeaves:
        """The same without the members that are not kept, where they can be left out."""
        if not isinstance(self.members, EstimatorMembers):
            return self
        part = self.members.part(self.places)
        return replace(self, members=part, places=np.arange(len(self.places)))

    def outputs(self, X: Any, indices: Indices | None = None) -> Cube:
        """See :meth:`Members.outputs`."""
        chosen = np.arange(len(self)) if indices is None else indices
        found = leaves_of(self.members, X, self.places[chosen])
        per_member = len(self.keys) // len(self)
        cube = np.zeros((len(found), len(chosen), self.values[0].shape[1]), dtype=np.float32)
        for column in range(found.shape[1]):
            place = column // per_member
            tree = int(chosen[place]) * per_member + column % per_member
            where, known = _placed(self.keys[tree], found[:, column])
            cube[:, place] += np.where(known[:, None], self.values[tree][where], 0.0)
        return cube


def refitted(
    members: Members, places: Indices, X: Any, y: NDArray[Any], weights: Vector
) -> RefittedLeaves:
    """New values of all leaves of the members kept.

    Parameters
    ----------
    members : Members
        See :func:`is_refittable`.
    places : ndarray of int, shape (n_kept,)
    X : array-like of shape (n_rows, n_features)
    y : ndarray of int, shape (n_rows,)
        Places of classes.
    weights : ndarray of shape (n_rows,)

    Raises
    ------
    ValueError
        If all rows are of one class.
    """
    assert members.classes is not None
    known = np.unique(y)
    if len(known) < 2:
        raise ValueError("leaf_values='refit' needs rows of two classes at least, y has one")
    found = leaves_of(members, X, places)
    keys = [np.unique(found[:, t]) for t in range(found.shape[1])]
    design = _design(found, keys)
    coef, gap = _fitted(design, y, weights)
    coef = coef * _unit(design, y, weights)
    count = len(members.classes)
    if count > 2:
        coef = _of_all_classes(coef, known, count, len(keys))
    ends = np.cumsum([len(own) for own in keys])[:-1]
    values = np.split(coef / np.sqrt(len(keys)), ends)
    return RefittedLeaves(members, places, keys, values, gap)


def _placed(keys: NDArray[Any], found: NDArray[Any]) -> tuple[Indices, NDArray[np.bool_]]:
    """Where the leaves stand among the keys, and which of them do."""
    where = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
    return where, keys[where] == found


def _design(found: NDArray[Any], keys: Keys) -> Design:
    """Indicators of all leaves, each divided by √T."""
    n_rows, count = found.shape
    starts = np.concatenate([[0], np.cumsum([len(own) for own in keys])])
    columns = np.column_stack([_placed(own, found[:, t])[0] for t, own in enumerate(keys)])
    columns = columns + starts[:-1]
    entries = np.full(n_rows * count, 1.0 / np.sqrt(count))
    rows = np.arange(0, n_rows * count + 1, count)
    return sparse.csr_matrix((entries, columns.ravel(), rows), shape=(n_rows, starts[-1]))


def _model() -> Any:
    from sklearn.svm import LinearSVC

    own = {"C": COST, "fit_intercept": False, "dual": True, "random_state": 0}
    return LinearSVC(**own, tol=SOLVED, max_iter=MOST_PASSES)


def _fitted(design: Design, y: NDArray[Any], weights: Vector) -> tuple[NDArray[np.float64], float]:
    """Coefficients of shape (n_leaves, n_outputs), and the largest relative gap."""
    coef = np.asarray(_model().fit(design, y, sample_weight=weights).coef_.T, dtype=np.float64)
    outputs, known = design @ coef, np.unique(y)
    positive = known[1:] if coef.shape[1] == 1 else known
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * outputs)
    costs = COST * weights[:, None]
    duals = 2.0 * costs * slack
    primal = 0.5 * (coef**2).sum(axis=0) + (costs * slack**2).sum(axis=0)
    ridge = 0.5 * ((design.T @ (duals * signs)) ** 2).sum(axis=0)
    bound = duals.sum(axis=0) - ridge - (costs * slack**2).sum(axis=0)
    return coef, float(np.max((primal - bound) / primal))


def _unit(design: Design, y: NDArray[Any], weights: Vector) -> float:
    """By how much scores are multiplied to be logarithms of odds, by scores across folds."""
    from sklearn.model_selection import StratifiedKFold

    if np.bincount(y).max() == len(y) or np.bincount(y)[np.unique(y)].min() < FOLDS:
        return 1.0
    known, where = np.unique(y, return_inverse=True)
    scores = np.zeros((len(y), len(known)))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(design, y):
        model = _model().fit(design[train], y[train], sample_weight=weights[train])
        own = design[test] @ model.coef_.T
        scores[test] = np.column_stack([np.zeros(len(own)), own[:, 0]]) if len(known) == 2 else own

    def log_loss(power: float) -> float:
        own = np.exp(power) * scores
        return float(weights @ (logsumexp(own, axis=1) - own[np.arange(len(y)), where]))

    limits = tuple(np.log(UNITS))
    return float(np.exp(minimize_scalar(log_loss, bounds=limits, method="bounded").x))


def _of_all_classes(
    coef: NDArray[np.float64], known: NDArray[Any], count: int, n_trees: int
) -> NDArray[np.float64]:
    """Coefficients for all classes; one without rows has the score −1."""
    if coef.shape[1] == 1:
        coef = np.hstack([-coef, coef])
    every = np.full((len(coef), count), -1.0 / np.sqrt(n_trees))
    every[:, known] = coef
    return every
