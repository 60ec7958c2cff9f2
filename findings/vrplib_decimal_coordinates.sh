#!/usr/bin/env bash
# Two customers at one place have no distance, and five is rounded up to six: vrplib, decimal coordinates.
#
# Guess before running: vrplib's distances are those of math.hypot, so that customers at the same place are
# 0 apart, and CEIL_2D of places 5 apart is 5. Seen (vrplib 2.2.0, numpy 2, Python 3.11, Linux): the square
# is computed as |a|² + |b|² − 2ab. Of the 10⁴ places with one decimal between 0 and 100 that were tried,
# some 6 % have a distance of nan to a customer at the same place, and as many one of up to 3e-6; of pairs
# 5 apart, 15 % are 6 apart by CEIL_2D and 15 % are 4 apart by FLOOR_2D. Whole coordinates are exact.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import sys
import warnings
from pathlib import Path

import numpy as np
import vrplib

warnings.simplefilter("ignore")
HEAD = """NAME : places
TYPE : CVRP
DIMENSION : {n}
EDGE_WEIGHT_TYPE : {kind}
CAPACITY : {n}
NODE_COORD_SECTION
{places}
DEMAND_SECTION
{demands}
DEPOT_SECTION
1
-1
EOF
"""


def distances(places, kind):
    """As read from a file with these places."""
    path = Path(sys.argv[1]) / "places.vrp"
    lines = [f"{k} {x} {y}" for k, (x, y) in enumerate(places, 1)]
    demands = [f"{k} {int(k > 1)}" for k in range(1, len(places) + 1)]
    path.write_text(
        HEAD.format(n=len(places), kind=kind, places="\n".join(lines), demands="\n".join(demands))
    )
    return vrplib.read_instance(path)["edge_weight"]


def shares(decimals):
    """What becomes of 10⁴ places."""
    rng = np.random.default_rng(0)
    found = {"nan": 0, "above 0": 0, "6 of 5": 0, "4 of 5": 0}
    for _ in range(100):
        places = np.round(rng.uniform(0, 100, (100, 2)), decimals)
        beside = np.round(places + [3, 4], decimals)
        here = np.arange(100)
        same = distances([*places, *places], "EUC_2D")[here, here + 100]
        found["nan"] += np.isnan(same).sum()
        found["above 0"] += (same > 0).sum()
        found["6 of 5"] += (distances([*places, *beside], "CEIL_2D")[here, here + 100] == 6).sum()
        found["4 of 5"] += (distances([*places, *beside], "FLOOR_2D")[here, here + 100] == 4).sum()
    return {name: int(count) for name, count in found.items()}


one, two = (81.3, 91.3), (76.3, 27.5)
print("81.3, 91.3 twice:", distances([one, one], "EUC_2D")[0, 1])
print("76.3, 27.5 and 79.3, 31.5:", distances([two, (79.3, 31.5)], "CEIL_2D")[0, 1])
assert np.isnan(distances([one, one], "EUC_2D")[0, 1])
assert distances([two, (79.3, 31.5)], "CEIL_2D")[0, 1] == 6
decimal, whole = shares(1), shares(0)
print("of 10000 with one decimal:", decimal)
print("of 10000 whole ones:", whole)
assert all(300 < count for count in decimal.values()), decimal
assert not any(whole.values()), whole
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "vrplib==2.2.0" "numpy>=2,<3"
"$folder/venv/bin/python" "$folder/run.py" "$folder"
echo "as described"
