#!/usr/bin/env bash
# A knapsack whose values are counted in units of 1e8: three solvers say "optimal" of three values.
#
# Guess before running: the unit of the objective does not matter to HiGHS and CBC, which scale and stop
# at relative gaps of 1e-4; SCIP, whose epsilon is 1e-9, is the first to go wrong. Seen (highspy 1.16.0,
# PySCIPOpt 6.3.0, mip 2.0.0, Python 3.11, Linux), 12 items, optimum 232: with costs divided by 1e8 SCIP
# finds 232; HiGHS is "Optimal" at 215 with a gap of 9.8 % in its own words (its absolute gap of 1e-6 is
# met); CBC is OPTIMAL with an empty knapsack. With costs divided by 1e10 HiGHS is optimal at 32, SCIP at
# 226, each with a gap of 0.0 and a bound below the optimum. Without division all three find 232.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import itertools
import sys

import numpy as np

VALUES = [24, 51, 33, 2, 46, 44, 50, 11, 6, 51, 2, 32]
WEIGHTS = [9, 21, 31, 28, 27, 6, 5, 11, 5, 41, 33, 40]
ROOM = 85


def highs(unit):
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    for value in VALUES:
        model.addBinary(obj=-value * unit)
    places = np.arange(len(VALUES), dtype=np.int32)
    model.addRow(-np.inf, ROOM, len(VALUES), places, np.array(WEIGHTS, dtype=float))
    model.run()
    said = model.modelStatusToString(model.getModelStatus())
    info = model.getInfo()
    chosen = model.getSolution().col_value
    return said, chosen, -info.mip_dual_bound / unit, info.mip_gap


def scip(unit):
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    x = [model.addVar(vtype="B", obj=-value * unit) for value in VALUES]
    model.addCons(quicksum(w * v for w, v in zip(WEIGHTS, x)) <= ROOM)
    model.optimize()
    best = model.getBestSol()
    return model.getStatus(), [best[v] for v in x], -model.getDualbound() / unit, model.getGap()


def cbc(unit):
    import mip

    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    x = [model.add_var(var_type=mip.BINARY) for _ in VALUES]
    model += mip.xsum(w * v for w, v in zip(WEIGHTS, x)) <= ROOM
    model.objective = mip.minimize(mip.xsum(-value * unit * v for value, v in zip(VALUES, x)))
    status = model.optimize()
    return status.name, [v.x for v in x], float("nan"), float("nan")


if len(sys.argv) > 1:
    said, chosen, bound, gap = globals()[sys.argv[1]](float(sys.argv[2]))
    worth = sum(value for value, share in zip(VALUES, chosen) if share > 0.5)
    print(said.lower(), worth, round(bound, 3), round(gap, 4))
else:
    import subprocess

    best = max(
        sum(v for v, take in zip(VALUES, choice) if take)
        for choice in itertools.product((0, 1), repeat=len(VALUES))
        if sum(w for w, take in zip(WEIGHTS, choice) if take) <= ROOM
    )
    print("optimum by enumeration:", best)
    found = {}
    for solver in ("highs", "scip", "cbc"):
        for unit in ("1.0", "1e-8", "1e-10"):
            command = [sys.executable, __file__, solver, unit]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found[solver, unit] = said.splitlines()[-1].split()
            print(f"{solver:6} costs times {unit:6}:", " ".join(found[solver, unit]))
    assert all(row[0] == "optimal" for row in found.values())
    assert all(int(found[solver, "1.0"][1]) == best for solver in ("highs", "scip", "cbc"))
    assert int(found["highs", "1e-8"][1]) < best and float(found["highs", "1e-8"][3]) > 0.05
    assert int(found["scip", "1e-8"][1]) == best
    assert int(found["cbc", "1e-8"][1]) == 0
    for solver in ("highs", "scip"):
        assert float(found[solver, "1e-10"][2]) < best and float(found[solver, "1e-10"][3]) == 0.0
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "highspy==1.16.0" "pyscipopt==6.3.0" "mip==2.0.0" "numpy<3"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
