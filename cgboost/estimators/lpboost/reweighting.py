"""New weights for the members of a given ensemble, most of them zero.

The members of a forest, of AdaBoost, or any fitted classifiers are a fixed pool of columns: −1 and
1 for the two classes, on the rows given. The linear program of LPBoost over this pool,

    min Σ|α_j| + C Σ_i w_i max(0, 1 − y_i Σ_j α_j h_j(x_i)),

has a sparse optimum: members of weight zero can be discarded. Use rows that the members were not
fitted to, or a small C, because members look better than they are on rows they have memorised.

:class:`~cgboost.ThinnedEnsemble` solves the same program over out-of-sample predictions of the
members, with one weight per member for any number of classes, and for regression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from cgboost.estimators.common.fitted_methods import NumberPerFeature
from cgboost.estimators.common.inputs import costs, read_weights
from cgboost.estimators.common.parameters import (
    check_choice,
    check_count,
    check_number,
    check_solver,
)
from cgboost.estimators.thinning.members import Member, inner_estimators, listed
from cgboost.estimators.thinning.problem import Problem, solve
from cgboost.exceptions import TrivialModelWarning, see, warn_caller
from cgboost.generation.history import Result
from cgboost.losses import Hinge
from cgboost.masters.support_vector.master import Offset, Sign
from cgboost.optimizers.solver_options import checked_options

Vector = NDArray[np.float64]
Predicts = Literal["auto", "label", "index"]


@dataclass(frozen=True)
class ReweightedEnsemble:
    """The members of an ensemble with a nonzero weight, and their weights.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list
        The members with a nonzero weight.
    indices_ : ndarray of shape (n_kept,)
        Their indices among the given members.
    column_weights_ : ndarray of shape (n_kept,), or (n_classes, n_kept) with more than two classes
    intercept_ : float, or ndarray of shape (n_classes,)
    objective_, dual_bound_, gap_ : float
        As in :class:`~cgboost.CGBoostClassifier`: sums over the classes, and the largest gap.
    converged_ : bool
        Whether the weights are optimal up to ``tol``; False if ``max_members`` stopped the search.
    """

    classes_: NDArray[Any]
    indices_: NDArray[np.intp]
    column_weights_: Vector
    intercept_: float | Vector
    objective_: float
    dual_bound_: float
    gap_: float
    converged_: bool
    members: list[Member] = field(repr=False)
    indexed: bool = field(repr=False)

    coef_ = NumberPerFeature()

    @property
    def estimators_(self) -> list[Any]:
        """The members with a nonzero weight."""
        return [member.estimator for member in self.members]

    def decision_function(self, X: Any) -> Vector:
        """Weighted vote: shape (n_rows,), or (n_rows, n_classes) with more than two classes."""
        outputs = np.empty((len(X), len(np.atleast_2d(self.column_weights_))))
        outputs[:] = self.intercept_
        for member, coef in zip(self.members, np.atleast_2d(self.column_weights_).T, strict=True):
            votes = _votes(member, X, self.classes_, indexed=self.indexed)
            outputs += votes * coef
        return outputs[:, 0] if len(self.classes_) == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest vote, shape (n_rows,)."""
        outputs = self.decision_function(X)
        if len(self.classes_) == 2:
            return self.classes_[(outputs > 0).astype(np.intp)]
        return self.classes_[outputs.argmax(axis=1)]

    def score(self, X: Any, y: ArrayLike) -> float:
        """Share of rows with a correct prediction."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


def reweight(
    estimators: Any,
    X: Any,
    y: ArrayLike,
    *,
    C: float = 1.0,
    classes: ArrayLike | None = None,
    predicts: Predicts = "auto",
    coef: Sign = "nonneg",
    offset: Offset = "none",
    max_members: int | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-6,
    solver: str = "auto",
    solver_options: Mapping[str, Any] | None = None,
) -> ReweightedEnsemble:
    """Weight the members of an ensemble by the linear program of LPBoost, and drop the others.

    Parameters
    ----------
    estimators : fitted ensemble, or sequence of fitted members
        An ensemble with ``estimators_`` (forests, AdaBoost, bagging), or its members: classifiers,
        or regressors and functions ``h(X) -> (n_rows,)`` whose values are used unchanged (two
        classes only). For example, the trees of a LightGBM model are the functions ``lambda X, k=k:
        booster.predict(X, raw_score=True, start_iteration=k, num_iteration=1)``.
    X, y : rows and labels
        Preferably not the rows that the members were fitted to.
    C : float, default=1.0
        Cost of one unit of margin error; a smaller C keeps fewer members.
    classes : array-like of shape (n_classes,) or None
        All labels, sorted. None: the labels of the ensemble, or else of y.
    predicts : {"auto", "label", "index"}
        Whether the members predict labels or, like the trees of a forest, indices into
        ``classes``. "auto" decides from their ``classes_``.
    coef : {"nonneg", "free"}
        Whether a member may vote against its own prediction.
    offset : {"none", "penalized", "free"}
    max_members : int or None
        Maximum number of members to keep (per class, with more than two). The weights are then
        optimal for the chosen members.
    sample_weight : array-like of shape (n_rows,) or None
    tol, solver, solver_options
        As in :class:`~cgboost.CGBoostClassifier`.

    Returns
    -------
    ReweightedEnsemble

    Raises
    ------
    ValueError
        For invalid arguments, which the message names; also if "auto" cannot tell labels from
        indices.
    """
    check_number("C", C, above=0)
    check_choice("coef", coef, get_args(Sign))
    check_choice("offset", offset, get_args(Offset))
    check_choice("predicts", predicts, get_args(Predicts))
    check_count("max_members", max_members, optional=True)
    check_number("tol", tol, at_least=0)
    check_solver("solver", solver, "lp")
    checked_options(solver, solver_options)
    labels = np.asarray(y)
    known = _classes(estimators, labels, classes)
    members = listed(inner_estimators(estimators), estimators)
    indexed = _indexed(members, known, predicts)
    weights = costs(C, read_weights(sample_weight, labels))
    votes = np.stack([_votes(member, X, known, indexed=indexed) for member in members], axis=2)
    if votes.shape[0] != len(labels):
        raise ValueError(f"X and y must have one entry a row, got {votes.shape[0]}, {len(labels)}")
    positives = [known[1]] if len(known) == 2 else list(known)
    own: dict[str, Any] = {"tol": tol, "solver": solver, "solver_options": solver_options}
    results = []
    for k, label in enumerate(positives):
        signs = np.where(labels == label, 1.0, -1.0)
        problem = Problem(votes[:, k], signs, weights, Hinge(), offset)
        choice, _ = solve(problem, 1.0, coef=coef, max_columns=max_members, **own)
        assert choice.result is not None
        results.append(choice.result)
    if failed := [result.message for result in results if result.error is not None]:
        warn_caller(f"reweight: {'; '.join(failed)}{see('stopped-early')}", ConvergenceWarning)
    return _thinned(members, results, known, indexed=indexed, tol=tol)


def _thinned(
    members: list[Member],
    results: list[Result],
    classes: NDArray[Any],
    *,
    indexed: bool,
    tol: float,
) -> ReweightedEnsemble:
    coef = np.zeros((len(results), len(members)))
    for row, result in zip(coef, results, strict=True):
        for column, weight in zip(result.columns, result.coef, strict=True):
            row[column.hypothesis.index] = weight  # type: ignore[union-attr]
    kept = np.flatnonzero(coef.any(axis=0))
    if not kept.size:
        warn_caller(
            "reweight: no member is worth its price: with this C the optimal weights are all 0; "
            f"a larger C may change that{see('trivial-models')}",
            TrivialModelWarning,
        )
    several = len(results) > 1
    gap = max(result.gap for result in results)
    return ReweightedEnsemble(
        classes_=classes,
        indices_=kept,
        column_weights_=coef[:, kept] if several else coef[0, kept],
        intercept_=(
            np.array([result.intercept for result in results]) if several else results[0].intercept
        ),
        objective_=sum(result.objective for result in results),
        dual_bound_=float(sum(-np.inf if r.bound is None else r.bound for r in results)),
        gap_=gap,
        converged_=bool(gap <= tol),
        members=[members[j] for j in kept],
        indexed=indexed,
    )


def _classes(estimators: Any, y: NDArray[Any], classes: ArrayLike | None) -> NDArray[Any]:
    given = getattr(estimators, "classes_", None) if classes is None else classes
    known = np.unique(y) if given is None else np.asarray(given)
    if len(known) < 2 or len(np.unique(known)) != len(known):
        raise ValueError(f"classes must be at least two different labels, got {known.tolist()}")
    unknown = sorted(set(y.tolist()) - set(known.tolist()), key=str)
    if unknown:
        raise ValueError(f"y has labels that are not in classes: {unknown[:5]}")
    return known


def _indexed(members: list[Member], classes: NDArray[Any], predicts: str) -> bool:
    """Whether the members predict places in ``classes`` instead of the labels in it."""
    if predicts != "auto":
        return predicts == "index"
    said = {label for member in members for label in member.classes or ()}
    labels = set(classes.tolist())
    places = set(range(len(classes)))
    if not said <= labels and not said <= places:
        raise ValueError(
            f"the members predict {sorted(said, key=str)[:5]}, which are neither labels in "
            f"classes={classes.tolist()} nor places of labels"
        )
    if said <= labels and said <= places and any(classes[int(place)] != place for place in said):
        raise ValueError(
            f"the members predict {sorted(said)}, which may be labels or their places in "
            f"classes={classes.tolist()}: give predicts='label' or predicts='index'"
        )
    return not said <= labels


def _votes(member: Member, X: Any, classes: NDArray[Any], *, indexed: bool) -> Vector:
    """Columns of a member: (n_rows, 1) for two classes, else ±1 for every class."""
    said = member.predict(X)
    positives = np.arange(len(classes)) if indexed else classes
    if len(classes) == 2:
        positives = positives[1:]
    if member.classes is not None:
        return np.where(said[:, None] == positives, 1.0, -1.0)
    if len(classes) > 2:
        raise ValueError(
            f"members without classes_ (regressors, functions) can be weighed for two classes "
            f"only, y has {len(classes)}; a regression ensemble cannot be reweighed"
        )
    return said[:, None].astype(np.float64)
