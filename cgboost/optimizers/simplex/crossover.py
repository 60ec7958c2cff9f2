"""Crossover from a point near the optimum to an optimal vertex of few columns."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import linalg

from cgboost._solvers import SolverError
from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.live_dual import Basis, RestrictedPoint
from cgboost.optimizers.reductions.reduction import Chain, Problem
from cgboost.optimizers.restricted_dual import RestrictedDual
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.optimizers.simplex.purification import Face, purified
from cgboost.optimizers.solver_choice import TO_VERTEX
from cgboost.optimizers.solver_options import deadline_of, time_left
from cgboost.penalties.penalty import DualForm
from cgboost.tolerances import COEFFICIENT_ROUNDING, SMALLEST

logger = logging.getLogger(__name__)

SIMPLEX = "highs"
"""The solver that ends on a vertex."""

MOST_BASIS_COLUMNS = 2000
"""The basis is dense, and its factorisation takes time with the cube of the number of columns."""

COEFFICIENT_NOISE = 0.01
"""Coefficients of a coarse answer below this share of the mean are taken for noise."""

TILT = 1e-5
"""What a column may be charged more, relative to its penalty, to choose among optimal vertices.
Larger, the optimum of the tilted problem might be none of the problem."""

TILTS = 6
"""Tilted problems that are tried where there is more than one optimal vertex."""

SAME_OBJECTIVE = 1e-10
"""Objectives this near to each other, relative to their size, are the same up to rounding."""

ROWS_PER_COLUMN = 1.3
"""Training rows to begin with, per column in use."""

A_FEW = 20
"""Training rows to begin with, besides those."""

ROWS_TO_STOP_AT = 4
"""Training rows that may stop a move along the optimal face, per column in use."""


CLEARLY = 1e-9
"""Bounds of a vertex must be kept, and those not tight be missed, by this, relative to their size:
then it is the only optimal one."""

REPEATED = 1e-10
"""Pivots of a basis below this share of the largest belong to columns that repeat each other."""


def unique_vertex(
    loss: SupportVectorLoss, form: DualForm, columns: ColumnStore, basis: Basis
) -> RestrictedPoint | None:
    """The optimal vertex over ``columns`` with a basis, where it is the only optimum.

    Columns in use (A, with the offset) are tight in the dual, variables inside their box (M) in the
    primal, and a vertex that is not degenerate has as many of both. It solves

        f_i = target_i − ε·sign_i  for i in M,      h_j·r = threshold·sign(α_j)  for j in A

    by one factorisation. That it is the optimum is then checked: primal and dual are feasible and
    complementary, and nothing is tight besides A and M (finite termination: Ye, *On the finite
    convergence of interior-point algorithms for linear programming*, Math. Programming 57, 1992).

    Returns
    -------
    RestrictedPoint or None
        None where that is not so.
    """
    variables, costs, inside = loss.variables, loss.variables.costs, basis.inside
    used, offset = np.flatnonzero(basis.sign), basis.offset_sign != 0.0
    if not len(used) or len(inside) != len(used) + offset:
        return None
    if not form.two_sided and (basis.sign[form.n_free :] < 0).any():
        return None
    rows, signs = variables.row[inside], variables.sign[inside]
    matrix = np.ones((len(inside), len(inside)))
    matrix[:, : len(used)] = columns.scaled(used, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", linalg.LinAlgWarning)
        factors = linalg.lu_factor(matrix, check_finite=False)
    pivots = np.abs(factors[0].diagonal())
    if not pivots.min() > REPEATED * pivots.max():
        return None
    values = linalg.lu_solve(factors, variables.target[inside] - loss.epsilon * signs)
    # primal: the rows in M are on their margin
    coef = columns.of_columns(values[: len(used)], used)
    intercept = float(values[-1]) if offset else 0.0
    output = columns.combine(coef) + intercept
    rate = variables.rate(output)
    # dual: the columns in A score what their coefficients cost
    u = np.where(basis.at_upper, costs, 0.0)
    u[inside] = 0.0
    fixed = variables.response(u)
    charged = used >= form.n_free
    due = form.threshold * basis.sign[used] * charged - columns.scores(used, fixed)
    wanted = due / columns.scales[used]
    if offset:
        price = form.threshold * basis.offset_sign if form.charges_offset else 0.0
        wanted = np.append(wanted, price - fixed.sum())
    u[inside] = signs * linalg.lu_solve(factors, wanted, trans=1)
    response = variables.response(u)
    # optimal, and nothing else is tight
    others = np.setdiff1d(np.arange(form.n_free, columns.count), used)
    scores = np.append(np.zeros(form.n_free), columns.scores(others, response))
    sizes = form.sizes(scores, 0.0 if offset else response.sum())
    least = CLEARLY * max(1.0, float(np.abs(output).max()))
    within = (u > CLEARLY * costs) & (u < (1.0 - CLEARLY) * costs)
    beyond = np.where(basis.at_upper, rate, -rate) > least
    beyond[inside] = within[inside]
    unique = (
        np.array_equal(np.sign(coef[used[charged]]), basis.sign[used[charged]])
        and (not form.charges_offset or np.sign(intercept) == basis.offset_sign)
        and beyond.all()
        and bool(np.all(sizes < form.threshold * (1.0 - CLEARLY)))
    )
    if not unique:
        return None
    return RestrictedPoint(coef, intercept - columns.shift(coef), output, response, rate)


def crossover(
    loss: SupportVectorLoss,
    form: DualForm,
    columns: ColumnStore,
    coef: Vector,
    intercept: float,
    time_limit: float | None,
    noise: float = COEFFICIENT_NOISE,
) -> RestrictedPoint:
    """An optimal vertex of the problem over ``columns``, one of few columns where there are many.

    Parameters
    ----------
    coef : ndarray of shape (n_columns,)
        With ``intercept`` near the optimum: where the simplex begins. It has the columns that are
        not 0; others come in where they are violated.
    time_limit : float or None
        In seconds.
    noise : float
        Coefficients below this share of the mean, of columns scaled alike, are taken for noise.

    Raises
    ------
    SolverError
        If the solver gives no answer.

    An interior point method ends inside the optimal face, with a coefficient, small or not, for
    every column that is tight there. A vertex of that face has no more columns than rows on their
    margin. Where the point is exact it is purified to a vertex first
    (:mod:`cgboost.optimizers.simplex.purification`). The simplex proves it, or gets to one in a
    few pivots, from the basis that the point suggests: the rows of columns in use are tight, and as
    many training rows, those nearest to their margin, are basic.
    """
    scaled = columns.scaled(np.arange(columns.count), np.arange(loss.n_rows))
    whole = Problem(
        loss, form, [Column(values, ("column", j)) for j, values in enumerate(scaled.T)]
    )
    chain, few = Chain.of(whole, TO_VERTEX)
    if not chain.parts:
        return _crossover(loss, form, columns, coef, intercept, time_limit, noise)
    store = ColumnStore(few.loss.n_rows, centred=False)
    sizes = columns.scales.tolist()
    store.append([s * column.values for s, column in zip(sizes, few.columns, strict=True)])
    start = chain.start(coef, intercept + columns.shift(coef))
    point = chain.invert(_crossover(few.loss, few.form, store, *start, time_limit, noise))
    return replace(point, intercept=point.intercept - columns.shift(point.coef))


def _crossover(
    loss: SupportVectorLoss,
    form: DualForm,
    columns: ColumnStore,
    coef: Vector,
    intercept: float,
    time_limit: float | None,
    noise: float,
) -> RestrictedPoint:
    deadline = deadline_of(time_limit)
    dual = RestrictedDual(loss, form, partial(DualSession, solver=SIMPLEX), columns=columns)
    n_used, margin = np.count_nonzero(coef), np.zeros(0, dtype=np.intp)
    if noise <= COEFFICIENT_ROUNDING:
        coef, intercept, margin = _purified(loss, form, columns, coef, intercept)
    near = (ROWS_PER_COLUMN * n_used + A_FEW) / max(1, len(loss.variables))
    dual.start_near(coef, intercept, min(1.0, near))
    if coef.any():
        dual.activate(np.flatnonzero(coef))
    session = dual.session
    assert isinstance(session, DualSession)
    size = np.abs(coef) * columns.scales
    least = noise * size.sum() / max(1, np.count_nonzero(coef))
    session.suggest(np.where(size > least, coef, 0.0), _told_apart(dual.rate, margin))
    vertex = _without_noise(dual.solve(time_limit), columns.scales)
    try:
        return _sparsest(dual, session, vertex, deadline)
    except SolverError as error:
        logger.info("the vertex stays as it is: %s", error)
        return vertex


def _purified(
    loss: SupportVectorLoss, form: DualForm, columns: ColumnStore, coef: Vector, intercept: float
) -> tuple[Vector, float, Indices]:
    """Coefficients and intercept at a vertex, and the variables that make a basis with them.

    Rows far from their margin are left out: if one has to stop a move after all, the simplex sees
    to it.
    """
    variables, size = loss.variables, np.abs(coef) * columns.scales
    used = np.flatnonzero(size > COEFFICIENT_ROUNDING * size.max(initial=0.0))
    plain = np.zeros_like(coef)
    plain[used] = coef[used]
    offset = intercept + columns.shift(plain)
    rate = variables.rate(columns.combine(plain) + offset)
    near = np.argsort(np.abs(rate), kind="stable")[: ROWS_TO_STOP_AT * len(used) + A_FEW]
    sign = variables.sign[near, None]
    slopes = -sign * columns.scaled(used, variables.row[near])
    point = plain[used] * columns.scales[used]
    priced = np.ones(len(used), dtype=bool)
    moves_offset = form.offset == "free" or (form.charges_offset and intercept != 0.0)
    if moves_offset:
        slopes, point = np.hstack([slopes, -sign]), np.append(point, offset)
        priced = np.append(priced, form.charges_offset)
    point, margin = purified(Face(point, rate[near], slopes, priced))
    plain[used] = point[: len(used)] / columns.scales[used]
    if moves_offset:
        offset = float(point[-1])
    return plain, offset - columns.shift(plain), near[margin]


def _told_apart(rate: Vector, margin: Indices) -> Vector:
    """Rates that are 0 for the variables of a basis, and for no others."""
    if not len(margin):
        return rate
    apart = np.where(rate == 0.0, -SMALLEST, rate)
    apart[margin] = 0.0
    return apart


def _sparsest(
    dual: RestrictedDual, session: DualSession, vertex: RestrictedPoint, deadline: float
) -> RestrictedPoint:
    """The optimal vertex of fewest columns among those that tilted objectives lead to.

    Columns that repeat each other, as those of stumps do, leave many optimal vertices. A penalty
    that charges small coefficients a little more leads to one of few columns (Candès, Wakin, Boyd,
    *Enhancing sparsity by reweighted ℓ1 minimization*, J. Fourier Anal. Appl. 14, 2008), and
    another such penalty perhaps to one of fewer. Where the first makes no difference, the optimum
    is taken to be unique. Every step goes on from the basis of the one before.
    """
    least, scales = _objective(dual, vertex), dual.columns.scales
    most = least + SAME_OBJECTIVE * max(1.0, abs(least))
    rng = np.random.default_rng(0)  # the same vertex every time
    for number in range(TILTS):
        size = np.abs(vertex.coef) * scales
        if not size.any():
            break
        typical = float(np.median(size[size > 0]))
        tilt = typical / (size + typical)
        session.charge(TILT * (tilt if number == 0 else tilt * rng.uniform(0.1, 1.0, len(tilt))))
        point = _without_noise(dual.solve(time_left(deadline)), scales)
        used, before = point.coef != 0, vertex.coef != 0
        if number == 0 and np.array_equal(used, before):
            break
        if used.sum() <= before.sum() and _objective(dual, point) <= most:
            vertex = point
    return vertex


def _objective(dual: RestrictedDual, point: RestrictedPoint) -> float:
    return dual.form.value(point.coef, point.intercept) + float(dual.loss.value(point.output))


def _without_noise(point: RestrictedPoint, scales: Vector) -> RestrictedPoint:
    """The point, with coefficients of 0 where they are 0 but for rounding."""
    size = np.abs(point.coef) * scales
    return replace(
        point, coef=np.where(size < COEFFICIENT_ROUNDING * size.max(initial=0.0), 0.0, point.coef)
    )
