"""Models of PuLP."""

from __future__ import annotations

from typing import Any

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts

MAXIMIZE = -1
"""``LpProblem.sense`` of a maximisation."""


def read(problem: Any) -> ModelParts:
    """The parts of a ``pulp.LpProblem``; names are those that PuLP makes (a blank is ``_``)."""
    if not hasattr(problem, "constraints"):
        raise TypeError(f"expected a pulp.LpProblem, got {type(problem).__name__}")
    if problem.sos1 or problem.sos2:
        raise ModelError("special ordered sets cannot be decomposed")
    parts = ModelParts(maximize=problem.sense == MAXIMIZE)
    number = {
        variable: parts.add_variable(
            variable.name, variable.lowBound, variable.upBound, whole=variable.cat != "Continuous"
        )
        for variable in problem.variables()
    }
    if problem.objective is not None:
        parts.constant = float(problem.objective.constant)
        for variable, value in problem.objective.items():
            parts.cost[number[variable]] = float(value)
    for name, row in problem.constraints.items():
        side = -float(row.constant)  # what PuLP keeps is Σ a x + constant  ≤, = or ≥  0
        terms = [(number[variable], value) for variable, value in row.items()]
        parts.add_row(
            name, terms, side if row.sense >= 0 else None, side if row.sense <= 0 else None
        )
    return parts
