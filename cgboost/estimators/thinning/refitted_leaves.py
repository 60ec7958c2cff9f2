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

from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.boosted import BoostedMembers, LightGBMTrees
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, MemberKind, Members

COST = 10.0
"""C. From 1 to 100 test errors of the study hardly differ."""

UNIT_FOLDS = 3
"""Of the training rows, for the unit in which scores are logarithms of odds."""

UNITS = (1e-2, 1e2)
"""Between these the unit is looked for."""

LIBLINEAR_PASSES = 10_000
LIBLINEAR_TOL = 1e-4
"""Tolerance of liblinear, relative to its first gradient."""

Design = Any
"""A sparse matrix of rows and leaves."""

Keys = list[NDArray[Any]]


def is_refittable(members: Members) -> bool:
    """Whether these are the trees of a classifier, with a value in each leaf."""
    if members.classes is None:
        return False
    if isinstance(members, EstimatorMembers):
        return members.are_trees
    if isinstance(members, LightGBMTrees) and members.are_linear:
        return False
    return isinstance(members, BoostedMembers)


def leaves_of(members: Members, X: Any, places: Indices) -> NDArray[Any]:
    """The leaf of each row in each tree, by something that differs from leaf to leaf.

    Of trees of scikit-learn and LightGBM that is a number, of other boosting the value: two leaves
    of a tree with the same value are one.

    Returns
    -------
    ndarray of shape (n_rows, n_trees)
    """
    if isinstance(members, EstimatorMembers):
        rows = np.ascontiguousarray(np.asarray(X), dtype=np.float32)
        trees = [members.members[j].estimator.tree_ for j in places.tolist()]
        return np.column_stack([tree.apply(rows) for tree in trees])
    if isinstance(members, LightGBMTrees):
        return members.leaves(X, places)
    return members.outputs(X, places).reshape(len(X), -1)


class NumberedLeaves:
    """The leaves of some trees, numbered through.

    Parameters
    ----------
    keys : list of ndarray
        For each tree its leaves, in increasing order.
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self.starts = np.concatenate([[0], np.cumsum([len(own) for own in keys])])
        self._table: Indices | None = None
        if all(own.dtype.kind == "i" for own in keys):  # then one look-up serves all trees
            self._table = np.full((len(keys), max(int(own[-1]) for own in keys) + 2), -1)
            for tree, own in enumerate(keys):
                self._table[tree, own] = self.starts[tree] + np.arange(len(own))

    def numbers(self, found: NDArray[Any]) -> Indices:
        """Those of the leaves found, shape (n_rows, n_trees); −1 where a leaf is not known."""
        if self._table is not None:
            inside = np.minimum(found, self._table.shape[1] - 1)
            numbers: Indices = self._table[np.arange(len(self.keys)), inside]
            return numbers
        columns = []
        for tree, own in enumerate(self.keys):
            where = np.minimum(np.searchsorted(own, found[:, tree]), len(own) - 1)
            known = own[where] == found[:, tree]
            columns.append(np.where(known, self.starts[tree] + where, -1))
        return np.column_stack(columns)

    def indicators(self, numbers: Indices) -> Design:
        """1 for the leaves of a row, shape (n_rows, n_leaves)."""
        known = numbers >= 0
        rows = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = len(numbers), int(self.starts[-1])
        return sparse.csr_matrix((np.ones(int(rows[-1])), numbers[known], rows), shape=shape)


@dataclass(eq=False)
class RefittedLeaves(Members):
    """The members kept, with new values in their leaves; the sum of all is the model.

    Attributes
    ----------
    members : Members
    places : ndarray of int, shape (n_members,)
        Those kept.
    leaves : NumberedLeaves
        Of all trees; a leaf without training rows says nothing.
    values : ndarray of shape (n_leaves, n_outputs)
    gap : float
        Of the quadratic programs, relative; the largest.
    """

    members: Members
    places: Indices
    leaves: NumberedLeaves
    values: NDArray[np.float64]
    gap: float
    has_link: bool = True
    kind: MemberKind = field(default="score")

    def __post_init__(self) -> None:
        self.classes = self.members.classes
        self.weights = np.ones(len(self.places))

    def of(self, index: int) -> Any:
        """See :meth:`Members.of`."""
        return self.members.of(int(self.places[index]))

    def of_part(self) -> RefittedLeaves:
        """The same without the members that are not kept, where they can be left out."""
        if not isinstance(self.members, (EstimatorMembers, LightGBMTrees)):
            return self
        part = self.members.part(self.places)
        return replace(self, members=part, places=np.arange(len(self.places)))

    def node_values(self, index: int, count: int) -> NDArray[np.float64]:
        """What the nodes of a tree of scikit-learn say, shape (count, n_outputs); 0 but in leaves.

        Parameters
        ----------
        index : int
            The number of the tree among those kept.
        count : int
            Its number of nodes.
        """
        said = np.zeros((count, self.values.shape[1]))
        inside = slice(self.leaves.starts[index], self.leaves.starts[index + 1])
        said[self.leaves.keys[index]] = self.values[inside]
        return said

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """The sum of all members, shape (n_rows, n_outputs)."""
        numbers = self.leaves.numbers(leaves_of(self.members, X, self.places))
        return np.asarray(self.leaves.indicators(numbers) @ self.values)

    def outputs(self, X: Any, indices: Indices | None = None) -> Cube:
        """See :meth:`Members.outputs`."""
        chosen = np.arange(len(self)) if indices is None else indices
        numbers = self.leaves.numbers(leaves_of(self.members, X, self.places))
        padded = np.vstack([self.values, np.zeros(self.values.shape[1])])  # of −1
        numbers = numbers.reshape(len(numbers), len(self), -1)[:, chosen]
        return padded[numbers].sum(axis=2).astype(np.float32)


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
    leaves = NumberedLeaves(keys)
    design = leaves.indicators(leaves.numbers(found)) / np.sqrt(len(keys))
    coef, gap = _fitted(design, y, weights)
    coef = coef * _unit(design, y, weights)
    count = len(members.classes)
    if count > 2:
        coef = _of_all_classes(coef, known, count, len(keys))
    return RefittedLeaves(members, places, leaves, coef / np.sqrt(len(keys)), gap)


def _model() -> Any:
    from sklearn.svm import LinearSVC

    own = {"C": COST, "fit_intercept": False, "dual": True, "random_state": 0}
    return LinearSVC(**own, tol=LIBLINEAR_TOL, max_iter=LIBLINEAR_PASSES)


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

    if np.bincount(y).max() == len(y) or np.bincount(y)[np.unique(y)].min() < UNIT_FOLDS:
        return 1.0
    known, where = np.unique(y, return_inverse=True)
    scores = np.zeros((len(y), len(known)))
    for train, test in StratifiedKFold(UNIT_FOLDS, shuffle=True, random_state=0).split(design, y):
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
