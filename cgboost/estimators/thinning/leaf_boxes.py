"""The leaves of trees as boxes, on the grid of cells that the thresholds of all trees make.

scikit-learn rounds features to float32 and goes left where x ≤ threshold. A threshold may thus be
rounded down to float32, or to the next value that the feature can take, and nothing changes:

    cell i of a feature:   threshold_i−1 < x ≤ threshold_i,   which x = threshold_i stands for

All rows of a cell are in the same leaf of every tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property

Region = Literal["everywhere", "box"]
Box = dict[int, tuple[int, int]]
"""The first and last cell of a leaf, of each feature that bounds it."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values that features can take: all numbers, those of a box, or 0 and 1.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    region : {"everywhere", "box"}
        A feature that is 0 or 1 in all rows takes no other value in either, unless …
    numbers : ndarray of int
        … it is one of these.
    """

    X: NDArray[Any]
    region: Region
    numbers: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def among(self, trees: Sequence[Any]) -> Domain:
        """The same with features as numbers that trees split at < 0 or ≥ 1: they take more values.

        The given rows may be a part of those that the trees were fitted to.
        """
        beyond = [(t.children_left >= 0) & ((t.threshold < 0) | (t.threshold >= 1)) for t in trees]
        found = [tree.feature[own] for tree, own in zip(trees, beyond, strict=True)]
        return replace(self, numbers=np.unique(np.concatenate(found)))

    @cached_property
    def _ends(self) -> tuple[Vector, Vector, NDArray[np.bool_]]:
        rows = self.X.astype(np.float32).astype(np.float64)
        binary = ((rows == 0) | (rows == 1)).all(axis=0)
        binary[self.numbers] = False
        return rows.min(axis=0), rows.max(axis=0), binary

    def rounded(self, features: Indices, thresholds: Vector) -> Vector:
        """The largest values ≤ thresholds; −inf or inf where all values are on one side."""
        low, high, binary = (ends[features] for ends in self._ends)
        near = thresholds.astype(np.float32)
        down = np.nextafter(near, np.float32(-np.inf))
        value = np.where(near <= thresholds, near, down).astype(np.float64)
        if self.region == "box":
            value = np.where(value < low, -np.inf, np.where(value >= high, np.inf, value))
        zero_or_one = np.where(thresholds < 0, -np.inf, np.where(thresholds < 1, 0.0, np.inf))
        return np.where(binary, zero_or_one, value)

    def last(self, feature: int, thresholds: Vector) -> float:
        """A value above all thresholds."""
        _, high, binary = (ends[feature] for ends in self._ends)
        if binary or self.region == "box" or not len(thresholds):
            return float(high)
        return max(float(high), float(np.nextafter(np.float32(thresholds[-1]), np.float32(np.inf))))


class LeafBoxes:
    """The leaves of several trees on their common grid.

    Parameters
    ----------
    trees : sequence of sklearn.tree._tree.Tree
    values : sequence of ndarray of shape (n_nodes, n_classes)
        What each node of a tree says.
    domain : Domain

    Attributes
    ----------
    thresholds : list of ndarray
        Of each feature, rounded and sorted.
    starts : ndarray of int, shape (n_features + 1,)
        Where those of each feature begin, one feature after the other.
    """

    def __init__(
        self, trees: Sequence[Any], values: Sequence[NDArray[np.float64]], domain: Domain
    ) -> None:
        self.trees, self._said, domain = list(trees), list(values), domain.among(trees)
        self._floors = [_floors(tree, domain) for tree in trees]
        floors = np.concatenate(self._floors)
        features = np.where(np.isfinite(floors), np.concatenate([t.feature for t in trees]), -1)
        every = range(domain.X.shape[1])
        self.thresholds = [np.unique(floors[features == f]) for f in every]
        counts = [len(own) for own in self.thresholds]
        self.starts: Indices = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self._stands_for = [
            np.append(own, domain.last(f, own)) for f, own in enumerate(self.thresholds)
        ]

    @cached_property
    def _leaves(self) -> tuple[list[Box], NDArray[np.float64], Indices]:
        """The box, the values and the tree of each leaf."""
        index = [{value: j for j, value in enumerate(own.tolist())} for own in self.thresholds]
        boxes, said, owners = [], [], []
        for number, (tree, floors, own) in enumerate(
            zip(self.trees, self._floors, self._said, strict=True)
        ):
            for leaf, box in _leaves(tree, floors, own, index):
                boxes.append(box)
                said.append(own[leaf])
                owners.append(number)
        return boxes, np.array(said), np.array(owners)

    @property
    def boxes(self) -> list[Box]:
        """Those of the leaves. A subtree that says the same everywhere is one leaf."""
        return self._leaves[0]

    @property
    def values(self) -> NDArray[np.float64]:
        """What the leaves say, shape (n_leaves, n_classes)."""
        return self._leaves[1]

    @property
    def tree_of(self) -> Indices:
        """The tree of each leaf, shape (n_leaves,)."""
        return self._leaves[2]

    @property
    def n_classes(self) -> int:
        """Classes that trees have values for."""
        return int(self._said[0].shape[1])

    @property
    def n_cells(self) -> float:
        """Cells of the grid."""
        return float(np.prod([len(own) + 1.0 for own in self.thresholds]))

    def cells(self, X: NDArray[Any]) -> Indices:
        """The cell of each row, shape (n_rows, n_features)."""
        rows = X.astype(np.float32).astype(np.float64)
        found = [np.searchsorted(own, rows[:, f]) for f, own in enumerate(self.thresholds)]
        return np.stack(found, axis=1)

    def all_cells(self) -> Indices:
        """Every cell of the grid, shape (n_cells, n_features)."""
        shape = [len(own) + 1 for own in self.thresholds]
        return np.stack(np.unravel_index(np.arange(int(self.n_cells)), shape), axis=1)

    def neighbours(self, cell: Indices) -> Indices:
        """The cells that differ from one in one feature."""
        moved = []
        for f, own in enumerate(self.thresholds):
            others = np.delete(np.arange(len(own) + 1), cell[f])
            moved.append(np.repeat(cell[None], len(others), axis=0))
            moved[-1][:, f] = others
        return np.concatenate(moved)

    def points(self, cells: Indices) -> NDArray[np.float64]:
        """A row of each cell, shape (n_cells, n_features)."""
        return np.stack([own[cells[:, f]] for f, own in enumerate(self._stands_for)], axis=1)

    def outputs(self, cells: Indices) -> NDArray[np.float64]:
        """What every tree says in cells, shape (n_cells, n_trees, n_classes)."""
        rows = np.ascontiguousarray(self.points(cells), dtype=np.float32)
        each = [own[tree.apply(rows)] for tree, own in zip(self.trees, self._said, strict=True)]
        return np.stack(each, axis=1)

    def key(self, tree: int, sign: int = 1) -> frozenset[Any]:
        """What a tree says beyond what all classes have in common: the same key, same function."""
        own = np.flatnonzero(self.tree_of == tree)
        said = sign * (self.values[own] - self.values[own].mean(axis=1, keepdims=True)) + 0.0
        return frozenset(
            (frozenset(self.boxes[leaf].items()), tuple(value))
            for leaf, value in zip(own.tolist(), said.tolist(), strict=True)
        )

    @cached_property
    def polytope(self) -> tuple[sp.csr_array, Vector, Vector]:
        """Rows that y (of leaves) and z (of thresholds) satisfy in a cell, and their bounds.

        y_l = 1 in the leaf of each tree, z_fj = 1 where x_f ≤ threshold j. For each threshold of a
        tree, one row has all leaves left of it and one all those right of it:

            Σ_l y_l = 1,   Σ_{l left} y_l ≤ z_fj,   Σ_{l right} y_l ≤ 1 − z_fj,   z_fj ≤ z_f,j+1

        Of the leaves of a tree, one is taken, so that these rows imply those of the single splits
        (Mišić, *Optimization of tree ensembles*, Operations Research 68, 2020).
        """
        rows: list[tuple[Sequence[int], Sequence[float], float, float]] = []
        n_leaves = len(self.boxes)
        for tree in range(len(self.trees)):
            own = np.flatnonzero(self.tree_of == tree).tolist()
            rows.append((own, [1.0] * len(own), 1.0, 1.0))
            left: dict[int, list[int]] = {}
            right: dict[int, list[int]] = {}
            cuts = set()
            for leaf in own:
                for f, (first, last) in self.boxes[leaf].items():
                    cuts |= {(f, first - 1), (f, last)}
            for f, j in sorted(cuts):
                if not 0 <= j < len(self.thresholds[f]):
                    continue
                z = n_leaves + int(self.starts[f]) + j
                ends = [(leaf, self.boxes[leaf].get(f)) for leaf in own]
                left[z] = [leaf for leaf, end in ends if end and end[1] <= j]
                right[z] = [leaf for leaf, end in ends if end and end[0] > j]
                rows.append(([*left[z], z], [1.0] * len(left[z]) + [-1.0], -np.inf, 0.0))
                rows.append(([*right[z], z], [1.0] * len(right[z]) + [1.0], -np.inf, 1.0))
        for f in range(len(self.thresholds)):
            for z in range(n_leaves + self.starts[f], n_leaves + self.starts[f + 1] - 1):
                rows.append(([z, z + 1], [1.0, -1.0], -np.inf, 0.0))
        sizes = [len(columns) for columns, *_ in rows]
        matrix = sp.csr_array(
            (
                np.concatenate([entries for _, entries, *_ in rows]),
                np.concatenate([columns for columns, *_ in rows]).astype(np.intp),
                np.concatenate([[0], np.cumsum(sizes)]),
            ),
            shape=(len(rows), n_leaves + int(self.starts[-1])),
        )
        return matrix, np.array([row[2] for row in rows]), np.array([row[3] for row in rows])


def _floors(tree: Any, domain: Domain) -> Vector:
    """The rounded threshold of each inner node, nan in leaves."""
    floors = np.full(tree.node_count, np.nan)
    inner = np.flatnonzero(tree.children_left >= 0)
    floors[inner] = domain.rounded(tree.feature[inner], tree.threshold[inner])
    return floors


def _constant(tree: Any, floors: Vector, values: NDArray[np.float64]) -> list[int]:
    """For each node a leaf below it that says what all rows hear there; −1 if they hear more."""
    same, said, moves = list(range(tree.node_count)), values.tolist(), floors.tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    for node in range(tree.node_count - 1, -1, -1):  # children come after their parents
        if left[node] < 0:
            continue
        first, second = same[left[node]], same[right[node]]
        if np.isinf(moves[node]):
            same[node] = second if moves[node] < 0 else first
        else:
            alike = min(first, second) >= 0 and said[first] == said[second]
            same[node] = first if alike else -1
    return same


def _leaves(
    tree: Any, floors: Vector, values: NDArray[np.float64], index: list[dict[float, int]]
) -> list[tuple[int, Box]]:
    """For each leaf on the grid a node that says what it says, and its box."""
    same, moves, features = _constant(tree, floors, values), floors.tolist(), tree.feature.tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    found: list[tuple[int, Box]] = []
    below: list[tuple[int, Box]] = [(0, {})]
    while below:
        node, box = below.pop()
        if same[node] >= 0:
            found.append((same[node], box))
            continue
        f = features[node]
        count = len(index[f])
        first, last = box.get(f, (0, count))
        j = index[f].get(moves[node], -1 if moves[node] < 0 else count)
        if first <= j:
            below.append((left[node], {**box, f: (first, j)} if j < last else box))
        if j < last:
            below.append((right[node], {**box, f: (j + 1, last)} if first <= j else box))
    return found
