"""Restricted problems over whole kernels, of losses with a box and of smooth ones.

Primal   min Σ_p w_p‖f_p‖ + F(Σ_p f_p + b)             f_p in the space H_p of the kernel K_p
Dual     max gain(r)   with  √(rᵀK_p r) ≤ w_p  for the kernels in the master,  r feasible for F

With η_p ≥ 0 the multiplier of ½rᵀK_p r ≤ ½w_p² the optimum is f_p = η_p K_p r.

Several outputs share η: rows are the pairs (output, training row), K_p is block diagonal with the
kernel's matrix for every output, ‖f_p‖² is Σ_c‖f_pc‖², and every output has its own offset.

A smooth loss takes proximal Newton steps: F is replaced by its quadratic model at the present
output, whose dual is a cone program again, and the way to its optimum is cut short until F and the
norms really fall. (Lee, Sun, Saunders, *Proximal Newton-type methods*, SIAM J. Optim. 24, 2014.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import hypot
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.packed import PackedMatrix
from cgboost.generation.spaces import FunctionSpace, SpaceColumn
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.side_by_side import SideBySide, slices
from cgboost.optimizers.cones.cone_blocks import GramBlock, OutputsBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession, ConeSolution
from cgboost.optimizers.cones.cone_rows import RowsSession
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import (
    NEAR_SCORE,
    NEWTON_LIMIT,
    RESTRICTED_GAP,
    SHORTEST,
    SUFFICIENT,
)
from cgboost.optimizers.solver_options import NEWTON, check_time, deadline_of, time_left
from cgboost.penalties.l1 import FEASIBILITY
from cgboost.penalties.penalty import DualForm, ray_gain
from cgboost.tolerances import SMALLEST

LEAST_CURVATURE = 1e-8
"""Least curvature of a row in a model, relative to the largest: at 0 the model has no end."""

COARSE_GAP = 1e-3
"""Relative gap to which a problem with new kernels is solved: it shows which others there should
be, and takes three quarters of the steps of a close one."""

SMALL_MOVE = 0.1
"""A correction of a vector is in its last digits, at most this share of its largest entry."""

NEAR_END = (1.0, 0.1, 0.01)
"""A dual variable this near an end of its box, relative to its push, is taken for it."""

MATRIX_RIDGE = 1e-13
"""Added to the diagonal of a kernel matrix, relative to it, before it is factorised: some hundred
units of rounding, which make a matrix of low rank indefinite."""

UNIMPORTANT = 1e-3
"""Kernels of a smaller weight, relative to the largest, must show that they are needed: an interior
point leaves small weights to all that are near their limit."""

FAR_SCORE = 0.75
"""A kernel of a smaller score, relative to the largest, leaves the master and its memory."""

FEWER = 0.7
"""Kernels leave the program where less than this share of it is near the limits."""

SCORE_ROUNDING = 1e-6
"""What rounding may do to a squared score, relative to its limit, before limits leave room for it:
the bound loses half of it."""

ROOM_FOR_ROUNDING = 1.1
"""Limits leave so many times the room: the response they give has its own errors."""

LEAST_NORM = 1e-12
"""A function of this share of the norm of all, or less, is rounding: what steps that were cut short
leave of a kernel that is not in use any more."""


class WholeKernelProblem(ABC):
    """A :class:`~cgboost.optimizers.live_dual.LiveProblem` over whole kernels.

    Parameters
    ----------
    columns : list of Column
        Those of the master; every answer appends the functions that it uses.
    """

    def __init__(self, form: DualForm, columns: list[Column], loss: Any) -> None:
        self.form, self.columns = form, columns
        self._parts: Sequence[Any] = loss.parts
        self._slices = slices(part.n_rows for part in self._parts)
        self.spaces: list[FunctionSpace] = []
        self.active: list[FunctionSpace] = []
        self.largest_entry = 0.0
        self._n_answers = 0

    def add(self, kernels: Sequence[SpaceColumn]) -> None:
        """Take in whole kernels."""
        self.spaces.extend(kernel.space for kernel in kernels)
        entries = [float(np.abs(kernel.values).max(initial=0.0)) for kernel in kernels]
        self.largest_entry = max(self.largest_entry, *entries)

    def scores(self, response: Vector) -> Vector:
        """σ_p of all kernels, shape (n_kernels,)."""
        return np.array(
            [space.norm(response) / space.weight**2 for space in self.spaces]
        )  # √(rᵀKr)/w

    def _times(self, kernel: PackedMatrix, vector: Vector) -> Vector:
        """K v, output by output."""
        return np.concatenate([kernel @ vector[rows] for rows in self._slices])

    def _constant(self, intercept: float | Vector) -> Vector:
        """The output of a model without functions."""
        offsets = np.broadcast_to(intercept, len(self._slices))
        return np.repeat(offsets, self._slices[0].stop).astype(np.float64)

    def _sums(self, response: Vector) -> Vector:
        """Σr of every output."""
        return np.array([response[rows].sum() for rows in self._slices])

    def _output(self, vectors: Sequence[Vector] | Vector, intercept: float | Vector) -> Vector:
        """That of the model with the functions f_p = K_p a_p, one vector a_p for each kernel."""
        output = self._constant(intercept)
        for space, own in zip(self.spaces, vectors, strict=True):
            if own.any():
                output += self._times(space.gram, own)
        return output

    def _charge(self, vectors: Sequence[Vector] | Vector, intercept: float | Vector) -> float:
        """The penalty of this model."""
        sizes = [space.norm(own) for space, own in zip(self.spaces, vectors, strict=True)]
        return self.form.value(np.array(sizes), intercept)

    @abstractmethod
    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """The optimum over all kernels taken in, to a relative gap of ``accuracy``."""

    def _point(
        self,
        vectors: Sequence[Vector],
        intercept: Any,
        response: Vector,
        *,
        solved: bool,
    ) -> RestrictedPoint:
        """The answer with the functions f_p = K_p a_p, one vector a_p for each kernel."""
        self._n_answers += 1
        sizes = [space.norm(own) for space, own in zip(self.spaces, vectors, strict=True)]
        least = LEAST_NORM * sum(sizes)
        used = [p for p, size in enumerate(sizes) if size > least]
        self.active = [self.spaces[p] for p in used]
        coef = np.zeros(len(self.columns) + len(used))
        output = self._constant(intercept)
        for p in used:
            key = (self.spaces[p].name, self._n_answers)
            function = self.spaces[p].best(vectors[p], key=key)
            coef[len(self.columns)] = sizes[p]
            output += sizes[p] * function.values
            self.columns.append(function)
        return RestrictedPoint(coef, intercept, output, response, solved=solved)


class WholeKernelDual(WholeKernelProblem):
    """The problem of a loss with a box for r: a cone program in r.

    Kernels far from their limit are left out of the program, and come back where they exceed it.
    """

    def __init__(self, loss: SupportVectorLoss, form: DualForm, columns: list[Column]) -> None:
        super().__init__(form, columns, loss)
        self.loss = loss
        self._repeats, self._squared = 0, form.penalty.degree == 2
        self._inside: list[int] = []  # kernels in the session
        self._blocks: dict[str, GramBlock] = {}
        self._session = self._opened([])

    def add(self, kernels: Sequence[SpaceColumn]) -> None:
        """Take in whole kernels."""
        first = len(self.spaces)
        super().add(kernels)
        self._activate(range(first, len(self.spaces)))
        self._repeats = 0

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """See :meth:`WholeKernelProblem.solve`; better where no kernel is new."""
        deadline = deadline_of(time_limit)
        aims = (max(accuracy, COARSE_GAP), accuracy) if accuracy > 0 else ()
        aim = aims[self._repeats] if self._repeats < len(aims) else 0.0
        self._repeats += 1
        answer, weights, scores = self._solved(deadline, aim)
        if aim <= accuracy:
            important = np.flatnonzero(weights > UNIMPORTANT * weights.max(initial=0.0))
            if len(important) < np.count_nonzero(weights):
                self._session = self._opened(important.tolist(), self._session.last)
                answer, weights, scores = self._solved(deadline, aim)
        vectors, intercept = self._at_margins(weights, answer)
        inside = self._inside_by_rounding(answer, deadline, aim)
        response = self._sparse(inside, aim)
        point = self._point(vectors, intercept, response, solved=aim == 0.0)
        self._leave_out(weights, scores / max(float(scores.max(initial=0.0)), SMALLEST))
        return point

    def _sparse(self, response: Vector, aim: float) -> Vector:
        """See :func:`sparse_response`; balanced output by output."""
        balanced = self.form.offset == "free"
        own = [sparse_response(response[rows], aim, balanced=balanced) for rows in self._slices]
        return np.concatenate(own)

    def _inside_by_rounding(self, answer: ConeSolution, deadline: float, aim: float) -> Vector:
        """The response of an answer, or one for limits that leave room for the scores' rounding.

        A bound must count with scores that are larger by what rounding may do to them. To shrink r
        by that costs a share of the whole gain; smaller limits cost it of the norms alone, which
        are almost nothing compared with the errors of a loss with a high cost.
        """
        errors = np.array([self.spaces[p].score_error(answer.response) for p in self._inside])
        largest = float(errors.max(initial=0.0))
        if self._squared or not max(2.0 * aim, SCORE_ROUNDING) < largest < 1.0 / ROOM_FOR_ROUNDING:
            return answer.response
        offset: Any = self.form.offset
        session = RowsSession(self.loss, offset=offset)
        session.last = self._session.last
        spaces = [self.spaces[p] for p in self._inside]
        shares = np.sqrt(1.0 - ROOM_FOR_ROUNDING * errors)
        limits = shares * np.array([space.weight for space in spaces])
        session.add([self._block(space) for space in spaces], limits=limits)
        response = session.solve(time_left(deadline), aim).response
        shrunk = self.loss.gain(answer.response / np.sqrt(1.0 + largest))
        return response if self.loss.gain(response) > shrunk else answer.response

    def _leave_out(self, weights: Vector, scores: Vector) -> None:
        """Take kernels far from their limit out of the program, those farthest out of the master.

        Parameters
        ----------
        weights, scores : ndarray of shape (n_kernels,)
            Scores relative to the largest.
        """
        stay = np.flatnonzero((weights > 0) | (scores > FAR_SCORE))
        near = np.flatnonzero((weights > 0) | (scores > NEAR_SCORE))
        if len(stay) == len(weights) and len(near) >= FEWER * len(self._inside):
            return
        for p in np.setdiff1d(np.arange(len(weights)), stay):
            self._blocks.pop(self.spaces[p].name, None)
            self.spaces[p].release()
        self.spaces = [self.spaces[p] for p in stay]
        near_of_stay = np.searchsorted(stay, near).tolist()
        self._session = self._opened(near_of_stay, self._session.last)

    def _solved(self, deadline: float, aim: float) -> tuple[ConeSolution, Vector, Vector]:
        """An answer that no kernel of the master refutes, and the weights and scores of all."""
        while True:
            answer = self._session.solve(time_left(deadline), aim)
            weights, scores = np.zeros(len(self.spaces)), self.scores(answer.response)
            weights[self._inside] = answer.weights
            allowed = float(scores[self._inside].max(initial=0.0)) if self._squared else 1.0
            absent = np.setdiff1d(np.arange(len(scores)), self._inside)
            violated = absent[scores[absent] > allowed * (1.0 + max(aim, FEASIBILITY))]
            if not violated.size:
                return answer, weights, scores
            self._activate(violated.tolist())

    def _at_margins(
        self, weights: Vector, answer: ConeSolution
    ) -> tuple[list[Vector], float | Vector]:
        """The vectors a_p = η_p(r + δ) and the offset, with rows inside their boxes at the margin.

        Where the loss is 0 or nearly so, as of data that are met exactly, its cost makes an error
        of the output in the last digits the larger part of the objective. The δ of these rows puts
        them where they belong: Σ η_p K_p δ + Δb is what their outputs lack. Rows that an interior
        point method only leaves near an end of their boxes are put there first, if that is better.
        """
        variables, b = self.loss.variables, answer.intercept
        plain = [weight * answer.response for weight in weights]
        used = np.flatnonzero(weights)
        if variables.curvature.any() or not used.size:
            return plain, b
        kernel = PackedMatrix.combined(weights[used], [self.spaces[p].gram for p in used])
        output = self._times(kernel, answer.response) + self._constant(b)
        objective = self._objective(plain, b)
        for caution in (*NEAR_END, 0.0):
            u = self._near_ends_at_ends(answer, output, caution)
            moved = self._moved_to_margins(kernel, weights, u, answer)
            if moved is not None and self._objective(*moved) <= objective:
                return moved
        return plain, b

    def _near_ends_at_ends(self, answer: ConeSolution, output: Vector, caution: float) -> Vector:
        """Variables u, those at an end of their box that are near it and pushed there.

        Distance and slope are relative to usual ones; with a smaller caution there are fewer.
        """
        u, costs = answer.u, self.loss.variables.costs
        slope = self.loss.variables.rate(output) - answer.level
        usual = max(float(np.abs(slope).mean()), SMALLEST)
        size = caution / usual * np.minimum(costs, float(u.max()))
        at_upper = np.where(costs - u < size * slope, costs, u)
        return np.where(u < size * -slope, 0.0, at_upper)

    def _moved_to_margins(
        self, kernel: PackedMatrix, weights: Vector, u: Vector, answer: ConeSolution
    ) -> tuple[list[Vector], float | Vector] | None:
        """The answer with this u and its rows at the margin; None where they cannot be there.

        ``kernel`` is Σ η_p K_p.
        """
        variables, offsets = self.loss.variables, np.atleast_1d(answer.intercept)
        response = variables.response(u)
        inside = np.flatnonzero((u > 0) & (u < variables.costs))
        rows = variables.row[inside]
        if not 0 < len(np.unique(rows)) == len(rows):
            return None
        totals, excess = self._sums(answer.response), self._sums(response)
        there = np.where(totals != 0, totals, np.inf)  # a penalized offset is a kernel, b = ηΣr
        constants = offsets / there if self.form.charges_offset else 0.0 * offsets
        output = self._times(kernel, response) + self._constant(offsets)
        output += self._constant(constants * (excess - totals))
        lacking = variables.sign[inside] * (variables.rate(output) - answer.level)[inside]
        delta, shift = np.zeros(len(response)), np.zeros(len(offsets))
        balanced = self.form.offset == "free"
        for number, own in enumerate(self._slices):
            if (mine := (own.start <= rows) & (rows < own.stop)).any():
                matrix = kernel.part(rows[mine] - own.start) + constants[number]
                delta[rows[mine]], shift[number] = bordered_solution(
                    matrix, lacking[mine], float(excess[number]) if balanced else None
                )
        response = response + delta
        if np.abs(delta).max() > SMALL_MOVE * np.abs(response).max():  # along a null space of K
            return None
        shift = np.where(constants != 0, constants * (self._sums(response) - totals), shift)
        moved = answer.intercept + (shift if len(shift) > 1 else float(shift[0]))
        return [weight * response for weight in weights], moved

    def _objective(self, vectors: Sequence[Vector], intercept: float | Vector) -> float:
        return self._charge(vectors, intercept) + self.loss.value(self._output(vectors, intercept))

    def _opened(self, inside: list[int], last: Any = None) -> RowsSession:
        """A session with some of the kernels."""
        offset: Any = self.form.offset
        self._session = RowsSession(self.loss, offset=offset, squared=self._squared)
        self._session.last = last
        self._inside = []
        self._activate(inside)
        return self._session

    def _activate(self, kernels: Iterable[int]) -> None:
        """Put kernels into the session."""
        spaces = [self.spaces[p] for p in kernels]
        if spaces:
            limits = np.array([space.weight for space in spaces])
            self._session.add([self._block(space) for space in spaces], limits=limits)
            self._inside.extend(kernels)

    def _block(self, space: FunctionSpace) -> GramBlock:
        """The kernel as a block; a factor of it is found only once."""
        if space.name not in self._blocks or self._blocks[space.name].gram is not space.gram:
            self._blocks[space.name] = GramBlock(space.gram)
        return self._blocks[space.name]


def bordered_solution(matrix: Vector, right: Vector, excess: float | None) -> tuple[Vector, float]:
    """Solution x, b of K x + b = right with Σx = −excess, or of K x = right without a border.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        K, positive semi-definite.
    right : ndarray of shape (n,)
    excess : float or None
        None: without a border.
    """
    size = float(np.trace(matrix)) / len(matrix)
    try:
        factor = cho_factor(matrix + MATRIX_RIDGE * max(size, SMALLEST) * np.eye(len(matrix)))
    except LinAlgError:
        return np.zeros(len(right)), 0.0
    x = cho_solve(factor, right)
    if excess is None:
        return x, 0.0
    ones = cho_solve(factor, np.ones(len(right)))
    b = (float(x.sum()) + excess) / max(float(ones.sum()), SMALLEST)
    return x - b * ones, b


def sparse_response(response: Vector, share: float, *, balanced: bool) -> Vector:
    """A pseudo-response without its smallest entries, which have this share of Σ|r| together.

    A coarse answer of an interior point method is nowhere 0, and a pass over kernels takes time
    with the square of the rows where r is not. It stays in its box, and Σr = 0 if ``balanced``.
    """
    size = np.abs(response)
    order = np.argsort(size, kind="stable")
    sums = np.cumsum(size[order])
    sparse = response.copy()
    sparse[order[sums <= share * sums[-1]]] = 0.0
    if balanced and (total := float(sparse.sum())) != 0.0:
        heavy = sparse > 0 if total > 0 else sparse < 0
        sparse[heavy] *= 1.0 - total / float(sparse[heavy].sum())
    return sparse


class WholeKernelNewton(WholeKernelProblem):
    """The problem of a smooth loss: proximal Newton steps."""

    def __init__(self, loss: RowwiseLoss, form: DualForm, columns: list[Column]) -> None:
        super().__init__(form, columns, loss)
        self.loss = loss
        self._vectors = np.zeros((0, loss.n_rows))
        self._intercept: Any = 0.0 if len(self._slices) == 1 else np.zeros(len(self._slices))
        self._of_model: list[Vector] = []

    def add(self, kernels: Sequence[SpaceColumn]) -> None:
        """Take in whole kernels."""
        super().add(kernels)
        nothing = np.zeros((len(kernels), self.loss.n_rows))
        self._vectors = np.concatenate([self._vectors, nothing])

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """Steps until the gap is closed, or none is better."""
        deadline = deadline_of(time_limit)
        wanted = max(accuracy, RESTRICTED_GAP)
        for _ in range(NEWTON_LIMIT):
            output = self._output(self._vectors, self._intercept)
            value = self._value(self._vectors, self._intercept)
            response, bound = self._best_response(output)
            if value - bound <= wanted * max(1.0, abs(value)):
                break
            check_time(deadline, NEWTON)
            if not self._step(output, value, time_left(deadline)):
                break
        response, _ = self._best_response(self._output(self._vectors, self._intercept))
        return self._point(list(self._vectors), self._intercept, response, solved=True)

    def _best_response(self, output: Vector) -> tuple[Vector, float]:
        """The pseudo-response of an output, or that of the last model, and its bound.

        An error of the output is one of the first order in its pseudo-response, and in the bound.
        """
        candidates = [self.loss.pseudo_response(output), *self._of_model]
        bounds = [self._bound(response) for response in candidates]
        best = int(np.argmax(bounds))
        return candidates[best], bounds[best]

    def _step(self, output: Vector, value: float, time_limit: float | None) -> bool:
        """One step with line search; False if it found nothing better."""
        response, weights = self.loss.pseudo_response(output), self.loss.weights(output)
        weights = np.maximum(weights, LEAST_CURVATURE * (float(weights.max(initial=0.0)) or 1.0))
        free = np.full(len(output), np.inf)
        model = SideBySide.of(
            SupportVectorLoss(
                target=output + response / weights, lower=-free, upper=free, curvature=1.0 / weights
            ),
            [part.n_rows for part in self._parts],
        )
        offset: Any = self.form.offset
        session = ConeSession(model, offset=offset, squared=self.form.penalty.degree == 2)
        limits = np.array([space.weight for space in self.spaces])
        blocks = [len(self._slices) * [GramBlock(space.gram)] for space in self.spaces]
        session.add([OutputsBlock(parts) for parts in blocks], limits=limits)
        answer = session.solve(time_limit, 0.0)
        self._of_model = [answer.response]
        move = answer.weights[:, None] * answer.response - self._vectors
        shift = answer.intercept - self._intercept
        change = self._output(move, shift)
        ends = self._vectors + move, self._intercept + shift
        promised = self._charge(self._vectors, self._intercept) - self._charge(*ends)
        promised += float(response @ change)
        length = 1.0
        while promised > 0 and length > SHORTEST:
            vectors, intercept = self._vectors + length * move, self._intercept + length * shift
            if self._value(vectors, intercept) <= value - SUFFICIENT * length * promised:
                self._vectors, self._intercept = vectors, intercept
                return True
            length *= 0.5
        return False

    def _value(self, vectors: Vector, intercept: float | Vector) -> float:
        return self._charge(vectors, intercept) + self.loss.value(self._output(vectors, intercept))

    def _bound(self, response: Vector) -> float:
        """Lower bound over the kernels in the master."""
        response = self.loss.feasible(response, balanced=self.form.offset == "free")
        scores = self.form.sizes(self.scores(response), hypot(*self._sums(response)))
        largest = float(scores.max(initial=0.0))
        if self.form.penalty.degree == 2:
            return ray_gain(self.loss, response, largest**2)
        return self.loss.gain(response / max(1.0, largest))
