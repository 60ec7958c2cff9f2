"""Data and normal equations of a restricted dual of several outputs, tied by multipliers.

A variable of a box belongs to one pair (output, row); a multiplier of a crossing takes from one
pair what it adds to another. With a block of columns H_k for each output, the matrix of a step is

    HᵀWH,   W the diagonal of the boxes  +  Σ θ (e_p − e_q)(e_p − e_q)ᵀ  over multipliers (p, q),

which couples the columns of neighbouring outputs alone, through the rows of multipliers in use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.optimizers.interior_point.normal_equations import FactoredEquations, cholesky
from cgboost.optimizers.live_dual import BoxedDual


class OutputBlocks:
    """A block-diagonal matrix, one block of columns for each output.

    Parameters
    ----------
    blocks : list of ndarray of shape (n_lines, n_columns)
        The rows of each output.
    columns : list of ndarray of int
        Where the columns of each block stand among all columns.
    n_columns : int
    """

    __array_ufunc__ = None  # NumPy leaves products from the left to __rmatmul__

    def __init__(self, blocks: list[Vector], columns: list[Indices], n_columns: int) -> None:
        self.blocks, self.columns = blocks, columns
        self.starts = np.cumsum([0] + [len(block) for block in blocks])
        self.shape = int(self.starts[-1]), n_columns

    def __len__(self) -> int:
        return self.shape[0]

    def __matmul__(self, coef: Vector) -> Vector:
        return np.concatenate(
            [block @ coef[own] for block, own in zip(self.blocks, self.columns, strict=True)]
        )

    def __rmatmul__(self, rows: Vector) -> Vector:
        product = np.zeros(self.shape[1])
        for block, own, (start, end) in zip(
            self.blocks, self.columns, pairwise(self.starts), strict=True
        ):
            product[own] = rows[start:end] @ block
        return product


@dataclass
class JointDual(BoxedDual):
    """A :class:`BoxedDual` with multipliers, whose ``block`` is :class:`OutputBlocks`.

    Attributes
    ----------
    crossing : ndarray of int
        The variables that are multipliers; their sign is −1.
    added : ndarray of int, shape (n_crossings,)
        The row of ``block`` to which each multiplier adds.
    """

    block: OutputBlocks  # type: ignore[assignment]
    crossing: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    added: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def by_row(self, values: Vector) -> Vector:
        """Sums over the variables of each row; what a multiplier takes, another row gets."""
        moved = np.bincount(self.added, values[self.crossing], minlength=len(self.block))
        return super().by_row(values) - moved

    def by_variable(self, output: Vector) -> Vector:
        """sign·f of each variable; for a multiplier the difference of two outputs."""
        values = super().by_variable(output)
        values[self.crossing] += output[self.added]
        return values

    def equations(self) -> JointEquations:
        """The normal equations of a step."""
        return JointEquations(self)

    def weights_by_row(self, weights: Vector) -> tuple[Vector, Vector]:
        """The diagonal of W on the rows, and the θ of the multipliers."""
        theta = weights[self.crossing]
        moved = np.bincount(self.added, theta, minlength=len(self.block))
        return super().by_row(weights) + moved, theta


class JointEquations(FactoredEquations):
    """The normal equations of :class:`JointDual`."""

    def __init__(self, data: JointDual) -> None:
        super().__init__(refined=False)
        self._data, self._blocks = data, data.block
        starts, taken = self._blocks.starts, data.place[data.crossing]
        self._output = np.searchsorted(starts, taken, side="right") - 1
        self._taken, self._added = (
            taken - starts[self._output],
            (data.added - starts[self._output + 1]),
        )

    def _factorise(self) -> float:
        (weights, theta), blocks = self._weights, self._blocks
        roots = np.sqrt(weights)[:, None]
        matrix = np.zeros((blocks.shape[1],) * 2, order="F")
        outputs = zip(blocks.blocks, blocks.columns, strict=True)
        for (block, own), (start, end) in zip(outputs, pairwise(blocks.starts), strict=True):
            matrix[np.ix_(own, own)] = self._product(block * roots[start:end])
        for k in range(len(blocks.blocks) - 1):
            mine = np.flatnonzero(self._output == k)
            if not mine.size:
                continue
            taken = blocks.blocks[k][self._taken[mine]]
            added = blocks.blocks[k + 1][self._added[mine]]
            coupling = -(taken.T * theta[mine]) @ added
            matrix[np.ix_(blocks.columns[k], blocks.columns[k + 1])] = coupling
            matrix[np.ix_(blocks.columns[k + 1], blocks.columns[k])] = coupling.T
        np.einsum("ii->i", matrix)[:] += self._diagonal
        self._factor, ridge = cholesky(matrix)
        return ridge

    def _times(self, x: Vector) -> Vector:
        data, (weights, theta) = self._data, self._weights
        output = self._blocks @ x
        rows = weights * output
        place = data.place[data.crossing]
        size = len(rows)
        rows -= np.bincount(place, theta * output[data.added], minlength=size)
        rows -= np.bincount(data.added, theta * output[place], minlength=size)
        return rows @ self._blocks + self._diagonal * x
