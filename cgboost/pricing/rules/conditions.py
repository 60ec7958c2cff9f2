"""Conditions on a feature, and conjunctions of them as basis functions.

A conjunction is h(x) = 1 where all of its conditions hold, else 0. Features are numbers; categories
are their numbers 0, 1, …, and −1 for one that was not among the training rows. nan is a missing
value: no comparison holds for it, and whether it is missing is its own condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Mask, Matrix


class Relation(StrEnum):
    """What a condition asks of its feature."""

    AT_MOST = "<="
    ABOVE = ">"
    IS = "=="
    IS_NOT = "!="
    MISSING = "missing"
    PRESENT = "present"


@dataclass(frozen=True)
class Condition:
    """A comparison of a feature with a value, or whether it is there.

    Attributes
    ----------
    feature : int
    relation : Relation
    value : float
        A threshold, or the number of a category; 0 where nothing is compared.
    """

    feature: int
    relation: Relation
    value: float = 0.0

    def holds(self, X: Matrix) -> Mask:
        """Where the condition holds, shape (n_rows,)."""
        values = X[:, self.feature]
        match self.relation:
            case Relation.AT_MOST:
                return np.asarray(values <= self.value)
            case Relation.ABOVE:
                return np.asarray(values > self.value)
            case Relation.IS:
                return np.asarray(values == self.value)
            case Relation.IS_NOT:
                return np.asarray((values != self.value) & ~np.isnan(values))
            case Relation.MISSING:
                return np.asarray(np.isnan(values))
        return np.asarray(~np.isnan(values))


class ConjunctionFamily:
    """Evaluates conjunctions together: each condition once."""

    def outputs(self, X: Matrix, hypotheses: Sequence[Conjunction]) -> NDArray[np.float64]:
        """Values of conjunctions, shape (n_rows, n_hypotheses): 1/scale where one holds, else 0."""
        held: dict[Condition, Mask] = {}
        values = np.zeros((X.shape[0], len(hypotheses)))
        for j, hypothesis in enumerate(hypotheses):
            inside = np.ones(X.shape[0], dtype=bool)
            for condition in hypothesis.conditions:
                if condition not in held:
                    held[condition] = condition.holds(X)
                inside &= held[condition]
            values[inside, j] = 1.0 / hypothesis.scale
        return values


CONJUNCTIONS = ConjunctionFamily()


@dataclass(frozen=True)
class Conjunction:
    """h(x) = 1/scale where all conditions hold, else 0.

    Attributes
    ----------
    conditions : tuple of Condition
    scale : float
        What one unit of weight costs, for columns of a master that charges all alike.
    """

    conditions: tuple[Condition, ...]
    scale: float = 1.0

    @property
    def family(self) -> ConjunctionFamily:
        """All conjunctions form one family."""
        return CONJUNCTIONS

    def importances(self, n_features: int) -> NDArray[np.float64]:
        """Shares of the features: as many as conditions on them."""
        features = [condition.feature for condition in self.conditions]
        return np.bincount(features, minlength=n_features) / len(features)
