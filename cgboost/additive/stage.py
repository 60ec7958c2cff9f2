"""A stage of an additive model, and the stages of a model one after another.

    ŷ_i = c + Σ_j λ_j h_j(x_j | ŷ_1, …, ŷ_{i−1})      or g(ŷ_i), where the stage has a link

Inputs are the features and, where the method feeds them forward, the outputs of earlier stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cgboost.additive.trees.transformation import (
    INDENT,
    Transformation,
    formula_in_words,
    input_of,
    leaves_in_words,
)
from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.generation.columns import PREDICTION_BLOCK, Term
from cgboost.tables.table_columns import legible
from cgboost.tables.table_encoding import Schema

Evaluate = Callable[[Transformation, Matrix, Vector], Vector]


class StageOutputs:
    """Outputs of stages on all rows of a fit, kept where they are.

    Parameters
    ----------
    values : list of ndarray of shape (n_rows,), or of what gives slices of it
    """

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def on(self, rows: slice) -> Vector:
        """Some rows of all outputs, shape (n_chosen, n_outputs)."""
        if not self.values:
            return np.zeros((rows.stop - rows.start, 0))
        return np.array([values[rows] for values in self.values]).T  # columns are used one by one


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """One additive model.

    Attributes
    ----------
    terms : list of (λ, Transformation)
    link : Transformation or None
        A function of the sum.
    low, high : float
        What the sum is brought between. Where leaves use outputs of earlier stages, these are its
        extremes on the training rows: an output a little outside would get later stages to answer
        with one far outside.
    """

    intercept: float
    terms: list[tuple[float, Transformation]]
    link: Transformation | None = None
    low: float = -np.inf
    high: float = np.inf

    def __call__(self, X: Matrix, outputs: Vector, evaluate: Evaluate | None = None) -> Vector:
        """The output for features X, (n_rows, n_features), and earlier outputs, (n_rows, i − 1).

        ``evaluate(term, x, outputs)`` may know a quicker way to ``term(x, outputs)``.
        """
        total = np.full(len(X), self.intercept)
        n_features = X.shape[1]
        for weight, term in self.terms:
            own = term.feature < n_features
            x = X[:, term.feature] if own else outputs[:, term.feature - n_features]
            values = term(x, outputs) if evaluate is None else evaluate(term, x, outputs)
            total += weight * values
        if self.is_bounded:
            np.clip(total, self.low, self.high, out=total)
        return total if self.link is None else self.link(total, outputs)

    @property
    def is_bounded(self) -> bool:
        """Whether there are values that the sum cannot have."""
        return self.low > -np.inf or self.high < np.inf

    @property
    def size(self) -> float:
        """Of its largest term, or of the bounds of the sum: what constants are compared with."""
        bounds = [abs(bound) for bound in (self.low, self.high) if np.isfinite(bound)]
        return max([abs(weight) * term.size for weight, term in self.terms] + bounds, default=0.0)

    def text(self, schema: Schema | None = None) -> str:
        """The stage in words: a line for every leaf of every function, weights included.

        Functions are added up. Outputs of earlier stages are called stage_0, stage_1, …; features
        by their names in the schema, which ``model.text()`` knows, and without it inputs are
        called x0, x1, … (outputs of earlier stages after the features).
        """
        lines = [formula_in_words(self.intercept, size=self.size)]
        for weight, term in self.terms:
            name, categories = input_of(term.feature, schema)
            lines.append(f"plus a function of {legible(name)}:")
            lines += [INDENT + line for line in leaves_in_words(term, name, categories, weight)]
        if self.is_bounded:
            lines.append(f"brought between {self.low:.6g} and {self.high:.6g}")
        if self.link is not None:
            lines.append("and a function of this sum:")
            lines += [INDENT + line for line in leaves_in_words(self.link, "sum")]
        return "\n".join(lines)

    def __repr__(self) -> str:
        inputs = [term.feature for _, term in self.terms]
        leaves = sum(term.n_leaves for _, term in self.terms)
        link = "" if self.link is None else ", with a link"
        return f"Stage(intercept {self.intercept:.6g}, inputs {inputs}, {leaves} leaves{link})"


@dataclass(eq=False)
class Stages:
    """All stages of a model, in order: the family of their outputs as hypotheses."""

    stages: list[Stage] = field(default_factory=list)

    def all_outputs(self, X: Matrix, count: int) -> Vector:
        """Outputs of the first ``count`` stages, shape (n_rows, count)."""
        values = np.empty((len(X), count))
        for k, stage in enumerate(self.stages[:count]):
            values[:, k] = stage(X, values[:, :k])
        return values

    def outputs(self, X: Matrix, hypotheses: Sequence[StageOutput]) -> Vector:
        """Outputs of some stages, shape (n_rows, n_hypotheses)."""
        numbers = [hypothesis.number for hypothesis in hypotheses]
        return self.all_outputs(X, max(numbers) + 1)[:, numbers]

    @staticmethod
    def weighted_sum(X: Matrix, terms: Sequence[Term]) -> Vector:
        """Σ coef·output, by blocks of rows."""
        total = np.zeros(len(X))
        for family, hypotheses, coef in terms:
            step = max(1, PREDICTION_BLOCK // (8 * max(1, len(hypotheses))))
            for rows in blocks_of(len(X), step):
                total[rows] += family.outputs(X[rows], hypotheses) @ coef
        return total


@dataclass(frozen=True)
class StageOutput:
    """The output of a stage, as a hypothesis.

    Attributes
    ----------
    share : float
        Of the additive model that it is a part of, by absolute weights.
    """

    family: Stages
    number: int
    share: float = 1.0

    def importances(self, n_features: int) -> Vector:
        """Parts of its share that are the features', by absolute weights, shape (n_features,).

        The share of an earlier output goes to the features of its stage.
        """
        shares = np.zeros(n_features + self.number)
        for weight, term in self.family.stages[self.number].terms:
            shares[term.feature] += abs(weight)
        for k in range(self.number - 1, -1, -1):
            if shares[n_features + k]:
                earlier = StageOutput(self.family, k).importances(n_features)
                shares[:n_features] += shares[n_features + k] * earlier
        own = shares[:n_features]
        return np.asarray(self.share * own / (own.sum() or 1.0))
