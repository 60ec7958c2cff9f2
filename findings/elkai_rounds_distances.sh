#!/usr/bin/env bash
# elkai's shortest tour of points in a unit square is a third longer than the shortest.
#
# Guess before running: elkai.DistanceMatrix takes distances as they are, so that the tour of ten points of
# the unit square is the one that it finds for the same distances times 1000. Seen (elkai 2.0.1, NumPy 2.4.6,
# Python 3.11, Linux): ten points on a circle, where the shortest tour is the circle (2.96): the tour returned
# is 3.91, also from Coordinates2D; times 1000 it is 2.96. Distances are rounded to whole numbers without a
# word: of a ring of edges of 1.4 among others of 1.6 the ring is found, among 1.4 a ring of 1.1 is not.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import elkai
import numpy as np

rng = np.random.default_rng(3)
angles = np.sort(rng.uniform(0, 2 * np.pi, 10))
circle = np.c_[np.cos(angles), np.sin(angles)] / 2 + 0.5
shuffled = rng.permutation(10)
points = circle[shuffled]
distances = np.linalg.norm(points[:, None] - points[None], axis=2)


def length(tour):
    return sum(distances[a, b] for a, b in zip(tour, tour[1:]))


around = np.argsort(shuffled).tolist()
shortest = length([*around, around[0]])
plain = length(elkai.DistanceMatrix(distances.tolist()).solve_tsp())
scaled = length(elkai.DistanceMatrix((1000 * distances).tolist()).solve_tsp())
places = {str(i): tuple(place) for i, place in enumerate(points.tolist())}
named = length([int(i) for i in elkai.Coordinates2D(places).solve_tsp()])
print(f"circle {shortest:.3f}, distances {plain:.3f}, times 1000 {scaled:.3f}, points {named:.3f}")
assert plain > 1.2 * shortest and named > 1.2 * shortest
assert abs(scaled - shortest) < 1e-9


def finds_the_ring(short, long):
    order = rng.permutation(6)
    cost = np.full((6, 6), long)
    for a, b in zip(order, np.roll(order, -1)):
        cost[a, b] = cost[b, a] = short
    np.fill_diagonal(cost, 0.0)
    tour = elkai.DistanceMatrix(cost.tolist()).solve_tsp()
    return all(cost[a, b] == short for a, b in zip(tour, tour[1:]))


apart = [all(finds_the_ring(*pair) for _ in range(5)) for pair in ((1.4, 1.6), (1.1, 1.4), (0.2, 0.4))]
print("rings of 1.4 among 1.6, 1.1 among 1.4, .2 among .4 found:", apart)
assert apart == [True, False, False]
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "elkai==2.0.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
