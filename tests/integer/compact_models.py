"""Problems with costs of many kinds: with all their columns, or by example scripts.

What the scripts find is compared with a compact model that HiGHS solves, written in the variables
of the problem (assignments, arcs, times), which knows nothing of columns.
"""

import itertools
import math
import runpy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.integer import (
    BranchAndPriceResult,
    Residual,
    SubsetRow,
)
from solvers import Program

from .tree_problems import EXAMPLES, KINDS, ROUNDING, Problem, indicator, optimum_of, subsets

LISTED = tuple(kind for kind in KINDS if kind is not SubsetRow)
"""Decisions that problems with listed columns respect."""

COSTS = ("whole", "equal", "zero", "negative", "fractional", "big", "spread")
"""What costs there are; see :func:`costs`."""


class Compact:
    """A mixed-integer model that is written row by row."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.integer: list[bool] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []

    def add(self, cost: Any = 0.0, upper: float = 1.0, integer: bool = True, n: int = 1) -> Any:
        """Numbers of new variables: one for each cost, or ``n`` of them."""
        own = np.asarray(cost, dtype=np.float64) if np.ndim(cost) else np.full(n, float(cost))
        first = len(self.cost)
        self.cost += own.ravel().tolist()
        self.lower += [0.0] * own.size
        self.upper += [upper] * own.size
        self.integer += [integer] * own.size
        return np.arange(first, first + own.size).reshape(own.shape)

    def row(self, terms: Iterable[tuple[Any, float]], sense: str, rhs: float) -> None:
        """Σ a_v x_v  ≤ | = | ≥  rhs."""
        own: dict[int, float] = {}
        for variable, a in terms:
            own[int(variable)] = own.get(int(variable), 0.0) + float(a)
        low = -math.inf if sense == "<=" else float(rhs)
        high = math.inf if sense == ">=" else float(rhs)
        self.rows.append((own, low, high))

    def program(self) -> Program:
        """As HiGHS reads it."""
        matrix = sp.lil_array((len(self.rows), len(self.cost)))
        for i, (own, _, _) in enumerate(self.rows):
            for variable, a in own.items():
                matrix[i, variable] = a
        return Program(
            cost=np.array(self.cost),
            matrix=sp.csr_array(matrix),
            row_lower=np.array([low for _, low, _ in self.rows]),
            row_upper=np.array([high for _, _, high in self.rows]),
            lower=np.array(self.lower),
            upper=np.array(self.upper),
            integrality=np.array(self.integer),
        )


@dataclass
class Instance:
    """A problem in two models.

    Attributes
    ----------
    program : Program
        The compact model.
    search : callable
        ``search(**options)``, the tree search.
    amounts : callable
        A result's solution in the variables of the compact model.
    """

    program: Program
    search: Callable[..., BranchAndPrice]
    amounts: Callable[[BranchAndPriceResult], np.ndarray]

    def optimum(self) -> float:
        """By HiGHS; inf if infeasible."""
        return optimum_of(self.program)

    def check(self, result: BranchAndPriceResult) -> None:
        """The solution is one of the compact model, and costs what it says there."""
        program, x = self.program, self.amounts(result)
        total = program.matrix @ x
        small = ROUNDING * max(1.0, float(np.abs(x).max(initial=0.0)))
        assert (total >= program.row_lower - small).all()
        assert (total <= program.row_upper + small).all()
        assert (x >= program.lower - small).all()
        assert (x <= program.upper + small).all()
        assert (np.abs(x - np.round(x))[program.integrality] <= small).all()
        size = max(1.0, abs(result.objective), float(np.abs(program.cost) @ np.abs(x)))
        assert abs(float(program.cost @ x) - result.objective) <= ROUNDING * size


def costs(rng: np.random.Generator, kind: str, shape: Any) -> np.ndarray:
    """Random costs."""
    if kind == "equal":
        return np.full(shape, 3.0)
    if kind == "zero":
        return rng.integers(0, 2, shape) * float(rng.integers(0, 2))
    if kind == "negative":
        return rng.integers(-10, 11, shape).astype(float)
    if kind == "fractional":
        return rng.random(shape) * 10
    if kind == "big":
        return 1e6 + rng.integers(0, 1_000_001, shape)
    if kind == "spread":
        return 10.0 ** rng.uniform(-2, 4, shape)
    return rng.integers(1, 20, shape).astype(float)


# ------------------------------------------------------------------ with all their columns


def stock(rng: np.random.Generator, kind: str, n: int = 4) -> Problem:
    """Items from rolls of two types, of which there are a few; each type has costs of its own."""
    exact = bool(rng.integers(2))
    capacity = rng.integers(9, 14, 2)
    capacity[0] *= rng.integers(0, 4) > 0
    width = np.full(n, 4) if kind == "equal" else rng.integers(2, 8, n)
    demand = rng.integers(1, 4, n) if rng.integers(2) else np.ones(n, dtype=int)
    enough = int(np.ceil(width @ demand / capacity.max()))
    most = rng.integers((enough + 1) // 2, enough + 2, 2)
    fixed, own = costs(rng, kind, 2), costs(rng, kind, (2, n)) * float(rng.integers(2))
    types = [("type", t) for t in range(2)]
    columns = [
        Column(
            np.r_[pattern, indicator(2, [t])],
            (t, pattern),
            cost=float(fixed[t] + own[t] @ pattern),
            variables={(t, i): float(a) for i, a in enumerate(pattern) if a},
            block=types[t],
        )
        for t in range(2)
        for pattern in itertools.product(*(range(capacity[t] // w + 1) for w in width))
        if width @ pattern <= capacity[t]
    ]
    dive = (fixed >= 0).all() and (own >= 0).all()
    return Problem(
        [*range(n), *types],
        ["==" if exact else ">="] * n + ["<=", "<="],
        np.r_[demand, most].astype(float),
        columns,
        copies={name: float(m) for name, m in zip(types, most, strict=True)},
        respects=(*LISTED, Residual) if dive else LISTED,
    )


def assignment(rng: np.random.Generator, kind: str, n: int = 5) -> Problem:
    """Units of jobs to agents; every agent has exactly one set, or at most one."""
    m, exactly = int(rng.integers(2, 4)), bool(rng.integers(2))
    cost, weight = costs(rng, kind, (m, n)), rng.integers(0, 8, (m, n))
    demand = rng.integers(1, 3, n) if rng.integers(3) == 0 else np.ones(n, dtype=int)
    share = rng.choice([0.9, 1.1, 1.3])
    capacity = np.floor(share * (weight @ demand) / m)
    capacity[0] *= rng.integers(0, 4) > 0
    agents = [("agent", i) for i in range(m)]
    columns = [
        Column(
            np.r_[own, indicator(m, [i])],
            (i, own),
            cost=float(cost[i] @ own),
            variables={(i, j): float(a) for j, a in enumerate(own) if a},
            block=agents[i],
        )
        for i in range(m)
        for own in itertools.product(*(range(d + 1) for d in demand))
        if weight[i] @ own <= capacity[i] and (exactly or any(own))
    ]
    sense = ["=="] * n + ["==" if exactly else "<="] * m
    rhs, copies = np.r_[demand, np.ones(m)].astype(float), dict.fromkeys(agents, 1)
    return Problem([*range(n), *agents], sense, rhs, columns, copies, respects=LISTED)


def colouring(rng: np.random.Generator, kind: str, n: int = 6) -> Problem:
    """Every vertex once, or at least once; a colour costs as much as its dearest vertex, or more.

    All independent sets are colours.
    """
    kind = "whole" if kind == "negative" else kind
    edge = graph(rng, n)
    weight, price = costs(rng, kind, n), float(abs(costs(rng, kind, 1)[0]))
    columns = [
        Column(
            indicator(n, own),
            own,
            cost=float(price + weight[list(own)].max()),
            variables={("pair", *pair): 1.0 for pair in itertools.combinations(own, 2)},
        )
        for own in subsets(n)
        if not edge[np.ix_(own, own)].any()
    ]
    how = {"least_cost": price} if price and rng.integers(2) else {"copies": float(n)}
    sense = str(rng.choice(["==", ">="]))
    return Problem(range(n), sense, np.ones(n), columns, respects=LISTED, **how)


def flow(rng: np.random.Generator, kind: str, n: int = 5) -> Problem:
    """Commodities on an acyclic network with capacities, in whole units or on one path each."""
    arcs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.8]
    arcs += [pair for pair in arcs if rng.random() < 0.2]  # parallel ones
    if not arcs:
        arcs = [(0, 1)]
    whole, m, k_all = bool(rng.integers(2)), len(arcs), range(int(rng.integers(1, 4)))
    cost = costs(rng, kind, (len(k_all), m))
    capacity = rng.integers(0, 5, m) + rng.choice([0.0, 0.5])
    ends = [[int(rng.integers(0, min(2, n - 1))), n - 1] for _ in k_all]
    demand = [int(rng.integers(1, 4)) for _ in k_all]
    unit = [1 if whole else d for d in demand]  # of a column
    columns = [
        Column(
            np.r_[unit[k] * indicator(m, path), indicator(len(k_all), [k])],
            (k, path),
            cost=float(cost[k, list(path)].sum()),
            variables={(k, a): 1.0 for a in path},
            block=("demand", k),
        )
        for k in k_all
        for path in paths(arcs, *ends[k])
    ]
    rows = [*(("arc", a) for a in range(m)), *(("demand", k) for k in k_all)]
    copies = {("demand", k): demand[k] / unit[k] for k in k_all}
    sense, rhs = ["<="] * m + ["=="] * len(k_all), np.r_[capacity, list(copies.values())]
    return Problem(rows, sense, rhs, columns, copies, respects=LISTED)


def paths(arcs: Sequence[tuple[int, int]], source: int, sink: int) -> Iterable[tuple[int, ...]]:
    """All paths in an acyclic network, as arcs."""
    if source == sink:
        yield ()
    for a, (i, j) in enumerate(arcs):
        if i == source:
            yield from ((a, *rest) for rest in paths(arcs, j, sink))


# ------------------------------------------------------------------ example scripts


def example_assignment(rng: np.random.Generator, kind: str, n: int = 7) -> Instance:
    """Knapsacks; jobs that two agents have stay with the cheaper one."""
    m = int(rng.integers(2, 5))
    cost, weight = np.floor(costs(rng, kind, (m, n))), rng.integers(1, 9, (m, n))
    capacity = (rng.choice([0.9, 1.0, 1.2]) * weight.sum(axis=1) / m + 1).astype(int)
    model = Compact()
    x = model.add(cost)
    for i in range(m):
        model.row(zip(x[i], weight[i], strict=True), "<=", capacity[i])
    for j in range(n):
        model.row([(x[i, j], 1.0) for i in range(m)], "==", 1.0)
    assign = example("generalised_assignment")["assign"]

    def amounts(result: BranchAndPriceResult) -> np.ndarray:
        z, got = np.zeros(len(model.cost)), set()
        for i, j in sorted(result.variables, key=lambda pair: cost[pair]):
            z[x[i, j]] = float(j not in got)
            got.add(j)
        return z

    return Instance(model.program(), lambda **o: assign(cost, weight, capacity, **o), amounts)


@cache
def example(name: str) -> dict[str, Any]:
    """The functions of an example script."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def graph(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random graph, or a circle with chords of some lengths and a few other edges."""
    if rng.integers(2):
        return np.triu(rng.random((n, n)) < rng.choice([0.2, 0.4, 0.7, 1.0]), 1)
    length = np.subtract.outer(range(n), range(n)) % n
    chords = [1, *rng.integers(1, max(2, n // 2), int(rng.integers(0, 3)))]
    edge = np.isin(length, chords) | np.isin(-length % n, chords)
    return np.triu(edge | (rng.random((n, n)) < 0.05), 1)


def example_colouring(rng: np.random.Generator, kind: str, n: int = 8) -> Instance:
    """Cliques by networkx. Colour k of the compact model has no vertex before vertex k."""
    import networkx as nx

    edge = graph(rng, n)
    model = Compact()
    x, y = model.add(np.zeros((n, n))), model.add(1.0, n=n)
    for v, k in itertools.product(range(n), repeat=2):
        model.row([(x[v, k], 1.0)], "<=", float(k <= v))
        model.row([(x[v, k], 1.0), (y[k], -1.0)], "<=", 0.0)
        for u in np.flatnonzero(edge[v]).tolist():
            model.row([(x[v, k], 1.0), (x[u, k], 1.0)], "<=", 1.0)
    for v in range(n):
        model.row([(x[v, k], 1.0) for k in range(n)], "==", 1.0)

    def amounts(result: BranchAndPriceResult) -> np.ndarray:
        own, left, parts = np.zeros(len(model.cost)), set(range(n)), []
        for column in result.columns:
            parts.append(left & set(column.key))
            left -= parts[-1]
        for k, part in enumerate(sorted((p for p in parts if p), key=min)):
            own[x[list(part), k]] = own[y[k]] = 1.0
        return own

    own = nx.Graph()
    own.add_nodes_from(range(n))
    own.add_edges_from(np.argwhere(edge).tolist())
    colour = example("graph_colouring")["colour"]
    return Instance(model.program(), lambda **options: colour(own, **options), amounts)


def example_median(rng: np.random.Generator, kind: str, n: int = 7) -> Instance:
    """Clusters by knapsacks, from at most p depots; depots serve themselves."""
    kind = "whole" if kind == "negative" else kind
    distance = np.floor(costs(rng, kind, (n, n)))
    np.fill_diagonal(distance, 0.0)
    demand, p = rng.integers(1, 6, n), int(rng.integers(1, 5))
    capacity = int(np.ceil(rng.choice([1.0, 1.2, 1.5]) * demand.sum() / p))
    model = Compact()
    x, y = model.add(distance), model.add(0.0, n=n)
    for i in range(n):
        model.row([*zip(x[i], demand, strict=True), (y[i], -capacity)], "<=", 0.0)
        model.row([(x[i, i], 1.0), (y[i], -1.0)], "==", 0.0)
        model.row([(x[k, i], 1.0) for k in range(n)], "==", 1.0)
        for j in range(n):
            model.row([(x[i, j], 1.0), (y[i], -1.0)], "<=", 0.0)
    model.row([(each, 1.0) for each in y], "<=", p)

    def amounts(result: BranchAndPriceResult) -> np.ndarray:
        z, got = np.zeros(len(model.cost)), set()
        depots = [i for i, j in result.variables if i == j]
        z[y[depots]] = z[x[depots, depots]] = 1.0
        others = [(i, j) for i, j in result.variables if i != j]
        for i, j in sorted(others, key=lambda pair: distance[pair]):
            if j not in got and j not in depots:
                z[x[i, j]] = 1.0
                got.add(j)
        return z

    locate = example("p_median")["locate"]
    return Instance(
        model.program(), lambda **o: locate(distance, demand, p, capacity, **o), amounts
    )


def fleet(rng: np.random.Generator, kind: str, n: int) -> tuple[Any, ...]:
    """Distances, demands, windows, service times and the capacity; depot 0 and its copy n + 1."""
    x, y = rng.integers(0, 30, (2, n + 2))
    x[-1], y[-1] = x[0], y[0]
    distance = np.floor(np.hypot(x[:, None] - x, y[:, None] - y)) + 1
    if kind == "zero":
        distance[:] = 0.0
    if kind == "equal":
        distance[:] = 5.0
    demand, ready = rng.integers(0, 6, n + 2), rng.integers(0, 60, n + 2)
    demand[[0, -1]] = ready[[0, -1]] = 0
    due = ready + rng.integers(5, 80, n + 2)
    due[[0, -1]] = 200
    far = np.maximum(due, 31 * (rng.random(n + 2) < 0.97))  # some cannot be reached in time
    window = np.array([np.minimum(ready, far), far]).astype(float)
    capacity = float(rng.integers(5, 12))
    return distance, demand, window, np.full(n + 2, 4.0), capacity


def example_routing(rng: np.random.Generator, kind: str, n: int = 6) -> Instance:
    """Elementary paths by labelling; arcs, times and loads (Miller, Tucker and Zemlin)."""
    own = fleet(rng, kind, n)
    distance, demand, window, service, capacity = own
    model = Compact()
    arcs = {
        (i, j): int(model.add(distance[i, j])[0])
        for i in range(n + 1)
        for j in range(1, n + 2)
        if i != j and (i, j) != (0, n + 1)
    }
    times = model.add(0.0, upper=1e4, integer=False, n=n + 2)
    loads = model.add(0.0, upper=1e4, integer=False, n=n + 2)
    for j in range(n + 2):
        model.row([(times[j], 1.0)], ">=", window[0, j])
        model.row([(times[j], 1.0)], "<=", window[1, j])
        model.row([(loads[j], 1.0)], "<=", capacity)
    for (i, j), arc in arcs.items():
        long = service[i] + distance[i, j]
        big = max(0.0, window[1, i] + long - window[0, j])
        model.row([(times[j], 1.0), (times[i], -1.0), (arc, -big)], ">=", long - big)
        full = capacity + demand[j]
        model.row([(loads[j], 1.0), (loads[i], -1.0), (arc, -full)], ">=", demand[j] - full)
    for v in range(1, n + 1):
        model.row([(arc, 1.0) for (i, _), arc in arcs.items() if i == v], "==", 1.0)
        model.row([(arc, 1.0) for (_, j), arc in arcs.items() if j == v], "==", 1.0)

    def amounts(result: BranchAndPriceResult) -> np.ndarray:
        z = np.zeros(len(model.cost))
        z[times] = window[0]
        for column in result.columns:
            time, load = window[0, 0], 0.0
            for i, j in itertools.pairwise(column.key):
                z[arcs[i, j]] = 1.0
                time = max(window[0, j], time + service[i] + distance[i, j])
                load += demand[j]
                z[times[j]], z[loads[j]] = max(time, z[times[j]]), max(load, z[loads[j]])
        return z

    route = example("vehicle_routing")["route"]
    return Instance(model.program(), lambda **options: route(own, **options), amounts)
