"""Points nearer to the optimum than a given one, and duals that prove how near.

Where the penalty is ½‖w‖², Newton's method without a dictionary: the loss with its kinks rounded
over a width that shrinks from stage to stage (Mangasarian, *A finite Newton method for
classification*, 2002; Keerthi, DeCoste, JMLR 6, 2005), steps by the rows that bend or by the
features, whichever are fewer, and by conjugate gradients where both are many. Where coefficients
are sparse, column generation begins with the columns that the model uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from cgboost.arrays import Indices, Vector
from cgboost.generation.history import Round
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import MasterState
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart
from cgboost.optimizers.interior_point.normal_equations import cholesky
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.feature_pricer import Feature, FeaturePool
from cgboost.proofs.family_problems import FamilyProblem, Restricted
from cgboost.proofs.problem import DualPoint, LinearProblem, Point
from cgboost.proofs.rows import BoxRows, Rows
from cgboost.tolerances import SMALLEST

SOLVED_DIRECTLY = 1500
"""Linear systems of up to so many unknowns are solved directly: 0.2 s and 18 MB."""

SPARSE_SOLVED_DIRECTLY = 300
"""And where X is sparse: its products take less than a factor."""

MOST_NEWTON_STEPS = 100
"""Newton steps at most."""

SHARPER = 0.2
"""Of each width of kinks the next one."""

SMALLEST_WIDTH = 1e-12
"""Width, relative to the first, below which rounding decides."""

SETTLED_SHARE = 0.1
"""Kinks become sharper when a step gains less than this share of what rounding them costs."""

LEVEL_ENOUGH = 0.1
"""A step ends where the slope along it is this share of the first one. Losses that are nearly
piecewise linear have long straight pieces, and halving steps alone would take many."""

SHORTEST_STEP = 1e-8
"""A step cut below this share of its first trial cannot lower the objective in floating point."""

MOST_MOVED = 10.0
"""Outputs move by at most this many times the largest one, or 1, in the first trial of a step:
where few rows bend the model's minimum may be farther by ten powers of ten."""

LONGEST_STEP = 1e6
"""Steps go this far beyond the model's minimum at most, where the loss is flatter than at its
start."""

ZERO_TILT = 1e-12
"""A sum of pseudo-responses that is this share of the sum of their sizes is 0."""

FLAT = 1e-12
"""An intercept whose curvature is this share of what it would be if all rows bent has none."""

CG_STEPS = 100
"""Steps of conjugate gradients for one step of Newton's method, at most."""

FEATURES_PER_ROUND = 100
"""Columns that may enter in one round of column generation."""


@dataclass
class Search:
    """The best points so far, and when they are good enough.

    Attributes
    ----------
    given : Point
        Of the model.
    enough : callable
        Whether (given, best, dual) will do.
    """

    problem: LinearProblem | FamilyProblem
    given: Point
    enough: Callable[[Point, Point, DualPoint], bool]
    best: Point = field(init=False)
    dual: DualPoint = field(init=False)

    def __post_init__(self) -> None:
        self.best = self.given
        start = self.problem.start(self.given)
        nothing = np.zeros_like(self.given.output)
        self.dual = DualPoint(nothing, np.zeros(0), -np.inf)
        self.offer(response=start)
        if not self.ended:
            self.offer(self.problem.nothing(self.given))

    @property
    def ended(self) -> bool:
        """Whether the points will do."""
        return self.enough(self.given, self.best, self.dual)

    def offer(self, point: Point | None = None, response: Vector | None = None) -> bool:
        """Take what is better; whether all will do."""
        if point is not None and point.objective < self.best.objective:
            self.best = point
        if response is not None:
            dual = self.problem.dual_at(response)
            if dual.bound > self.dual.bound:
                self.dual = dual
        return self.ended


