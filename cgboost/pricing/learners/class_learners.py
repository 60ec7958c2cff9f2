"""Weak learners of several classes, fitted to weighted rows, and columns that vote (SAMME).

Zhu, Zou, Rosset, Hastie (*Multi-class AdaBoost*, Statistics and Its Interface 2, 2009) give class k
of K the code e_k with 1 at place k and −1/(K−1) elsewhere. A learner T adds c·e_{T(x)} to the K
outputs f, and the loss

    Σ_i w_i exp(−m_i),     m_i = e_{y_i}·f(x_i)/K,

depends on one number a row, its margin m_i. So the master is that of any exponential loss: its
output is the margins, all labels are 1, r_i > 0 is the weight that boosting gives to row i, and the
column of a learner has the value

    1/(K−1) where it is right,     −1/(K−1)² where it is wrong.

The best step along it is c = (K−1)²/K·(log((1 − err)/err) + log(K−1)). With two classes all this is
AdaBoost: margins y·f, columns of ±1, c = ½ log((1 − err)/err).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import RememberingPricer
from cgboost.pricing.learners.learners import Seeded
from cgboost.pricing.univariate.stumps import CONSTANT_STUMP, STUMPS, Stump, stump_at
from cgboost.tables.histograms import BinnedFeatures


@dataclass(frozen=True)
class FittedClassifier:
    """A classifier fitted to class numbers."""

    estimator: Any

    def predict(self, X: Matrix) -> Indices:
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
    """

    def __init__(
        self, estimator: Any, X: Matrix, labels: Indices, *, random_state: Any = None
    ) -> None:
        self.X, self.labels = X, labels
        self._learners = Seeded(estimator, random_state)
        self.memory, self.recall = self._learners.memory, self._learners.recall

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

    def predict(self, X: Matrix) -> Indices:
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
    max_bins : int, default=255
    weights : ndarray of shape (n_rows,), optional
        A row of weight w counts as w rows of its bins.
    """

    def __init__(
        self,
        X: Matrix,
        labels: Indices,
        n_classes: int,
        *,
        max_bins: int = 255,
        weights: Vector | None = None,
    ) -> None:
        self.bins = BinnedFeatures(X, max_bins, groups=labels, n_groups=n_classes, weights=weights)

    def __call__(self, weights: Vector) -> ClassStump:
        """The best stump for these weights; the constant is one of them."""
        below = self.bins.sums_below(weights)
        above = below[:, -1:] - below
        place = int((below.max(axis=2) + above.max(axis=2)).argmax())
        feature, cut = divmod(place, below.shape[1])
        stump, low = stump_at(self.bins, place), int(below[feature, cut].argmax())
        if stump.feature == CONSTANT_STUMP:
            return ClassStump(stump, low, low)
        return ClassStump(stump, int(above[feature, cut].argmax()), low)


class ClassPredictor(Protocol):
    """What predicts class numbers."""

    def predict(self, X: Any) -> Indices:
        """Class numbers, shape (n_rows,)."""
        ...

    def importances(self, n_features: int) -> Vector:
        """Shares of the features; an AttributeError where it knows none."""
        ...


FitToWeights = Callable[[Vector], ClassPredictor]
"""A fit to the training rows with these weights."""


def class_codes(n_classes: int) -> Vector:
    """The codes e_k as rows, shape (n_classes, n_classes)."""
    return (n_classes * np.eye(n_classes) - 1.0) / (n_classes - 1.0)


class CodeFamily:
    """Evaluates places of codes, each learner once."""

    def outputs(self, X: Any, hypotheses: Sequence[CodePlace]) -> Vector:
        """Values of the hypotheses, shape (len(X), n_hypotheses)."""
        predicted: dict[int, Indices] = {}
        values = np.empty((len(X), len(hypotheses)))
        for j, hypothesis in enumerate(hypotheses):
            learner = hypothesis.learner
            if id(learner) not in predicted:
                predicted[id(learner)] = learner.predict(X)
            codes = class_codes(hypothesis.n_classes)[:, hypothesis.place]
            values[:, j] = codes[predicted[id(learner)]]
        return values


CODES = CodeFamily()


@dataclass(frozen=True, eq=False)
class CodePlace:
    """One place of the code of the class that a learner predicts."""

    learner: Any
    place: int
    n_classes: int

    @property
    def family(self) -> CodeFamily:
        """All places of codes form one family."""
        return CODES

    @property
    def estimator(self) -> Any:
        """The fitted classifier behind the learner; stumps have none."""
        return self.learner.estimator

    def importances(self, n_features: int) -> Vector:
        """Those of the learner, where it has any."""
        shares: Vector = self.learner.importances(n_features)
        return shares


@dataclass(frozen=True, eq=False, kw_only=True)
class CodeColumn(Column):
    """The margins of a learner's votes; it adds to every output of the model.

    Attributes
    ----------
    places : sequence of CodePlace
        What it adds to each output.
    """

    places: Sequence[CodePlace]

    @property
    def parts(self) -> Sequence[tuple[int, Any]]:
        """One part for each output."""
        return list(enumerate(self.places))


class VotePricer:
    """Fits one learner a round to the labels, with the pseudo-response as weights of the rows.

    Parameters
    ----------
    fit : callable
        ``fit(weights)``: see :mod:`cgboost.pricing.learners.class_learners`.
    X : ndarray of shape (n_rows, n_features)
    labels : ndarray of int, shape (n_rows,)
    n_classes : int
    tol : float, default=1e-12
        A learner is offered if |r·h| exceeds this share of Σ|r|.
    """

    def __init__(
        self,
        fit: FitToWeights,
        X: Matrix,
        labels: Indices,
        n_classes: int,
        *,
        tol: float = 1e-12,
    ) -> None:
        self.fit, self.X, self.labels, self.n_classes, self.tol = fit, X, labels, n_classes, tol
        self._codes = class_codes(n_classes)

    def memory(self) -> Any:
        """What the fit remembers; a function of the weights alone remembers nothing."""
        return self.fit.memory() if isinstance(self.fit, RememberingPricer) else None

    def recall(self, memory: Any) -> None:
        """Let the fit go on from there."""
        if isinstance(self.fit, RememberingPricer):
            self.fit.recall(memory)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The column of a learner fitted to the present weights, if it leads anywhere."""
        weights = state.pseudo_response
        if not (limit and weights.any()):
            return Priced([])
        learner = self.fit(weights)
        right = learner.predict(self.X) == self.labels
        values = np.where(right, 1.0, -1.0 / (self.n_classes - 1)) / (self.n_classes - 1)
        score = float(weights @ values)
        leads = abs(score) > self.tol * float(weights @ np.abs(values))
        if not leads or state.rule.excess(np.array([score]))[0] <= 0:
            return Priced([], n_evaluated=1)
        places = [CodePlace(learner, k, self.n_classes) for k in range(self.n_classes)]
        column = CodeColumn(
            values=values, key=("vote", len(state.columns)), stratum="vote", places=places
        )
        return Priced([column], n_evaluated=1, stratum="vote")
