"""Readers of the models that people hold, one for each modelling tool.

They read names, bounds, coefficients, senses and constants from the objects, since the files that
tools write of a model lose some of these (constants, senses, variables in no row). What is no
mixed-integer linear program raises a ModelError with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts

MAXIMIZE = -1
"""``LpProblem.sense`` of a maximisation."""


def read_pulp(problem: Any) -> ModelParts:
    """The parts of a ``pulp.LpProblem``; names are those that PuLP makes (a blank is ``_``)."""
    _require(problem, "constraints", "pulp.LpProblem")
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


NOT_LINEAR = (
    "SOSConstraint", "Disjunction", "Disjunct", "Complementarity", "LogicalConstraint",
    "Arc", "DerivativeVar", "Integral",
)  # fmt: skip
"""Kinds of components that say more than rows: what transformations have not expanded yet, too."""


def read_pyomo(model: Any) -> ModelParts:
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


def read_linopy(model: Any) -> ModelParts:
    """The parts of a ``linopy.Model``.

    An entry is called ``x[a,0]`` by its coordinates, one without any ``x``. What is masked is no
    part of the model. Rows are those of ``model.matrices``: before a solve, which may drop some.
    """
    _require(model, "matrices", "linopy.Model")
    if model.objective.is_quadratic:
        raise ModelError("the objective is quadratic: only linear ones can be decomposed")
    if getattr(model.variables, "sos", None):
        raise ModelError("special ordered sets cannot be decomposed")
    parts = ModelParts(maximize=model.objective.sense == "max")
    own = model.matrices
    cost = np.zeros(len(own.vlabels)) if own.c is None else np.asarray(own.c, dtype=np.float64)
    kinds = zip(own.vlabels, own.lb, own.ub, own.vtypes, cost, strict=True)
    for label, lower, upper, kind, price in kinds:
        name = _name(model.variables, label)
        if kind not in ("C", "I", "B"):
            raise ModelError(f"variable {name!r} is semi-continuous: it cannot be decomposed")
        parts.add_variable(name, lower, upper, whole=kind != "C", cost=float(price))
    if not len(own.clabels):
        return parts
    matrix = sp.csr_array(own.A)
    for row, (label, side, sense) in enumerate(zip(own.clabels, own.b, own.sense, strict=True)):
        parts.add_row(_name(model.constraints, label), _terms(matrix, row), *_sides(sense, side))
    return parts


def _name(container: Any, label: Any) -> str:
    name, coordinates = container.get_label_position(int(label))
    places = ",".join(
        str(part)
        for place in coordinates.values()
        for part in (place if isinstance(place, tuple) else (place,))  # of a MultiIndex
    )
    return f"{name}[{places}]" if places else str(name)


def read_mip(model: Any) -> ModelParts:
    """The parts of a ``mip.Model``.

    Python-mip itself writes ``x + x`` for two terms of one variable object as ``x``: use ``2 * x``
    or ``xsum``.
    """
    _require(model, "constrs", "mip.Model")
    if _has_sets(model.solver):
        raise ModelError("special ordered sets cannot be decomposed")
    if model.lazy_constrs_generator is not None:
        raise ModelError("the model has lazy constraints: give all rows to decompose it")
    constant = float(model.objective_const)
    parts = ModelParts(maximize=model.sense == "MAX", constant=constant)
    number: dict[int, int] = {}
    for variable in model.vars:
        if variable.var_type not in ("C", "I", "B"):
            raise ModelError(f"variable {variable.name!r} is of the kind {variable.var_type!r}")
        number[variable.idx] = parts.add_variable(
            variable.name, variable.lb, variable.ub, whole=variable.var_type != "C"
        )
    costs = model.objective.expr if number else {}  # without variables, asking is an error
    for variable, value in costs.items():
        parts.cost[number[variable.idx]] = float(value)
    for row in model.constrs:
        terms = [(number[variable.idx], value) for variable, value in row.expr.expr.items()]
        parts.add_row(row.name, terms, *_sides(row.expr.sense, float(row.rhs)))
    return parts


def _has_sets(solver: Any) -> bool:
    """Whether special ordered sets were given; python-mip hands them on to its solver alone."""
    if hasattr(solver, "get_int_attr"):  # Gurobi
        return bool(solver.get_int_attr("NumSOS"))
    if type(solver).__module__ != "mip.cbc":  # others refuse them
        return False
    from mip.cbc import cbclib

    return bool(cbclib.Cbc_numberSOS(solver._model))


def read_ortools(model: Any) -> ModelParts:
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


def read_scip(model: Any) -> ModelParts:
    """The parts of a ``pyscipopt.Model``, as they were before it was solved."""
    _require(model, "getConss", "pyscipopt.Model")
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


KINDS = ("C", "I", "B")
LEAST_INFINITE = 1e20
"""Bounds from here on are infinite to Gurobi."""


def read_gurobi(model: Any) -> ModelParts:
    """The parts of a ``gurobipy.Model``; changes that are still pending are taken in by it."""
    _require(model, "getConstrs", "gurobipy.Model")
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
        parts.add_row(row.ConstrName, _terms(matrix, place), *_sides(row.Sense, row.RHS))
    return parts


def _end(value: float) -> float | None:
    return value if abs(value) < LEAST_INFINITE else None


def _require(model: Any, attribute: str, kind: str) -> None:
    """Raise a TypeError for another object of the tool's."""
    if not hasattr(model, attribute):
        raise TypeError(f"expected a {kind}, got {type(model).__name__}")


def _sides(sense: str, side: float) -> tuple[float | None, float | None]:
    """Ends of a row of the sense ``<``, ``=`` or ``>``."""
    return None if sense == "<" else side, None if sense == ">" else side


def _terms(matrix: sp.csr_array, row: int) -> Iterator[tuple[int, float]]:
    """Variables and values of a row."""
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)


READERS: dict[str, Callable[[Any], ModelParts]] = {
    "pulp": read_pulp,
    "pyomo": read_pyomo,
    "linopy": read_linopy,
    "mip": read_mip,
    "ortools": read_ortools,
    "pyscipopt": read_scip,
    "gurobipy": read_gurobi,
}
"""Modelling tools by the names of their packages, none of which is imported here."""
