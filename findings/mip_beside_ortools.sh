#!/usr/bin/env bash
# python-mip and OR-Tools do not work in one process, in either order.
#
# Guess before running: two packages that bring their own copy of CBC's libraries do not meet. Seen
# (python-mip 2.0.0, ortools 9.15.6755, Python 3.11, Linux): each alone solves; once pywraplp
# or MathOpt is imported, mip.Model() ends with a NameError, since its CBC misses a symbol; once a
# mip.Model is made, the imports of pywraplp and MathOpt are ImportErrors.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import sys


def by_mip():
    import mip

    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    x = model.add_var(lb=2)
    model.objective = x
    model.optimize()
    return model.objective_value


def by_pywraplp():
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    x = solver.NumVar(2, 9, "x")
    solver.Minimize(x)
    solver.Solve()
    return solver.Objective().Value()


def by_mathopt():
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    x = model.add_variable(lb=2)
    model.minimize(x)
    return mathopt.solve(model, mathopt.SolverType.GLOP).objective_value()


ways = {"mip": by_mip, "pywraplp": by_pywraplp, "mathopt": by_mathopt}
for name in sys.argv[1:]:
    try:
        print(name, ways[name](), flush=True)
    except (ImportError, NameError) as error:
        print(name, type(error).__name__, flush=True)
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "mip==2.0.0" "ortools==9.15.6755"
run() {
    "$folder/venv/bin/python" "$folder/run.py" "$@" 2>&1 | grep -E "^(mip|pywraplp|mathopt) "
}
told() {
    printf '%s\n' "$@"
}
diff <(told "mip 2.0") <(run mip)
diff <(told "pywraplp 2.0" "mip NameError") <(run pywraplp mip)
diff <(told "mip 2.0" "pywraplp ImportError") <(run mip pywraplp)
diff <(told "mathopt 2.0" "mip NameError") <(run mathopt mip)
diff <(told "mip 2.0" "mathopt ImportError") <(run mip mathopt)
run pywraplp mip
run mip pywraplp
echo "as described"
