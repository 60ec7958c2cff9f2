"""A thinned ensemble as a model of the library that it is from: weights folded into leaves.

A forest predicts the mean of its trees. The kept trees, with values v' = m·w_j·v + b for m trees,
have the mean Σ_j w_j v_j + b.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.boosted import (
    BoostedMembers,
    GradientTrees,
    HistogramTrees,
    LightGBMTrees,
    library_of,
)
from cgboost.estimators.thinning.leaves import LeafMembers
from cgboost.estimators.thinning.members import EstimatorMembers, Members
from cgboost.estimators.thinning.refitted_leaves import RefittedLeaves
from cgboost.exceptions import DataWarning, warn_caller

SAME_WEIGHTS = 1e-9
"""Weights that differ by less, relative to their mean, are equal: what a division leaves."""


@dataclass(frozen=True)
class Kept:
    """What is left of an ensemble: Σ_j weights_j h_j + intercept over the members kept.

    Attributes
    ----------
    members : Members
        Those kept alone where they are estimators; of boosting all.
    indices, weights : ndarray of shape (n_kept,)
        Of the members kept, among all.
    intercept : float or ndarray of shape (n_outputs,)
    n_features : int
    feature_names : ndarray of str or None
    """

    members: Members
    indices: Indices
    weights: Vector
    intercept: Any
    n_features: int
    feature_names: NDArray[Any] | None


def folded(kept: Kept) -> Callable[[Any], NDArray[Any]] | None:
    """One call for all members kept, without the intercept, where one at a time takes longer."""
    members = kept.members
    if isinstance(members, LightGBMTrees):
        return _Raw(members.weighed(kept.indices, kept.weights))
    if isinstance(members, HistogramTrees):
        return _Histograms(_histograms(kept, members.model))
    return None


class _Raw:
    """The raw score of a folded LightGBM model."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def __call__(self, X: Any) -> NDArray[Any]:
        found = np.asarray(self.booster.predict(X, raw_score=True))
        return found[:, None] if found.ndim == 1 else found


class _Histograms:
    """The raw score of folded histogram trees."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.model._raw_predict(X))


def to_sklearn(kept: Kept) -> Any:
    """See :meth:`ThinnedEnsemble.to_sklearn`."""
    members = kept.members
    if isinstance(members, RefittedLeaves):
        return _refitted_forest(kept, members)
    if isinstance(members, GradientTrees):
        return _gradient_boosting(kept, members.model)
    if isinstance(members, HistogramTrees):
        model = _histograms(kept, members.model)
        shape = model._baseline_prediction.shape
        constant = np.asarray(kept.intercept, dtype=np.float64)
        model._baseline_prediction = (
            np.full(shape, constant) if constant.ndim == 0 else constant.reshape(shape)
        )
        return model
    if isinstance(members, LeafMembers):
        raise ValueError(
            "leaves with their own weights are not trees of scikit-learn: thin whole trees "
            "(members='estimators') to export them"
        )
    if isinstance(members, BoostedMembers):
        raise ValueError(
            f"a model of {library_of(members.model)} has no counterpart in scikit-learn"
            + ("; export() gives a lightgbm.Booster" if isinstance(members, LightGBMTrees) else "")
        )
    assert isinstance(members, EstimatorMembers)
    if members.are_trees:
        return _forest_of(kept, members, _weighted_trees(kept, members))
    original = members.original
    if hasattr(original, "named_estimators_"):
        return _voting(kept, members)
    return _bagging(kept, members)


def export(kept: Kept) -> Any:
    """See :meth:`ThinnedEnsemble.export`."""
    members = kept.members
    if not isinstance(members, LightGBMTrees):
        return to_sklearn(kept)
    intercept = np.atleast_1d(kept.intercept) if np.any(kept.intercept) else None
    return members.weighed(kept.indices, kept.weights, intercept)


def _refitted_forest(kept: Kept, refit: RefittedLeaves) -> Any:
    """The kept trees as a forest, with their new values as shares of the classes.

    Shares are not below 0 and add up to 1, so scores are drawn together: their order is kept.
    """
    if isinstance(refit.members, BoostedMembers):
        raise ValueError(
            f"a model of {library_of(refit.members.model)} whose leaves serve all classes has no "
            "counterpart in its library: fit with leaf_values='keep' to export it"
        )
    assert isinstance(refit.members, EstimatorMembers)
    values, leaves = refit.values, refit.leaves
    values = np.hstack([-values, values]) if values.shape[1] == 1 else values
    values = values - values.mean(axis=1, keepdims=True)
    width = values.shape[1]
    unit = 1.0 / (width * float(np.abs(values).max()))
    trees = [copy.deepcopy(member.estimator) for member in refit.members.members]
    for tree, nodes, start in zip(trees, leaves.keys, leaves.starts[:-1], strict=True):
        tree.tree_.value[:] = 1.0 / width
        tree.tree_.value[nodes, 0, :] += unit * values[start : start + len(nodes)]
    warn_caller(
        "the forest has new values in its leaves: it predicts the same classes, but its "
        "predict_proba only ranks rows, with values close to equal shares. For probabilities, use "
        "the thinned ensemble itself, or leaf_values='keep'",
        DataWarning,
    )
    return _forest_of(kept, refit.members, trees)


def _forest_of(kept: Kept, members: EstimatorMembers, trees: list[Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    original = members.original
    classes = members.classes
    is_forest = hasattr(original, "bootstrap") and hasattr(original, "criterion")
    if is_forest:
        forest = copy.copy(original)
    else:
        forest = (RandomForestRegressor if classes is None else RandomForestClassifier)()
        forest.n_outputs_, forest.n_features_in_ = 1, kept.n_features
        if kept.feature_names is not None:
            forest.feature_names_in_ = kept.feature_names
        if classes is not None:
            forest.classes_, forest.n_classes_ = classes, len(classes)
        forest.estimator_ = members.members[0].estimator
    if classes is not None and not members.encoded:
        for tree in trees:
            tree.classes_ = np.arange(len(classes))
    forest.estimators_, forest.n_estimators = trees, len(trees)
    return forest


def _weighted_trees(kept: Kept, members: EstimatorMembers) -> list[Any]:
    """Copies of the kept trees whose mean is the model."""
    trees = [copy.deepcopy(member.estimator) for member in members.members]
    for tree, weight in zip(trees, kept.weights, strict=True):
        values = tree.tree_.value
        if members.classes is not None:
            values /= values.sum(axis=2, keepdims=True)
        if not _is_mean(kept.weights):
            values *= len(trees) * weight
        if np.any(kept.intercept):
            values += kept.intercept
    return trees


def _is_mean(weights: Vector) -> bool:
    """Whether a model is the plain mean of its members."""
    return bool(np.abs(weights * len(weights) - 1.0).max() <= SAME_WEIGHTS)


def _gradient_boosting(kept: Kept, original: Any) -> Any:
    """The kept stages, their weights in the leaves and the intercept in the first one."""
    model = copy.copy(original)
    model.estimators_ = copy.deepcopy(model.estimators_[kept.indices])
    model.n_estimators = model.n_estimators_ = len(model.estimators_)
    if model.init != "zero":
        model.init, model.init_ = None, _none_of_it(model)
    for of_all_stages in ("train_score_", "oob_improvement_", "oob_scores_", "oob_score_"):
        vars(model).pop(of_all_stages, None)
    for stage, weight in zip(model.estimators_, kept.weights, strict=True):
        for tree in stage:
            tree.tree_.value[:] *= weight
    first = model.estimators_[0]
    for tree, intercept in zip(first, np.broadcast_to(kept.intercept, len(first)), strict=True):
        tree.tree_.value[:] += intercept / model.learning_rate
    return model


def _none_of_it(model: Any) -> Any:
    """What the parameter init=None stands for, fitted so that its raw score is 0."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if not is_classifier(model):
        return DummyRegressor().fit([[0.0]], [0.0])
    labels = np.arange(len(model.classes_))
    return DummyClassifier(strategy="prior").fit(labels[:, None], labels)


