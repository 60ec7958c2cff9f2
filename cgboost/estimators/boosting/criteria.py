"""Criteria that choose the round of a greedy run: callbacks that score every round.

Each writes its value to ``round.scores``, and therefore to the history, and returns the round with
the lowest value as ``best_round``; the round without columns is scored but not chosen. They are for
squared error, with the objective ½‖U‖² for the residual U.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.generation.history import Round
from cgboost.pricing.univariate.correlation import feature_of
from cgboost.tolerances import SMALLEST

CRITERIA = ("hdic", "hdbic", "hdhq", "aicc", "cv")
"""All that there are, as parameters name them."""


class RoundCriterion(ABC):
    """A score for every round; the one of lowest score is returned by the loop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.best_round: int | None = None
        self._lowest = math.inf

    def __call__(self, turn: Round) -> None:
        """Score the round, and remember it if it is the best so far."""
        value = self.value(turn)
        turn.scores[self.name] = value
        if turn.number and value < self._lowest:
            self.best_round, self._lowest = turn.number, value

    @abstractmethod
    def value(self, turn: Round) -> float:
        """The criterion at this round; rounds come in order, each once."""


class HighDimensionalCriterion(RoundCriterion):
    """HDIC = n log ‖U‖² + |J| C log p with the set J of features in the model.

    Ing, Lai 2011. C is a constant for "hdic", log n for "hdbic", the constant times log log n for
    "hdhq".

    Parameters
    ----------
    kind : {"hdic", "hdbic", "hdhq"}
    n_rows : float
        Sum of the weights.
    n_features : int
    constant : float
        C of "hdic", and the factor of "hdhq".
    n_fixed : int, default=0
        Coefficients that every model has (the intercept).
    """

    def __init__(
        self, kind: str, n_rows: float, n_features: int, constant: float, n_fixed: int = 0
    ) -> None:
        super().__init__(kind)
        factor = {
            "hdic": constant,
            "hdbic": math.log(n_rows),
            "hdhq": constant * math.log(math.log(n_rows)),
        }[kind]
        self.n_rows, self.n_fixed = n_rows, n_fixed
        self.per_feature = factor * math.log(n_features)
        self._seen: set[int] = set()

    def value(self, turn: Round) -> float:
        """The criterion of the model of this round."""
        columns = turn.state.columns
        self._seen |= {feature_of(column) for column in columns[-1:]}
        return float(self.of(2.0 * turn.objective, len(self._seen)))

    def of(self, squares: float | Vector, size: int) -> Vector:
        """The criterion of models of ``size`` features with these ‖U‖²; inf if saturated.

        As many coefficients as rows fit any data; the residuals then contain no information.
        """
        if size + self.n_fixed >= self.n_rows:
            return np.full(np.shape(squares), math.inf)
        return self.n_rows * np.log(np.maximum(squares, SMALLEST)) + size * self.per_feature


class BoostingOperator:
    """Trace of the operator that takes y to the output of componentwise L2-Boosting.

        I − B_m = (I − ν q qᵀ)(I − B_{m−1})      q the normalised column of step m

    With the distinct columns Z and their Gram matrix S = ZᵀZ, B = Z A Zᵀ, and a step along column j
    adds ν(e_j − S_j A) to row j of A: O(k²) for k distinct columns instead of O(n²).

    Bühlmann, *Boosting for high-dimensional linear models*, Annals of Statistics 34, 2006.
    """

    def __init__(self, weights: Vector, learning_rate: float) -> None:
        self._roots, self._rate = np.sqrt(weights), learning_rate
        self._places: dict[int, int] = {}
        self._Z = np.empty((0, len(weights)))
        self._A = np.zeros((0, 0))
        self._S = np.zeros((0, 0))
        self.trace = 0.0

    def step(self, index: int, values: NDArray[np.floating[Any]]) -> None:
        """One step along the column of a feature."""
        if index not in self._places:
            self._enter(index, values)
        j, k = self._places[index], len(self._places)
        overlap = self._S[j, :k]
        move = -(overlap @ self._A[:k, :k])
        move[j] += 1.0
        self._A[j, :k] += self._rate * move
        self.trace += self._rate * float(move @ overlap)

    def _enter(self, index: int, values: NDArray[np.floating[Any]]) -> None:
        k = self._places[index] = len(self._places)
        if k == len(self._A):
            more = max(8, k)
            self._Z = np.pad(self._Z, ((0, more), (0, 0)))
            self._A, self._S = np.pad(self._A, (0, more)), np.pad(self._S, (0, more))
        column = self._roots * values
        self._Z[k] = column / np.linalg.norm(column)
        self._S[: k + 1, k] = self._S[k, : k + 1] = self._Z[: k + 1] @ self._Z[k]


class CorrectedAIC(RoundCriterion):
    """AICc = log(‖U‖²/n) + (1 + d/n)/(1 − (d + 2)/n) with d = trace of the boosting operator.

    Bühlmann 2006, section 2.1; the intercept adds 1 to d, and AICc is inf from d = n − 2 on.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        n is their sum.
    learning_rate : float
    n_fixed : int, default=0
        Coefficients that every model has (the intercept).
    """

    def __init__(self, weights: Vector, learning_rate: float, n_fixed: int = 0) -> None:
        super().__init__("aicc")
        self.n_rows, self.n_fixed = float(weights.sum()), n_fixed
        self.operator = BoostingOperator(weights, learning_rate)

    def value(self, turn: Round) -> float:
        """The criterion of the model of this round; its ``df`` becomes a score as well."""
        for column in turn.state.columns[-1:]:
            self.operator.step(feature_of(column), column.values)
        freedom = self.operator.trace + self.n_fixed
        turn.scores["df"] = freedom
        n = self.n_rows
        if freedom + 2.0 >= n:
            return math.inf
        squares = max(2.0 * turn.objective, SMALLEST)
        return math.log(squares / n) + (1.0 + freedom / n) / (1.0 - (freedom + 2.0) / n)


class HeldOutError(RoundCriterion):
    """A mean squared error on held-out rows, computed beforehand by cross-validation.

    Parameters
    ----------
    errors : ndarray of shape (n_rounds,)
        Errors of the rounds 1, 2, …
    enough : float
        The first round with no more than this is chosen.
    """

    def __init__(self, errors: Vector, enough: float = -math.inf) -> None:
        super().__init__("cv")
        self._errors, self._enough = errors, enough

    def __call__(self, turn: Round) -> None:
        """Score the round, and remember it if it is the best so far, and none was enough."""
        before = self.best_round, self._lowest
        super().__call__(turn)
        if before[1] <= self._enough:
            self.best_round, self._lowest = before

    def value(self, turn: Round) -> float:
        """The error after this many steps; nan before the first, inf if no fold went this far."""
        if not turn.number:
            return math.nan
        known = turn.number <= len(self._errors)
        return float(self._errors[turn.number - 1]) if known else math.inf