def come_nearer(search: Search, tol: float) -> None:
    """Improve both points until they will do, or the relative gap is ``tol``."""
    if search.ended:
        return
    problem = search.problem
    if isinstance(problem, FamilyProblem):
        _by_columns(search, problem.restricted(search.best), tol)
    elif problem.penalty.threshold or problem.positive:
        _by_columns(search, _restricted(problem, search.best), tol)
        search.dual = problem.dual_at(search.dual.response)  # with its scores
    else:
        _by_newton(search)


# ------------------------------------------------------------------- column generation


def _by_columns(search: Search, restricted: Restricted, tol: float) -> None:
    """Rounds from the columns of the model; the bound of each is that of its pricing pass."""

    def watch(current: Round) -> bool:
        state, bound = current.state, search.problem.unit * current.bound
        if bound > search.dual.bound:
            search.dual = DualPoint(state.pseudo_response, np.zeros(0), bound)
        return search.offer(restricted.point(state))

    ColumnGeneration(
        restricted.master,
        restricted.pricer,
        tol=tol,
        columns_per_round=restricted.columns_per_round,
        callbacks=[watch],
    ).run()


def _restricted(problem: LinearProblem, given: Point) -> Restricted:
    """The problem over the features that a model uses, and a pricer of all."""
    X, n_rows = problem.X, problem.X.shape[0]
    coef, intercept = given.coef, problem.factor * given.intercept
    if problem.charged:  # one more feature
        ones = np.full((n_rows, 1), problem.scale)
        X = sparse.hstack([X, ones], format="csc") if problem.is_sparse else np.hstack([X, ones])
        coef, intercept = np.append(coef, given.intercept / problem.scale), 0.0
    pool = FeaturePool(X, scales=np.full(X.shape[1], 1.0 / problem.factor))
    used = np.flatnonzero(coef)
    columns = pool.columns([0] * len(used), used.tolist())
    master = SupportVectorMaster(
        problem.loss,
        problem.penalty,
        coef="nonneg" if problem.positive else "free",
        offset="free" if problem.intercept == "free" else "none",
    )
    master.start_from(WarmStart(columns, coef[used], float(intercept)))

    def point(state: MasterState) -> Point:
        found = np.zeros(len(coef))
        features = [cast(Feature, column.hypothesis).index for column in state.columns]
        found[features] = state.coef
        own = found[:-1] if problem.charged else found
        b = found[-1] * problem.scale if problem.charged else state.intercept / problem.factor
        return problem.at(own, float(b) if problem.intercept != "none" else 0.0)

    return Restricted(master, StrataPricer(pool), FEATURES_PER_ROUND, point)


# ------------------------------------------------------------------- ½‖w‖²: Newton's method


def _by_newton(search: Search) -> None:
    problem = cast(LinearProblem, search.problem)
    at = search.best
    width = first = _first_width(search) if problem.rows.sharp else 0.0
    steps, centre = 0, search.dual.response
    while True:
        rows = problem.rows.smoothed(width, centre)
        for point, left in _newton(problem, rows, at):
            at, steps = point, steps + 1
            response = rows.response(at.output)
            if search.offer(point, response) or steps >= MOST_NEWTON_STEPS:
                return
            if width and left < SETTLED_SHARE * _moved(rows, response, centre):
                break
        if not width or width <= SMALLEST_WIDTH * first:
            return
        width, centre = width * SHARPER, rows.response(at.output)


def _first_width(search: Search) -> float:
    """A width at which rounding the kinks costs about a quarter of the present gap."""
    problem = search.problem
    sharp = problem.rows
    gap = max(search.best.objective - search.dual.bound, 0.0) / problem.unit
    output = search.best.output
    value = float(sharp.values(output).sum())

    def cost(width: float) -> float:
        return abs(value - float(sharp.smoothed(width, np.zeros_like(output)).values(output).sum()))

    width = 1.0
    while cost(width) < 0.25 * gap and width < 1e6:
        width *= 4.0
    while cost(width) > 0.25 * gap and width > 1e-9:
        width *= 0.25
    return width


