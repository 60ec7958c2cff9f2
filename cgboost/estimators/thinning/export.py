"""A thinned ensemble as a model of the library that it is from: weights folded into leaves.

A forest predicts the mean of its trees. The kept trees, with values v' = m·w_j·v + b for m trees,
have the mean Σ_j w_j v_j + b.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from cgboost.estimators.thinning.boosted import (
    GradientTrees,
    HistogramTrees,
    LightGBMTrees,
    library_of,
)
from cgboost.estimators.thinning.leaves import LeafMembers
from cgboost.estimators.thinning.members import EstimatorMembers
from cgboost.estimators.thinning.refitted_leaves import RefittedLeaves
from cgboost.exceptions import DataWarning, warn_caller

SAME_WEIGHTS = 1e-9
"""Weights that differ by less, relative to their mean, are equal: what a division leaves."""


def folded(self: Any) -> Callable[[Any], NDArray[Any]] | None:
    """One call for all members kept, without the intercept, where one at a time takes longer."""
    members = self._members
    if isinstance(members, LightGBMTrees):
        return _Raw(members.weighed(self.indices_, self.weights_))
    if isinstance(members, HistogramTrees):
        return _Histograms(_histograms(self))
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


def to_sklearn(self: Any) -> Any:
    """See :meth:`ThinnedEnsemble.to_sklearn`."""
    members = self._members
    if isinstance(members, RefittedLeaves):
        return _refitted_forest(self)
    if isinstance(members, GradientTrees):
        return _gradient_boosting(self)
    if isinstance(members, HistogramTrees):
        model = _histograms(self)
        shape = model._baseline_prediction.shape
        constant = np.asarray(self.intercept_, dtype=np.float64)
        model._baseline_prediction = (
            np.full(shape, constant) if constant.ndim == 0 else constant.reshape(shape)
        )
        return model
    if isinstance(members, LeafMembers):
        raise ValueError(
            "leaves with their own weights are not trees of scikit-learn: thin whole trees "
            "(members='estimators') to export them"
        )
    if not isinstance(members, EstimatorMembers):
        raise ValueError(
            f"a model of {library_of(members.model)} has no counterpart in scikit-learn"
            + ("; export() gives a lightgbm.Booster" if isinstance(members, LightGBMTrees) else "")
        )
    if members.are_trees:
        return _forest(self)
    original = members.original
    if hasattr(original, "named_estimators_"):
        return _voting(self)
    return _bagging(self)


def export(self: Any) -> Any:
    """See :meth:`ThinnedEnsemble.export`."""
    if not isinstance(self._members, LightGBMTrees):
        return to_sklearn(self)
    intercept = np.atleast_1d(self.intercept_) if np.any(self.intercept_) else None
    return self._members.weighed(self.indices_, self.weights_, intercept)


def _refitted_forest(self: Any) -> Any:
    """The kept trees as a forest, with their new values as shares of the classes.

    Shares are not below 0 and add up to 1, so scores are drawn together: their order is kept.
    """
    refit = self._members
    if not isinstance(refit.members, EstimatorMembers):
        raise ValueError(
            f"a model of {library_of(refit.members.model)} whose leaves serve all classes has no "
            "counterpart in its library: fit with leaf_values='keep' to export it"
        )
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
    return _forest_of(self, refit.members, trees)


def _forest(self: Any) -> Any:
    """The kept trees as a forest, with their weights in the values of all nodes."""
    return _forest_of(self, self._members, _weighted_trees(self))


def _forest_of(self: Any, members: EstimatorMembers, trees: list[Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    original = members.original
    classes = members.classes
    is_forest = hasattr(original, "bootstrap") and hasattr(original, "criterion")
    if is_forest:
        forest = copy.copy(original)
    else:
        forest = (RandomForestRegressor if classes is None else RandomForestClassifier)()
        forest.n_outputs_, forest.n_features_in_ = 1, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            forest.feature_names_in_ = self.feature_names_in_
        if classes is not None:
            forest.classes_, forest.n_classes_ = classes, len(classes)
        forest.estimator_ = members.members[0].estimator
    if classes is not None and not members.encoded:
        for tree in trees:
            tree.classes_ = np.arange(len(classes))
    forest.estimators_, forest.n_estimators = trees, len(trees)
    return forest


def _weighted_trees(self: Any) -> list[Any]:
    """Copies of the kept trees whose mean is the model."""
    members = self._members
    trees = [copy.deepcopy(member.estimator) for member in members.members]
    for tree, weight in zip(trees, self.weights_, strict=True):
        values = tree.tree_.value
        if members.classes is not None:
            values /= values.sum(axis=2, keepdims=True)
        if not _is_mean(self):
            values *= len(trees) * weight
        if np.any(self.intercept_):
            values += self.intercept_
    return trees


def _is_mean(self: Any) -> bool:
    """Whether the model is the plain mean of its members."""
    weights = self.weights_ * len(self.weights_)
    return bool(np.abs(weights - 1.0).max() <= SAME_WEIGHTS)


def _gradient_boosting(self: Any) -> Any:
    """The kept stages, their weights in the leaves and the intercept in the first one."""
    model = copy.copy(self._members.model)
    model.estimators_ = copy.deepcopy(model.estimators_[self.indices_])
    model.n_estimators = model.n_estimators_ = len(model.estimators_)
    if model.init != "zero":
        model.init, model.init_ = None, _none_of_it(model)
    for of_all_stages in ("train_score_", "oob_improvement_", "oob_scores_", "oob_score_"):
        vars(model).pop(of_all_stages, None)
    for stage, weight in zip(model.estimators_, self.weights_, strict=True):
        for tree in stage:
            tree.tree_.value[:] *= weight
    first = model.estimators_[0]
    for tree, intercept in zip(first, np.broadcast_to(self.intercept_, len(first)), strict=True):
        tree.tree_.value[:] += intercept / model.learning_rate
    return model


def _none_of_it(model: Any) -> Any:
    """What the parameter init=None stands for, fitted so that its raw score is 0."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if not is_classifier(model):
        return DummyRegressor().fit([[0.0]], [0.0])
    labels = np.arange(len(model.classes_))
    return DummyClassifier(strategy="prior").fit(labels[:, None], labels)


