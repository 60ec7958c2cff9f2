"""The quadratic model of a Newton step: its matrix, and its minimiser with a weighted 1-norm.

    min ½xᵀQx + c·x + Σ λ_j|x_j|       x_j ≥ 0 where asked for

Where the signs σ are known, x solves Q_AA x_A = −c_A − λ_Aσ_A: a linear system over the active
coordinates A. A step goes to its solution or, where signs change on the way, to a better point with
fewer coordinates; then those enter whose gradient exceeds λ. Every step lowers the objective, so
that no set of signs comes twice. (Lee, Battle, Raina, Ng, *Efficient sparse coding algorithms*,
NIPS 2006: feature-sign search, which lets in one coordinate at a time.) Where nearly as many are
active as Q has rank, steps become short: after a few,
:mod:`cgboost.optimizers.newton.homotopy` goes on with exchanges of one coordinate each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dposv

from cgboost._solvers import LimitError, Program, solve
from cgboost.arrays import Indices, Mask, Vector
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.newton.homotopy import follow
from cgboost.optimizers.solver_options import NEWTON, check_time

EXCESS = 1e-13
"""A gradient above λ by no more than this, relative to the largest of λ and |c|, is rounding."""

FIRST_STEPS = 3
"""Steps before a homotopy: most models take no more. Of 3, 6, 10 and 20, 3 was the quickest on
paths of three losses (3000 × 300) and at 600 × 2000, where 20 took up to twice as long."""

SIGN_STEPS = 100
"""Steps at most after it, besides one for each coordinate."""

FIRST = 16
"""Coordinates that enter at once are at most this many, or as many as are active: of more, most
would have to leave again."""

BLOCKING_SHARE = 1e-13
"""A coordinate that changes its sign after this share of a step is 0 but for rounding, and would
stand in the way of all others."""

FEW_CHANGES = 0.4
"""Products are changed, not made anew, where the weights of at most this share of the rows differ.
A change costs the same for each row, and is made for columns that are no longer asked for, too.
Where those of more differ, earlier products may do …"""

LITTLE = 0.015
"""… while they differ by this share of their sum at most. Along a path of the log loss (3000 × 300,
100 prices), 0.005 to 0.03 took 1.4 to 1.5 s, 0.1 took 1.7, and products anew in every step 2.1."""

SAME_WEIGHT = 1e-12
"""Weights that differ by no more than this share are the same but for the rounding of a price, by
which all of them are multiplied."""


def minimise(
    Q: Vector,
    c: Vector,
    charge: Vector,
    start: Vector,
    *,
    positive: Mask,
    rank: int | None = None,
    deadline: float = np.inf,
) -> Vector:
    """The minimiser, shape (n,); or the last point after very many steps.

    Parameters
    ----------
    Q, c, charge, start, positive, deadline
        As for :func:`~cgboost.optimizers.newton.homotopy.follow`, but any start.
    rank : int, optional
        Of Q, but for what makes it definite: where as many coordinates are active, others enter one
        at a time, as in a simplex method.

    Raises
    ------
    LinAlgError, LimitError
        As there.
    """
    x = np.where(positive, np.maximum(start, 0.0), start)
    room = len(c) if rank is None else rank
    if _by_steps(Q, c, charge, x, positive, room, FIRST_STEPS, deadline):
        return x
    x = follow(Q, c, charge, x, positive=positive, deadline=deadline)
    _by_steps(Q, c, charge, x, positive, room, SIGN_STEPS + len(c), deadline)
    return x


def _by_steps(
    Q: Vector,
    c: Vector,
    charge: Vector,
    x: Vector,
    positive: Mask,
    rank: int,
    limit: int,
    deadline: float,
) -> bool:
    """Move x by ``limit`` steps at most; whether nothing is left to be gained."""
    smooth = (charge == 0) & ~positive
    rounding = EXCESS * max(float(charge.max(initial=0.0)), float(np.abs(c).max(initial=0.0)))
    stationary = False  # whether x is the solution for its own signs
    for _ in range(limit):
        check_time(deadline, NEWTON)
        gradient = Q @ x + c
        active = smooth | (x != 0)
        excess = np.where(positive, -gradient, np.abs(gradient)) - charge
        excess[active] = 0.0
        entering = np.flatnonzero(excess > rounding)
        if stationary and not entering.size:
            return True
        held = int(np.count_nonzero(active))
        room = max(1, min(max(FIRST, held), rank - held))
        if len(entering) > room:
            entering = entering[np.argpartition(-excess[entering], room)[:room]]
        sign = np.sign(x)
        sign[entering] = -np.sign(gradient[entering])
        places, move = _newton_step(Q, gradient + charge * sign, sign, active, entering)
        if stationary and not np.any(~active[places]):
            return True
        here, slopes = x[places], gradient[places]
        turning = (here + move) * here <= 0.0
        turning &= (here != 0) & ~smooth[places]
        if not turning.any():
            x[places] = here + move
            stationary = True
            continue
        if (blocking := turning & (np.abs(here) <= BLOCKING_SHARE * np.abs(move))).any():
            x[places[blocking]], stationary = 0.0, False
            continue
        bends = Q[places[:, None], places]
        ends = [
            np.where(turning, 0.0, here + move),
            _best_on_way(here, move, slopes, charge[places], bends, turning, positive[places]),
        ]
        rises = [
            (end - here) @ (slopes + 0.5 * (bends @ (end - here)))
            + charge[places] @ (np.abs(end) - np.abs(here))
            for end in ends
        ]
        best = int(np.argmin(rises))
        if not rises[best] < 0:
            return True
        x[places], stationary = ends[best], False
    return False


def _newton_step(
    Q: Vector, slope: Vector, sign: Vector, active: Mask, entering: Indices
) -> tuple[Indices, Vector]:
    """The coordinates that move, and how far to the solution for their signs.

    Of those that enter, only such as move to the side on which they lower the objective.
    """
    taking = active.copy()
    taking[entering] = True
    while True:
        places = np.flatnonzero(taking)
        if not places.size:
            return places, np.zeros(0)
        move = -positive_solution(Q[places[:, None], places], slope[places])
        wrong = ~active[places] & (move * sign[places] <= 0.0)
        if not wrong.any():
            return places, move
        taking[places[wrong]] = False


def positive_solution(Q: Vector, right: Vector) -> Vector:
    """Q⁻¹·right by one call of LAPACK: what a few coordinates take is little more than the call.

    Raises
    ------
    LinAlgError
        If Q is not positive definite up to rounding.
    """
    _, solution, failed = dposv(Q, right)
    if failed:
        raise LinAlgError("the model of a Newton step is flat")
    return np.asarray(solution)


def _best_on_way(
    here: Vector,
    move: Vector,
    slopes: Vector,
    charge: Vector,
    bends: Vector,
    turning: Mask,
    positive: Mask,
) -> Vector:
    """The best of here + t·move, 0 ≤ t ≤ 1, short of where a coordinate would become negative."""
    crossings = np.flatnonzero(turning)
    at = -here[crossings] / move[crossings]
    sides = np.where(here != 0, np.sign(here), np.sign(move))
    slope = float(slopes @ move + (charge * sides) @ move)
    bend = float(move @ bends @ move)
    for k in np.argsort(at, kind="stable"):
        j, length = crossings[k], float(at[k])
        if slope + length * bend >= 0.0:
            break
        slope += 2.0 * charge[j] * abs(move[j])
        if positive[j] or slope + length * bend >= 0.0:
            end: Vector = here + length * move
            end[j] = 0.0
            return end
    length = min(1.0, -slope / bend) if bend > 0 else 1.0
    end = here + length * move
    return np.where(positive, np.maximum(end, 0.0), end)


def minimise_to_limit(
    Q: Vector,
    c: Vector,
    charge: Vector,
    start: Vector,
    *,
    positive: Mask,
    rank: int | None,
    limit: float,
    deadline: float = np.inf,
) -> Vector:
    """The minimiser with |x_n| at most ``limit`` for the last coordinate.

    If it lies beyond that, x_n stays at the limit and the others are found for it; a limit of 0
    leaves x_n out. The rest is as for :func:`minimise`.
    """
    if limit > 0.0:
        end = minimise(Q, c, charge, start, positive=positive, rank=rank, deadline=deadline)
        if abs(end[-1]) <= limit:
            return end
        limit = float(np.copysign(limit, end[-1]))
    rest = slice(0, -1)
    linear = c[rest] + limit * Q[rest, -1]
    point = minimise(
        Q[rest, rest],
        linear,
        charge[rest],
        start[rest],
        positive=positive[rest],
        deadline=deadline,
    )
    return np.append(point, limit)


def minimise_by_program(
    Q: Vector,
    c: Vector,
    charge: Vector,
    ends: Vector,
    ball: tuple[Vector, float] | None,
    *,
    solver: str,
    options: Mapping[str, Any] | None,
) -> Vector:
    """The minimiser by a quadratic program in x = p − q with p, q ≥ 0, shape (n,).

    Parameters
    ----------
    Q, c, charge
        As for :func:`minimise`.
    ends : ndarray of shape (2, n)
        Least and largest values.
    ball : (ndarray of shape (n,), float), optional
        Weights w and the radius of Σ w_j|x_j|.
    options : mapping of str to object, optional

    Raises
    ------
    SolverError
        If the solver fails. At its limit of iterations the last point is taken.
    """
    n, unit = len(c), float(np.diag(Q).max())
    program = Program(
        cost=(np.concatenate([c, -c]) + np.tile(charge, 2)) / unit,
        matrix=np.zeros((0, 2 * n)) if ball is None else np.tile(ball[0], 2)[None, :],
        row_upper=np.array([] if ball is None else [ball[1]]),
        upper=np.concatenate([ends[1], -ends[0]]),
        quadratic=np.block([[Q, -Q], [-Q, Q]]) / unit,
    )
    try:
        split = solve(program, solver, options=options).x
    except LimitError as error:
        if error.solution is None or not np.isfinite(error.solution.x).all():
            raise
        split = error.solution.x
    point: Vector = np.maximum(split[:n], 0.0) - np.maximum(split[n:], 0.0)
    if ball is not None:
        spent = np.abs(point * ball[0]).sum()
        point[ball[0] > 0] *= min(1.0, ball[1] / spent) if spent > 0 else 1.0
    return point


def without_first(
    gradient: Vector, hessian: Vector, k: int, ridge: float
) -> tuple[Vector, Vector, Vector, Vector]:
    """Eliminate the first k coordinates z, which are free and cost nothing.

    z = −u − V·x at the minimum, for moves x of the others. Returns u, V, and the gradient and the
    Hessian that are left to x; ``ridge`` is added to the diagonal of z.
    """
    factor = cho_factor(hessian[:k, :k] + ridge * np.eye(k))
    by_gradient: Vector = cho_solve(factor, gradient[:k])
    by_others: Vector = cho_solve(factor, hessian[:k, k:])
    left = gradient[k:] - hessian[k:, :k] @ by_gradient
    return by_gradient, by_others, left, hessian[k:, k:] - hessian[k:, :k] @ by_others


def solved_over_rows(gram: Vector, root: Vector, mu: float, right: Vector) -> Vector:
    """X with (I + W^½·HHᵀ·W^½/μ)X = right, of shape (n_rows, k); ``root`` is W^½."""
    matrix = gram * (root / mu)
    matrix *= root[:, None]
    matrix[np.diag_indices_from(matrix)] += 1.0
    factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
    solution: Vector = cho_solve(factor, right)
    return solution


class WeightedProducts:
    """Products HᵀWH of columns, and with a column of ones, under weights that change.

    Of the columns that were asked for before, the products are kept. New weights change them by
    H_SᵀΔW_S H_S, where S are the rows whose weights differ: none for the squared error, few for the
    squared hinge. Where the weights of most rows differ, as those of the log loss do after every
    step, the products may be kept as they are for as long as steps that rest on them are good ones.

    Attributes
    ----------
    exact : bool
        Whether the last products were under the weights that were asked for.
    """

    def __init__(self, columns: ColumnStore) -> None:
        self.columns, self.exact = columns, True
        self._place = np.zeros(0, dtype=np.intp)  # of each column among those that are kept
        self._kept = np.zeros(0, dtype=np.intp)
        self._weights = np.zeros(0)
        self._products = np.zeros((1, 1))  # the ones come first

    def scale(self, factor: float) -> None:
        """Multiply all weights by a factor, as another price of the loss does."""
        self._weights, self._products = factor * self._weights, factor * self._products

    def of(self, places: Indices, weights: Vector, *, nearly: bool = False) -> Vector:
        """HᵀWH of the columns ``places`` and, last, a column of ones.

        Parameters
        ----------
        places : ndarray of int, shape (k,)
        weights : ndarray of shape (n_rows,)
            The diagonal of W, at least 0.
        nearly : bool, default=False
            Whether earlier weights will do where most have changed.
        """
        changed = np.arange(len(weights))
        if len(self._weights):
            apart = np.abs(weights - self._weights) > SAME_WEIGHT * weights
            changed = np.flatnonzero(apart)
        self.exact = True
        if len(changed) <= FEW_CHANGES * len(weights):
            if len(changed):
                change = weights - self._weights
                self._products += self._product(self._kept, self._kept, changed, change)
                self._weights = self._weights.copy()
                self._weights[changed] = weights[changed]
        elif nearly and self._is_near(weights):
            self.exact = False
        else:
            self._kept, self._place = places[:0], np.full(self.columns.count, -1)
            self._products = np.full((1, 1), weights.sum())
            self._weights = weights.copy()
        self._take_in(places)
        wanted = np.append(1 + self._place[places], 0)
        return self._products[np.ix_(wanted, wanted)]

    def _is_near(self, weights: Vector) -> bool:
        """Whether the weights of the products are, but for a little, those."""
        if not len(self._weights):
            return False
        change = float(np.abs(weights - self._weights).sum())
        return change <= LITTLE * float(weights.sum())

    def _take_in(self, places: Indices) -> None:
        """Keep the products of more columns."""
        missing = self.columns.count - len(self._place)
        self._place = np.append(self._place, np.full(missing, -1, dtype=np.intp))
        new = places[self._place[places] < 0]
        if not new.size:
            return
        rows = np.flatnonzero(self._weights)
        old = len(self._products)
        products = np.empty((old + len(new), old + len(new)))
        products[:old, :old] = self._products
        left = np.append(self._kept, new) if len(self._kept) else new
        part = self._product(left, new, rows, self._weights)
        products[:, old:] = part[:, 1:]
        products[old:, :old] = part[:old, 1:].T
        self._place[new] = len(self._kept) + np.arange(len(new))
        self._kept, self._products = np.append(self._kept, new), products

    def _product(self, left: Indices, right: Indices, rows: Indices, weights: Vector) -> Vector:
        """Products over some rows; ones first on both sides."""
        factors, own = self._with_ones(right, rows), weights[rows]
        if left is right and own.min(initial=0.0) >= 0.0:  # of one factor: half the work
            factors *= np.sqrt(own)[:, None]
            others = weighted = factors
        else:
            others = factors if left is right else self._with_ones(left, rows)
            weighted = factors * own[:, None]
        product: Vector = others.T @ weighted
        return product

    def _with_ones(self, places: Indices, rows: Indices) -> Vector:
        found = np.empty((len(rows), len(places) + 1))
        found[:, 0] = 1.0
        scales = self.columns.scales[places]
        np.multiply(self.columns.scaled(places, rows), scales, out=found[:, 1:])
        return found
