#!/usr/bin/env bash
# HiGHS writes a continuous variable into an MPS file as an integer one.
#
# Guess before running: a model that HiGHS writes as MPS and reads again is the same model.
# Seen (highspy 1.15.1 and 1.16.0, Python 3.11, Linux): a continuous column that has no cost and is
# in no row, and stands behind an integer column, is written before the marker INTEND. Read again
# it is integer, both calls with return code kOk; with the bounds 0.25 and 0.75 the model that had
# an optimum is infeasible. Written as LP the model stays what it is.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import sys

import highspy


def quiet() -> highspy.Highs:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    return highs


highs = quiet()
for name, lower, upper in (("a", 0.0, 10.0), ("b", 0.0, 2.0), ("c", 0.25, 0.75)):
    highs.addVar(lower, upper)
    highs.passColName(highs.numVariables - 1, name)
highs.changeColIntegrality(1, highspy.HighsVarType.kInteger)
highs.changeColCost(0, 1.0)
highs.addRow(1.0, highspy.kHighsInf, 2, [0, 1], [2.0, 1.0])
highs.passRowName(0, "r")
highs.run()
found = {"the model": ("-", "kContinuous", highs.getModelStatus().name)}
for kind in ("lp", "mps"):
    path = f"{sys.argv[1]}/model.{kind}"
    written = highs.writeModel(path).name
    again = quiet()
    read = again.readModel(path).name
    names = again.getLp().col_names_
    of_c = again.getLp().integrality_[list(names).index("c")].name
    again.run()
    found[f"{kind}, read again"] = (f"{written} {read}", of_c, again.getModelStatus().name)
for name, result in found.items():
    print(f"{name}: calls {result[0]}, c is {result[1]}, {result[2]}")
assert found == {
    "the model": ("-", "kContinuous", "kOptimal"),
    "lp, read again": ("kOk kOk", "kContinuous", "kOptimal"),
    "mps, read again": ("kOk kOk", "kInteger", "kInfeasible"),
}, found
PY
for version in 1.15.1 1.16.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check \
        "highspy==$version" "numpy==2.4.6"
    echo "highspy $version"
    "$folder/$version/bin/python" "$folder/run.py" "$folder"
done
echo "as described"