def _histograms(self: Any) -> Any:
    """The kept stages with weighted nodes, and a baseline of 0."""
    members = self._members
    model = copy.copy(members.model)
    model._predictors = copy.deepcopy([model._predictors[k] for k in self.indices_])
    model.max_iter = len(model._predictors)
    model._baseline_prediction = np.zeros_like(members.model._baseline_prediction)
    for stage, weight in zip(model._predictors, self.weights_, strict=True):
        for tree in stage:
            tree.nodes["value"] *= weight
    return model


def _voting(self: Any) -> Any:
    from sklearn.ensemble import VotingClassifier, VotingRegressor

    members, original = self._members, self._members.original
    classifies = members.classes is not None
    if classifies and original.voting == "hard":
        raise ValueError("a VotingClassifier of hard votes has no weighted probabilities to keep")
    if np.any(self.intercept_):
        raise ValueError(
            "a VotingRegressor has no intercept, the thinned model has one of "
            f"{float(self.intercept_):.4g}"
        )
    total = float(self.weights_.sum())
    if not classifies and abs(total - 1.0) > SAME_WEIGHTS:
        raise ValueError(f"a VotingRegressor forms a mean, the weights kept add up to {total:.4g}")
    names = [original.estimators[k] for k in self.indices_]
    voting = (VotingClassifier if classifies else VotingRegressor)(names, weights=self.weights_)
    if classifies:
        voting.voting, voting.flatten_transform = "soft", original.flatten_transform
        voting.classes_, voting.le_ = original.classes_, original.le_
    voting.estimators_ = [member.estimator for member in members.members]
    voting.named_estimators_ = Bunch(
        **{name: fitted for (name, _), fitted in zip(names, voting.estimators_, strict=True)}
    )
    return voting


def _bagging(self: Any) -> Any:
    members, original = self._members, self._members.original
    if original is None or not hasattr(original, "estimators_samples_"):
        raise ValueError(
            "members that are not trees, of an ensemble without weights in scikit-learn, cannot be "
            "converted to a model of scikit-learn: use the thinned ensemble itself"
        )
    trees = all(hasattr(member.estimator, "tree_") for member in members.members)
    if not trees and (not _is_mean(self) or np.any(self.intercept_)):
        raise ValueError(
            "bagging forms a plain mean, but the kept members have different weights or an "
            "intercept: choose weights='equal' and a classifier, or members that are trees"
        )
    bagging = copy.copy(original)
    plain = [member.estimator for member in members.members]
    bagging.estimators_ = _weighted_trees(self) if trees else plain
    bagging.estimators_features_ = [
        np.arange(self.n_features_in_) if member.features is None else member.features
        for member in members.members
    ]
    bagging.n_estimators = len(bagging.estimators_)
    bagging._seeds = original._seeds[self.indices_]  # which rows each of them has seen
    return bagging
