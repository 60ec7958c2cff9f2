"""Any scikit-learn classifier or regressor as a greedy weak learner.

A classifier is fitted to the signs of the pseudo-response r with the weights |r|, which is how
boosting has always called its weak learner: among ±1 columns the one with the fewest weighted
errors has the largest r·h. A regressor is fitted to r itself. Neither search is exact: finding
nothing proves nothing, and there is no bound.

Demiriz, Bennett, Shawe-Taylor, *Linear Programming Boosting via Column Generation*, Machine
Learning 46, 2002.

:class:`IndependentPricer` lets columns through that least squares over those so far leaves room
for. Once all coefficients are refitted, u = W^½(y − Hα) is orthogonal to every column of the
master, but for rounding: a combination h of them has r·h = u·(W^½h) = 0 up to about ε‖W^½y‖‖W^½h‖.
What scores no more than that is either such a combination or has nothing to add, and a fit to a
residual that is nothing but rounding errors scores no more either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from cgboost.arrays import Matrix, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import EntryRule, MasterState, Priced, Pricer
from cgboost.generation.resuming import memories, recall_all
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.tolerances import LARGEST_SEED

STRATUM = "learner"

ResponseFunction = Callable[[MasterState], tuple[Vector, Vector | None]]
"""What a regressor is fitted to, and the weights of the rows."""

ORTHOGONAL = 1e-12
"""Two vectors with a smaller cosine are orthogonal: the response itself is the rest of a fit, which
leaves rounding some thousand units above that of one product."""


def check_learner(name: str, estimator: Any) -> None:
    """``estimator`` must be a regressor, or a classifier whose fit takes ``sample_weight``.

    Raises
    ------
    ValueError
        Naming the argument and what it is.
    """
    known = isinstance(estimator, BaseEstimator)
    if not known or not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"{name} must be a scikit-learn classifier or regressor, or None, got {estimator!r}"
        )
    if is_classifier(estimator) and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{name} must take sample_weight in its fit, {type(estimator).__name__} does not"
        )


def residuals(weights: Vector) -> ResponseFunction:
    """The residual r/w with the sample weights w: for r = −w·loss'."""
    uneven = None if np.all(weights == weights[0]) else weights
    safe = np.where(weights > 0, weights, 1.0)

    def working(state: MasterState) -> tuple[Vector, Vector | None]:
        return np.where(weights > 0, state.pseudo_response / safe, 0.0), uneven

    return working


def newton_response(state: MasterState) -> tuple[Vector, Vector | None]:
    """The working response z = r/w with the Newton weights w of the loss; 0 where w is 0."""
    assert state.curvature is not None
    weights = state.curvature
    safe = np.where(weights > 0, weights, 1.0)
    return np.where(weights > 0, state.pseudo_response / safe, 0.0), weights


SMALL_TARGET = 1e-3
"""Targets that are all below this are multiplied by a power of two: scikit-learn's trees take a
variance below 1e-16 for 0."""


class Seeded:
    """Fresh clones of an estimator, each with its own seeds.

    ``random_state=None`` draws fresh randomness and leaves NumPy's global state alone.
    """

    def __init__(self, estimator: Any, random_state: Any) -> None:
        self.estimator = estimator
        self.random = (
            np.random.RandomState() if random_state is None else check_random_state(random_state)
        )
        self.names = sorted(
            name
            for name in estimator.get_params(deep=True)
            if name == "random_state" or name.endswith("__random_state")
        )

    def fresh(self) -> Any:
        """A clone that is not fitted."""
        seeds = {name: self.random.randint(LARGEST_SEED) for name in self.names}
        return clone(self.estimator).set_params(**seeds)

    def memory(self) -> Any:
        """The state of the randomness."""
        return self.random.get_state()

    def recall(self, memory: Any) -> None:
        """Go on with the same randomness."""
        self.random.set_state(memory)


