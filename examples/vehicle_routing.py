"""Vehicle routing with time windows: all customers served in time, on the shortest routes.

    python examples/vehicle_routing.py FILE [CUSTOMERS]

FILE is in Solomon's format (R101.txt, …). A column is a route; the one that helps most is an
elementary path, found by labelling. Distances are in tenths. The number of vehicles is decided
first, then arcs.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice, integer
from cgboost.generation import Column
from cgboost.masters import LinearMaster
from cgboost.pricing import ElementaryPaths


def route(fleet, **options):
    """The search for the shortest routes, from depot 0 to its copy n + 1 over customers 1 to n."""
    distance, demand, window, service, capacity = fleet
    end = len(demand) - 1
    load, empty = np.broadcast_to(demand, distance.shape), np.zeros(end + 1)
    paths = ElementaryPaths(
        consumption=[distance + service[:, None], load],
        lower=[window[0], empty],
        upper=[window[1], empty + capacity],
        source=0,
        sink=end,
        memory=8,
    )
    customers = range(1, end)
    master = LinearMaster(customers, "==", 1.0, copies=len(customers))

    def column(path):
        values = np.isin(customers, path).astype(float)
        length = float(sum(distance[arc] for arc in pairwise(path)))
        return Column(values, path, cost=length, variables=dict.fromkeys(pairwise(path), 1.0))

    @integer.respects(integer.CountRow, integer.VariableRow, integer.VariableBound)
    def price(duals):
        cost = distance.copy()
        cost[1:end] -= np.asarray(duals)[:, None]
        cost[0] -= duals.constant()
        for arc, dual in duals.prices.items():
            cost[arc] -= dual
        for decision in duals.restrictions:
            cost[decision.variable] = np.inf
        cost[0, end] = np.inf
        found = paths.heuristic(cost, 50, below=-1e-6)
        if found.paths:
            return [column(path) for path in found.paths]
        found = paths.shortest(cost, 50, below=-1e-6)
        return [column(path) for path in found.paths], found.bound

    rules = [integer.CountBranching(), integer.VariableBranching()]
    return BranchAndPrice(master, price, branching=rules, objective_step=1.0, **options)


def read(path, n_customers=25):
    """Distances, demands, windows, service times and the capacity; the depot first and last."""
    lines = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    numbers = [[float(word) for word in line] for line in lines if line and line[0].isdigit()]
    capacity, *rows = numbers[0][1], *numbers[1 : n_customers + 2]
    _, x, y, demand, ready, due, service = np.array([*rows, rows[0]]).T
    distance = np.floor(10 * np.hypot(x[:, None] - x, y[:, None] - y) + 1e-9)
    return distance, demand, 10 * np.array([ready, due]), 10 * service, capacity


if __name__ == "__main__":
    n_customers = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    result = route(read(sys.argv[1], n_customers)).run(time_limit=600)
    for column in result.columns:
        print(*column.key[1:-1])
    length, bound = result.objective / 10, result.bound / 10
    print(f"length {length:g}, bound {bound:g}: {result.stop_reason}")
