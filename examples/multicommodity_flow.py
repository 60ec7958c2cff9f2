"""Cheapest multicommodity flow over paths: each commodity's best new path is a shortest path.

    python examples/multicommodity_flow.py [FILE ...]

FILE is a network in the "dow" format of the Canad instances (fixed costs are ignored); without one
a small random network is built. Rows: the demand of each commodity, the capacity of each arc. A
column is one unit of flow on a path; a commodity cannot use more of them than its demand.
"""

import sys
from pathlib import Path

import networkx as nx
import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation import Column
from cgboost.masters import LinearMaster


def flow(arcs, commodities, tol=1e-8, smoothing=None):
    """Result of the run; arcs: (from, to, cost, capacity), commodities: (from, to, demand)."""
    tails, heads, costs, capacities = zip(*arcs, strict=True)
    demands = [demand for *_, demand in commodities]
    names = [f"demand {k}" for k in range(len(commodities))]
    master = LinearMaster(
        names + [f"capacity {a}: {arc[0]} → {arc[1]}" for a, arc in enumerate(arcs)],
        sense=["=="] * len(commodities) + ["<="] * len(arcs),
        rhs=[*demands, *capacities],
        copies=dict(zip(names, demands, strict=True)),
    )
    sources = {}
    for k, (source, target, _) in enumerate(commodities):
        sources.setdefault(source, []).append((k, target))

    def price(duals):
        graph = nx.DiGraph()
        lengths = np.array(costs) - duals[len(commodities) :]  # ≥ 0: capacity duals are ≤ 0
        for a in np.argsort(-lengths):  # of parallel arcs the shortest is entered last
            graph.add_edge(tails[a], heads[a], length=float(lengths[a]), arc=int(a))
        columns, least = [], {}
        for source, targets in sources.items():
            distance, path = nx.single_source_dijkstra(graph, source, weight="length")
            for k, target in targets:
                least[names[k]] = distance.get(target, np.inf) - duals[k]
                if least[names[k]] > -1e-9 * max(1.0, abs(duals[k])):  # or inf: no path
                    continue
                used = [graph.edges[edge]["arc"] for edge in nx.utils.pairwise(path[target])]
                values = np.zeros(len(duals))
                values[[k, *(len(commodities) + a for a in used)]] = 1.0
                columns.append(Column(values, (k, *used), cost=sum(costs[a] for a in used)))
        return columns, least

    options = {"columns_per_round": len(commodities), "smoothing": smoothing}
    return ColumnGeneration(master, price, tol=tol, **options).run()


def network(path):
    """Arcs and commodities of a "dow" file."""
    lines = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]]
    n_arcs, n_commodities = int(lines[0][1]), int(lines[0][2])
    arcs = [(int(i), int(j), float(c), float(u)) for i, j, c, u, *_ in lines[1 : n_arcs + 1]]
    rest = lines[n_arcs + 1 : n_arcs + 1 + n_commodities]
    return arcs, [(int(i), int(j), float(demand)) for i, j, demand in rest]


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
        result = flow(*(random_network() if name == "random" else network(name)))
        print(f"{Path(name).stem}\n{result.summary()}")
