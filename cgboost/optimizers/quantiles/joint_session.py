"""Interior-point dual solver of several outputs, tied by the multipliers of their crossings.

A variable of a box belongs to one pair (output, row); a multiplier of a crossing takes from one
pair what it adds to another. With a block of columns H_k for each output, the matrix of a step is

    HᵀWH,   W the diagonal of the boxes  +  Σ θ (e_p − e_q)(e_p − e_q)ᵀ  over multipliers (p, q),

which couples the columns of neighbouring outputs alone, through the rows of multipliers in use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.losses.dual.noncrossing import NoncrossingLoss, NoncrossingVariables
from cgboost.optimizers.interior_point.interior_session import START, InteriorSession
from cgboost.optimizers.interior_point.normal_equations import FactoredEquations, cholesky
from cgboost.optimizers.live_dual import BoxedDual
from cgboost.optimizers.quantiles.joint_columns import JointColumns
from cgboost.penalties.penalty import DualForm


class OutputBlocks:
    """A block-diagonal matrix, one block of columns for each output.

    Parameters
    ----------
    blocks : list of ndarray of shape (n_lines, n_columns)
        The rows of each output.
    columns : list of ndarray of int
        Where the columns of each block stand among all columns.
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
        starts, taken = self._blocks.starts, data.row[data.crossing]
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
        place = data.row[data.crossing]
        size = len(rows)
        rows -= np.bincount(place, theta * output[data.added], minlength=size)
        rows -= np.bincount(data.added, theta * output[place], minlength=size)
        return rows @ self._blocks + self._diagonal * x


FIRST_MULTIPLIER = 0.1
"""Multipliers start at this share of the mean range of the boxes. Their own range is that of the
sum of all rows, and as many of a share of it as outputs cross would drown the boxes."""


FINEST_JOINT_SHARE = 1e-11
"""The share of the objective to which a joint problem is solved at most. No simplex takes over from
there, and scores at their limit are off by more than the gap: at 1e-9, 3 of 31 problems of 300 rows
ended with proven gaps between 5e-8 and 1.4e-7; of 8 of these problems, solved to 1e-11, none ended
above 3e-9."""


FIRST_OFFSET = -3
"""Stands for the offset of the first output in the list of constraints; those of the others are
below it. The numbers above it have other meanings there."""


class JointSolution(NamedTuple):
    """Answer of a session of several outputs.

    Attributes
    ----------
    u : ndarray of shape (n_variables,)
        Of every dual variable and multiplier, kept or fixed.
    coef : ndarray of shape (n_columns,)
    intercept : ndarray of shape (n_outputs,)
    """

    u: Vector
    coef: Vector
    intercept: Vector


