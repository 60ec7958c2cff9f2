#!/usr/bin/env bash
# highspy: a run that a callback has interrupted leaves the next runs interrupted as well.
#
# Guess before running: whether to stop is asked of a callback anew in every run, so that a second
# run, whose callback asks for nothing, goes to the optimum. Seen (highspy 1.16.0, Python 3.11, Linux):
# the second run of the same object ends with kInterrupt though nobody asked in it; after the callback
# is taken off, the third is optimal. A callback that sets its answer to False each time has optimal
# runs: the flag is the caller's to take back.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import highspy
import numpy as np


def model():
    highs = highspy.Highs()
    highs.silent()
    rng = np.random.default_rng(0)
    for value in rng.uniform(1, 2, 12):
        highs.addVariable(0, 1, -float(value), type=highspy.HighsVarType.kInteger)
    for _ in range(3):
        places = np.arange(12, dtype=np.int32)
        highs.addRow(-highspy.kHighsInf, 5.0, 12, places, rng.uniform(1, 2, 12))
    return highs


def outcomes(takes_back):
    highs, asks = model(), [True]

    def asked(event):
        if asks[0]:
            event.interrupt()
        elif takes_back:
            event.data_in.user_interrupt = False

    found = []
    highs.cbMipInterrupt += asked
    for stop in (True, False):
        asks[0] = stop
        highs.run()
        found.append(highs.getModelStatus().name)
    highs.cbMipInterrupt -= asked
    highs.run()
    return [*found, highs.getModelStatus().name]


for takes_back in (False, True):
    print(f"the callback takes its answer back: {takes_back}; three runs: {outcomes(takes_back)}")
assert outcomes(False) == ["kInterrupt", "kInterrupt", "kOptimal"], outcomes(False)
assert outcomes(True) == ["kInterrupt", "kOptimal", "kOptimal"], outcomes(True)
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "highspy==1.16.0" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
