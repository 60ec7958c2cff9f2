#!/usr/bin/env bash
# linopy takes 2 <= x + y <= 8 for x + y <= 8, without a word, as PuLP does.
#
# Guess before running: linopy raises, as pandas or NumPy would. Seen (linopy 0.10.1, PuLP 3.3.2, Pyomo 6.10.1, CVXPY
# 1.9.3, highspy 1.16.0, Python 3.11, Linux): linopy and PuLP keep the last comparison alone, and minimising x + y
# gives 0 where 2 is meant; highspy makes one row of both; Pyomo and CVXPY raise.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import cvxpy
import highspy
import linopy
import pulp
import pyomo.environ as pyomo

model = linopy.Model()
x, y = model.add_variables(lower=0, name="x"), model.add_variables(lower=0, name="y")
model.add_constraints(2 <= x + y <= 8)
model.add_objective(1 * x + 1 * y)
model.solve("highs", output_flag=False)
print("linopy: objective", model.objective.value)
assert model.objective.value == 0.0

problem = pulp.LpProblem("p", pulp.LpMinimize)
x, y = pulp.LpVariable("x", 0), pulp.LpVariable("y", 0)
problem += x + y
problem += 2 <= x + y <= 8
text = str(problem)
print(text)
assert "x + y <= 8" in text and ">=" not in text.split("SUBJECT TO")[1].split("VARIABLES")[0]

highs = highspy.Highs()
highs.silent()
x, y = highs.addVariable(lb=0, obj=1), highs.addVariable(lb=0, obj=1)
highs.addConstr(2 <= x + y <= 8)
highs.run()
print("highspy:", highs.getObjectiveValue())
assert highs.getObjectiveValue() == 2.0

concrete = pyomo.ConcreteModel()
concrete.x = pyomo.Var()
try:
    2 <= concrete.x + 1 <= 8
except Exception as error:
    print("Pyomo:", type(error).__name__)
else:
    raise SystemExit("Pyomo takes the chain")
variable = cvxpy.Variable()
try:
    2 <= variable + 1 <= 8
except Exception as error:
    print("CVXPY:", error)
else:
    raise SystemExit("CVXPY takes the chain")
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "linopy==0.10.1" "PuLP==3.3.2" "pyomo==6.10.1" "cvxpy==1.9.3" "highspy==1.16.0" "numpy==2.4.6" "scipy==1.17.1"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
