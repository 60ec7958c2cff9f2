"""Linear programs in the words of each modelling tool, and what we say of their duals, as JSON.

    min or max c'x    cap   a'x ≤ b_0      need  d'x ≥ b_1      mix  e'x = b_2
                      first x0 + x1 ≤ 4    second x2 + x3 ≤ 5   0 ≤ x ≤ 3

``cap``, ``need`` and ``mix`` link two blocks. Every second program is written with the sides of
``cap`` and ``need`` on the left.

    python -m tests.integer.decomposition.tool_duals pulp
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
SEEDS = (100, 102, 103, 104, 105, 106)
LINKING = ("cap", "need", "mix")
BLOCKS = {"first": 0, "second": 1}
UPPER = 3.0


@dataclass(frozen=True)
class Case:
    """A program by its numbers.

    Attributes
    ----------
    cost : ndarray of shape (4,)
    rows : ndarray of shape (3, 4)
        Of ``cap``, ``need`` and ``mix``.
    sides : ndarray of shape (3,)
    maximize, flipped : bool
    """

    cost: Vector
    rows: Vector
    sides: Vector
    maximize: bool
    flipped: bool


def cases() -> list[Case]:
    """Six programs, each to be minimised and to be maximised, with their rows binding."""
    found = []
    for seed in range(len(SEEDS)):
        rng = np.random.default_rng(SEEDS[seed])
        rows = rng.uniform(0.5, 2.0, (3, 4)).round(3)
        point = rng.uniform(0.5, 1.8, 4)
        cost = rng.uniform(1.0, 3.0, 4).round(3)
        cost[rng.integers(4)] *= -1
        sides = (rows @ point).round(2) + np.array([0.4, -0.3, 0.0])
        found += [Case(cost, rows, sides, maximize, bool(seed % 2)) for maximize in (False, True)]
    return found


def pulp(case: Case) -> Any:
    """In PuLP, which keeps a row as it is written."""
    import pulp as tool

    model = tool.LpProblem("model", tool.LpMaximize if case.maximize else tool.LpMinimize)
    x = [tool.LpVariable(f"x{j}", 0, UPPER) for j in range(4)]
    model += tool.lpDot(case.cost, x)
    sums = [tool.lpDot(row, x) for row in case.rows]
    for name, row in written(case, sums, x):
        model += row, name
    return model


def written(case: Case, sums: list[Any], x: Any) -> list[tuple[str, Any]]:
    """The rows in Python's comparisons, with their names."""
    (a, d, e), (cap, need, mix) = sums, case.sides.tolist()
    linking = (cap >= a, need <= d) if case.flipped else (a <= cap, d >= need)
    return [
        *zip(LINKING, (*linking, e == mix), strict=True),
        ("first", x[0] + x[1] <= 4.0),
        ("second", x[2] + x[3] <= 5.0),
    ]


def sums_of(case: Case, x: Any) -> tuple[Any, list[Any]]:
    """The objective and the left sides, as sums of Python."""
    cost, *rows = (
        sum(float(value) * variable for value, variable in zip(row, x, strict=True))
        for row in (case.cost, *case.rows)
    )
    return cost, rows


def pyomo(case: Case) -> Any:
    """In Pyomo."""
    import pyomo.environ as tool

    model = tool.ConcreteModel()
    model.x = tool.Var(range(4), bounds=(0, UPPER))
    cost, sums = sums_of(case, [model.x[j] for j in range(4)])
    sense = tool.maximize if case.maximize else tool.minimize
    model.cost = tool.Objective(expr=cost, sense=sense)
    for name, row in written(case, sums, model.x):
        setattr(model, name, tool.Constraint(expr=row))
    return model


def linopy(case: Case) -> Any:
    """In linopy, which takes variables to the left."""
    import linopy as tool

    model = tool.Model()
    x = [model.add_variables(0, UPPER, name=f"x{j}") for j in range(4)]
    cost, sums = sums_of_linopy(case, x)
    model.add_objective(cost, sense="max" if case.maximize else "min")
    for name, row in written(Case(case.cost, case.rows, case.sides, case.maximize, False), sums, x):
        model.add_constraints(row, name=name)
    return model


