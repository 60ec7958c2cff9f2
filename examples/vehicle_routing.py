"""Vehicle routing with time windows: all customers served in time, on the shortest routes.

    python examples/vehicle_routing.py FILE [CUSTOMERS]

FILE is in Solomon's format (R101.txt, …). A column is a route; the one that helps most is an elementary
path, found by labelling. Distances are in tenths. First the number of vehicles is decided, then arcs.
"""

import sys
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import (
    CountBranching,
    CountRow,
    VariableBound,
    VariableBranching,
    VariableRow,
    respects,
)
from cgboost.masters import LinearMaster
from cgboost.pricing import ElementaryPaths


def route(fleet, **options):
    """The search for the shortest routes, of customers 1 to n from depot 0 to its copy n + 1."""
    distance, demand, window, service, capacity = fleet
    end = len(demand) - 1
    customers = range(1, end)
    load = np.broadcast_to(demand, distance.shape)
    empty, full = np.zeros(end + 1), np.full(end + 1, capacity)
    paths = ElementaryPaths(
        [distance + service[:, None], load],
        [window[0], empty],
        [window[1], full],
        source=0,
        sink=end,
        memory=8,
    )
    master = LinearMaster(customers, "==", 1.0, copies=end - 1)

    def column(path):
        arcs = list(zip(path[:-1], path[1:], strict=True))
        values = np.isin(customers, path).astype(float)
        cost = float(sum(distance[arc] for arc in arcs))
        return Column(values, key=path, cost=cost, variables=dict.fromkeys(arcs, 1.0))

    @respects(CountRow, VariableRow, VariableBound)
    def price(duals):
        cost = distance.astype(float)
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

    rules = [CountBranching(), VariableBranching()]
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
    print(f"length {result.objective / 10:g}, bound {result.bound / 10:g}: {result.stop_reason}")