def _histograms(kept: Kept, original: Any) -> Any:
    """The kept stages with weighted nodes, and a baseline of 0."""
    model = copy.copy(original)
    model._predictors = copy.deepcopy([model._predictors[k] for k in kept.indices])
    model.max_iter = len(model._predictors)
    model._baseline_prediction = np.zeros_like(original._baseline_prediction)
    for stage, weight in zip(model._predictors, kept.weights, strict=True):
        for tree in stage:
            tree.nodes["value"] *= weight
    return model


def _voting(kept: Kept, members: EstimatorMembers) -> Any:
    from sklearn.ensemble import VotingClassifier, VotingRegressor

    original = members.original
    classifies = members.classes is not None
    if classifies and original.voting == "hard":
        raise ValueError("a VotingClassifier of hard votes has no weighted probabilities to keep")
    if np.any(kept.intercept):
        raise ValueError(
            "a VotingRegressor has no intercept, the thinned model has one of "
            f"{float(kept.intercept):.4g}"
        )
    total = float(kept.weights.sum())
    if not classifies and abs(total - 1.0) > SAME_WEIGHTS:
        raise ValueError(f"a VotingRegressor forms a mean, the weights kept add up to {total:.4g}")
    names = [original.estimators[k] for k in kept.indices]
    voting = (VotingClassifier if classifies else VotingRegressor)(names, weights=kept.weights)
    if classifies:
        voting.voting, voting.flatten_transform = "soft", original.flatten_transform
        voting.classes_, voting.le_ = original.classes_, original.le_
    voting.estimators_ = [member.estimator for member in members.members]
    voting.named_estimators_ = Bunch(
        **{name: fitted for (name, _), fitted in zip(names, voting.estimators_, strict=True)}
    )
    return voting


def _bagging(kept: Kept, members: EstimatorMembers) -> Any:
    original = members.original
    if original is None or not hasattr(original, "estimators_samples_"):
        raise ValueError(
            "members that are not trees, of an ensemble without weights in scikit-learn, cannot be "
            "converted to a model of scikit-learn: use the thinned ensemble itself"
        )
    trees = all(hasattr(member.estimator, "tree_") for member in members.members)
    if not trees and (not _is_mean(kept.weights) or np.any(kept.intercept)):
        raise ValueError(
            "bagging forms a plain mean, but the kept members have different weights or an "
            "intercept: choose weights='equal' and a classifier, or members that are trees"
        )
    bagging = copy.copy(original)
    plain = [member.estimator for member in members.members]
    bagging.estimators_ = _weighted_trees(kept, members) if trees else plain
    bagging.estimators_features_ = [
        np.arange(kept.n_features) if member.features is None else member.features
        for member in members.members
    ]
    bagging.n_estimators = len(bagging.estimators_)
    bagging._seeds = original._seeds[kept.indices]  # which rows each of them has seen
    return bagging
