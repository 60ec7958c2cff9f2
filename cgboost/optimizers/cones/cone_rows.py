"""A cone program over the rows that count: those near their margin, and two that stand for others.

A step of the interior point method costs n³/3 for n rows, yet at the optimum most of them are at an
end of their box: rows of comfortable margin have r = 0, rows in plain error their cost. The first
leave the problem. The second become one row of each sign: with the costs p_i and their sum s,

    Σ p_i·max(0, t_i − f_i)  ≥  s·max(0, t − f),      t = Σ p_i t_i/s,   f = Σ p_i f_i/s

by Jensen, with equality while all of them are in error. Its kernel values are means too. What is
feasible for these rows is feasible for all, with the same gain and the same norms, so that the
bound holds for the whole problem. All rows are checked afterwards; those that are on another side
than they were taken for come back, until objective and bound meet over all rows.

Where the rows are those of several outputs, those that leave are chosen, and stood for, output by
output.

The first guess comes from a part of the rows, at costs that make up for the others. (Column and
constraint generation: Dedieu, Mazumder, Wang, JMLR 2022.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.generation.packed import PackedMatrix
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.side_by_side import SideBySide, slices
from cgboost.optimizers.cones.cone_blocks import GramBlock, OutputsBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession, ConeSolution
from cgboost.optimizers.solver_options import deadline_of, time_left
from cgboost.tolerances import SMALLEST

FEW_CONE_ROWS = 300
"""With no more rows of an output than this all of them are solved as fast at once."""

PART = 6
"""One row in so many takes part in the first guess."""

COARSE_GUESS = 1e-2
"""The first guess is solved to this relative gap."""

NEAREST = 0.2
"""The share of the rows, nearest to their margin, that is kept at least."""

AT_END = 0.02
"""An r is at an end of its box where it is this near, relative to its cost, or to a usual r."""

GROWTH_OF_KEPT = 1.25
"""What is kept after an answer to which some rows were on another side than they were taken for,
for each row that was kept before."""

MOST = 0.7
"""From this share on the whole problem costs less than another part of it."""


@dataclass(frozen=True)
class _Rows:
    """The rows of the smaller problem.

    Attributes
    ----------
    kept : ndarray of int
    ends : ndarray of shape (n_rows,)
        What r is of the others.
    means : ndarray of shape (n_rows, at most 2)
        With what share each of the others counts in the row that stands for it.
    sums : ndarray of shape (at most 2,)
        The r of those rows.
    """

    kept: Indices
    ends: Vector
    means: Vector
    sums: Vector

    @classmethod
    def of(cls, kept: NDArray[np.bool_], ends: Vector) -> _Rows:
        others = np.where(kept, 0.0, ends)
        sides = [np.where(sign * others > 0, others, 0.0) for sign in (1.0, -1.0)]
        sides = [side for side in sides if side.any()]
        sums = np.array([side.sum() for side in sides])
        means = np.array([side / side.sum() for side in sides]).reshape(-1, len(ends)).T
        return cls(np.flatnonzero(kept), others, means, sums)

    def loss(self, loss: SupportVectorLoss) -> SupportVectorLoss:
        """That of the smaller problem."""
        return replace(
            loss,
            target=self.of_rows(loss.target),
            lower=np.append(loss.lower[self.kept], np.minimum(self.sums, 0.0)),
            upper=np.append(loss.upper[self.kept], np.maximum(self.sums, 0.0)),
        )

    def of_rows(self, values: Vector) -> Vector:
        """What the rows of the smaller problem have of values of all rows."""
        return np.append(values[self.kept], self.means.T @ values)

    def of_gram(self, gram: PackedMatrix) -> PackedMatrix:
        """Kernel values of the smaller problem."""
        count, mixed = len(self.kept), [gram @ mean for mean in self.means.T]
        small = np.empty((count + len(mixed), count + len(mixed)))
        small[:count, :count] = gram.part(self.kept)
        for place, values in enumerate(mixed, start=count):
            small[place] = small[:, place] = self.of_rows(values)
        return PackedMatrix.of(small)

    def all_of(self, response: Vector) -> Vector:
        """The r of all rows for one of the smaller problem."""
        whole = self.means @ response[len(self.kept) :]
        whole[self.kept] = response[: len(self.kept)]
        return whole

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.kept) + len(self.sums)


class RowsSession:
    """A :class:`ConeSession` that solves over the rows that count.

    Blocks are Gram matrices of the training rows, the same for all outputs.

    Parameters
    ----------
    offset : {"none", "penalized", "free"}
    squared : bool
        As for :class:`ConeSession`.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        offset: Literal["none", "penalized", "free"],
        squared: bool = False,
    ) -> None:
        self.loss, self._offset, self._squared = loss, offset, squared
        self._slices = slices(part.n_rows for part in loss.parts)
        self._blocks: list[GramBlock] = []
        self._limits: list[float] = []
        self.last: tuple[Vector, Vector] | None = None
        """Output and r on all rows, of the last answer or one to a similar problem."""

    def add(self, blocks: Sequence[GramBlock], limits: Vector) -> None:
        """Put more blocks into the session, with the limits of their cones."""
        self._blocks.extend(blocks)
        self._limits.extend(np.asarray(limits).tolist())

    @property
    def _whole(self) -> bool:
        """Whether all rows are best solved at once."""
        loss = self.loss
        plain = loss.mass is None and loss.curvature is None and loss.shrinks
        finite = np.isfinite(loss.lower).all() and np.isfinite(loss.upper).all()
        return loss.parts[0].n_rows <= FEW_CONE_ROWS or not (plain and finite and self._blocks)

    def solve(self, time_limit: float | None = None, accuracy: float = 0.0) -> ConeSolution:
        """The optimum over the blocks in the session; see :meth:`ConeSession.solve`."""
        deadline = deadline_of(time_limit)
        answer = None if self._whole else self._by_rows(deadline, accuracy)
        if answer is None:
            outputs = len(self.loss.parts)
            session = self._opened(self.loss, [outputs * [own] for own in self._blocks])
            answer = session.solve(time_left(deadline), accuracy)
            output = self._output_of(answer.weights, answer.response, answer.intercept)
            if self._blocks:
                self.last = output, answer.response
        return answer

    def _opened(self, loss: SupportVectorLoss, blocks: Sequence[list[GramBlock]]) -> ConeSession:
        """A session with these blocks, one for each output."""
        session = ConeSession(loss, offset=self._offset, squared=self._squared)
        session.add([OutputsBlock(parts) for parts in blocks], np.array(self._limits))
        return session

    def _by_rows(self, deadline: float, accuracy: float) -> ConeSolution | None:
        """The optimum over all rows from problems over some; None where too many are needed."""
        loss, share = self.loss, NEAREST
        output, response = self._guess(deadline) if self.last is None else self.last
        ends, distance = _ends(loss, output, response)
        while True:
            kept = self._kept(distance, share)
            if np.count_nonzero(kept) > MOST * loss.n_rows:
                return None
            parts = [_Rows.of(kept[own], ends[own]) for own in self._slices]
            whole = zip(parts, loss.parts, strict=True)
            small = SideBySide.joined([rows.loss(own) for rows, own in whole])
            session = self._opened(small, self._small_blocks(parts))
            answer = session.solve(time_left(deadline), accuracy)
            smaller = zip(parts, slices(rows.count for rows in parts), strict=True)
            response = np.concatenate([rows.all_of(answer.response[own]) for rows, own in smaller])
            response = np.clip(response, loss.lower, loss.upper)
            output = self._output_of(answer.weights, response, answer.intercept)
            self.last = output, response
            pairs = zip(parts, self._slices, strict=True)
            outputs = np.concatenate([rows.of_rows(output[own]) for rows, own in pairs])
            missed = loss.value(output) - small.value(outputs)
            scale = max(abs(answer.objective), abs(answer.bound), SMALLEST)
            now, distance = _ends(loss, output, response)
            wrong = ~kept & (now != ends)
            if not wrong.any() or missed + answer.gap <= accuracy * scale:
                return replace(
                    answer,
                    u=loss.variables.values(response),
                    response=response,
                    objective=answer.objective + missed,
                )
            ends, share = now, GROWTH_OF_KEPT * share
            distance[wrong] = 0.0  # besides those that are inside their box

    def _kept(self, distance: Vector, share: float) -> NDArray[np.bool_]:
        """Which rows are in the smaller problem: of each output this share, the nearest ones.

        Of several outputs each must have rows of both signs.
        """
        kept = np.zeros(len(distance), dtype=bool)
        for rows, loss in zip(self._slices, self.loss.parts, strict=True):
            own = distance[rows]
            kept[rows] = own <= np.quantile(own, share)
            if len(self._slices) > 1:
                for side in (loss.upper > 0, loss.lower < 0):
                    kept[rows.start + int(np.argmin(np.where(side, own, np.inf)))] = True
        return kept

    def _small_blocks(self, parts: Sequence[_Rows]) -> list[list[GramBlock]]:
        """The kernels on the rows of the smaller problem."""
        return [
            [GramBlock(rows.of_gram(PackedMatrix.of(own.gram))) for rows in parts]
            for own in self._blocks
        ]

    def _guess(self, deadline: float) -> tuple[Vector, Vector]:
        """Like :attr:`last`, from a part of the rows, in which every output has both signs."""
        losses = self.loss.parts
        n_rows, order = losses[0].n_rows, np.random.default_rng(0).permutation(losses[0].n_rows)
        chosen = order[: n_rows // PART]
        if len(losses) > 1:
            sides = [side for own in losses for side in (own.upper > 0, own.lower < 0)]
            first = [order[np.argmax(side[order])] for side in sides]
            chosen = np.union1d(chosen, first)
        part = np.sort(chosen)
        loss = SideBySide.joined([own.on_part(part) for own in losses])
        session = RowsSession(loss, offset=self._offset, squared=self._squared)
        grams = [PackedMatrix.of(PackedMatrix.of(own.gram).part(part)) for own in self._blocks]
        session.add([GramBlock(gram) for gram in grams], np.array(self._limits))
        answer = session.solve(time_left(deadline), COARSE_GUESS)
        response = np.zeros((len(losses), n_rows))
        response[:, part] = answer.response.reshape(len(losses), -1)
        output = self._output_of(answer.weights, response.ravel(), answer.intercept)
        return output, np.zeros(response.size)  # no row is known to be at its cost

    def _output_of(self, weights: Vector, response: Vector, intercept: float | Vector) -> Vector:
        parts = np.atleast_1d(intercept)
        output = np.repeat(parts, self.loss.n_rows // len(parts))
        for weight, block in zip(weights, self._blocks, strict=True):
            if weight:
                gram = PackedMatrix.of(block.gram)
                for rows in self._slices:
                    output[rows] += weight * (gram @ response[rows])
        return output


def _ends(loss: SupportVectorLoss, output: Vector, response: Vector) -> tuple[Vector, Vector]:
    """The end of its box where each r is, and how far the row is from its margin.

    A row whose r is not at that end is at no distance: it is inside its box, or in error for the
    first time. If many are taken to be at their cost which need not, the row that stands for them
    pays almost nothing.
    """
    above, below = loss.target - output - loss.epsilon, output - loss.target - loss.epsilon
    up, down = loss.upper > 0, loss.lower < 0
    ends = np.where(up & (above > 0), loss.upper, np.where(down & (below > 0), loss.lower, 0.0))
    distance = np.minimum(
        np.where(up, np.abs(above), np.inf), np.where(down, np.abs(below), np.inf)
    )
    size = np.abs(response)
    usual = float(size.sum()) / max(1, int(np.count_nonzero(size)))
    distance[np.abs(ends - response) > AT_END * np.where(ends == 0, usual, np.abs(ends))] = 0.0
    return ends, distance
