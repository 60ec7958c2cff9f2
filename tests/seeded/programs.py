"""Seeded problems: column generation, branch-and-price and decomposition."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import cgboost as cg
from cgboost import integer, losses, penalties
from cgboost.generation import Column, Wentges
from cgboost.masters import ConvexMaster, LinearMaster, SupportVectorMaster, solve_integer
from cgboost.pricing import FeaturePricer, KernelPricer, PartialPricing
from solvers import Program
from tests.seeded.problem import (
    NEW_ROWS,
    Problem,
    Random,
    Sizes,
    Values,
    features,
    flat,
    labels,
    many_features,
    named,
    random_graph,
    word,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


def read_program(result: Any, rows: Any = ()) -> tuple[Values, Sizes]:
    """Objective, bound, and what the columns of a solution give the rows."""
    bound = math.nan if result.bound is None else result.bound
    values = {"objective": [float(result.objective)], "bound": [float(bound)], "rows": flat(rows)}
    counts = {name: int(getattr(result, name, 0)) for name in ("n_rounds", "n_nodes")}
    return values, {"columns": len(getattr(result, "columns", ())), **counts}


def activity(result: Any) -> Any:
    """Σ x_j h_j of the first rows."""
    total = sum(x * column.values for x, column in zip(result.coef, result.columns, strict=True))
    return np.atleast_1d(total)[:NEW_ROWS]


@cache
def example(name: str) -> dict[str, Any]:
    """The functions of an example."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def order_of(rng: Random, n: int) -> tuple[Any, Any, int]:
    """Widths, demands and the width of a roll."""
    widths = np.sort(rng.choice(np.arange(15, 70), n, replace=False))
    return widths, rng.integers(5, 60, n), 150


def cutting_stock(*, n: int = 12, whole: bool = False, **options: Any) -> Problem:
    """The relaxation, by knapsacks; then the best of the generated patterns, if ``whole``."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        master, price = example("cutting_stock")["model"](*order_of(rng, n))
        result = cg.ColumnGeneration(master, price, tol=1e-9, **options).run()
        if whole:
            return read_program(solve_integer(master, result))
        return read_program(result, activity(result))

    return Problem(
        named("ColumnGeneration", "cutting stock", n=n, whole=whole, **options),
        "ColumnGeneration",
        solve,
    )


def covering(*, upper: float = math.inf, partial: str = "", solver: str = "auto") -> Problem:
    """Random sets that cover 20 rows at least cost; columns may have an upper bound."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        sets = (rng.uniform(size=(150, 20)) < 0.2).astype(float)
        costs = sets.sum(axis=1) + rng.integers(1, 6, 150)
        columns = [
            Column(values, key=j, cost=float(cost), upper=upper)
            for j, (values, cost) in enumerate(zip(sets, costs, strict=True))
        ]
        columns.append(Column(np.ones(20), key="all", cost=100.0))
        master = LinearMaster(20, ">=", 1.0, least_cost=1.0, copies=None, solver=solver)
        master.add(columns[-1:])

        def search(own: Sequence[Column]) -> Callable[..., Any]:
            def price(duals: Any) -> Any:
                free = [column for column in own if column.key not in duals.capped]
                reduced = np.array([column.cost - duals @ column.values for column in free])
                best = np.argsort(reduced, kind="stable")[:3]
                found = [free[j] for j in best if reduced[j] < -1e-9]
                return found, float(reduced[best[0]])

            return price

        parts = {"first": search(columns[:75]), "second": search(columns[75:])}
        pricer: Any = PartialPricing(parts, order=partial) if partial else search(columns)
        result = cg.ColumnGeneration(master, pricer, tol=1e-9, columns_per_round=3).run()
        return read_program(result, activity(result))

    options = {"upper": upper, "partial": partial, "solver": solver}
    return Problem(named("ColumnGeneration", "covering", **options), "ColumnGeneration", solve)


BOUND: dict[str, Callable[[Any, Any], Any]] = {
    "hinge": lambda f, price: losses.hinge(2.0 * labels(f) - 1.0, price),
    "epsilon_insensitive": lambda f, price: losses.epsilon_insensitive(f, price, 0.1),
    "log_loss": lambda f, price: losses.LogLoss().on(2.0 * labels(f) - 1.0, price),
    "squared_error": lambda f, price: losses.SquaredError().on(f, price),
}
"""Losses of a function of the rows, or of its sign."""


