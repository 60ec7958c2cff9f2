"""The mean loss of linear models on held-out rows: what paths and cross-validation choose by.

These functions are methods: an estimator assigns them in its class body.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.estimators.common.training_rows import Vector
from cgboost.estimators.linear.linear_fit import unit

MINUS_MEAN_LOSS = "−mean loss"
"""What these scores are called in tables and pictures."""


def score_of_regressor(self: Any, X: Any, y: ArrayLike, weights: Vector | None = None) -> float:
    """−Σ_i w_i ℓ(y_i, f(x_i)) / Σ_i w_i.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    weights : ndarray of shape (n_rows,) or None
    """
    target = np.asarray(y, dtype=np.float64)
    return -float(np.average(self._cost.value(target, self._outputs(X)[:, 0]), weights=weights))


def score_of_quantiles(self: Any, X: Any, y: ArrayLike, weights: Vector | None = None) -> float:
    """The same for the pinball losses of several quantiles, their mean."""
    target, outputs = np.asarray(y, dtype=np.float64), self._outputs(X).T
    losses = [loss.value(target, f) for loss, f in zip(self._losses, outputs, strict=True)]
    return -float(np.average(np.mean(losses, axis=0), weights=weights))


def score_of_classifier(self: Any, X: Any, y: ArrayLike, weights: Vector | None = None) -> float:
    """The same, of several classes for the sum of their losses, with the weights of the classes."""
    labels, classes, outputs = np.asarray(y), self.classes_, self._outputs(X) / unit(self)
    against = classes[1:] if len(classes) == 2 else classes
    signs = np.where(labels[:, None] == against, 1.0, -1.0)
    losses = sum(self._cost.value(*pair) for pair in zip(signs.T, outputs.T, strict=True))
    own = np.append(self.class_weight_, 1.0)  # of a label that the fold did not have
    places = np.where(labels[:, None] == classes, np.arange(len(classes)), len(classes))
    shares = own[places.min(axis=1)] * (1.0 if weights is None else weights)
    return -float(np.average(np.asarray(losses), weights=shares))
