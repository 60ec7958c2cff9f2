"""Crossover: from an interior point of the 1-norm master to a vertex with an objective no worse.

An interior point method ends inside the optimal face, with a coefficient, small or not, for every
column that is tight there. A vertex of that face has no more columns than rows on their margin. The
simplex gets there in a few pivots from the basis that the interior point suggests: the rows of
columns in use are tight, and as many training rows, those nearest to their margin, are basic. Only
the columns in use take part, so that the program is small.

Megiddo, *On finding primal- and dual-optimal bases*, ORSA J. Computing 3, 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgboost.generation.columns import FloatArray
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import Vector
from cgboost.masters.dual_solvers.interior_point import InteriorSession
from cgboost.masters.dual_solvers.simplex import DualSession
from cgboost.masters.support_vector.working_set import DualPoint, RestrictedDual
from cgboost.penalties.base import DualForm

SIMPLEX = "highs"
"""The solver that ends on a vertex."""

MOST_COLUMNS = 2000
"""The basis is dense, and its factorisation takes time with the cube of the number of columns."""

NOISE = 0.01
"""Coefficients below this share of the mean, of columns scaled alike, are taken for noise."""

NEAR = 1.3
"""Training rows to begin with, per column in use …"""

A_FEW = 20
"""… and this many more."""


def can_cross_over(loss: Any, form: DualForm, solver: str, n_columns: int) -> bool:
    """Whether ``solver`` leaves a point inside the optimal face of a program that has vertices."""
    if not isinstance(loss, SupportVectorLoss):
        return False
    linear = InteriorSession.serves(loss, form) and not loss.variables.curvature.any()
    return solver == "auto" and linear and 0 < n_columns <= MOST_COLUMNS


def crossover(
    loss: SupportVectorLoss,
    form: DualForm,
    columns: Sequence[FloatArray],
    coef: Vector,
    intercept: float,
    time_limit: float | None,
) -> DualPoint:
    """An optimal vertex of the problem over ``columns``.

    Parameters
    ----------
    loss : SupportVectorLoss
    form : DualForm
    columns : sequence of ndarray of shape (n_rows,)
    coef : ndarray of shape (n_columns,)
        With ``intercept`` near the optimum: where the simplex begins.
    intercept : float
    time_limit : float or None
        In seconds.

    Raises
    ------
    SolverError
        If the solver gives no answer.
    """
    dual = RestrictedDual(loss, form, SIMPLEX)
    dual.add(columns)
    near = (NEAR * len(coef) + A_FEW) / max(1, len(loss.variables))
    dual.expect(coef, intercept, min(1.0, near))
    assert isinstance(dual.session, DualSession)
    size = np.abs(coef) * dual.columns.scales
    dual.session.suggest(np.where(size > NOISE * size.mean(), coef, 0.0), dual.rate)
    return dual.solve(time_limit)
