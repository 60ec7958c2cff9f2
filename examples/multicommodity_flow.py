"""Unsplittable multicommodity flow: each commodity takes one path, within the arcs' capacities.

    python examples/multicommodity_flow.py [FILE ...]

FILE is a network in the "dow" format of the Canad instances; by default a random one is built. A
column is a commodity on a shortest path. Branches close some arcs that a commodity may leave a node
by, or the others (Barnhart, Hane, Vance 2000): to require an arc would make pricing hard.
"""

import sys
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import SetBranching, VariableBound, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import shortest_walks


def model(arcs, commodities):
    """Master and pricer; arcs: (from, to, cost, capacity), commodities: (from, to, demand)."""
    tails, heads, costs, capacities = np.array(arcs).T
    n, demands = len(commodities), np.array([demand for *_, demand in commodities])
    rows = [f"demand {k}" for k in range(n)]
    rows += [f"capacity {a}: {arc[0]} → {arc[1]}" for a, arc in enumerate(arcs)]
    senses, rhs = ["=="] * n + ["<="] * len(arcs), [*np.ones(n), *capacities]
    master = LinearMaster(rows, senses, rhs, copies=dict.fromkeys(rows[:n], 1))

    def column(k, path):
        values = np.bincount([n + arc for arc in path], minlength=len(rows)) * demands[k]
        values[k] = 1.0
        cost, used = demands[k] * costs[path].sum(), {(k, arc): 1.0 for arc in path}
        return Column(values, (k, *path), cost=cost, variables=used, block=rows[k])

    @respects(VariableBound)
    def price(duals):
        lengths = np.outer(demands, costs - duals[n:])  # ≥ 0: duals of capacities are ≤ 0
        for decision in duals.restrictions:
            lengths[decision.variable] = np.inf
        columns, least = [], {}
        for k, (source, target, _) in enumerate(commodities):
            walks = shortest_walks(tails, heads, lengths[k], source, len(arcs))
            least[rows[k]] = walks.length[target] - duals[k]
            if least[rows[k]] < -1e-9 * max(1.0, abs(duals[k])):
                columns.append(column(k, walks.to(target)))
        return columns, least

    return master, price


def flow(arcs, commodities, **options):
    """The search for the cheapest paths."""
    leaving = {tail: [a for a, arc in enumerate(arcs) if arc[0] == tail] for tail, *_ in arcs}
    sets = [[(k, a) for a in own] for k in range(len(commodities)) for own in leaving.values()]
    return BranchAndPrice(*model(arcs, commodities), branching=SetBranching(sets), **options)


def network(path):
    """Arcs and commodities of a "dow" file, without its fixed costs."""
    _, size, *lines = [line.split() for line in Path(path).read_text("utf-8").splitlines()]
    arcs = [(int(i), int(j), float(c), float(u)) for i, j, c, u, *_ in lines[: int(size[1])]]
    return arcs, [(int(i), int(j), float(demand)) for i, j, demand in lines[int(size[1]) :]]


def random_network(seed=0, n_nodes=12, n_commodities=20):
    """Arcs and commodities of a ring with chords."""
    rng = np.random.default_rng(seed)
    ends = {(i, (i + 1) % n_nodes) for i in range(n_nodes)}
    ends |= {tuple(map(int, rng.choice(n_nodes, 2, replace=False))) for _ in range(3 * n_nodes)}
    arcs = [(i, j, *map(float, rng.integers([1, 4], [20, 12]))) for i, j in sorted(ends)]
    pairs = [map(int, rng.choice(n_nodes, 2, replace=False)) for _ in range(n_commodities)]
    return arcs, [(i, j, float(rng.integers(1, 5))) for i, j in pairs]


if __name__ == "__main__":
    for name in sys.argv[1:] or ["random"]:
        result = flow(*(random_network() if name == "random" else network(name))).run(time_limit=60)
        print(f"{Path(name).stem}\n{result.summary()}")