class LearnerFamily:
    """Fitted weak learners of one pricer."""

    def outputs(self, X: Any, hypotheses: Sequence[LearnerHypothesis]) -> Vector:
        """Predictions of every learner, shape (len(X), n_hypotheses)."""
        return np.column_stack([hypothesis.predict(X) for hypothesis in hypotheses])


@dataclass(frozen=True, eq=False)
class LearnerHypothesis:
    """h(x) = scale·prediction of a fitted learner; a classifier predicts −1 or 1.

    Attributes
    ----------
    estimator : estimator
        The fitted learner.
    """

    family: LearnerFamily
    estimator: Any
    scale: float = 1.0

    def predict(self, X: Any) -> Vector:
        """Values on the rows of X, shape (len(X),)."""
        return self.scale * np.ravel(self.estimator.predict(X)).astype(np.float64)

    def importances(self, n_features: int) -> Vector:
        """What the learner itself says of the features, as shares.

        Raises
        ------
        AttributeError
            If the learner has no ``feature_importances_``.
        """
        return np.asarray(self.estimator.feature_importances_, dtype=np.float64)


class LearnerPricer:
    """Greedy pricing by fitting a weak learner to the pseudo-response.

    Parameters
    ----------
    estimator : classifier or regressor
        Cloned for every fit. A classifier sees the signs of r (−1 and 1) and the weights |r|, a
        regressor r itself; its predictions are scaled to a largest value of 1 on the training rows.
    X : array-like of shape (n_rows, n_features)
        Training rows, as ``estimator`` takes them.
    tol : float, default=1e-4
        A column is offered if it adds more than this to the relative gap.
    random_state : int, RandomState or None
        Seeds of the learners, where they have a ``random_state``. Several columns a round then
        come from several seeds; a learner without one makes at most one column.
    working : callable or None
        ``working(state) -> (target, weights or None)``: what a regressor is fitted to, and how
        rows weigh; None stands for r itself, unweighted. See :func:`residuals` and
        :func:`newton_response`.
    repeats : bool, default=False
        Whether a learner may come again (for masters that never correct a coefficient), and its
        predictions are left as they are instead of scaled.

    Raises
    ------
    ValueError
        If the estimator is neither, or a classifier whose fit takes no ``sample_weight``.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        *,
        tol: float = 1e-4,
        random_state: Any = None,
        working: ResponseFunction | None = None,
        repeats: bool = False,
    ) -> None:
        check_learner("estimator", estimator)
        self.estimator = estimator
        self.X = X
        self.tol = tol
        self.working = working
        self.repeats = repeats
        self.family = LearnerFamily()
        self._offered = 0
        self._learners = Seeded(estimator, random_state)

    def memory(self) -> tuple[Any, int]:
        """The state of its randomness, and how many columns it has offered."""
        return self._learners.memory(), self._offered

    def recall(self, memory: tuple[Any, int]) -> None:
        """Go on with the same randomness."""
        state, self._offered = memory
        self._learners.recall(state)

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` columns of learners fitted to r, best first; never exact."""
        response = state.pseudo_response
        held = {column.key for column in state.columns}
        found: dict[Any, tuple[float, Column]] = {}
        n_fits, norm = 0, np.linalg.norm(response)
        for hypothesis, values in self._fits(state, limit):
            n_fits += 1
            column = self._column(hypothesis, values, two_sided=state.rule.two_sided)
            if column is None or column.key in held or column.key in found:
                continue
            score = float(response @ column.values)
            excess = self._excess(state.rule, score)
            if excess > self.tol and abs(score) > ORTHOGONAL * norm * np.linalg.norm(column.values):
                found[column.key] = excess, column
        ranked = sorted(found.values(), key=lambda pair: -pair[0])
        return Priced(
            columns=[column for _, column in ranked],
            n_evaluated=n_fits,
            stratum=STRATUM if ranked else "",
        )

    def _fits(self, state: MasterState, limit: int) -> Iterator[tuple[LearnerHypothesis, Vector]]:
        """Learners, and what they say of the training rows."""
        if not state.pseudo_response.any():
            return
        for _ in range(limit if self._learners.names else min(limit, 1)):
            hypothesis = self._fitted(state)
            yield hypothesis, hypothesis.predict(self.X)

    def _fitted(self, state: MasterState) -> LearnerHypothesis:
        """A learner fitted to r; where r has one sign only, a classifier that always says it."""
        learner, response = self._learners.fresh(), state.pseudo_response
        if not is_classifier(learner):
            target, weights = (response, None) if self.working is None else self.working(state)
            named = {} if weights is None else {"sample_weight": weights}
            largest = float(np.abs(target).max(initial=0.0))
            exponent = np.frexp(largest)[1] if largest < SMALL_TARGET else 0
            learner.fit(self.X, np.ldexp(target, -exponent), **named)
            return LearnerHypothesis(self.family, learner, float(np.ldexp(1.0, exponent)))
        return LearnerHypothesis(self.family, self._voting(learner, response))

    def _voting(self, learner: Any, response: Vector) -> Any:
        """A classifier of the signs of r."""
        rows = np.flatnonzero(response)
        signs = np.where(response[rows] > 0, 1, -1)
        if len(np.unique(signs)) == 1:
            return DummyClassifier(strategy="most_frequent").fit(self.X[rows], signs)
        # weights of mean 1: some learners read them as numbers of rows
        weights = np.abs(response[rows])
        return learner.fit(self.X[rows], signs, sample_weight=weights / weights.mean())

    def _column(
        self, hypothesis: LearnerHypothesis, values: Vector, *, two_sided: bool
    ) -> Column | None:
        """The column, scaled to a largest value of 1; None if it is zero.

        The key is the values, up to their sign where a column may enter with either.
        """
        if values.shape != (len(self.X),) or not np.isfinite(values).all():
            raise ValueError(
                f"{type(self.estimator).__name__} predicts values of shape {values.shape} for "
                f"{len(self.X)} rows, or values that are not finite"
            )
        largest = np.abs(values).max()
        if largest == 0:
            return None
        if self.repeats:
            self._offered += 1
            return Column(values, (STRATUM, self._offered), hypothesis, STRATUM)
        if largest != 1.0:
            hypothesis = replace(hypothesis, scale=hypothesis.scale / largest)
            values = hypothesis.predict(self.X)
        first = values[np.flatnonzero(values)[0]]
        identity = np.sign(first) * values if two_sided else values
        digest = hashlib.sha256((identity + 0.0).tobytes()).hexdigest()
        return Column(values, (STRATUM, digest), hypothesis, STRATUM)

    @staticmethod
    def _excess(entry: EntryRule, score: float) -> float:
        return float(entry.excess(np.array([score]))[0])