def sums_of_linopy(case: Case, x: Any) -> tuple[Any, list[Any]]:
    """Sums that do not begin with 0."""
    found = []
    for row in (case.cost, *case.rows):
        total = float(row[0]) * x[0]
        for value, variable in zip(row[1:], x[1:], strict=True):
            total = total + float(value) * variable
        found.append(total)
    return found[0], found[1:]


def mip(case: Case) -> Any:
    """In python-mip."""
    import mip as tool

    model = tool.Model(
        sense=tool.MAXIMIZE if case.maximize else tool.MINIMIZE, solver_name=tool.CBC
    )
    x = [model.add_var(f"x{j}", 0, UPPER) for j in range(4)]
    cost, sums = sums_of(case, x)
    model.objective = cost
    for name, row in written(case, sums, x):
        model.add_constr(row, name)
    return model


def mathopt(case: Case) -> Any:
    """In MathOpt."""
    from ortools.math_opt.python import mathopt as tool

    model = tool.Model()
    x = [model.add_variable(lb=0, ub=UPPER, name=f"x{j}") for j in range(4)]
    cost, sums = sums_of(case, x)
    (model.maximize if case.maximize else model.minimize)(cost)
    for name, row in written(case, sums, x):
        model.add_linear_constraint(row, name=name)
    return model


def model_builder(case: Case) -> Any:
    """In model_builder."""
    from ortools.linear_solver.python import model_builder as tool

    model = tool.Model()
    x = [model.new_num_var(0, UPPER, f"x{j}") for j in range(4)]
    cost, sums = sums_of(case, x)
    (model.maximize if case.maximize else model.minimize)(cost)
    for name, row in written(case, sums, x):
        model.add(row).name = name
    return model


def pywraplp(case: Case) -> Any:
    """In pywraplp."""
    from ortools.linear_solver import pywraplp as tool

    model = tool.Solver.CreateSolver("GLOP")
    x = [model.NumVar(0, UPPER, f"x{j}") for j in range(4)]
    cost, sums = sums_of(case, x)
    (model.Maximize if case.maximize else model.Minimize)(cost)
    for name, row in written(case, sums, x):
        model.Add(row, name)
    return model


def pyscipopt(case: Case) -> Any:
    """In PySCIPOpt."""
    import pyscipopt as tool

    model = tool.Model()
    model.hideOutput()
    x = [model.addVar(f"x{j}", lb=0, ub=UPPER) for j in range(4)]
    cost, sums = sums_of(case, x)
    model.setObjective(cost, "maximize" if case.maximize else "minimize")
    for name, row in written(case, sums, x):
        model.addCons(row, name)
    return model


def cvxpy(case: Case) -> Any:
    """In CVXPY, where rows have numbers: those of the model, equations first."""
    import cvxpy as tool

    x = tool.Variable(4, name="x")
    sums = [row @ x for row in case.rows]
    rows = [row for _, row in written(case, sums, x)]
    goal = (tool.Maximize if case.maximize else tool.Minimize)(case.cost @ x)
    return tool.Problem(goal, [*rows, x >= 0, x <= UPPER])


def highspy(case: Case) -> Any:
    """In highspy."""
    import highspy as tool

    model = tool.Highs()
    model.silent()
    x = [model.addVariable(0, UPPER, name=f"x{j}") for j in range(4)]
    cost, sums = sums_of(case, x)
    model.setObjective(cost, tool.ObjSense.kMaximize if case.maximize else tool.ObjSense.kMinimize)
    for name, row in written(case, sums, x):
        model.addConstr(row, name)
    return model


TOOLS: dict[str, Callable[[Case], Any]] = {
    "pulp": pulp,
    "pyomo": pyomo,
    "linopy": linopy,
    "mip": mip,
    "mathopt": mathopt,
    "model_builder": model_builder,
    "pywraplp": pywraplp,
    "pyscipopt": pyscipopt,
    "cvxpy": cvxpy,
    "highspy": highspy,
}

