#!/usr/bin/env bash
# OR-Tools' GLOP calls an unbounded program infeasible through two of its three doors.
#
# Guess before running: max a + b, a >= b, a, b >= 0 is unbounded, or at least "infeasible or
# unbounded", however GLOP is called. Seen (OR-Tools 9.15, CVXPY 1.9.3, Python 3.11, Linux): MathOpt
# says INFEASIBLE_OR_UNBOUNDED; pywraplp says INFEASIBLE, and so does CVXPY, which calls it in this
# way, although (0, 0) is feasible. HiGHS through CVXPY says unbounded.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import cvxpy as cp
from ortools.linear_solver import pywraplp
from ortools.math_opt.python import mathopt

warnings.simplefilter("ignore")
solver = pywraplp.Solver.CreateSolver("GLOP")
a, b = (solver.NumVar(0, solver.infinity(), name) for name in "ab")
solver.Add(a - b >= 0)
solver.Maximize(a + b)
names = {getattr(pywraplp.Solver, name): name for name in ("OPTIMAL", "INFEASIBLE", "UNBOUNDED")}
found = {"pywraplp": names.get(solver.Solve(), "another")}

model = mathopt.Model()
a, b = model.add_variable(lb=0), model.add_variable(lb=0)
model.add_linear_constraint(a - b >= 0)
model.maximize(a + b)
found["MathOpt"] = mathopt.solve(model, mathopt.SolverType.GLOP).termination.reason.name

x = cp.Variable(2)
problem = cp.Problem(cp.Maximize(cp.sum(x)), [x[0] - x[1] >= 0, x >= 0])
for name in ("GLOP", "HIGHS"):
    problem.solve(solver=name)
    found[f"CVXPY, {name}"] = problem.status
for door, said in found.items():
    print(f"{door}: {said}")
assert found == {
    "pywraplp": "INFEASIBLE",
    "MathOpt": "INFEASIBLE_OR_UNBOUNDED",
    "CVXPY, GLOP": "infeasible",
    "CVXPY, HIGHS": "unbounded",
}, found
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "cvxpy==1.9.3" "highspy==1.16.0" "ortools==9.15.6755" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
