"""Models of Pyomo."""

from __future__ import annotations

from typing import Any

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts

NOT_LINEAR = ("SOSConstraint", "Disjunction", "Complementarity", "LogicalConstraint")
"""Kinds of components that are no linear rows."""


def read(model: Any) -> ModelParts:
    """The parts of a ``pyomo.environ.ConcreteModel``: what is active in it and its blocks."""
    from pyomo.environ import Block, Constraint, Objective, Var, maximize

    if not hasattr(model, "is_constructed"):  # a model of pyomo.kernel has none
        raise TypeError(
            f"expected a ConcreteModel of Pyomo, got {type(model).__module__}."
            f"{type(model).__name__}"
        )
    if not model.is_constructed():
        raise ModelError("the Pyomo model is abstract: give what its create_instance() returns")
    for component in model.component_objects(active=True, descend_into=Block):
        if component.ctype.__name__ in NOT_LINEAR:
            raise ModelError(
                f"{component.name!r} is a {component.ctype.__name__}: only linear rows can be "
                "decomposed; a TransformationFactory may make some of it"
            )
    objectives = list(model.component_data_objects(Objective, active=True, descend_into=Block))
    if len(objectives) > 1:
        raise ModelError(
            f"{objectives[0].name!r} and {objectives[1].name!r} are both active objectives: "
            "deactivate one"
        )
    reader = PyomoReader(ModelParts(maximize=any(own.sense == maximize for own in objectives)))
    for variable in model.component_data_objects(Var, active=True, descend_into=Block):
        reader.number(variable)
    for objective in objectives:
        terms, reader.parts.constant = reader.linear(objective.name, objective.expr)
        for variable, value in terms:
            reader.parts.cost[variable] = reader.parts.cost.get(variable, 0.0) + value
    for row in model.component_data_objects(Constraint, active=True, descend_into=Block):
        terms, constant = reader.linear(row.name, row.body)
        lower, upper = (None if end is None else end - constant for end in (row.lb, row.ub))
        reader.parts.add_row(row.name, terms, lower, upper)
    return reader.parts


class PyomoReader:
    """Numbers variables as they come, and writes expressions in these numbers.

    Parameters
    ----------
    parts : ModelParts
        Filled in.
    """

    def __init__(self, parts: ModelParts) -> None:
        self.parts = parts
        self._numbers: dict[int, int] = {}

    def number(self, variable: Any) -> int:
        """Of a variable; one that is fixed has its value for both bounds."""
        known = self._numbers.get(id(variable))
        if known is not None:
            return known
        whole = variable.is_integer() or variable.is_binary()
        if not (whole or variable.is_continuous()):
            raise ModelError(
                f"variable {variable.name!r} has the domain {variable.domain}: only whole and real "
                "numbers can be decomposed"
            )
        fixed = variable.value if variable.fixed else None
        if variable.fixed and fixed is None:
            raise ModelError(f"variable {variable.name!r} is fixed and has no value")
        lower, upper = (variable.lb, variable.ub) if fixed is None else (fixed, fixed)
        place = self.parts.add_variable(variable.name, lower, upper, whole=whole)
        self._numbers[id(variable)] = place
        return place

    def linear(self, name: str, expression: Any) -> tuple[list[tuple[int, float]], float]:
        """The terms of an expression, and its constant, of which fixed variables are a part."""
        from pyomo.repn import generate_standard_repn

        form = generate_standard_repn(expression)
        if not form.is_linear():
            raise ModelError(f"{name!r} is not linear: only linear models can be decomposed")
        terms = [
            (self.number(variable), float(value))
            for variable, value in zip(form.linear_vars, form.linear_coefs, strict=True)
        ]
        return terms, float(form.constant)
