"""A proof that no model obeys: the least that must be beyond limits, over all columns.

Without a loss the problem is  min Σ|α| + M Σ_k max(0, a_k·f − d_k). A lower bound B of it says that
a model that keeps to all limits has Σ|α| ≥ B, and the multipliers λ of the limits say why: with
λ ≥ 0 the sum Σ_k λ_k a_k·f is (nearly) constant over all models, and above Σ_k λ_k d_k (Farkas).
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from cgboost.estimators.common.rows import Vector
from cgboost.estimators.constrained.problem import Problem
from cgboost.exceptions import InfeasibleConstraintsError
from cgboost.generation.loop import ColumnGeneration
from cgboost.losses import SupportVectorLoss
from cgboost.masters.constrained import ConstrainedConvexMaster, ConstrainedMaster
from cgboost.pricing.constrained.extended import ExtendedPricer

PRICE = 1e6
"""M of the proof."""

PROOF_GAP = 1e-2
"""The relative gap at which the proof ends."""

LARGE_MODEL = 1e3
"""A model that must be larger than this is none that obeys: Σ|α| of models is some units of y."""

NAMED = 1e-3
"""Limits with a multiplier above this, relative to the largest, are part of the contradiction."""


def raise_infeasible(problem: Problem, beyond: float) -> NoReturn:
    """Raise an error that names the constraints that contradict each other.

    Raises
    ------
    InfeasibleConstraintsError
        With the certificate in words, where there is one.
    """
    bound, multipliers, parts = proof(problem)
    largest = float(np.max(np.abs(multipliers), initial=0.0))
    named = [k for k in range(len(parts)) if abs(multipliers[k]) > NAMED * largest > 0]
    together = list(dict.fromkeys(parts[k][0] for k in named)) or [
        repr(constraint) for constraint in problem.constraints
    ]
    names = " and ".join(together)
    verb = "cannot hold" if len(together) == 1 else "cannot hold together"
    if bound < LARGE_MODEL or not named:
        raise InfeasibleConstraintsError(
            f"{names}: no model was found that obeys; {beyond:.3g} is left beyond a limit at the "
            "highest price, and there is no proof that none exists: allow more"
        )
    terms = [f"{multipliers[k] / largest:.3g}·[{parts[k][1]}]" for k in named]
    raise InfeasibleConstraintsError(
        f"{names} {verb}: added up as {' + '.join(terms)}, the left side exceeds the right side "
        f"for every model (one that obeys would have Σ|α| ≥ {bound:.2g}): allow more, or leave one "
        "out"
    )


def proof(problem: Problem) -> tuple[float, Vector, list[tuple[str, str]]]:
    """A lower bound on Σ|α| of a model that obeys, multipliers, and what they belong to."""
    declared = problem.declared(problem.target)
    extension, limits = problem.limit_rows(declared)
    pricer, sign = problem.family.obeying(problem.pool, declared, PROOF_GAP)
    parts = [
        (repr(problem.constraints[row.owner]), f"{row.part} ≤ {row.limit:.4g}")
        for row in declared.rows
    ]
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
    bound = -np.inf if result.bound is None else result.bound
    return float(bound), multipliers, parts[: len(multipliers)]