def features_master(loss: str, penalty: Any, **options: Any) -> Problem:
    """A loss and a penalty over the columns of a matrix."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        H, f = many_features(rng)
        master = SupportVectorMaster(BOUND[loss](f, np.full(len(f), 0.2)), penalty, **options)
        result = cg.ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=5).run()
        return read_program(result, activity(result))

    said = named("ColumnGeneration", "features", loss, word(penalty), **options)
    return Problem(said, "ColumnGeneration", solve)


def convex_master(constraint: float, **options: Any) -> Problem:
    """Huber's loss in CVXPY over kernels, with a limit on the mean output."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        import cvxpy as cp

        X, y = features(rng, 60)
        library = cg.KernelLibrary({"linear": cg.Linear(), "rbf": cg.RBF(0.1)}, normalize=True)
        master = ConvexMaster(
            lambda f: cp.sum(cp.huber(y - f, 0.5)),
            None,
            lambda a, b, f: [cp.abs(cp.sum(f)) <= constraint],
            n_rows=60,
            **options,
        )
        pricer = KernelPricer(library, X)
        result = cg.ColumnGeneration(master, pricer, columns_per_round=10).run()
        return read_program(result, activity(result))

    said = named("ColumnGeneration", "CVXPY", limit=constraint, **options)
    return Problem(said, "ColumnGeneration", solve)


def jobs(rng: Random, n_agents: int = 4, n_jobs: int = 14) -> tuple[Any, Any, Any]:
    """Costs, weights and capacities of a generalised assignment; costs of heavy jobs are low."""
    weight = rng.integers(5, 25, (n_agents, n_jobs))
    cost = 40.0 - weight + rng.integers(0, 10, weight.shape)
    return cost, weight, (0.8 * weight.sum(axis=1) / n_agents).astype(int) + 6


