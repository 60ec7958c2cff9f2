"""Which reductions a restricted problem has, and which optimizer solves it.

Both are tables, read from above; what they open is a
:class:`~cgboost.optimizers.live_dual.LiveProblem`. Other problems have one optimizer each::

    a path over C of a piecewise linear loss        simplex/primal_simplex.py
    a support vector machine over a whole RKHS      rkhs/support_vector_machine.py
    norms of whole functions                        cones/cone_rows.py, newton/
    several quantiles, apart on the rows            quantiles/joint_session.py
    several quantiles, apart in a box               quantiles/box_quantiles.py
    rows of any sense (linear masters)              linear/restricted_primal.py: any backend
    all coefficients of a stagewise model           refits/refits.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cgboost.losses import EntropicLoss
from cgboost.optimizers.active_set.active_set_method import ActiveSetSession
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.live_dual import LiveDual, LiveProblem
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import SmoothPrimal
from cgboost.optimizers.reductions.centred_targets import CentredTargets
from cgboost.optimizers.reductions.cost_units import CostUnits
from cgboost.optimizers.reductions.limited_costs import (
    FIRST_LIMIT,
    GrowingCosts,
    may_be_limited,
)
from cgboost.optimizers.reductions.merged_rows import MergedRows
from cgboost.optimizers.reductions.reduction import Choice, Problem
from cgboost.optimizers.restricted_dual import OpenSession, RestrictedDual
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.optimizers.simplex.primal_simplex import PrimalSimplex

FEW_NUMBERS = 22_500
"""Rows times columns up to which a problem is solved at once: all columns of a family that is as
small are there from the start, and linear programs go to the vertex method. At 150 × 10 the
quantile loss takes a fifth of the time of a loop with an interior point, at 200 × 100, 400 × 50
0.4 to 0.9 with all losses; at 1000 × 100 the hinge takes twice as long."""

MOST_COMING = 1_000_000
"""The same where columns come round by round: one for each row of stumps, at most, and one for each
row and kernel. Fits of stumps to 116 to 1000 rows take 0.35 to 0.95 of the time
with an interior point (1.3 in one of forty), with 190 stumps on 4000 rows 1.7; of three kernels to
300 to 500 rows 0.65 to 1.1, to 1000 rows 0.8 to 1.2, to 2000 rows 0.95 to 1.4. Features, whose
models are dense, are not expected: 0.5 to 2 with 500 to 1000 rows. Learners neither: their search
is greedy, and prices of a vertex lead it to worse ones. Of 23 fits with trees 19 ended 2 to 66 %
above the objective by prices of an interior point, 4 below by 5 to 21 %, in half of the time (0.3
to 3)."""

TO_OBJECTIVE: tuple[Choice, ...] = (CentredTargets.of,)
"""Reductions between what a master is given and the problem whose objective and bound it takes."""

TO_OPTIMIZER: tuple[Choice, ...] = (CostUnits.of,)
"""Reductions between that problem and what an optimizer sees."""

TO_VERTEX: tuple[Choice, ...] = (MergedRows.of,)
"""Reductions between it and the simplex that leads from inside the optimal face to a vertex."""

# LimitedCosts is in none of these lists: its limit grows with the columns, so that it is not chosen
# once, but anew by the live problem after a solve (GrowingCosts, which _over_working_sets opens)


class Optimizer(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    problems : str
        In words.
    takes : callable
        Whether a problem is one of these, for the name of a solver.
    opens : callable
        The live problem, of the problem, a solver, its options and free columns.
    """

    problems: str
    takes: Callable[[Problem, str], bool]
    opens: Callable[[Problem, str, Mapping[str, Any] | None, FreeColumns], LiveProblem]


def _is_smooth(problem: Problem, solver: str) -> bool:
    return isinstance(problem.loss, (RowwiseLoss, EntropicLoss))


def _is_plain_box(problem: Problem, solver: str) -> bool:
    """A box of finite costs without a constraint on a sum or on Σ|α|, and no solver named."""
    loss, form = problem.loss, problem.form
    bounded = loss.mass is None and bool(np.isfinite(loss.variables.costs).all())
    return solver == "auto" and bounded and form.radius is None


