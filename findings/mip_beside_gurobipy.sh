#!/usr/bin/env bash
# python-mip makes no model any more once gurobipy is installed beside it, which itself solves it.
#
# Guess before running: mip.Model() without a solver takes CBC, which it brings, whatever else is
# installed; where it prefers Gurobi, it goes on with CBC if no licence is there, or uses the one that
# comes with gurobipy for small models. Seen (python-mip 2.0.0, gurobipy 13.0.3, Python 3.11, Linux):
# without gurobipy the model has CBC and the optimum 7; after `pip install gurobipy`, which solves the
# same model by its own licence, mip.Model() raises InterfacingError; solver_name="CBC" still works.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import sys

import mip


def optimum(**options):
    model = mip.Model(sense=mip.MAXIMIZE, **options)
    model.verbose = 0
    x, y = model.add_var(ub=3, var_type="I"), model.add_var(ub=2)
    model.objective = x + 2 * y
    model.optimize()
    return model.solver_name, model.objective_value


if sys.argv[1] == "alone":
    found = optimum()
    print("alone:", found)
    assert found == ("CBC", 7.0), found
else:
    import gurobipy

    own = gurobipy.Model(env=gurobipy.Env(params={"OutputFlag": 0}))
    x, y = own.addVar(ub=3, vtype="I"), own.addVar(ub=2)
    own.setObjective(x + 2 * y, gurobipy.GRB.MAXIMIZE)
    own.optimize()
    print("gurobipy:", own.ObjVal)
    assert own.ObjVal == 7.0
    try:
        found = optimum()
    except mip.exceptions.InterfacingError as error:
        found = str(error)
    print("beside gurobipy:", found)
    assert found == "Gurobi environment could not be loaded, check your license.", found
    print("by name:", optimum(solver_name="CBC"))
PY
python3 -m venv "$folder/venv"
pip=("$folder/venv/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" "mip==2.0.0"
"$folder/venv/bin/python" "$folder/run.py" alone
"${pip[@]}" "gurobipy==13.0.3"
"$folder/venv/bin/python" "$folder/run.py" beside
echo "as described"
