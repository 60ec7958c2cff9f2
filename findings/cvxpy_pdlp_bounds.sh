#!/usr/bin/env bash
# CVXPY's door to PDLP fails for two variables with bounds, and not for one.
#
# Guess before running: bounds of a variable are given to PDLP as to other solvers, whatever its
# shape. Seen (CVXPY 1.9.3, OR-Tools 9.15, Python 3.11, Linux): Variable(2, nonneg=True) raises
# ValueError ("truth value of an array ..."), since CVXPY asks an array of bounds for its truth;
# Variable(1, nonneg=True), and the same bounds written as constraints, are solved; GLOP and HiGHS
# solve all three.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import cvxpy as cp

warnings.simplefilter("ignore")


def outcome(solver, size, as_constraint):
    x = cp.Variable(size) if as_constraint else cp.Variable(size, nonneg=True)
    bounds = [x >= 0] if as_constraint else []
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum(x) >= 1, *bounds])
    try:
        problem.solve(solver=solver)
    except ValueError as error:
        return f"ValueError: {str(error)[:24]}"
    return f"{problem.status}, {problem.value:.3f}"


for solver in ("GLOP", "HIGHS", "PDLP"):
    one, two = outcome(solver, 1, False), outcome(solver, 2, False)
    written = outcome(solver, 2, True)
    print(f"{solver}: one variable {one}; two {two}; two, as constraints {written}")
    assert one == written == "optimal, 1.000", (one, written)
    wanted = "ValueError: The truth value of an ar" if solver == "PDLP" else "optimal, 1.000"
    assert two == wanted, two
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "cvxpy==1.9.3" "highspy==1.16.0" "ortools==9.15.6755" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
