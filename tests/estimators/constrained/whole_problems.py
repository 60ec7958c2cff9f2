"""Constrained problems over all columns at once, written in CVXPY independently of the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

from tests.problems import least


def all_stumps(X):
    """(feature, column) of every stump that differs on the rows, and of the constant."""
    columns = [(-1, np.ones(len(X)))]
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        columns += [(j, np.where(X[:, j] > t, 1.0, -1.0)) for t in values[:-1]]
    return columns


def all_hinges(X, j):
    """(slope sign, column) of every hinge of a feature, scaled by the range."""
    x, values = X[:, j], np.unique(X[:, j])
    width = values[-1] - values[0]
    rising = [(1, np.maximum(0.0, x - t) / width) for t in values[:-1]]
    return rising + [(-1, np.maximum(0.0, t - x) / width) for t in values[1:]]


def all_features(X):
    """(feature, column) of every feature, centred and scaled."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return [(j, Z[:, j]) for j in range(X.shape[1])]


@dataclass
class Whole:
    """A problem over all columns.

    ``constraints`` are functions of (f, y); ``signs`` maps a feature to 1 or −1, ``shapes`` to the
    curvature; ``budgets`` are pairs of features and a limit.
    """

    X: Any
    y: Any
    loss: Callable[[Any], Any]
    family: str = "stumps"
    free_offset: bool = False
    constraints: list[Callable[[Any], Any]] = field(default_factory=list)
    signs: dict[int, int] = field(default_factory=dict)
    shapes: dict[int, int] = field(default_factory=dict)
    budgets: list[tuple[list[int], float]] = field(default_factory=list)

    def optimum(self) -> float:
        """The least Σ|α| + loss."""
        columns = all_stumps(self.X) if self.family == "stumps" else all_features(self.X)
        if self.family == "stumps":
            columns = [(j, h) for j, h in columns if j not in self.shapes]
        alpha = cp.Variable(len(columns))
        terms = [np.column_stack([h for _, h in columns]) @ alpha]
        limits, size = [], cp.norm1(alpha)
        for place, (j, _) in enumerate(columns):
            if j in self.signs:
                limits.append(self.signs[j] * alpha[place] >= 0)
        drawn = {}
        for place, (j, _) in enumerate(columns):
            drawn[j] = drawn.get(j, 0) + cp.abs(alpha[place])
        for j, curvature in self.shapes.items():
            if self.family != "stumps":
                continue
            hinges = all_hinges(self.X, j)
            hinges = [
                (s, h) for s, h in hinges if self.signs.get(j, s * curvature) == s * curvature
            ]
            beta = cp.Variable(len(hinges), nonneg=True)
            terms.append(curvature * (np.column_stack([h for _, h in hinges]) @ beta))
            size += cp.sum(beta)
            drawn[j] = cp.sum(beta)
        for features, limit in self.budgets:
            limits.append(sum(drawn.get(j, 0) for j in features) <= limit)
        b = cp.Variable() if self.free_offset else 0.0
        f = cp.Variable(len(self.X))  # CVXPY 1.9 takes products of expressions for 0
        limits.append(f == sum(terms) + b)
        limits += [constraint(f) for constraint in self.constraints]
        return least(size + self.loss(f), limits)
