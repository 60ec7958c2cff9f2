#!/usr/bin/env bash
# HiGHS solves semi-continuous variables up to 1e5; beyond it ends in an error and shows a worse point.
#
# Guess before running: a semi-continuous variable in [1, 2e6], maximised, is 2e6; so is one without an upper bound
# under the row x <= 2e6, or that is refused when it is loaded. Seen (highspy 1.16.0 and SciPy 1.17.1, Python 3.11,
# Linux): with an upper bound of 1e5, optimal; with 2e5 or without one, and with the limit as a row, the status is
# kSolveError and the point 1e5, and SciPy's milp says "Solve error" (status 4) without a point. Where the optimum
# lies below 1e5 both are right.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import highspy
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

SEMI = highspy.HighsVarType.kSemiContinuous


def solved(upper, limit):
    highs = highspy.Highs()
    highs.silent()
    highs.addVariable(lb=1.0, ub=upper, obj=-1.0, type=SEMI)
    highs.addRow(-highspy.kHighsInf, limit, 1, np.zeros(1, np.int32), np.ones(1))
    highs.run()
    of_highs = highs.getModelStatus().name, highs.getSolution().col_value[0]
    row = LinearConstraint([[1.0]], -np.inf, limit)
    found = milp([-1.0], integrality=[2], bounds=Bounds(1.0, upper), constraints=row)
    return of_highs, found.status, None if found.x is None else found.x[0]


inf = highspy.kHighsInf
for upper, limit in ((1e5, inf), (2e5, inf), (inf, 2e5), (2e5, 7.0), (inf, 7.0)):
    of_highs, status, x = solved(upper, limit)
    print(f"upper bound {upper:g}, row x <= {limit:g}: HiGHS {of_highs}, SciPy {status}, x = {x}")
    if min(upper, limit) <= 1e5:
        assert of_highs == ("kOptimal", min(upper, limit)) and (status, x) == (0, min(upper, limit))
    else:
        assert of_highs == ("kSolveError", 1e5) and (status, x) == (4, None)
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "highspy==1.16.0" "scipy==1.17.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