def _moved(rows: Rows, response: Vector, centre: Vector) -> float:
    """½ Σ q (r − centre)²: what the rounding of kinks still costs."""
    assert isinstance(rows, BoxRows)
    assert rows.loss.curvature is not None
    return 0.5 * float(rows.loss.curvature @ (response - centre) ** 2)


def _newton(problem: LinearProblem, rows: Rows, start: Point) -> Iterator[tuple[Point, float]]:
    """Newton steps: where they end, and what the step was to gain."""
    output = start.output
    w = problem.charged_coefficients(start.coef, start.intercept)
    b = np.asarray(0.0 if problem.charged else start.intercept, dtype=np.float64)
    free, factor = problem.intercept == "free", problem.factor

    def out(v: Vector, shift: Any) -> Vector:
        if problem.charged:
            v, shift = v[:-1], problem.scale * v[-1]
        return np.asarray(factor * (problem.X @ v + shift))

    def back(r: Vector) -> Vector:
        s = factor * np.asarray(problem.X.T @ r)
        return np.append(s, factor * problem.scale * r.sum()) if problem.charged else s

    while True:
        response = rows.response(output)
        slope = back(response) - w
        tilt = factor * response.sum(axis=0) if free else np.zeros_like(b)
        rounding = ZERO_TILT * factor * float(np.abs(response).sum())
        tilt = np.where(np.abs(tilt) > rounding, tilt, 0.0)
        move, shift = _direction(problem, rows, output, slope, tilt, out, back)
        promise = float(np.vdot(slope, move)) + float(np.vdot(tilt, shift))
        if not promise > 0:
            return
        along = out(move, shift)
        step = _step(rows, output, along, w, move, promise)
        if not step > 0:
            return
        w, b, output = w + step * move, b + step * shift, output + step * along
        own, at = (w[:-1], problem.scale * w[-1]) if problem.charged else (w, b)
        end = float(at) if np.ndim(at) == 0 else at
        yield problem.with_output(own, end, output), 0.5 * promise


def _step(
    rows: Rows, output: Vector, along: Vector, w: Vector, move: Vector, promise: float
) -> float:
    """How far to go along a direction: until the slope there is nearly 0."""
    tilt, bend = float(np.vdot(w, move)), float(np.vdot(move, move))

    def slope(step: float) -> float:
        pulled = float(np.vdot(rows.response(output + step * along), along))
        return tilt + step * bend - pulled

    farthest = float(np.abs(along).max(initial=0.0))
    most = MOST_MOVED * (1.0 + float(np.abs(output).max(initial=0.0)))
    low, high = 0.0, min(1.0, most / farthest) if farthest > 0 else 1.0
    step = first = high
    while slope(high) < -LEVEL_ENOUGH * promise and high < LONGEST_STEP:
        low, high = high, 4.0 * high
        step = high
    while high - low > SHORTEST_STEP * first:
        here = slope(step)
        if abs(here) <= LEVEL_ENOUGH * promise:
            return step
        low, high = (step, high) if here < 0 else (low, step)
        step = 0.5 * (low + high)
    return low