class JointSession(InteriorSession):
    """A restricted dual over some variables and multipliers and some of the columns.

    Every output has a free offset. No multiplier is in the session at first.

    Parameters
    ----------
    form : DualForm
        Of the 1-norm.
    """

    finest = FINEST_JOINT_SHARE
    variables: NoncrossingVariables
    columns: JointColumns  # type: ignore[assignment]

    def __init__(self, loss: NoncrossingLoss, columns: JointColumns, form: DualForm) -> None:
        super().__init__(loss, columns, form)  # type: ignore[arg-type]
        self.fix(loss.variables.crossing, np.zeros(len(loss.variables.crossing), dtype=bool))

    @property
    def _offsets(self) -> Indices:
        return FIRST_OFFSET - np.arange(self.columns.n_outputs)

    def unfix(self, variables: Indices) -> None:
        """Put variables into the session; multipliers with little of what pairs can give."""
        old = len(self.kept)
        super().unfix(variables)
        at, first = self._at, self._first_multiplier
        new = old + np.flatnonzero(variables >= self.variables.n_boxes)
        at.u[new] = np.minimum(at.u[new], first)
        at.low[new] = self._mu / at.u[new]
        at.high[new] = self._mu / (self.variables.costs[self.kept[new]] - at.u[new])

    @property
    def _first_multiplier(self) -> float:
        return FIRST_MULTIPLIER * float(self.variables.costs[: self.variables.n_boxes].mean())

    @property
    def _may_return(self) -> Indices:
        absent = self.absent
        return absent[absent < self.variables.n_boxes]

    def start_anew(self) -> None:
        """All variables in the session, and the multipliers that are in it already."""
        held = self.kept >= self.variables.n_boxes
        boxes = np.arange(self.variables.n_boxes)
        self.at_upper[:] = False
        self.kept, self._data = np.append(boxes, self.kept[held]), None
        self.begin()

    def begin(self) -> None:
        """The variables well inside their boxes, with Σr = 0 for every output."""
        data, kept = self._problem(), self.kept
        u = START * data.upper
        first = self.variables.n_boxes
        boxes = np.flatnonzero(kept < first)
        output = self.variables.row[kept[boxes]] // self.variables.n_rows
        positive = data.sign[boxes] > 0
        sums = [
            np.bincount(output[side], u[boxes[side]], minlength=self.columns.n_outputs)
            for side in (positive, ~positive)
        ]
        own = np.where(positive, sums[0][output], sums[1][output])
        u[boxes] *= np.minimum(sums[0], sums[1])[output] / own
        u[data.crossing] = self._first_multiplier
        self._begin_at(u, float(np.abs(data.linear).mean()))

    def _solution(self, kept: Vector, coefs: Vector) -> JointSolution:  # type: ignore[override]
        u, coef, _, _ = super()._solution(kept, coefs)
        offsets = self.constraints < 0
        intercept = np.zeros(self.columns.n_outputs)
        intercept[FIRST_OFFSET - self.constraints[offsets]] = coefs[offsets]
        return JointSolution(u, coef, intercept)

    def _rate(self, variables: Indices) -> Vector:
        at = self._solution(self._at.u, self._at.coef)
        output = self.columns.combine(at.coef) + np.repeat(at.intercept, self.columns.n_rows)
        return self.variables.rate(output)[variables]

    # ------------------------------------------------------------------ data

    def _problem(self) -> JointDual:
        if self._data is not None:
            assert isinstance(self._data, JointDual)
            return self._data
        variables, columns, kept = self.variables, self.columns, self.kept
        constraints = self.constraints
        crossing = np.flatnonzero(kept >= variables.n_boxes)
        taken = variables.row[kept]
        pairs, place = np.unique(
            np.append(taken, taken[crossing] + variables.n_rows), return_inverse=True
        )
        real = constraints >= 0
        scales, owner = np.ones(len(constraints)), np.where(real, 0, FIRST_OFFSET - constraints)
        scales[real] = columns.scales[constraints[real]]
        owner[real] = columns.owner[constraints[real]]
        fixed = variables.response(np.where(self.at_upper, variables.costs, 0.0))
        constant = np.zeros(len(constraints))
        constant[real] = columns.scores(constraints[real], fixed) / scales[real]
        constant[~real] = columns.split(fixed).sum(axis=1)[owner[~real]]
        block, (own, added) = self._blocks(pairs, owner), np.split(place, [len(kept)])
        multiplier = {"crossing": crossing, "added": added}
        self._data = self._data_of(JointDual, block, own, constant, scales, **multiplier)
        return self._data

    def _blocks(self, pairs: Indices, owner: Indices) -> OutputBlocks:
        """The columns in the session and the offset of each output, on some of the pairs."""
        output, row = np.divmod(pairs, self.variables.n_rows)
        blocks, places = [], []
        for k, store in enumerate(self.columns.stores):
            rows, own = row[output == k], np.flatnonzero(owner == k)
            real = self.constraints[own] >= 0
            block = np.ones((len(rows), len(own)))
            block[:, real] = store.scaled(self.columns.place[self.constraints[own[real]]], rows)
            blocks.append(block)
            places.append(own)
        return OutputBlocks(blocks, places, len(owner))
