"""Models of OR-Tools: MathOpt, ``model_builder`` and ``pywraplp``."""

from __future__ import annotations

from typing import Any

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts


def read(model: Any) -> ModelParts:
    """The parts of a model; what has no name has its number: ``x0``, ``r0``."""
    if hasattr(model, "linear_constraint_matrix_entries"):
        return _of_math_opt(model)
    if hasattr(model, "export_to_proto"):
        return _of_proto(model.export_to_proto())
    if hasattr(model, "ExportModelToProto"):
        from ortools.linear_solver import linear_solver_pb2

        proto = linear_solver_pb2.MPModelProto()
        model.ExportModelToProto(proto)
        return _of_proto(proto)
    raise TypeError(
        "a model of OR-Tools must be a mathopt.Model, a model_builder.Model or a pywraplp.Solver, "
        f"got {type(model).__module__}.{type(model).__name__}"
    )


def _of_math_opt(model: Any) -> ModelParts:
    objective = model.objective
    others = {
        "quadratic constraints": model.get_num_quadratic_constraints(),
        "indicator constraints": model.get_num_indicator_constraints(),
        "quadratic terms of the objective": len(list(objective.quadratic_terms())),
        "auxiliary objectives": model.num_auxiliary_objectives(),
    }
    for what, count in others.items():
        if count:
            raise ModelError(f"the model has {count} {what}: only linear models can be decomposed")
    parts = ModelParts(maximize=objective.is_maximize, constant=float(objective.offset))
    number = {
        variable.id: parts.add_variable(
            variable.name, variable.lower_bound, variable.upper_bound, whole=variable.integer
        )
        for variable in model.variables()
    }
    for term in objective.linear_terms():
        parts.cost[number[term.variable.id]] = float(term.coefficient)
    rows = {
        row.id: parts.add_row(row.name, (), row.lower_bound, row.upper_bound)
        for row in model.linear_constraints()
    }
    for entry in model.linear_constraint_matrix_entries():
        place = rows[entry.linear_constraint.id], number[entry.variable.id]
        parts.entries.append((*place, float(entry.coefficient)))
    return parts


def _of_proto(proto: Any) -> ModelParts:
    if len(proto.general_constraint):
        raise ModelError(
            f"the model has {len(proto.general_constraint)} general constraints, such as "
            f"{proto.general_constraint[0].name!r}: only linear models can be decomposed"
        )
    if len(proto.quadratic_objective.coefficient):
        raise ModelError("the objective is quadratic: only linear ones can be decomposed")
    parts = ModelParts(maximize=proto.maximize, constant=float(proto.objective_offset))
    for variable in proto.variable:
        parts.add_variable(
            variable.name,
            variable.lower_bound,
            variable.upper_bound,
            whole=variable.is_integer,
            cost=variable.objective_coefficient,
        )
    for row in proto.constraint:
        terms = zip(row.var_index, row.coefficient, strict=True)
        parts.add_row(row.name, terms, row.lower_bound, row.upper_bound)
    return parts
