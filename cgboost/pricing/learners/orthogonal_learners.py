"""Weak learners made orthogonal to those before them: OrthoAnyBoost.

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
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.learners.learners import ORTHOGONAL, LearnerHypothesis, LearnerPricer

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
    family : OrthogonalFamily
    learner : LearnerHypothesis
    shift : float
        Its mean, where t is orthogonal to a constant; else 0.
    parts : ndarray of shape (n_earlier,)
    length : float
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
    learners : LearnerPricer
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


def _split(values: NDArray[np.floating[Any]], basis: Vector) -> tuple[Vector, Vector]:
    """The part of a vector that is orthogonal to orthonormal ones, and its parts along these."""
    rest, parts = values.astype(np.float64), np.zeros(basis.shape[1])
    for _ in range(2):  # the second pass removes the rounding errors of the first
        along = basis.T @ rest
        rest -= basis @ along
        parts += along
    return rest, parts
