#!/usr/bin/env bash
# An MPS file with a variable called NAME: HiGHS reads another model, and writes such files itself.
#
# Guess before running: the readers of MPS files take any name without blanks, since the fields of a data
# line begin behind a blank and sections in the first column. Seen (highspy 1.16.0, Python 3.11, Linux): a
# model with the variables i, NAME, x is written by writeModel and read back by readModel without an error,
# but without the costs and coefficients from the line of NAME on; its optimum is 12 instead of 4. OBJSENSE
# does the same, in any letters. A right-hand side in a vector that is called like a row is lost, too.
# SCIP reads the same files as they are meant (PySCIPOpt 6.3.0).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import sys
from pathlib import Path

import highspy
import pyscipopt

path = Path(sys.argv[1]) / "model.mps"


def optimum_of_highs():
    model = highspy.Highs()
    model.silent()
    status = model.readModel(str(path))
    assert status != highspy.HighsStatus.kError
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return model.getInfo().objective_function_value


def optimum_of_scip():
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    return model.getObjVal()


def written(name):
    """min 3 i + 2 NAME + x with i + NAME + x >= 4, by HiGHS itself."""
    model = highspy.Highs()
    model.silent()
    i, other, x = (model.addVariable(0, highspy.kHighsInf, name=each) for each in ("i", name, "x"))
    model.addConstr(i + other + x >= 4, "need")
    model.minimize(3 * i + 2 * other + x)
    model.writeModel(str(path))
    return model.getInfo().objective_function_value


for name in ("y", "NAME", "name", "ObjSense"):
    right = written(name)
    print(f"{name}: {right:g}, by HiGHS {optimum_of_highs():g}, by SCIP {optimum_of_scip():g}")
    assert optimum_of_scip() == right
    assert (optimum_of_highs() == right) == (name == "y")
path.write_text(
    "NAME t\nROWS\n N cost\n G r\nCOLUMNS\n x cost 1 r 1\nRHS\n r r 5\nBOUNDS\nENDATA\n"
)
print(f"a vector called r: by HiGHS {optimum_of_highs():g}, by SCIP {optimum_of_scip():g}")
assert (optimum_of_highs(), optimum_of_scip()) == (0, 5)
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "highspy==1.16.0" "pyscipopt==6.3.0" "numpy<3"
"$folder/venv/bin/python" "$folder/run.py" "$folder"
echo "as described"
