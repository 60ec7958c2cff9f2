"""Weak learners that know the stages before them: as further inputs, or to be orthogonal to.

Feed-forward learners see the outputs of the stages before them,

    h_i = h_i(x_1, …, x_d, h_1, …, h_{i−1})

The stages are the columns in the master. A learner composed of others can say what none of them
can, and may itself find what is orthogonal to them.

Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, 2006, Tables 6 and 7.

Others are made orthogonal to the stages before them (OrthoAnyBoost),

    t_i = (h_i − Σ_j (t_j·h_i) t_j) / ‖ … ‖        over j < i, so that t_i·t_j = 0

The learner is fitted to what r has that is orthogonal to t_1, …, t_{i−1}: all of it where all
coefficients are refitted. Of its output h_i the part within their span is taken away, which for
linear functions is the deflation of the data. With a constant, t_0 is the constant.

Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006, Alg. 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.forks import cached_property
from cgboost.generation.columns import PREDICTION_BLOCK, Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.learners.learners import ORTHOGONAL, LearnerHypothesis, LearnerPricer


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
        for rows in blocks_of(len(X), step):
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


NEW = 1e-7
"""A learner with a smaller share that is new, relative to its length, is one of those before; what
its values on other rows had of it would be rounding errors."""


@dataclass(eq=False)
class OrthogonalFamily:
    """Stages of one run, each orthogonal to those before it on the training rows.

    Attributes
    ----------
    stages : list of OrthogonalHypothesis
        Those in the master, in order.
    """

    stages: list[OrthogonalHypothesis] = field(default_factory=list)

    def outputs(self, X: Any, hypotheses: Sequence[OrthogonalHypothesis]) -> Vector:
        """Values of some stages, shape (n_rows, n_hypotheses)."""
        last = max(hypotheses, key=lambda hypothesis: len(hypothesis.parts))
        stages = [*self.stages[: len(last.parts)], last]
        values = np.empty((X.shape[0], len(stages)))
        for number, stage in enumerate(stages):
            output = stage.learner.predict(X) - stage.shift
            values[:, number] = (output - values[:, :number] @ stage.parts) / stage.length
        return values[:, [len(hypothesis.parts) for hypothesis in hypotheses]]


@dataclass(frozen=True, eq=False)
class OrthogonalHypothesis:
    """t(x) = (h(x) − shift − Σ_j parts_j t_j(x)) / length, of a learner h and earlier stages.

    Attributes
    ----------
    shift : float
        Its mean, where t is orthogonal to a constant; else 0.
    parts : ndarray of shape (n_earlier,)
    """

    family: OrthogonalFamily
    learner: LearnerHypothesis
    shift: float
    parts: Vector
    length: float

    @property
    def estimator(self) -> OrthogonalHypothesis:
        """What predicts t."""
        return self

    def predict(self, X: Any) -> Vector:
        """Values on the rows of X, shape (n_rows,)."""
        return self.family.outputs(X, [self])[:, 0]

    def importances(self, n_features: int) -> Vector:
        """Those of the learner."""
        return self.learner.importances(n_features)


class OrthogonalPricer:
    """A :class:`LearnerPricer` whose columns are orthogonal to those in the master, of length 1.

    It is for one run of the loop, and offers one column a round. The product of two columns is over
    the training rows, unweighted, as in the paper: weights count in the loss alone.

    Parameters
    ----------
    n_rows : int
        Training rows.
    constant : bool
        Whether columns are orthogonal to a constant, too.
    """

    def __init__(self, learners: LearnerPricer, n_rows: int, *, constant: bool) -> None:
        self.learners = learners
        self.family = OrthogonalFamily()
        self._basis = np.empty((n_rows, 16), order="F")
        self._first = int(constant)
        self._basis[:, : self._first] = 1.0 / np.sqrt(n_rows)

    def memory(self) -> tuple[OrthogonalFamily, Any]:
        """The stages, and what the learners remember."""
        return self.family, self.learners.memory()

    def recall(self, memory: tuple[OrthogonalFamily, Any]) -> None:
        """Go on with the same stages."""
        self.family, own = memory
        self.learners.recall(own)

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most one column, made of a learner fitted to r; never exact."""
        basis = self._of(state.columns)
        response, _ = _split(state.pseudo_response, basis)
        inner = replace(state, pseudo_response=response)
        priced = self.learners.price(inner, min(limit, 1))
        columns = [own for column in priced.columns for own in self._rest(column, basis, inner)]
        return replace(priced, columns=columns)

    def _of(self, columns: Sequence[Column]) -> Vector:
        """The columns of the master, after a constant where there is one."""
        stages, count = self.family.stages, self._first + len(columns)
        if count > self._basis.shape[1]:
            self._basis = np.hstack([self._basis, np.empty((len(self._basis), count))])
        for number, column in enumerate(columns):
            self._basis[:, self._first + number] = column.values
            if number == len(stages):
                assert isinstance(column.hypothesis, OrthogonalHypothesis)
                stages.append(column.hypothesis)
        return self._basis[:, :count]

    def _rest(self, column: Column, basis: Vector, state: MasterState) -> list[Column]:
        """What is new of a column; nothing, if it has nothing new, or that leads nowhere."""
        assert isinstance(column.hypothesis, LearnerHypothesis)
        values, parts = _split(column.values, basis)
        length = float(np.linalg.norm(values))
        if length <= NEW * float(np.linalg.norm(column.values)):
            return []
        values /= length
        response = state.pseudo_response
        if abs(float(values @ response)) <= ORTHOGONAL * float(np.linalg.norm(response)):
            return []
        shift = float(parts[0] * basis[0, 0]) if self._first else 0.0
        hypothesis = OrthogonalHypothesis(
            self.family, column.hypothesis, shift, parts[self._first :], length
        )
        return [replace(column, values=values, hypothesis=hypothesis)]


def _split(values: Matrix, basis: Vector) -> tuple[Vector, Vector]:
    """The part of a vector that is orthogonal to orthonormal ones, and its parts along these."""
    rest, parts = values.astype(np.float64), np.zeros(basis.shape[1])
    for _ in range(2):  # the second pass removes the rounding errors of the first
        along = basis.T @ rest
        rest -= basis @ along
        parts += along
    return rest, parts