NAMES = {"cvxpy": {"mix": "r0", "cap": "r1", "need": "r2", "first": "r3", "second": "r4"}}
"""Rows that are not called as in the others."""


def own_duals(tool: str, model: Any) -> dict[str, list[float]]:
    """Duals of the linking rows as the tool itself gives them, for each way to ask it."""
    return {way: [float(each) for each in ask(model)] for way, ask in WAYS[tool].items()}


def _pulp(solver: str) -> Callable[[Any], Any]:
    def ask(model: Any) -> Any:
        import pulp as tool

        model.solve(getattr(tool, solver)(msg=False))
        return [model.constraints[name].pi for name in LINKING]

    return ask


def _pyomo(model: Any) -> Any:
    import pyomo.environ as tool

    model.dual = tool.Suffix(direction=tool.Suffix.IMPORT)
    tool.SolverFactory("appsi_highs").solve(model)
    return [model.dual[model.component(name)] for name in LINKING]


def _linopy(model: Any) -> Any:
    model.solve("highs", io_api="direct", output_flag=False)
    return [model.constraints[name].dual for name in LINKING]


def _mip(model: Any) -> Any:
    model.verbose = 0
    model.optimize()
    return [model.constr_by_name(name).pi for name in LINKING]


def _mathopt(model: Any) -> Any:
    from ortools.math_opt.python import mathopt as tool

    duals = tool.solve(model, tool.SolverType.GLOP).dual_values()
    return [value for row, value in duals.items() if row.name in LINKING]


def _model_builder(model: Any) -> Any:
    from ortools.linear_solver.python import model_builder as tool

    solver = tool.Solver("glop")
    solver.solve(model)
    rows = [row for row in model.get_linear_constraints() if row.name in LINKING]
    return [solver.dual_value(row) for row in rows]


def _pywraplp(model: Any) -> Any:
    model.Solve()
    return [row.dual_value() for row in model.constraints() if row.name() in LINKING]


def _pyscipopt(model: Any) -> Any:
    import pyscipopt as tool

    model.setPresolve(tool.SCIP_PARAMSETTING.OFF)
    model.setHeuristics(tool.SCIP_PARAMSETTING.OFF)
    model.disablePropagation()
    model.optimize()
    rows = [row for row in model.getConss() if row.name in LINKING]
    return [model.getDualsolLinear(row) for row in rows]


def _cvxpy(model: Any) -> Any:
    model.solve(solver="CLARABEL")
    return [row.dual_value for row in model.constraints[:3]]


def _put_back(model: Any) -> Any:
    from solvers import Program, solve
    from solvers.program.modelling import put_back

    put_back(model, solve(Program.from_cvxpy(model)))
    return [row.dual_value for row in model.constraints[:3]]


def _highspy(model: Any) -> Any:
    model.run()
    return list(model.getSolution().row_dual)[:3]


WAYS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "pulp": {"CBC": _pulp("PULP_CBC_CMD"), "HiGHS": _pulp("HiGHS")},
    "pyomo": {"HiGHS": _pyomo},
    "linopy": {"HiGHS": _linopy},
    "mip": {"CBC": _mip},
    "mathopt": {"GLOP": _mathopt},
    "model_builder": {"GLOP": _model_builder},
    "pywraplp": {"GLOP": _pywraplp},
    "pyscipopt": {"SCIP": _pyscipopt},
    "cvxpy": {"Clarabel": _cvxpy, "put_back": _put_back},
    "highspy": {"HiGHS": _highspy},
}


def main() -> None:
    """Print what we say of each program, and the duals that the tool itself gives."""
    from cgboost import decompose

    tool = sys.argv[1]
    names = NAMES.get(tool, {})
    blocks = {names.get(name, name): block for name, block in BLOCKS.items()}
    found = []
    for case in cases():
        model = TOOLS[tool](case)
        result = decompose(model, blocks).solve()
        duals = [result.duals[names.get(name, name)] for name in LINKING]
        own = own_duals(tool, model)
        found.append({"objective": result.objective, "duals": duals, "own": own})
    sys.stdout.write("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
