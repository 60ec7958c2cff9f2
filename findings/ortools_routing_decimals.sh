#!/usr/bin/env bash
# OR-Tools' routing calls any tour optimal, at cost 0, when the distances are floats.
#
# Guess before running: a transit callback of pywrapcp that returns 2.7 raises a TypeError or a SystemError, as
# RegisterTransitMatrix does. Seen (ortools 9.15.6755, Python 3.11, Linux): nothing is raised; all distances
# are 0, the solution has the objective 0 and the status ROUTING_OPTIMAL (7), also for 2.0 and for NumPy's
# float64. The tour that it gives here costs 22; with the same distances times 10 as int it costs 6.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
from ortools.constraint_solver import pywrapcp

RING = [0, 2, 1, 3]  # neighbours on this ring are 1.5 apart, others 9.5
COST = np.full((4, 4), 9.5)
for a, b in zip(RING, RING[1:] + RING[:1]):
    COST[a, b] = COST[b, a] = 1.5


def solve(answer):
    places = pywrapcp.RoutingIndexManager(4, 1, 0)
    routing = pywrapcp.RoutingModel(places)
    callback = routing.RegisterTransitCallback(
        lambda a, b: answer(COST[places.IndexToNode(a), places.IndexToNode(b)])
    )
    routing.SetArcCostEvaluatorOfAllVehicles(callback)
    solution = routing.Solve()
    at, tour = routing.Start(0), [0]
    while not routing.IsEnd(at):
        at = solution.Value(routing.NextVar(at))
        tour.append(places.IndexToNode(at))
    length = float(sum(COST[a, b] for a, b in zip(tour, tour[1:])))
    return solution.ObjectiveValue(), routing.status(), length


found = {
    "float": solve(float),
    "whole float": solve(lambda cost: float(int(cost))),
    "numpy.float64": solve(np.float64),
    "10 times as int": solve(lambda cost: int(10 * cost)),
}
for name, (objective, status, length) in found.items():
    print(f"{name}: objective {objective}, status {status}, length of the tour {length}")
for name in ("float", "whole float", "numpy.float64"):
    assert found[name] == (0, 7, 22.0), name
assert found["10 times as int"][0] == 60 and found["10 times as int"][2] == 6.0
places = pywrapcp.RoutingIndexManager(4, 1, 0)
try:
    pywrapcp.RoutingModel(places).RegisterTransitMatrix(COST.tolist())
except TypeError as error:
    print("RegisterTransitMatrix: TypeError", error)
else:
    raise SystemExit("RegisterTransitMatrix takes floats")
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "ortools==9.15.6755" "numpy==2.4.6" "pandas==3.1.1"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
