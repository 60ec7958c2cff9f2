"""Who solves a restricted problem.

With ``solver="auto"`` (another solver's name: ``simplex/dual_session.py``)::

    a box without a sum, Σ|α| or elastic net        interior_point/interior_session.py
    the same with ½Σα² and free coefficients        the same, from free columns on; else the next
    a box without a sum, ½Σα²                       active_set/active_set_method.py
    a sum constraint (ν), or a ball Σ|α| ≤ D        simplex/dual_session.py: any backend
    a box whose prices may be limited first         growing_prices.py, around one of these
    a smooth loss (Poisson, logistic, entropy)      newton/smooth_primal.py
    a path over C of a piecewise linear loss        simplex/primal_simplex.py
    norms of whole functions                        cones/cone_interior_point.py, newton/
    several quantiles                               quantiles/joint_session.py
    rows of any sense (linear masters)              linear/restricted_primal.py: any backend
    all coefficients of a stagewise model           refits/refits.py

``SupportVectorMaster._make_dual`` chooses between the primal and the dual, and whether prices grow;
its ``_goes_on`` takes the path simplex; other masters have one solver each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.active_set.active_set_method import ActiveSetSession
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.restricted_dual import LiveDual
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.penalties.penalty import DualForm


def is_own(loss: SupportVectorLoss, form: DualForm, solver: str) -> bool:
    """Whether a restricted dual is one for the methods here, without a solver behind them.

    A box of finite prices, and no constraint on a sum or on Σ|α|.
    """
    bounded = loss.mass is None and bool(np.isfinite(loss.variables.cap).all())
    return solver == "auto" and bounded and form.radius is None


def session_for(
    loss: SupportVectorLoss,
    columns: ColumnStore,
    form: DualForm,
    solver: str,
    options: Mapping[str, Any] | None,
) -> LiveDual:
    """The session that keeps a restricted dual and solves it again and again.

    Parameters
    ----------
    loss : SupportVectorLoss
    columns : ColumnStore
        Those that there are, and will be.
    form : DualForm
        The penalty, with the rules for signs and offset.
    solver : str
        "auto" or a name of :func:`solvers.available_backends`.
    options : mapping or None
        Of that solver.
    """
    if is_own(loss, form, solver):
        sparse = form.quadratic == 0 or form.threshold > 0
        if sparse or (form.n_free and form.two_sided):
            return InteriorSession(loss, columns, form)
        if not form.n_free:
            return ActiveSetSession(loss, columns, form)
    return DualSession(loss, columns, form, solver, options)
