"""Weak learners that see the outputs of the stages before them as further inputs.

    h_i = h_i(x_1, …, x_d, h_1, …, h_{i−1})

The stages are the columns in the master. A learner composed of others can say what none of them
can, and may itself find what is orthogonal to them.

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, 2006, Tables 6 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cgboost.arrays import Matrix, Vector
from cgboost.forks import cached_property
from cgboost.generation.columns import PREDICTION_BLOCK, Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.learners.learners import LearnerHypothesis, LearnerPricer


class FeedForwardFeatures:
    """Features and outputs side by side, in an array that grows and keeps the features' dtype.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    room : int
        Outputs that there is room for without another copy.
    """

    def __init__(self, X: Matrix, room: int) -> None:
        n_rows, self._count = X.shape
        self._buffer = np.empty((n_rows, self._count + room), dtype=X.dtype, order="F")
        self._buffer[:, : self._count] = X

    @property
    def values(self) -> Matrix:
        """All of them, shape (n_rows, n_features + n_outputs); not a copy."""
        return self._buffer[:, : self._count]

    def append(self, output: Matrix) -> None:
        """One more output, shape (n_rows,)."""
        if self._count == self._buffer.shape[1]:
            n_rows, width = self._buffer.shape
            grown = np.empty((n_rows, width + width // 2 + 1), dtype=self._buffer.dtype, order="F")
            grown[:, :width] = self._buffer
            self._buffer = grown
        self._buffer[:, self._count] = output
        self._count += 1


@dataclass(eq=False)
class FeedForward:
    """Learners of one pricer, evaluated in the order of the stages they need.

    Attributes
    ----------
    stages : list of FeedForwardHypothesis
        Those in the master, in order.
    """

    stages: list[FeedForwardHypothesis] = field(default_factory=list)

    def outputs(self, X: Matrix, hypotheses: Sequence[FeedForwardHypothesis]) -> Vector:
        """Values of some hypotheses, shape (n_rows, n_hypotheses), by blocks of rows."""
        values = np.empty((len(X), len(hypotheses)))
        n_inputs = max(hypothesis.n_inputs for hypothesis in hypotheses)
        step = max(1, PREDICTION_BLOCK // n_inputs)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            self._evaluate(X[rows], n_inputs - X.shape[1], hypotheses, values[rows])
        return values

    def _evaluate(
        self,
        X: Matrix,
        n_stages: int,
        hypotheses: Sequence[FeedForwardHypothesis],
        values: Vector,
    ) -> None:
        """Write the values of hypotheses that need the first ``n_stages`` stages at most."""
        inputs, known = FeedForwardFeatures(X, room=n_stages), {}
        for stage in self.stages[:n_stages]:
            known[id(stage)] = stage.predict(inputs.values)
            inputs.append(known[id(stage)])
        for place, hypothesis in enumerate(hypotheses):
            output = known.get(id(hypothesis))
            values[:, place] = hypothesis.predict(inputs.values) if output is None else output


@dataclass(frozen=True, eq=False)
class FeedForwardHypothesis:
    """A learner of features and of the outputs of the first stages of its family.

    Attributes
    ----------
    family : FeedForward
    learner : LearnerHypothesis
        As a function of all its inputs.
    n_inputs : int
        Features and outputs.
    """

    family: FeedForward
    learner: LearnerHypothesis
    n_inputs: int

    @property
    def estimator(self) -> Any:
        """The fitted learner."""
        return self.learner.estimator

    def predict(self, inputs: Matrix) -> Vector:
        """Values for inputs that begin with its own, shape (n_rows,)."""
        return self.learner.predict(inputs[:, : self.n_inputs])

    def importances(self, n_features: int) -> Vector:
        """What the learner says of the features; the share of an output goes to its own inputs.

        Raises
        ------
        AttributeError
            If the learner has no ``feature_importances_``.
        """
        shares = self._shares.copy()
        for place in range(self.n_inputs - 1, n_features - 1, -1):
            if shares[place]:
                stage = self.family.stages[place - n_features]
                shares[: stage.n_inputs] += shares[place] * stage._shares
        return shares[:n_features]

    @cached_property
    def _shares(self) -> Vector:
        """Importances of all inputs; some learners take long to tell them."""
        return self.learner.importances(self.n_inputs)


class FeedForwardPricer:
    """A :class:`LearnerPricer` whose learners also see the columns that are in the master.

    It is for one run of the loop: the outputs that it has seen stay inputs.

    Parameters
    ----------
    learners : LearnerPricer
        On an array of features, to which the outputs are added.
    """

    def __init__(self, learners: LearnerPricer) -> None:
        self.learners = learners
        self.family = FeedForward()
        self._inputs = FeedForwardFeatures(learners.X, room=16)
        self._n_features = learners.X.shape[1]

    def memory(self) -> tuple[FeedForward, Any]:
        """The stages, and what the learners remember."""
        return self.family, self.learners.memory()

    def recall(self, memory: tuple[FeedForward, Any]) -> None:
        """Go on with the same stages; their outputs become inputs again with the first search."""
        self.family, own = memory
        self.learners.recall(own)

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` columns of learners fitted to r, best first; never exact.

        Raises
        ------
        TypeError
            If the master has a column that is not from here, so that new rows have no such input.
        """
        stages = self.family.stages
        for number in range(self._inputs.values.shape[1] - self._n_features, len(state.columns)):
            column = state.columns[number]
            stage = column.hypothesis
            if not isinstance(stage, FeedForwardHypothesis) or stage.family is not self.family:
                raise TypeError(f"column {column.key!r} does not come from this FeedForwardPricer")
            if number == len(stages):
                stages.append(stage)
            self._inputs.append(column.values)
        self.learners.X = self._inputs.values
        priced = self.learners.price(state, limit)
        return replace(priced, columns=[self._fed(column) for column in priced.columns])

    def _fed(self, column: Column) -> Column:
        """The same column as a function of features alone."""
        assert isinstance(column.hypothesis, LearnerHypothesis)
        n_inputs = self.learners.X.shape[1]
        hypothesis = FeedForwardHypothesis(self.family, column.hypothesis, n_inputs)
        return replace(column, hypothesis=hypothesis)