class IndependentPricer:
    """A pricer without its offers that are orthogonal to the residual but for rounding.

    What is left has a part that is new to the columns in the master, larger than ``ORTHOGONAL``
    relative to the column: |u·W^½h| is at most ‖u‖ times the size of this part, and ‖u‖ ≤ ‖W^½y‖.

    Parameters
    ----------
    loss : WeightedSquaredError
        That of a master which refits all coefficients, from 0 on or from the best constant.
    """

    def __init__(self, pricer: Pricer, loss: WeightedSquaredError) -> None:
        self.pricer, self.loss = pricer, loss
        self._size = self._norm(loss.target)

    def memory(self) -> Any:
        """That of the pricer."""
        return memories([self.pricer])

    def recall(self, memory: Any) -> None:
        """Let the pricer go on from there."""
        recall_all([self.pricer], memory)

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the pricer offers, as far as it is new."""
        priced = self.pricer.price(state, limit)
        new = [column for column in priced.columns if self._is_new(column, state)]
        return priced if len(new) == len(priced.columns) else replace(priced, columns=new)

    def _is_new(self, column: Column, state: MasterState) -> bool:
        score = abs(float(column.values @ state.pseudo_response))
        return score > ORTHOGONAL * self._size * self._norm(column.values)

    def _norm(self, values: Matrix) -> float:
        """‖W^½v‖."""
        return float(np.sqrt(self.loss.weights @ np.square(values, dtype=np.float64)))
