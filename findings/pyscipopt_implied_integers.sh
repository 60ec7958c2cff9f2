#!/usr/bin/env bash
# A variable that PySCIPOpt solves as whole says of itself that it is continuous.
#
# Guess before running: vtype() gives back the kind with which a variable was added, so that a model is
# read rightly by asking for "CONTINUOUS". Seen (PySCIPOpt 6.3.0, Python 3.11, Linux): addVar(vtype="M")
# makes an implied integer; SCIP keeps it whole where that costs something (2 in place of 1.5), while
# vtype() says CONTINUOUS; isIntegral() tells the truth, and "I" and "C" are said as they are.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
from pyscipopt import Model

found = {}
for kind in ("C", "I", "M"):
    model = Model()
    model.hideOutput()
    x = model.addVar("x", vtype=kind, lb=0, ub=9)
    model.addCons(2 * x >= 3)
    model.setObjective(x, "minimize")
    said = x.vtype(), x.isIntegral()
    model.optimize()
    found[kind] = (*said, round(model.getObjVal(), 6))
    print(f"added as {kind}: vtype() {said[0]}, isIntegral() {said[1]}, optimum {found[kind][2]}")
assert found["C"] == ("CONTINUOUS", False, 1.5), found
assert found["I"] == ("INTEGER", True, 2.0), found
assert found["M"] == ("CONTINUOUS", True, 2.0), found
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pyscipopt==6.3.0"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