def _direction(
    problem: LinearProblem,
    rows: Rows,
    output: Vector,
    slope: Vector,
    tilt: Any,
    out: Callable[[Vector, Any], Vector],
    back: Callable[[Vector], Vector],
) -> tuple[Vector, Any]:
    """The Newton direction of coefficients and free intercept."""
    free = problem.intercept == "free"
    if output.ndim == 1:
        bent = rows.curvature(output)
        counting = np.flatnonzero(bent > SMALLEST)
        most = SPARSE_SOLVED_DIRECTLY if problem.is_sparse else SOLVED_DIRECTLY
        if min(len(counting), len(slope)) <= most:
            all_bent = problem.factor**2 * rows.most_bent(output)
            return _solved(problem, bent[counting], counting, slope, float(tilt), all_bent)
    n, size = slope.size, int(np.size(tilt)) if free else 0
    bend = rows.bending(output)

    def product(v: Vector) -> Vector:
        move = v[:n].reshape(slope.shape)
        shift = v[n:].reshape(np.shape(tilt)) if free else np.zeros(np.shape(tilt))
        pulled = bend(out(move, shift))
        own = move + back(pulled)
        ends = problem.factor * np.ravel(pulled.sum(axis=0)) if free else np.zeros(0)
        return np.concatenate([own.ravel(), ends])

    right = np.concatenate([slope.ravel(), np.ravel(tilt)[:size]])
    operator = LinearOperator((n + size, n + size), matvec=product, dtype=np.float64)
    exact = min(0.1, float(np.sqrt(np.linalg.norm(right))))
    found, _ = cg(operator, right, rtol=exact, maxiter=CG_STEPS)
    shift = found[n:].reshape(np.shape(tilt)) if free else np.zeros(np.shape(tilt))
    return found[:n].reshape(slope.shape), shift


def _solved(
    problem: LinearProblem,
    bent: Vector,
    counting: Indices,
    slope: Vector,
    tilt: float,
    all_bent: float,
) -> tuple[Vector, Any]:
    """By a factor of the Hessian I + BᵀDB, B = factor·X of the rows that bend, or over these rows.

    With M = D⁻¹ + BBᵀ the inverse is I − BᵀM⁻¹B, and the intercept's Schur complement uᵀM⁻¹u.
    Where no row bends for the intercept it moves first, alone, as if all did (``all_bent``).
    """
    B = problem.factor * problem.X[counting]
    if problem.charged:
        ones = np.full((len(counting), 1), problem.factor * problem.scale)
        B = sparse.hstack([B, ones], format="csr") if problem.is_sparse else np.hstack([B, ones])
    u = np.full(len(counting), problem.factor)
    free = problem.intercept == "free"
    if not len(counting):
        return _flat(slope, tilt, all_bent)
    if len(counting) <= len(slope):
        M = B @ B.T
        M = M.toarray() if sparse.issparse(M) else M
        M[np.diag_indices_from(M)] += 1.0 / bent
        factors = cholesky(M)[0], True
        across = np.asarray(B @ slope)
        if not free:
            return slope - B.T @ cho_solve(factors, across), np.asarray(0.0)
        solved = cho_solve(factors, np.column_stack([across, u]))
        left = float(u @ solved[:, 1])
        if tilt and left <= FLAT * all_bent:
            return _flat(slope, tilt, all_bent)
        shift = (tilt - float(u @ solved[:, 0])) / left if left > 0 else 0.0
        return slope - B.T @ (solved[:, 0] + shift * solved[:, 1]), np.asarray(shift)
    weighted = B.multiply(bent[:, None]).tocsr() if sparse.issparse(B) else B * bent[:, None]
    H = B.T @ weighted
    H = H.toarray() if sparse.issparse(H) else H
    H[np.diag_indices_from(H)] += 1.0
    factors = cholesky(H)[0], True
    if not free:
        return cho_solve(factors, slope), np.asarray(0.0)
    border = np.asarray(weighted.T @ u)
    solved = cho_solve(factors, np.column_stack([slope, border]))
    left = float(bent @ u**2) - float(border @ solved[:, 1])
    if tilt and left <= FLAT * all_bent:
        return _flat(slope, tilt, all_bent)
    shift = (tilt - float(border @ solved[:, 0])) / left if left > 0 else 0.0
    return solved[:, 0] - shift * solved[:, 1], np.asarray(shift)


def _flat(slope: Vector, tilt: float, all_bent: float) -> tuple[Vector, Any]:
    """The direction where nothing bends: of the intercept alone while it has a slope."""
    if tilt:
        return np.zeros_like(slope), np.asarray(tilt / all_bent)
    return slope, np.asarray(0.0)
