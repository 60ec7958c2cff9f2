"""How a model makes its outputs, and which basis functions are steps or trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.pricing.learners.class_learners import (
    ClassStump,
    CodePlace,
    FittedClassifier,
    class_codes,
)
from cgboost.pricing.learners.learners import LearnerHypothesis
from cgboost.pricing.learners.trees import TreeHypothesis
from cgboost.pricing.univariate.stumps import Stump

BALANCED = ("GradientBoostingClassifier._outputs", "LogitBoostClassifier._outputs")
"""Sums whose mean over the classes is taken off."""
SUMS = ("BaseEnsemble._outputs", *BALANCED)
MACHINES = ("KernelMachine._outputs",)
LINEAR = ("LinearOutputs._outputs", "BaseComponentwise._outputs")

StumpValues = tuple[int, float, float, float]
"""A feature, a threshold, the value below (and at it) and the value above."""


def table_of_features(model: Any, X: Any) -> Any:
    """A table with its dates as the features that a model has made of them."""
    schema = getattr(model, "_schema", None)
    return X if schema is None else schema.as_features(X)


def way_of(model: Any) -> str | None:
    """How a model makes its outputs: a sum over its columns, a product with coefficients."""
    said = getattr(getattr(type(model), "_outputs", None), "__qualname__", "")
    ways = {"sum": SUMS, "linear": LINEAR, "machine": MACHINES}
    return next((way for way, names in ways.items() if said in names), None)


def is_balanced(model: Any) -> bool:
    """Whether the outputs are scores of K classes together, which add up to 0."""
    return type(model)._outputs.__qualname__ in BALANCED and model._is_joint


def step_of(hypothesis: Any) -> StumpValues | None:
    """A basis function with two values, if it is one."""
    if isinstance(hypothesis, Stump):
        return hypothesis.feature, hypothesis.threshold, -1.0, 1.0
    if isinstance(hypothesis, CodePlace) and isinstance(hypothesis.learner, ClassStump):
        own, codes = hypothesis.learner, class_codes(hypothesis.n_classes)[:, hypothesis.place]
        return own.cut.feature, own.cut.threshold, codes[own.below], codes[own.above]
    return None


def tree_of(hypothesis: Any) -> tuple[Any, Vector] | None:
    """A tree of scikit-learn's and the value of each of its nodes, if it is one."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if isinstance(hypothesis, TreeHypothesis):
        return hypothesis.estimator.tree_, hypothesis.node_values
    if isinstance(hypothesis, LearnerHypothesis):
        own, scale = hypothesis.estimator, hypothesis.scale
        if type(own) is DecisionTreeRegressor and own.n_outputs_ == 1:
            return own.tree_, scale * own.tree_.value[:, 0, 0]
        if type(own) is DecisionTreeClassifier and own.n_outputs_ == 1:
            labels = np.asarray(own.classes_, dtype=np.float64)
            return own.tree_, scale * labels[own.tree_.value[:, 0].argmax(axis=1)]
    if isinstance(hypothesis, CodePlace) and isinstance(hypothesis.learner, FittedClassifier):
        own = hypothesis.learner.estimator
        if type(own) is DecisionTreeClassifier:
            codes = class_codes(hypothesis.n_classes)[:, hypothesis.place]
            numbers = np.asarray(own.classes_, dtype=np.intp)
            return own.tree_, codes[numbers[own.tree_.value[:, 0].argmax(axis=1)]]
    return None
