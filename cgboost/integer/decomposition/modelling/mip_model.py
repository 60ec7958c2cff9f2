"""Models of python-mip."""

from __future__ import annotations

from typing import Any

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts


def read(model: Any) -> ModelParts:
    """The parts of a ``mip.Model``.

    Python-mip itself writes ``x + x`` for two terms of one variable object as ``x``: use ``2 * x``
    or ``xsum``.
    """
    if not hasattr(model, "constrs"):
        raise TypeError(f"expected a mip.Model, got {type(model).__name__}")
    if _has_sets(model.solver):
        raise ModelError("special ordered sets cannot be decomposed")
    if model.lazy_constrs_generator is not None:
        raise ModelError("the model has lazy constraints: give all rows to decompose it")
    objective = model.objective
    parts = ModelParts(maximize=model.sense == "MAX", constant=float(objective.const))
    number: dict[int, int] = {}
    for variable in model.vars:
        if variable.var_type not in ("C", "I", "B"):
            raise ModelError(f"variable {variable.name!r} is of the kind {variable.var_type!r}")
        number[variable.idx] = parts.add_variable(
            variable.name, variable.lb, variable.ub, whole=variable.var_type != "C"
        )
    for variable, value in objective.expr.items():
        parts.cost[number[variable.idx]] = float(value)
    for row in model.constrs:
        expression, side = row.expr, float(row.rhs)
        terms = [(number[variable.idx], value) for variable, value in expression.expr.items()]
        lower = None if expression.sense == "<" else side
        upper = None if expression.sense == ">" else side
        parts.add_row(row.name, terms, lower, upper)
    return parts


def _has_sets(solver: Any) -> bool:
    """Whether special ordered sets were given; python-mip hands them on to its solver alone."""
    if hasattr(solver, "get_int_attr"):  # Gurobi
        return bool(solver.get_int_attr("NumSOS"))
    if type(solver).__module__ != "mip.cbc":  # others refuse them
        return False
    from mip.cbc import cbclib

    return bool(cbclib.Cbc_numberSOS(solver._model))
