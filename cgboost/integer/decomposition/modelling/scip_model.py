"""Models of PySCIPOpt."""

from __future__ import annotations

from typing import Any

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts


def read(model: Any) -> ModelParts:
    """The parts of a ``pyscipopt.Model``, as they were before it was solved."""
    if not hasattr(model, "getConss"):
        raise TypeError(f"expected a pyscipopt.Model, got {type(model).__name__}")
    infinity = model.infinity()

    def end(value: float) -> float | None:
        return value if abs(value) < infinity else None

    parts = ModelParts(
        maximize=model.getObjectiveSense() == "maximize", constant=float(model.getObjoffset())
    )
    number: dict[int, int] = {}
    for variable in model.getVars():
        number[variable.getIndex()] = parts.add_variable(
            variable.name,
            end(variable.getLbOriginal()),
            end(variable.getUbOriginal()),
            whole=_is_whole(variable),
            cost=float(variable.getObj()),
        )
    for row in model.getConss(transformed=False):
        if not row.isLinear():
            raise ModelError(
                f"row {row.name!r} is of the kind {row.getConshdlrName()!r}: only linear rows can "
                "be decomposed"
            )
        variables = [number[variable.getIndex()] for variable in model.getConsVars(row)]
        terms = zip(variables, model.getConsVals(row), strict=True)
        parts.add_row(row.name, terms, end(model.getLhs(row)), end(model.getRhs(row)))
    return parts


def _is_whole(variable: Any) -> bool:
    """Whether a variable is integer; from SCIP 10 on, implied integers have the type of others."""
    if hasattr(variable, "isIntegral"):
        return bool(variable.isIntegral())
    return bool(variable.vtype() != "CONTINUOUS")