def searched(name: str, make: Callable[[Random], Any], **options: Any) -> Problem:
    """Branch-and-price to the end; ``make`` takes the search's options too."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        return read_program(make(rng, **options).run())

    return Problem(named("BranchAndPrice", name, **options), "BranchAndPrice", solve)


def teams(rng: Random, *, cut: bool, **options: Any) -> Any:
    """Nine jobs divided among teams of at most three, all listed; pairs are branched on."""
    places = {job: job for job in range(9)}
    columns = [
        Column(np.isin(range(9), team) * 1.0, key=team, cost=float(rng.integers(8, 13) + len(team)))
        for size in (1, 2, 3)
        for team in combinations(range(9), size)
    ]

    @integer.respects(integer.SubsetRow, integer.Together, integer.Apart)
    def cheapest(duals: Any) -> Any:
        allowed = [c for c in columns if all(d.allows(c, places) for d in duals.restrictions)]
        reduced = [
            c.cost
            - duals @ c.values
            - sum(dual * row.coefficient(c, places) for row, dual in duals.extra.items())
            for c in allowed
        ]
        best = int(np.argmin(reduced))
        return [allowed[best]] if reduced[best] < -1e-9 else [], reduced[best]

    def violated(solution: Any) -> Any:
        used = list(zip(solution.columns, solution.coef, strict=True))
        rows = [integer.SubsetRow(frozenset(three)) for three in combinations(range(9), 3)]
        totals = [sum(x * row.coefficient(c, places) for c, x in used) for row in rows]
        return [row for row, total in zip(rows, totals, strict=True) if total > row.rhs + 1e-6]

    master = LinearMaster(range(9), "==", 1.0, least_cost=1.0)
    return cg.BranchAndPrice(master, cheapest, cuts=[violated] if cut else [], **options)


def p_median(rng: Random) -> Any:
    """Fourteen customers, four of them depots."""
    at = rng.uniform(0.0, 100.0, (14, 2))
    distance = np.floor(np.linalg.norm(at[:, None] - at, axis=2))
    return example("p_median")["locate"](distance, rng.integers(1, 10, 14), 4, 20)


def flow(rng: Random) -> Any:
    """Paths of commodities in a random network."""
    made = example("multicommodity_flow")
    return made["flow"](*made["random_network"](int(rng.integers(1000)), 10, 10))


def routes(rng: Random) -> Any:
    """Eight customers with windows of time, and vehicles that carry 20."""
    x, y = rng.integers(0, 100, (2, 10))
    demand, ready = rng.integers(1, 9, 10), rng.integers(0, 200, 10)
    x[-1], y[-1], demand[[0, -1]], ready[[0, -1]] = x[0], y[0], 0, 0
    due = np.maximum(ready + rng.integers(80, 300, 10), 160)
    due[[0, -1]] = 1000
    length = np.floor(np.hypot(x[:, None] - x, y[:, None] - y)) + 1
    window = np.array([ready, due])
    return example("vehicle_routing")["route"]((length, demand, window, np.full(10, 5.0), 20.0))


def program_of(rng: Random, kind: str) -> tuple[Any, dict[str, int]]:
    """A generalised assignment, with equal agents or in continuous shares, and its blocks."""
    cost, weight, capacity = jobs(rng)
    n_agents, n_jobs = cost.shape
    if kind == "equal blocks":
        cost[:], weight[:], capacity[:] = cost[0], weight[0], weight[0].sum() // 3
    matrix = np.zeros((n_jobs + n_agents, cost.size))
    matrix[:n_jobs] = np.tile(np.eye(n_jobs), n_agents)
    for agent, own in enumerate(weight):
        matrix[n_jobs + agent, agent * n_jobs : (agent + 1) * n_jobs] = own
    lower = np.append(np.ones(n_jobs), np.full(n_agents, -np.inf))
    whole = np.full(cost.size, kind != "continuous")
    program = Program(
        cost=cost.ravel(),
        matrix=matrix,
        row_lower=lower,
        row_upper=np.append(np.ones(n_jobs), capacity),
        upper=np.ones(cost.size),
        integrality=whole,
    )
    return program, {f"r{n_jobs + agent}": agent for agent in range(n_agents)}


def decomposed(kind: str, given: bool = True) -> Problem:
    """A model with blocks that are given, or found."""

    def solve(rng: Random) -> tuple[Values, Sizes]:
        program, blocks = program_of(rng, kind)
        result = cg.decompose(program, blocks if given else None).solve(gap=1e-9)
        return read_program(result)

    return Problem(named("decompose", kind, given=given), "decompose", solve)


def table() -> Iterator[Problem]:
    """Linear, convex and integer programs by columns."""
    for solver in ["auto", "scipy", "clarabel"]:
        yield covering(solver=solver)
    yield covering(upper=0.4)
    for order in ["round_robin", "priority"]:
        yield covering(partial=order)
    for options in [{}, {"columns_per_round": 5}, {"smoothing": Wentges(0.5, decay=0.95)}]:
        yield cutting_stock(**options)
    yield cutting_stock(whole=True)
    norms = [penalties.L1(), penalties.L2(), penalties.ElasticNet(0.4), penalties.L1Ball(1.5)]
    for loss, penalty in product(BOUND, norms):
        yield features_master(loss, penalty)
    for coef, offset in product(["free", "nonneg"], ["none", "penalized"]):
        yield features_master("hinge", penalties.L1(), coef=coef, offset=offset)
    yield convex_master(1.0)
    yield convex_master(0.1, coef="nonneg")
    cut, assign = example("cutting_stock")["cut"], example("generalised_assignment")["assign"]
    yield searched("cutting stock", lambda rng: cut(*order_of(rng, 6)))
    for options in [
        {},
        {"node_selection": integer.DepthFirst(), "heuristics": []},
        {"strong_branching": integer.StrongBranching(), "heuristics": []},
        {"heuristics": [integer.Rounding()], "variable_fixing": None},
    ]:
        yield searched("assignment", lambda rng, **more: assign(*jobs(rng), **more), **options)
    for heuristics, subsets in product(["auto", []], [False, True]):
        yield searched("teams", teams, heuristics=heuristics, cut=subsets)
    colour = example("graph_colouring")["colour"]
    yield searched("colouring", lambda rng: colour(random_graph(rng, 22, 0.5), start=()))
    for make in [p_median, flow, routes]:
        yield searched(make.__name__, make)
    for kind in ["assignment", "equal blocks", "continuous"]:
        yield decomposed(kind)
    yield decomposed("assignment", given=False)
