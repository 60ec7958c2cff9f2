"""Points nearer to the optimum than a given one, and duals that prove how near.

Where the penalty is ½‖w‖², Newton's method without a dictionary: the loss with its kinks rounded
over a width that shrinks from stage to stage (Mangasarian, *A finite Newton method for
classification*, 2002; Keerthi, DeCoste, JMLR 6, 2005), steps by the rows that bend or by the
features, whichever are fewer, and by conjugate gradients where both are many. Where coefficients
are sparse, a step is among those that have or take a sign (Andrew, Gao, *Scalable training of
L1-regularized log-linear models*, 2007). What 30 steps leave, and piecewise linear losses, are for
column generation, which begins with the columns that the model uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from cgboost.arrays import Vector
from cgboost.generation.history import Round
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import MasterState
from cgboost.kernels.sparse_rows import squared_norms
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

STEPS_OF_SIGNS = 30
"""Newton steps at most where coefficients are sparse; column generation does the rest."""

RIDGE, SOFTER = 0.1, 0.3
"""Share of the mean curvature of the features that is added to a Hessian where the penalty has none
(Levenberg, Marquardt), and what it is multiplied by after a whole step."""

STEEPER, MOST_RIDGE = 30.0, 1e6
"""And after a step that was halved in vain, and at most."""

MOST_HALVED, SUFFICIENT = 5, 1e-4
"""A step among coefficients of fixed signs is halved at most so often, until it gains this share of
what its slope promises."""

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

MOST_FEATURES_OF_SQUARES = 300
"""Column generation with ½‖w‖² takes all features: where Newton's method has no digits left, and
there are so few of them."""

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
    else:
        kinks = problem.penalty.threshold or problem.positive
        start, bound = search.best, search.dual.bound
        if not (kinks and problem.rows.sharp):
            _by_newton(search, STEPS_OF_SIGNS if kinks else MOST_NEWTON_STEPS)
        few = problem.rows.sharp and problem.X.shape[1] <= MOST_FEATURES_OF_SQUARES
        if (kinks or few) and not search.ended:
            start = search.best if search.dual.bound > bound else start  # else it led nowhere
            _by_columns(search, _restricted(problem, start), tol)
            search.dual = problem.dual_at(search.dual.response)  # with its scores


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
    X = problem.charged_columns
    coef = problem.charged_coefficients(given.coef, given.intercept)
    intercept = 0.0 if problem.charged else problem.factor * given.intercept
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


# ------------------------------------------------------------------- Newton's method


def _by_newton(search: Search, most: int) -> None:
    problem = cast(LinearProblem, search.problem)
    at = search.best
    width = first = _first_width(search) if problem.rows.sharp else 0.0
    steps, centre = 0, search.dual.response
    while True:
        rows = problem.rows.smoothed(width, centre)
        for point, left in _newton(problem, rows, at):
            at, steps = point, steps + 1
            response = rows.response(at.output)
            if search.offer(point, response) or steps >= most:
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
    output, ridge, factor = start.output, RIDGE, problem.factor
    w = problem.charged_coefficients(start.coef, start.intercept)
    b = np.asarray(0.0 if problem.charged else start.intercept, dtype=np.float64)
    X = problem.charged_columns
    while True:
        response = rows.response(output)
        signs, slope = _slope(problem, w, factor * np.asarray(X.T @ response))
        tilt = factor * response.sum(axis=0) if problem.intercept == "free" else np.zeros_like(b)
        rounding = ZERO_TILT * factor * float(np.abs(response).sum())
        tilt = np.where(np.abs(tilt) > rounding, tilt, 0.0)
        move, places = np.zeros_like(w), slice(None) if signs is None else np.flatnonzero(signs)
        own = X if signs is None or signs.all() else X[:, places]
        move[places], shift = _direction(problem, rows, own, output, slope[places], tilt, ridge)
        promise = float(np.vdot(slope, move)) + float(np.vdot(tilt, shift))
        if not promise > 0:
            return
        if signs is None:
            along = factor * (X @ move + shift)
            step = _step(rows, output, along, w, move, promise)
            w, b, output = w + step * move, b + step * shift, output + step * along
        else:
            present = float(rows.values(output).sum()) + problem.penalty.value(w)
            for step in 0.5 ** np.arange(MOST_HALVED):
                v = w + step * move
                v[v * signs < 0] = 0.0
                output = factor * (X @ v + b + step * shift)
                lost = present - float(rows.values(output).sum()) - problem.penalty.value(v)
                if lost >= SUFFICIENT * step * promise:
                    break
            else:
                if (ridge := STEEPER * ridge) > MOST_RIDGE:
                    return
                output = factor * (X @ w + b)
                continue
            w, b, ridge = v, b + step * shift, ridge * (SOFTER if step == 1.0 else 1.0 / step)
        if not step > 0:
            return
        own, at = (w[:-1], problem.scale * w[-1]) if problem.charged else (w, b)
        end = float(at) if np.ndim(at) == 0 else at
        yield problem.with_output(own, end, output), 0.5 * promise


def _slope(problem: LinearProblem, w: Vector, scores: Vector) -> tuple[Vector | None, Vector]:
    """The sign that each coefficient has or takes, and the slope; None where there are no kinks.

    A coefficient of 0 whose score is below the threshold has neither.
    """
    penalty = problem.penalty
    slope = scores - penalty.quadratic * w
    if not (penalty.threshold or problem.positive):
        return None, slope
    enters = np.where(problem.positive, scores, np.abs(scores)) > penalty.threshold
    signs = np.where(w != 0, np.sign(w), np.sign(scores) * enters)
    return signs, np.where(signs != 0, slope - penalty.threshold * signs, 0.0)


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
    X: Any,
    output: Vector,
    slope: Vector,
    tilt: Any,
    ridge: float,
) -> tuple[Vector, Any]:
    """The Newton direction of the coefficients of X and of a free intercept."""
    free = problem.intercept == "free"
    steep = problem.penalty.quadratic
    if output.ndim == 1:
        bent = problem.factor**2 * rows.curvature(output)
        counting = np.flatnonzero(bent > SMALLEST)
        steep = steep or ridge * float(bent @ squared_norms(X)) / max(1, len(slope)) or 1.0
        most = SPARSE_SOLVED_DIRECTLY if problem.is_sparse else SOLVED_DIRECTLY
        if min(len(counting), len(slope)) <= most:
            B = X if len(counting) == len(bent) else X[counting]
            all_bent = problem.factor**2 * rows.most_bent(output)
            return _solved(B, bent[counting], steep, slope, float(tilt), all_bent, free=free)
    n, size = slope.size, int(np.size(tilt)) if free else 0
    bend = rows.bending(output)

    def product(v: Vector) -> Vector:
        move = v[:n].reshape(slope.shape)
        shift = v[n:].reshape(np.shape(tilt)) if free else np.zeros(np.shape(tilt))
        pulled = problem.factor * bend(problem.factor * (X @ move + shift))
        ends = np.ravel(pulled.sum(axis=0)) if free else np.zeros(0)
        return np.concatenate([(steep * move + X.T @ pulled).ravel(), ends])

    right = np.concatenate([slope.ravel(), np.ravel(tilt)[:size]])
    operator = LinearOperator((n + size, n + size), matvec=product, dtype=np.float64)
    exact = min(0.1, float(np.sqrt(np.linalg.norm(right))))
    found, _ = cg(operator, right, rtol=exact, maxiter=CG_STEPS)
    shift = found[n:].reshape(np.shape(tilt)) if free else np.zeros(np.shape(tilt))
    return found[:n].reshape(slope.shape), shift


def _solved(
    X: Any,
    bent: Vector,
    steep: float,
    slope: Vector,
    tilt: float,
    all_bent: float,
    *,
    free: bool,
) -> tuple[Vector, Any]:
    """By a factor of the Hessian qI + XᵀDX, X of the rows that bend, or over these rows.

    With M = qD⁻¹ + XXᵀ the inverse is (I − XᵀM⁻¹X)/q, and the intercept's Schur complement 1ᵀM⁻¹1.
    Where no row bends for the intercept it moves first, alone, as if all did (``all_bent``).
    """
    if not len(bent):
        return _flat(slope / steep, tilt, all_bent)
    by_rows = len(bent) <= len(slope)
    root = np.sqrt(bent)
    if by_rows:
        H, right, border = X @ X.T, np.asarray(X @ slope) / steep, np.ones(len(bent))
    else:
        own = X.multiply(root[:, None]).tocsr() if sparse.issparse(X) else X * root[:, None]
        H, right, border = own.T @ own, slope, np.asarray(own.T @ root)
    H = H.toarray() if sparse.issparse(H) else H
    H[np.diag_indices_from(H)] += steep / bent if by_rows else steep
    solved = cho_solve(
        (cholesky(H)[0], True), np.column_stack([right, border] if free else [right])
    )
    by_slope, shift = solved[:, 0], 0.0
    if free:
        by_border = solved[:, 1]
        left = float(border @ by_border)
        left = left if by_rows else float(bent.sum()) - left
        if tilt and left <= FLAT * all_bent:
            return _flat(slope, tilt, all_bent)
        shift = (tilt - float(border @ by_slope)) / left if left > 0 else 0.0
        by_slope = by_slope + (shift if by_rows else -shift) * by_border
    return slope / steep - X.T @ by_slope if by_rows else by_slope, np.asarray(shift)


def _flat(slope: Vector, tilt: float, all_bent: float) -> tuple[Vector, Any]:
    """The direction where nothing bends: of the intercept alone while it has a slope."""
    if tilt:
        return np.zeros_like(slope), np.asarray(tilt / all_bent)
    return slope, np.asarray(0.0)
