"""Weak learners that predict one of several classes, fitted to weighted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.kernels import Matrix
from cgboost.pricing.features.binned_stumps import BinnedFeatures
from cgboost.pricing.features.stumps import CONSTANT_STUMP, STUMPS, Stump
from cgboost.pricing.learners.learners import Seeded

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FittedClassifier:
    """A classifier fitted to class numbers."""

    estimator: Any

    def predict(self, X: Matrix) -> NDArray[np.intp]:
        """Class numbers, shape (n_rows,)."""
        return np.asarray(self.estimator.predict(X), dtype=np.intp)

    def importances(self, n_features: int) -> Vector:
        """What the classifier itself says of the features."""
        return np.asarray(self.estimator.feature_importances_, dtype=np.float64)


class ClassLearners:
    """A scikit-learn classifier, fitted to class numbers.

    Parameters
    ----------
    estimator : classifier
        Its fit takes ``sample_weight``.
    X : ndarray of shape (n_rows, n_features)
    labels : ndarray of int, shape (n_rows,)
    random_state : int, RandomState or None
    """

    def __init__(
        self, estimator: Any, X: Matrix, labels: NDArray[np.intp], *, random_state: Any = None
    ) -> None:
        self.X, self.labels = X, labels
        self._learners = Seeded(estimator, random_state)

    def __call__(self, weights: Vector) -> FittedClassifier:
        """A fitted clone; the weights have the mean 1: some learners count rows by them."""
        learner = self._learners.fresh()
        learner.fit(self.X, self.labels, sample_weight=weights / weights.mean())
        return FittedClassifier(learner)


@dataclass(frozen=True)
class ClassStump:
    """One class where x[feature] > threshold, one where not."""

    cut: Stump
    above: int
    below: int

    def predict(self, X: Matrix) -> NDArray[np.intp]:
        """Class numbers, shape (n_rows,)."""
        return np.where(STUMPS.outputs(X, [self.cut])[:, 0] > 0, self.above, self.below)

    def importances(self, n_features: int) -> Vector:
        """1 for the feature; the constant has none."""
        return self.cut.importances(n_features)


class ClassStumps:
    """The stump with the fewest weighted errors: over all bins, the best class on both sides.

    The sums are kept for every bin and class; with the class part of the bin's number that is
    still one pass over the rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    labels : ndarray of int, shape (n_rows,)
    n_classes : int
    max_bins : int, default=255
    """

    def __init__(
        self, X: Matrix, labels: NDArray[np.intp], n_classes: int, *, max_bins: int = 255
    ) -> None:
        self.bins = BinnedFeatures(X, max_bins, groups=labels, n_groups=n_classes)

    def __call__(self, weights: Vector) -> ClassStump:
        """The best stump for these weights; the constant is one of them."""
        below = self.bins.sums_below(weights)
        above = below[:, -1:] - below
        place = int((below.max(axis=2) + above.max(axis=2)).argmax())
        feature, cut = divmod(place, below.shape[1])
        stump, low = self.bins.stump(place), int(below[feature, cut].argmax())
        if stump.feature == CONSTANT_STUMP:
            return ClassStump(stump, low, low)
        return ClassStump(stump, int(above[feature, cut].argmax()), low)
