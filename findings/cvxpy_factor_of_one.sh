#!/usr/bin/env bash
# A factor of 1.0 changes the optimum that HiGHS finds through CVXPY, and its status is "optimal".
#
# Guess before running: with HiGHS and with Clarabel CVXPY has the same optimum of a small linear
# program. Seen (CVXPY 1.9.3, highspy 1.16.0, Clarabel 0.11.1, OSQP 1.1.3, Python 3.11, Linux): of
# sum |(H a + b) 1.0 - y| / 2 + |a| HiGHS and SciPy return 3.0 with b = 0, Clarabel and OSQP 2.5;
# without the factor all have 2.5. A RuntimeWarning of NumPy (an invalid value in a product, where
# CVXPY works out the bounds of an expression) is all that is said.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import cvxpy as cp
import numpy as np

warnings.simplefilter("ignore")
H, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([-1.0, 2.0, -3.0])


def optimum(solver, scaled):
    a, b = cp.Variable(2), cp.Variable()
    output = (H @ a + b) * 1.0 if scaled else H @ a + b
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum(cp.abs(output - y)) + cp.norm1(a)))
    problem.solve(solver=solver)
    assert problem.status == "optimal", problem.status
    return float(problem.value)


for scaled in (True, False):
    for solver in ("CLARABEL", "OSQP", "HIGHS", "SCIPY"):
        value = optimum(solver, scaled)
        print(f"{'with' if scaled else 'without'} the factor: {solver} {value:.4f}")
        wrong = scaled and solver in ("HIGHS", "SCIPY")
        assert abs(value - (3.0 if wrong else 2.5)) < 1e-3
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "cvxpy==1.9.3" "highspy==1.16.0" "clarabel==0.11.1" "osqp==1.1.3" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
