"""A model tree: multiway splits on one feature each, a linear regression in every leaf.

Natarajan, Pednault, *Segmented regression estimators for massive data sets*, SIAM Data Mining 2002;
Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006, sections 4 and
8. How it is grown is in :mod:`cgboost.additive.model_tree_growth`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.intervals import Groups, Intervals
from cgboost.additive.schema import Schema

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

    def __call__(self, X: Vector) -> Vector:
        """The regressors z of features X, shape (n_rows, n_regressors)."""
        x = np.clip(X[:, self.features], self.low, self.high)
        return np.nan_to_num((x - self.middle) / self.scale, copy=False, nan=0.0)

    def in_units(self, level: float, coef: Vector) -> tuple[float, Vector]:
        """Intercept and coefficients for x itself."""
        own = coef / self.scale
        return level - float(own @ self.middle), own


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

    def descend(self, X: Vector, groups: list[Groups]) -> Indices:
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
    """

    groups: list[Groups]
    regressors: Regressors
    nodes: list[Node]

    @property
    def leaves(self) -> list[int]:
        """Numbers of the leaves."""
        return [number for number, node in enumerate(self.nodes) if not node.children]

    def apply(self, X: Vector) -> Indices:
        """The number of the leaf that each row is in, shape (n_rows,)."""
        place = np.zeros(len(X), dtype=np.intp)
        for number, node in enumerate(self.nodes):
            if node.children:
                rows = np.flatnonzero(place == number)
                place[rows] = node.descend(X[rows], self.groups)
        return place

    def predict(self, X: Vector) -> Vector:
        """Values of the models of the leaves, shape (n_rows,)."""
        place, z = self.apply(X), self.regressors(X)
        levels = np.array([node.level for node in self.nodes])
        values = levels[place]
        coef = np.array([node.coef for node in self.nodes])
        for k in np.flatnonzero(coef.any(axis=0)):
            values += coef[place, k] * z[:, k]
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
            words = _values_in_words(
                names[node.feature],
                self.groups[node.feature],
                own,
                schema.categories[node.feature],
            )
            yield f"{'    ' * indent}{words}:"
            yield from self._lines(below, indent + 1, schema, names)

    def _formula(self, node: Node, names: tuple[str, ...]) -> str:
        level, coef = self.regressors.in_units(node.level, node.coef)
        words = f"{level:.6g}"
        for j, slope in zip(self.regressors.features, coef, strict=True):
            if slope != 0.0:
                words += f" {'+' if slope > 0 else '−'} {abs(slope):.6g}·{names[j]}"
        return words


def _values_in_words(
    name: str, groups: Groups, own: Indices, categories: dict[object, int] | None
) -> str:
    """Which values of a feature some of its groups have."""
    missing = groups.n_groups - 1
    gaps = own[-1] == missing
    known = own[:-1] if gaps else own
    if not len(known):
        return f"{name} missing"
    if isinstance(groups, Intervals):
        first, last = int(known[0]), int(known[-1])
        below = f"{groups.edges[first - 1]:.6g} ≤ " if first > 0 else ""
        above = f" < {groups.edges[last]:.6g}" if last < len(groups.edges) else ""
        words = f"{below}{name}{above}" if below or above else f"{name} any number"
        return words + (" or missing" if gaps else "")
    labels = list(categories or ())
    words = f"{name} in {{{', '.join(str(labels[k]) for k in known)}}}"
    return words + (" or any other" if gaps else "")
