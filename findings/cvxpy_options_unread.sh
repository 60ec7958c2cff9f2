#!/usr/bin/env bash
# CVXPY reads no option of some solvers but those it looks for: a misspelt one is taken in silence.
#
# Guess before running: an option that a solver does not have is an error, whichever solver it is.
# Seen (CVXPY 1.9.3 with Clarabel 0.11.1, HiGHS 1.16.0, OSQP 1.1.3, SCS 3.3.1, OR-Tools 9.15, DAQP
# 0.11.0, Python 3.11, Linux): Clarabel, HiGHS, OSQP and SCS raise; GLOP, PDLP and DAQP solve as if
# nothing had been said, also for GLOP's own name of a limit ("max_number_of_iterations"), which
# counts only inside parameters_proto.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import cvxpy as cp

warnings.simplefilter("ignore")
x = cp.Variable(2)
problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) >= 3])


def outcome(solver, **options):
    try:
        problem.solve(solver=solver, **options)
    except Exception as error:
        return f"raises {type(error).__name__}"
    return f"solved, {problem.value:.3f}"


found = {}
for solver in ("CLARABEL", "HIGHS", "OSQP", "SCS", "GLOP", "PDLP", "DAQP"):
    found[solver] = outcome(solver, no_such_option=3)
    print(f"{solver} with no_such_option=3: {found[solver]}")
limited = outcome("GLOP", max_number_of_iterations=0)
print(f"GLOP with max_number_of_iterations=0: {limited}")
for solver in ("CLARABEL", "HIGHS", "OSQP", "SCS"):
    assert found[solver].startswith("raises"), found
for solver in ("GLOP", "PDLP", "DAQP"):
    assert found[solver] == "solved, 3.000", found
assert limited == "solved, 3.000", limited
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "cvxpy==1.9.3" "clarabel==0.11.1" \
    "highspy==1.16.0" "osqp==1.1.3" "scs==3.3.1" "ortools==9.15.6755" "daqp==0.11.0" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
