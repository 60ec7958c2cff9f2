#!/usr/bin/env bash
# vrplib reads every number with a point in a file of Solomon's form as −1.
#
# Guess before running: a demand of 10.5 is 10.5.
# Seen (vrplib 2.2.0, NumPy 2.4.6, Python 3.11, Linux): both are −1, without a word, and so are 10.00 and
# 45.00; the distances are those to the place that this makes. In a file of VRPLIB's own form 10.5 is 10.5.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import sys
from pathlib import Path

import vrplib

HEAD = """SMALL

VEHICLE
NUMBER     CAPACITY
  2         20

CUSTOMER
CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME

    0      0       0        0       0           99        0
"""
path = Path(sys.argv[1]) / "small.txt"
for words, row in (
    ("whole numbers", "    1      0       3        10      0           99        1\n"),
    ("decimals", "    1      0       3.5      10.5    0           99        1\n"),
    ("with zeros", "    1      0       45.00    10.00   0.00        99.00     1.00\n"),
):
    path.write_text(HEAD + row)
    found = vrplib.read_instance(path, instance_format="solomon")
    place, demand = found["node_coord"][1].tolist(), found["demand"].tolist()
    distance = float(found["edge_weight"][0, 1])
    print(f"{words}: place {place}, demands {demand}, distance {distance}")
    if words == "whole numbers":
        assert (place, demand, distance) == ([0, 3], [0, 10], 3.0)
    else:
        assert (place, demand, distance) == ([0, -1], [0, -1], 1.0)
    if words == "with zeros":
        assert found["time_window"][1].tolist() == [-1, -1]
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "vrplib==2.2.0" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py" "$folder"
echo "as described"
