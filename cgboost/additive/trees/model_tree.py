"""A model tree: multiway splits on one feature each, a linear regression in every leaf.

Natarajan, Pednault, *Segmented regression estimators for massive data sets*, SIAM Data Mining 2002;
Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, sections 4 and
8. How it is grown is in :mod:`cgboost.additive.trees.model_tree_growth`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.tables.intervals import Groups, Intervals
from cgboost.additive.tables.rows import BLOCK, Matrix
from cgboost.additive.tables.schema import Schema
from cgboost.additive.trees.words import formula_in_words, values_in_words
from cgboost.tolerances import RESIDUE

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Regressors:
    """Numeric features as regressors: z = (x − middle)/scale, with x brought to its range.

    Missing values are in the middle.

    Attributes
    ----------
    features : ndarray of int, shape (n_regressors,)
    low, high, middle, scale : ndarray of shape (n_regressors,)
    """

    features: Indices
    low: Vector
    high: Vector
    middle: Vector
    scale: Vector

    @classmethod
    def of(cls, groups: list[Groups], features: list[int]) -> Regressors:
        """From the intervals of the features."""
        rows = []
        for j in features:
            own = groups[j]
            assert isinstance(own, Intervals)
            middle = np.median(own.edges) if len(own.edges) else 0.5 * (own.low + own.high)
            rows.append((own.low, own.high, float(middle), (own.high - own.low) or 1.0))
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), 4).T
        return cls(np.array(features, dtype=np.intp), *columns)

    def __len__(self) -> int:
        return len(self.features)

    def __call__(self, X: Matrix) -> Vector:
        """The regressors z of features X, shape (n_rows, n_regressors)."""
        x = np.clip(X[:, self.features], self.low, self.high)
        return np.nan_to_num((x - self.middle) / self.scale, copy=False, nan=0.0)

    def in_units(self, level: float, coef: Vector) -> tuple[float, Vector]:
        """Intercept and coefficients for x itself; an intercept that is rounding alone is 0."""
        own = coef / self.scale
        parts = np.append(level, -own * self.middle)
        total = float(parts.sum())
        return (total if abs(total) > RESIDUE * float(np.abs(parts).max()) else 0.0), own


@dataclass(eq=False)
class Node:
    """A node of the tree.

    Attributes
    ----------
    level : float
    coef : ndarray of shape (n_regressors,)
        The model is level + coef·z.
    depth : int
    count : float
        Training rows, in weights.
    training, judged : float
        Squared errors of the model: on training rows, and on those that judge models.
    price : float
        What the judged error must fall by for each leaf more.
    feature : int
        That it splits on; −1 for a leaf.
    child : ndarray of shape (n_groups,)
        Which of the children each group of values of this feature belongs to.
    children : list of int
        Their numbers.
    """

    level: float
    coef: Vector
    depth: int
    count: float
    training: float
    judged: float
    price: float = 0.0
    feature: int = -1
    child: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    children: list[int] = field(default_factory=list)

    def descend(self, X: Matrix, groups: list[Groups]) -> Indices:
        """Numbers of the nodes that rows of this node go to."""
        codes = groups[self.feature].codes(X[:, self.feature])
        return np.array(self.children, dtype=np.intp)[self.child[codes]]


@dataclass(eq=False)
class ModelTree:
    """The tree as a function.

    Attributes
    ----------
    groups : list of Intervals or Categories
        Of all features.
    regressors : Regressors
    nodes : list of Node
        The root first, and parents before children.
    explained : ndarray of shape (n_regressors,)
        What the model of the root takes off the squared training error of the constant, by
        regressor.
    """

    groups: list[Groups]
    regressors: Regressors
    nodes: list[Node]
    explained: Vector

    @property
    def depth(self) -> int:
        """Of the deepest leaf; 0 for a tree without splits."""
        return max(node.depth for node in self.nodes)

    def importances(self) -> Vector:
        """Shares of the features in the squared training error taken off, shape (n_features,).

        By the linear model of the root, and then by the splits on each feature with the models that
        they make possible.
        """
        gains = np.zeros(len(self.groups))
        gains[self.regressors.features] = self.explained
        for node in self.nodes:
            if node.children:
                below = sum(self.nodes[k].training for k in node.children)
                gains[node.feature] += max(node.training - below, 0.0)
        return gains / (gains.sum() or 1.0)

    @property
    def leaves(self) -> list[int]:
        """Numbers of the leaves."""
        return [number for number, node in enumerate(self.nodes) if not node.children]

    def apply(self, X: Matrix) -> Indices:
        """The number of the leaf that each row is in, shape (n_rows,)."""
        place = np.zeros(len(X), dtype=np.intp)
        for number, node in enumerate(self.nodes):
            if node.children:
                rows = np.flatnonzero(place == number)
                place[rows] = node.descend(X[rows], self.groups)
        return place

    def predict(self, X: Matrix) -> Vector:
        """Values of the models of the leaves, shape (n_rows,)."""
        levels = np.array([node.level for node in self.nodes])
        coef = np.array([node.coef for node in self.nodes])
        values = np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            rows = slice(start, start + BLOCK)
            place, z = self.apply(X[rows]), self.regressors(X[rows])
            values[rows] = levels[place] + np.einsum("ik,ik->i", coef[place], z)
        return values

    def text(self, schema: Schema) -> str:
        """The tree in words, a line for each branch."""
        names = schema.names or tuple(f"x{j}" for j in range(schema.n_features))
        return "\n".join(self._lines(0, 0, schema, names))

    def _lines(
        self, number: int, indent: int, schema: Schema, names: tuple[str, ...]
    ) -> Iterator[str]:
        node = self.nodes[number]
        if not node.children:
            yield f"{'    ' * indent}{self._formula(node, names)}   [{node.count:g} rows]"
            return
        for place, below in enumerate(node.children):
            own = np.flatnonzero(node.child == place)
            words = values_in_words(
                names[node.feature],
                self.groups[node.feature],
                own,
                schema.categories[node.feature],
            )
            yield f"{'    ' * indent}{words}:"
            yield from self._lines(below, indent + 1, schema, names)

    def _formula(self, node: Node, names: tuple[str, ...]) -> str:
        level, coef = self.regressors.in_units(node.level, node.coef)
        pairs = zip(coef, self.regressors.features, strict=True)
        return formula_in_words(level, [(slope, names[j]) for slope, j in pairs])
