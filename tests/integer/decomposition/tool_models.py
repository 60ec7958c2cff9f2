"""The same model in every modelling tool, and what our readers make of it, as JSON.

    max 3x + 2y − z + 5     x whole in [0, 4], y ≥ −1, z in {0, 1}, u free, w whole in [−3, 2]

    total   x + y + 1 ≤ 8          least   2x − z ≥ 3 (written with x on both sides)
    equal   y − u = 0.5            low, high   1 ≤ x + u ≤ 8 (one row where a tool has ranges)

w is in no row. Each function makes it with the tool's own means, and each refusal something that is
no mixed-integer linear program.

    python -m tests.integer.decomposition.tool_models pulp
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def pulp() -> Any:
    """The model in PuLP."""
    import pulp

    model = pulp.LpProblem("model", pulp.LpMaximize)
    x, z = pulp.LpVariable("x", 0, 4, "Integer"), pulp.LpVariable("z", cat="Binary")
    y, u = pulp.LpVariable("y", -1), pulp.LpVariable("u")
    model.addVariable(pulp.LpVariable("w", -3, 2, "Integer"))
    model += 3 * x + 2 * y - z + 5
    model += x + y + 1 <= 8, "total"
    model += x - z >= 3 - x, "least"
    model += y - u == 0.5, "equal"
    model += x + u >= 1, "low"
    model += x + u <= 8, "high"
    return model


def pulp_refused() -> Any:
    """The model of PuLP with something that is not linear."""
    model = pulp()
    model.sos1["set"] = {model.variables()[0]: 1}
    return model


def pyomo() -> Any:
    """The model in Pyomo."""
    import pyomo.environ as pe

    model = pe.ConcreteModel()
    model.x = pe.Var(within=pe.NonNegativeIntegers, bounds=(-2, 4))
    model.y, model.z, model.u = pe.Var(bounds=(-1, None)), pe.Var(within=pe.Binary), pe.Var()
    model.w = pe.Var(within=pe.Integers, bounds=(-3, 2))
    model.two = pe.Var(initialize=2)
    model.two.fix()
    x, y, z, u = model.x, model.y, model.z, model.u
    model.cost = pe.Objective(expr=3 * x + model.two * y - z + 5, sense=pe.maximize)
    model.rows = pe.Block()
    model.rows.total = pe.Constraint(expr=x + y + 1 <= 8)
    model.rows.least = pe.Constraint(expr=x - z >= 3 - x)
    model.rows.equal = pe.Constraint(expr=y - u == 0.5)
    model.rows.low = pe.Constraint(expr=pe.inequality(1, x + u, 8))
    model.rows.off = pe.Constraint(expr=x <= 0)
    model.rows.off.deactivate()
    return model


def pyomo_refused() -> Any:
    """The model of Pyomo with something that is not linear."""
    import pyomo.environ as pe

    model = pyomo()
    model.curved = pe.Constraint(expr=model.x * model.y <= 3)
    return model


def linopy() -> Any:
    """The model in linopy."""
    import linopy
    import pandas as pd

    model = linopy.Model()
    one = [pd.Index(["a"], name="place")]
    x = model.add_variables(0, 4, coords=one, name="x", integer=True)
    y, u = model.add_variables(-1, name="y"), model.add_variables(name="u")
    z = model.add_variables(name="z", binary=True)
    model.add_variables(-3, 2, name="w", integer=True)
    model.add_constraints(x + y + 1 <= 8, name="total")
    model.add_constraints(x - z >= 3 - x, name="least")
    model.add_constraints(y - u == 0.5, name="equal")
    model.add_constraints(x + u >= 1, name="low")
    model.add_constraints(x + u <= 8, name="high")
    model.add_objective((3 * x).sum() + 2 * y - z, sense="max")  # it takes no constant
    return model


def linopy_refused() -> Any:
    """The model of linopy with something that is not linear."""
    model = linopy()
    y = model.variables["y"]
    model.add_objective(y * y, overwrite=True)
    return model


def mip() -> Any:
    """The model in python-mip."""
    import mip

    model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
    x, z = model.add_var("x", 0, 4, var_type="I"), model.add_var("z", var_type="B")
    y, u = model.add_var("y", -1), model.add_var("u", -mip.INF)
    model.add_var("w", -3, 2, var_type="I")
    model.objective = 3 * x + 2 * y - z + 5
    model += x + y + 1 <= 8, "total"
    model += 2 * x - z >= 3, "least"
    model += y - u == 0.5, "equal"
    model += x + u >= 1, "low"
    model += x + u <= 8, "high"
    return model


def mip_refused() -> Any:
    """The model of python-mip with something that is not linear."""
    model = mip()
    model.add_sos([(model.vars[0], 1), (model.vars[1], 2)], 1)
    return model


def mathopt() -> Any:
    """The model in MathOpt."""
    from ortools.math_opt.python import mathopt as tool

    model = tool.Model()
    x, z = model.add_integer_variable(lb=0, ub=4, name="x"), model.add_binary_variable(name="z")
    y, u = model.add_variable(lb=-1, name="y"), model.add_variable(name="u")
    model.add_integer_variable(lb=-3, ub=2, name="w")
    model.add_linear_constraint(x + y + 1 <= 8, name="total")
    model.add_linear_constraint(x - z >= 3 - x, name="least")
    model.add_linear_constraint(y - u == 0.5, name="equal")
    model.add_linear_constraint((x + u <= 8) >= 1, name="low")
    model.maximize(3 * x + 2 * y - z + 5)
    return model


def mathopt_refused() -> Any:
    """The model of MathOpt with something that is not linear."""
    model = mathopt()
    x, *_ = model.variables()
    model.minimize(x * x)
    return model


def model_builder() -> Any:
    """The model in model_builder."""
    from ortools.linear_solver.python import model_builder as tool

    model = tool.Model()
    x, z = model.new_int_var(0, 4, "x"), model.new_bool_var("z")
    y, u = model.new_num_var(-1, float("inf"), "y"), model.new_num_var(-1e400, 1e400, "u")
    model.new_int_var(-3, 2, "w")
    model.add(x + y + 1 <= 8).name = "total"
    model.add(x - z >= 3 - x).name = "least"
    model.add(y - u == 0.5).name = "equal"
    model.add_linear_constraint(x + u, 1, 8).name = "low"
    model.maximize(3 * x + 2 * y - z + 5)
    return model


def pywraplp() -> Any:
    """The model in pywraplp."""
    from ortools.linear_solver import pywraplp as tool

    model = tool.Solver.CreateSolver("SCIP")
    x, z, w = model.IntVar(0, 4, "x"), model.BoolVar("z"), model.IntVar(-3, 2, "w")
    infinity = model.infinity()
    y, u = model.NumVar(-1, infinity, "y"), model.NumVar(-infinity, infinity, "u")
    assert w is not None
    model.Add(x + y + 1 <= 8, "total")
    model.Add(x - z >= 3 - x, "least")
    model.Add(y - u == 0.5, "equal")
    model.Add(x + u >= 1, "low")
    model.Add(x + u <= 8, "high")
    model.Maximize(3 * x + 2 * y - z + 5)
    return model


def pyscipopt() -> Any:
    """The model in PySCIPOpt."""
    import pyscipopt as tool

    model = tool.Model()
    x, z = model.addVar("x", "I", 0, 4), model.addVar("z", "B")
    y, u = model.addVar("y", lb=-1), model.addVar("u", lb=None)
    model.addVar("w", "M", -3, 2)
    model.addCons(x + y + 1 <= 8, "total")
    model.addCons(x - z >= 3 - x, "least")
    model.addCons(y - u == 0.5, "equal")
    model.addCons((x + u <= 8) >= 1, "low")
    model.setObjective(3 * x + 2 * y - z + 5, "maximize")
    return model


def pyscipopt_refused() -> Any:
    """The model of PySCIPOpt with something that is not linear."""
    model = pyscipopt()
    x, y, *_ = model.getVars()
    model.addCons(x * y <= 3, "curved")
    return model


def gurobipy() -> Any:
    """The model in gurobipy."""
    import gurobipy as tool

    environment = tool.Env(params={"OutputFlag": 0})
    model = tool.Model(env=environment)
    x, z = model.addVar(0, 4, vtype="I", name="x"), model.addVar(vtype="B", name="z")
    y, u = model.addVar(-1, name="y"), model.addVar(-tool.GRB.INFINITY, name="u")
    model.addVar(-3, 2, vtype="I", name="w")
    model.addConstr(x + y + 1 <= 8, "total")
    model.addConstr(x - z >= 3 - x, "least")
    model.addConstr(y - u == 0.5, "equal")
    model.addConstr(x + u >= 1, "low")
    model.addConstr(x + u <= 8, "high")
    model.setObjective(3 * x + 2 * y - z + 5, tool.GRB.MAXIMIZE)
    return model


def gurobipy_refused() -> Any:
    """The model of gurobipy with something that is not linear."""
    model = gurobipy()
    model.update()
    x, z, *_ = model.getVars()
    model.addConstr(x * z <= 3)
    return model


TOOLS: dict[str, Callable[[], Any]] = {
    "pulp": pulp,
    "pyomo": pyomo,
    "linopy": linopy,
    "mip": mip,
    "mathopt": mathopt,
    "model_builder": model_builder,
    "pywraplp": pywraplp,
    "pyscipopt": pyscipopt,
    "gurobipy": gurobipy,
}
REFUSED: dict[str, Callable[[], Any]] = {
    "pulp": pulp_refused,
    "pyomo": pyomo_refused,
    "linopy": linopy_refused,
    "mip": mip_refused,
    "mathopt": mathopt_refused,
    "pyscipopt": pyscipopt_refused,
    "gurobipy": gurobipy_refused,
}


def told(model: Any) -> dict[str, Any]:
    """What a reader made of a model, in its own sense; what its rows say of each expression."""
    sign = -1.0 if model.maximize else 1.0
    program, matrix = model.program, model.matrix
    rows: dict[str, list[float]] = {}
    for row in range(len(model.row_names)):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        names = [model.names[j][0] for j in matrix.indices[part]]
        terms = sorted(zip(names, matrix.data[part].tolist(), strict=True))
        lower, upper = float(program.row_lower[row]), float(program.row_upper[row])
        if terms[0][1] < 0:  # some tools keep a row, others its opposite
            terms = [(name, -value) for name, value in terms]
            lower, upper = -upper, -lower
        before = rows.get(str(terms), [-float("inf"), float("inf")])
        rows[str(terms)] = [max(lower, before[0]), min(upper, before[1])]
    variables = {
        name[0]: [float(program.lower[j]), float(program.upper[j]), bool(model.integer[j])]
        for j, name in enumerate(model.names)
        if name != "two"
    }
    cost = {
        name[0]: sign * float(value)
        for name, value in zip(model.names, program.cost, strict=True)
        if value
    }
    return {
        "rows": rows,
        "row_names": sorted(name.rpartition(".")[2] for name in model.row_names),
        "variables": variables,
        "cost": cost,
        "constant": sign * float(program.constant),
        "maximize": model.maximize,
    }


def main() -> None:
    """Print what the reader of a tool makes of its model, the optimum, and how it refuses."""
    from cgboost import decompose
    from cgboost.integer.decomposition import ModelError
    from cgboost.integer.decomposition.model import as_model

    tool = sys.argv[1]
    model = TOOLS[tool]()
    answer = told(as_model(model))
    answer["optimum"] = decompose(model).solve().objective
    if tool == "pyscipopt":  # its rows are those of the transformed model now
        model.optimize()
        assert told(as_model(model)) == {each: answer[each] for each in told(as_model(model))}
    if tool == "mip":  # without variables, it has no objective to ask for
        import mip as package

        assert decompose(package.Model()).solve().objective == 0.0
    if tool in REFUSED:
        try:
            as_model(REFUSED[tool]())
        except ModelError as error:
            answer["refusal"] = str(error)
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
