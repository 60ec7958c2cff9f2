"""A proof that no model obeys: the least that must be beyond limits, over all columns.

Without a loss the problem is  min Σ|α| + M Σ_k max(0, a_k·f − d_k). A lower bound B of it says that
a model that keeps to all limits has Σ|α| ≥ B, and the multipliers λ of the limits say why: with
λ ≥ 0 the sum Σ_k λ_k a_k·f is (nearly) constant over all models, and above Σ_k λ_k d_k (Farkas).
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.constrained.constraints.shape import Convex, GroupBudget, Monotone
from cgboost.estimators.constrained.data import Declarations
from cgboost.estimators.constrained.problem import ConstrainedProblem
from cgboost.exceptions import InfeasibleConstraintsError
from cgboost.generation.history import StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.losses import SupportVectorLoss
from cgboost.masters.constrained.constrained_convex_master import ConstrainedConvexMaster
from cgboost.masters.constrained.constrained_master import ConstrainedMaster
from cgboost.pricing.constrained.limit_rows import ExtendedPricer

PRICE = 1e6
"""M of the proof."""

PROOF_GAP = 1e-2
"""The relative gap at which the proof ends."""

LARGE_MODEL = 1e3
"""A model that must be larger than this is none that obeys: Σ|α| of models is some units of y."""

NAMED = 1e-3
"""Limits with a multiplier above this, relative to the largest, are part of the contradiction."""


ENDED_EARLY = (StopReason.TIME, StopReason.INTERRUPTED, StopReason.MAX_COLUMNS)
"""Fits that ended with these may not have come to the columns with which constraints hold."""

MOST_TERMS = 5
"""Terms of a proof that a message shows: those of the largest multipliers."""


def raise_infeasible(problem: ConstrainedProblem, runs: list[FittedRun], beyond: float) -> NoReturn:
    """Raise an error that names the constraints that contradict each other.

    Raises
    ------
    InfeasibleConstraintsError
        With the certificate in words, where there is one.
    """
    stopped = runs[0].stop_reason
    if stopped in ENDED_EARLY:
        raise InfeasibleConstraintsError(
            f"the fit ended before the constraints held ({stopped.value}: {runs[0].message}); "
            f"{beyond:.3g} is left beyond a limit: give it more time or columns, or allow more"
        )
    bound, multipliers, parts = proof(problem)
    largest = float(np.max(np.abs(multipliers), initial=0.0))
    named = [k for k in range(len(parts)) if abs(multipliers[k]) > NAMED * largest > 0]
    named.sort(key=lambda k: -abs(multipliers[k]))
    together = list(dict.fromkeys(parts[k][0] for k in sorted(named))) or [
        repr(constraint) for constraint in problem.constraints
    ]
    together += [name for name in on_columns(problem) if name not in together]
    names = " and ".join(together)
    verb = "cannot hold" if len(together) == 1 else "cannot hold together"
    if bound < LARGE_MODEL or not named:
        raise InfeasibleConstraintsError(
            f"{names}: no model was found that obeys; a limit is exceeded by {beyond:.3g} at the "
            "highest price, and there is no proof that none exists: allow more"
        )
    terms = [f"{multipliers[k] / largest:.3g}·[{parts[k][1]}]" for k in named[:MOST_TERMS]]
    more = f" and {len(named) - MOST_TERMS} more" if len(named) > MOST_TERMS else ""
    raise InfeasibleConstraintsError(
        f"{names} {verb}: with these weights, {' + '.join(terms)}{more}, the limits contradict "
        f"each other for all existing columns: a model that obeys would need Σ|α| ≥ {bound:.2g}. "
        "Allow more, or leave one out"
    )


def on_columns(problem: ConstrainedProblem) -> list[str]:
    """The constraints on signs, shapes and sizes of coefficients, which have no multiplier here."""
    kinds = (Monotone, Convex, GroupBudget)
    return [repr(one) for one in problem.constraints if isinstance(one, kinds)]


def proof(problem: ConstrainedProblem) -> tuple[float, Vector, list[tuple[str, str]]]:
    """A lower bound on Σ|α| of a model that obeys, multipliers, and what they belong to."""
    declared = problem.declared(problem.target)
    extension, limits = problem.limit_rows(declared)
    pricer, sign = problem.family.obeying(problem.pool, declared, PROOF_GAP)
    parts = [(repr(problem.constraints[row.owner]), row.words) for row in declared.rows]
    parts += [
        (repr(problem.constraints[budget.owner]), f"{budget.part} ≤ {budget.limit:.4g}")
        for budget in declared.budgets
    ]
    n_rows, constant = len(declared.y), extension.constant if problem.free_offset else None
    options: dict[str, Any] = {"constant": constant, "coef": sign, **problem.options}
    master: Any
    if declared.needs_cvxpy:
        convex = problem.convex(declared, None, bare=True)
        master = ConstrainedConvexMaster(convex, n_rows, limits, PRICE, **options)
        parts += [
            (repr(problem.constraints[limit.owner]), f"{limit.part} ≤ {limit.limit:.4g}")
            for limit in declared.convex
        ]
        parts += [(repr(problem.constraints[owner]), "own") for owner, _ in declared.own]
    else:
        nothing = np.zeros(n_rows)
        loss = SupportVectorLoss(target=nothing, lower=nothing, upper=nothing)
        master = ConstrainedMaster(loss, limits, PRICE, **options)
    if len(limits):
        pricer = ExtendedPricer(pricer, extension, problem.known)
    result = ColumnGeneration(master, pricer, tol=PROOF_GAP, columns_per_round=20).run()
    state = master.solve()
    multipliers = -state.pseudo_response[n_rows:]
    if isinstance(master, ConstrainedConvexMaster):
        own = np.array(master.prices[: len(parts) - len(multipliers)])
        multipliers = np.append(multipliers, own)
    multipliers[: len(declared.rows)] = _netted(declared, multipliers[: len(declared.rows)])
    bound = -np.inf if result.bound is None else result.bound
    return float(bound), multipliers, parts[: len(multipliers)]


def _netted(declared: Declarations, multipliers: Vector) -> Vector:
    """Multipliers of both ends of an interval, less what they have in common."""
    net, upper = multipliers.copy(), {}
    for k, row in enumerate(declared.rows):
        if not row.from_below:
            upper[row.owner, row.part] = k
        elif (row.owner, row.part) in upper:
            other = upper[row.owner, row.part]
            shared = min(net[k], net[other])
            net[k], net[other] = net[k] - shared, net[other] - shared
    return net
