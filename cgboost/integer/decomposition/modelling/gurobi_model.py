"""Models of gurobipy."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts

KINDS = ("C", "I", "B")
LEAST_INFINITE = 1e20
"""Bounds from here on are infinite to Gurobi."""


def read(model: Any) -> ModelParts:
    """The parts of a ``gurobipy.Model``; changes that are still pending are taken in by it."""
    if not hasattr(model, "getConstrs"):
        raise TypeError(f"expected a gurobipy.Model, got {type(model).__name__}")
    model.update()
    others = {
        "quadratic constraints": model.NumQConstrs,
        "special ordered sets": model.NumSOS,
        "general constraints": model.NumGenConstrs,
        "quadratic terms of the objective": model.IsQP,
        "piecewise linear costs": model.NumPWLObjVars,
        "further objectives": max(0, model.NumObj - 1),
    }
    for what, count in others.items():
        if count:
            raise ModelError(f"the model has {what}: only linear models can be decomposed")
    parts = ModelParts(maximize=model.ModelSense < 0, constant=float(model.ObjCon))
    for variable in model.getVars():
        if variable.VType not in KINDS:
            raise ModelError(f"variable {variable.VarName!r} is semi-continuous or semi-integer")
        parts.add_variable(
            variable.VarName,
            _end(variable.LB),
            _end(variable.UB),
            whole=variable.VType != "C",
            cost=float(variable.Obj),
        )
    matrix = sp.csr_array(model.getA())
    for place, row in enumerate(model.getConstrs()):
        part = slice(matrix.indptr[place], matrix.indptr[place + 1])
        terms = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
        lower, upper = None if row.Sense == "<" else row.RHS, None if row.Sense == ">" else row.RHS
        parts.add_row(row.ConstrName, terms, lower, upper)
    return parts


def _end(value: float) -> float | None:
    return value if abs(value) < LEAST_INFINITE else None