def _is_small(problem: Problem, solver: str) -> bool:
    """A linear program of few numbers, as many as are there or will come; 0: nothing is known."""
    there, coming = len(problem.columns), problem.expected_columns
    most = MOST_COMING if coming > there else FEW_NUMBERS
    few = solver == "auto" and 0 < max(there, coming) * problem.loss.n_rows <= most
    if not (few and PrimalSimplex.takes(problem.loss, problem.form)):
        return False
    loss = problem.loss
    margins = bool(((loss.lower >= 0) | (loss.upper <= 0)).all())
    # beside costs of 1e11 vertices have lost the digits of margins; such costs come to be limited
    return not margins or float(loss.variables.costs.max()) <= FIRST_LIMIT * problem.form.threshold


def _is_sparse_box(problem: Problem, solver: str) -> bool:
    form = problem.form
    return (form.quadratic == 0 or form.threshold > 0) and _is_plain_box(problem, solver)


def _is_ridge_beside_free(problem: Problem, solver: str) -> bool:
    form = problem.form
    return bool(form.n_free and form.two_sided) and _is_plain_box(problem, solver)


def _is_ridge(problem: Problem, solver: str) -> bool:
    return not problem.form.n_free and _is_plain_box(problem, solver)


def _newton(
    problem: Problem, solver: str, options: Mapping[str, Any] | None, free_columns: FreeColumns
) -> LiveProblem:
    return SmoothPrimal(problem.loss, problem.form, solver, options, free_columns=free_columns)


def _vertex(
    problem: Problem, solver: str, options: Mapping[str, Any] | None, free_columns: FreeColumns
) -> LiveProblem:
    return PrimalSimplex(problem.loss, problem.form)


def _over_working_sets(
    session: type[LiveDual],
    problem: Problem,
    solver: str,
    options: Mapping[str, Any] | None,
    free_columns: FreeColumns,
) -> LiveProblem:
    """A restricted dual over working sets, in sessions of a class."""
    loss, form = problem.loss, problem.form
    kind = GrowingCosts if may_be_limited(loss, form) else RestrictedDual
    if form.quadratic == 0:  # a row of one kink then has one variable
        loss = replace(loss, from_lower=True)
    opens: OpenSession = session
    if session is DualSession:  # the one with a solver behind it
        opens = partial(DualSession, solver=solver, options=options)
    return kind(loss, form, opens, solver, free_columns=free_columns)


OPTIMIZERS = (
    Optimizer(
        "what `as_master_loss` made no box of: squared, squared hinge, exponential, expectile "
        "(without ends), Poisson, logistic, entropic; Huber's if most rows bend",
        _is_smooth,
        _newton,
    ),
    Optimizer("few numbers; a box of linear losses, Σ|α|", _is_small, _vertex),
    Optimizer(
        "a box; Σ|α|, elastic net", _is_sparse_box, partial(_over_working_sets, InteriorSession)
    ),
    Optimizer(
        "a box; ½Σα², free columns",
        _is_ridge_beside_free,
        partial(_over_working_sets, InteriorSession),
    ),
    Optimizer("a box; ½Σα²", _is_ridge, partial(_over_working_sets, ActiveSetSession)),
    Optimizer(
        "ν, a ball Σ|α| ≤ D, a named solver",
        lambda problem, solver: True,
        partial(_over_working_sets, DualSession),
    ),
)
"""Who solves what."""


def live_problem(
    problem: Problem,
    solver: str,
    options: Mapping[str, Any] | None,
    free_columns: FreeColumns,
    *,
    vertex: bool = True,
) -> LiveProblem:
    """The optimizer of a problem, before it takes in columns.

    Parameters
    ----------
    problem : Problem
        With the columns that are known before the first solve.
    solver : str
        "auto" or a name of :func:`solvers.available_backends`.
    options : mapping or None
        Of that solver.
    free_columns : FreeColumns
        The first columns, as many as the form says.
    vertex : bool
        Whether the vertex method may take it: not where it has given up.
    """
    lines = [line for line in OPTIMIZERS if vertex or line.opens is not _vertex]
    line = next(line for line in lines if line.takes(problem, solver))
    return line.opens(problem, solver, options, free_columns)
