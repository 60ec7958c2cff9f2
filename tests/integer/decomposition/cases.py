"""Models that fall into blocks, of several kinds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.integer.decomposition.model import Model, as_model
from solvers import Program
from tests.cases import Case

Blocks = dict[str, object]


def assignment(seed: int, agents: int = 3, jobs: int = 8) -> tuple[Model, Blocks]:
    """Generalised assignment, to be maximised: every agent is another knapsack."""
    rng = np.random.default_rng(seed)
    n = agents * jobs
    matrix = np.vstack(
        [np.tile(np.eye(jobs), agents), np.kron(np.eye(agents), np.zeros((1, jobs)))]
    )
    for i in range(agents):
        matrix[jobs + i, i * jobs : (i + 1) * jobs] = rng.integers(3, 12, jobs)
    low = np.r_[np.ones(jobs), np.full(agents, -np.inf)]
    high = np.r_[np.ones(jobs), np.full(agents, 24.0)]
    cost = -rng.integers(5, 30, n).astype(float)
    program = Program(cost, matrix, low, high, 0, 1, None, np.ones(n), constant=-7.0)
    names = tuple(f"x{j}" for j in range(n)), tuple(f"r{i}" for i in range(jobs + agents))
    return Model(program, names[1], names[0], maximize=True), {
        f"r{jobs + i}": i for i in range(agents)
    }


def packing(seed: int, demand: int = 1, most: float = 1.0) -> tuple[Model, Blocks]:
    """Bin packing (demand 1) or cutting stock: all bins are equal."""
    rng = np.random.default_rng(seed)
    items, bins = 7, 6
    sizes, capacity = rng.integers(20, 60, items).astype(float), 100.0 * demand
    n = bins * (items + 1)
    matrix, low, high = [], [], []
    for i in range(items):
        row = np.zeros(n)
        row[i :: items + 1] = 1
        matrix.append(row)
        low.append(float(demand))
        high.append(float(demand))
    for b in range(bins):
        row = np.zeros(n)
        row[b * (items + 1) : b * (items + 1) + items] = sizes
        row[(b + 1) * (items + 1) - 1] = -capacity
        matrix.append(row)
        low.append(-np.inf)
        high.append(0.0)
    own = np.r_[np.zeros(items), 1.0]
    upper = np.tile(np.r_[np.full(items, most), 1.0], bins)
    program = Program(np.tile(own, bins), np.array(matrix), low, high, 0, upper, None, np.ones(n))
    return as_model(program), {f"r{items + b}": b for b in range(bins)}


def stock(seed: int) -> tuple[Model, Blocks]:
    """Cutting stock: every size is needed several times."""
    return packing(seed, demand=2, most=2.0)


def with_slack(seed: int) -> tuple[Model, Blocks]:
    """Small general blocks of two rows, and variables of the master: one free, one integer."""
    rng = np.random.default_rng(seed)
    n_blocks, size = 3, 4
    n = n_blocks * size + 2
    matrix = np.zeros((3 + 2 * n_blocks, n))
    matrix[:3, :-2] = rng.integers(-2, 6, (3, n - 2))
    matrix[:3, -2], matrix[:3, -1] = 3, 1
    for b in range(n_blocks):
        rows, own = slice(3 + 2 * b, 5 + 2 * b), slice(b * size, (b + 1) * size)
        matrix[rows, own] = rng.integers(1, 5, (2, size)) * rng.choice([-1, 1, 1], (2, size))
    low = np.r_[np.full(3, 12.0), np.full(2 * n_blocks, -2.0)]
    high = np.r_[np.full(3, 15.0), np.full(2 * n_blocks, 9.0)]
    cost = np.r_[rng.integers(1, 9, n - 2), 11.5, 0.0].astype(float)
    lower, upper = np.r_[np.full(n - 2, -1.0), 0, -np.inf], np.r_[np.full(n - 2, 3.0), 5, np.inf]
    integer = np.r_[np.ones(n - 1), 0]
    model = as_model(Program(cost, matrix, low, high, lower, upper, None, integer))
    return model, {f"r{3 + k}": k // 2 for k in range(2 * n_blocks)}


def flows(seed: int) -> tuple[Model, Blocks]:
    """Three paths through one network, whose arcs take one of them or cost more."""
    rng = np.random.default_rng(seed)
    n_nodes, n_paths = 6, 3
    arcs = [(a, b) for a in range(n_nodes) for b in range(n_nodes) if abs(a - b) in (1, 2)]
    n, inside = len(arcs), np.zeros((n_nodes, len(arcs)))
    for j, (a, b) in enumerate(arcs):
        inside[a, j], inside[b, j] = 1, -1
    matrix = np.zeros((n + n_paths * n_nodes, (n_paths + 1) * n))
    matrix[:n] = np.hstack([np.eye(n)] * n_paths + [-np.eye(n)])
    matrix[n:, : n_paths * n] = np.kron(np.eye(n_paths), inside)
    balance = np.zeros((n_paths, n_nodes))
    balance[:, 0], balance[:, -1] = 1, -1
    cost = np.r_[np.tile(rng.integers(2, 9, n), n_paths), np.full(n, 4)]
    low = np.r_[np.full(n, -np.inf), balance.ravel()]
    high = np.r_[np.ones(n), balance.ravel()]
    upper = np.r_[np.ones(n_paths * n), np.full(n, np.inf)]
    model = as_model(Program(cost, matrix, low, high, 0, upper, None, np.ones(cost.size)))
    return model, {f"r{n + i}": i // n_nodes for i in range(n_paths * n_nodes)}


def pairings(seed: int) -> tuple[Model, Blocks]:
    """Two assignments that share a budget."""
    rng = np.random.default_rng(seed)
    size = 3
    inside = np.vstack([np.kron(np.eye(size), np.ones(size)), np.kron(np.ones(size), np.eye(size))])
    matrix = np.vstack([rng.integers(1, 9, 2 * size**2), np.kron(np.eye(2), inside)])
    low, high = np.r_[-np.inf, np.ones(4 * size)], np.r_[24.0, np.ones(4 * size)]
    cost = rng.integers(1, 20, 2 * size**2)
    model = as_model(Program(cost, matrix, low, high, 0, 1, None, np.ones(cost.size)))
    return model, {f"r{1 + i}": i // (2 * size) for i in range(4 * size)}


PROBLEMS = (assignment, packing, stock, with_slack, flows, pairings)


SIZE, N_LINKING = 2, 3


def model_of(seed: int, kinds: str) -> tuple[Model, dict[str, object]]:
    """Blocks of two variables, one for each letter, equal letters being equal blocks.

    ``n`` whole and at least 0, ``s`` whole and signed, ``f`` whole and bounded by rows alone, ``q``
    whole with quarters in the linking rows, ``c`` continuous; after them three variables of the
    master: between −2.5 and 3.5 and whole, at most 1.5, and free.
    """
    rng = np.random.default_rng(seed)
    data = {
        kind: (
            rng.integers(-2, 5, (N_LINKING, SIZE)) + (0.25 if kind == "q" else 0.0),
            rng.integers(1, 4, (2, SIZE)).astype(float),
            rng.integers(-4, 9, SIZE).astype(float),
        )
        for kind in sorted(set(kinds))
    }
    low = {"s": -1.0, "f": -np.inf}
    end = {"f": np.inf, "n": 3.0}
    n_blocks = len(kinds)
    n = SIZE * n_blocks + 3
    matrix = np.zeros((N_LINKING + 2 * n_blocks, n))
    for k, kind in enumerate(kinds):
        linking, rows, _ = data[kind]
        own = slice(SIZE * k, SIZE * (k + 1))
        matrix[:N_LINKING, own] = linking
        matrix[N_LINKING + 2 * k : N_LINKING + 2 * k + 2, own] = (
            [[1, 1], [1, -1]] if kind == "f" else rows
        )
    matrix[:N_LINKING, -3:] = [[1, 0, 1], [0, 1, 2], [2, 1, 0]]
    lower = np.repeat([low.get(kind, 0.0) for kind in kinds], SIZE)
    upper = np.repeat([end.get(kind, 2.0) for kind in kinds], SIZE)
    inside = np.clip(rng.integers(-1, 3, n - 3), np.maximum(lower, -1), np.minimum(upper, 2))
    right = matrix[:N_LINKING] @ np.r_[inside, 1.0, 0.5, -1.0]
    integer = np.r_[np.repeat([kind != "c" for kind in kinds], SIZE), True, False, False]
    program = Program(
        cost=np.r_[np.concatenate([data[kind][2] for kind in kinds]), 9.0, -5.0, 0.0],
        matrix=matrix,
        row_lower=np.r_[right - np.array([0, 1, np.inf]), np.full(2 * n_blocks, -3.0)],
        row_upper=np.r_[right + np.array([0, 1, 0]), np.full(2 * n_blocks, 4.0)],
        lower=np.r_[lower, -2.5, -np.inf, -np.inf],
        upper=np.r_[upper, 3.5, 1.5, np.inf],
        integrality=integer,
        constant=3.0,
    )
    return as_model(program), {f"r{N_LINKING + k}": k // 2 for k in range(2 * n_blocks)}


INF = np.inf
LINK, FIRST, SECOND = [1.0, 1, 1, 1], [2.0, 3, 0, 0], [0, 0, 2.0, 3]
BLOCKS = {"r1": 0, "r2": 1}


def program(**changed: Any) -> Program:
    """Two knapsacks of two 0/1 variables, and a row that links them."""
    own: dict[str, Any] = {
        "cost": [-3.0, -2, -2, -3],
        "matrix": [LINK, FIRST, SECOND],
        "row_lower": -INF,
        "row_upper": [3.0, 4, 4],
        "lower": 0,
        "upper": 1,
        "integrality": np.ones(4),
    }
    return Program(**{**own, **changed})


def small(seed: int) -> tuple[Model, Blocks]:
    """The two knapsacks with other costs, constants and sides, and no, one or all rows in blocks.

    Half of them are maximised.
    """
    changed: Any = [
        {},
        {"cost": [-3.3, -2.71, -2.5, -3.14159]},
        {"constant": -7.5},
        {"row_lower": [2.0, -INF, -INF]},
    ][seed % 4]
    blocks: Blocks = [
        {},
        {"r1": None},
        {"r1": 0},
        dict.fromkeys(("r0", "r1", "r2"), 0),
        {"r1": "a", "r2": 1},
    ][seed % 5]
    plain = as_model(program(**changed))
    return Model(plain.program, plain.row_names, plain.names, seed // 4 % 2 == 1), blocks


def of_negative_variables(seed: int) -> tuple[Model, Blocks]:
    """Two equal blocks whose variables may be negative."""
    changed = {"cost": np.ones(4), "row_lower": [-3, -9, -9], "row_upper": [9, 4, 4], "lower": -1}
    return as_model(program(**changed)), BLOCKS


def infeasible(seed: int) -> tuple[Model, Blocks]:
    """A block without points, an equation that no column meets, or a fractional one."""
    changed: Any = [
        {"row_lower": [-INF, 9, -INF], "row_upper": [3, 10, 4]},
        {"row_lower": [7.0, -INF, -INF], "row_upper": [7.0, 4, 4]},
        {"row_lower": [1.5, -INF, -INF], "row_upper": [1.5, 4, 4]},
    ][seed % 3]
    return as_model(program(**changed)), BLOCKS


def anything(seed: int, kind: str) -> tuple[Model, Blocks]:
    """Up to three small blocks of any rows, linking rows, and variables of the master.

    Words of the kind: ``rays``, some bounds are infinite; ``linked``, variables with rows in
    several blocks; ``whole`` or ``mixed`` for integer variables, all or some of them.
    """
    rng = np.random.default_rng(seed)
    n_blocks, n_linking, n_own = (int(rng.integers(*ends)) for ends in ((1, 4), (0, 3), (0, 3)))
    sizes, n_rows = rng.integers(1, 5, n_blocks), rng.integers(1, 4, n_blocks)
    n, m = int(sizes.sum()) + n_own, n_linking + int(n_rows.sum())
    block_of_row = np.r_[np.full(n_linking, -1), np.repeat(np.arange(n_blocks), n_rows)]
    block_of_variable = np.r_[np.repeat(np.arange(n_blocks), sizes), np.full(n_own, -1)]
    inside = (block_of_row[:, None] == block_of_variable) | (block_of_row[:, None] < 0)
    matrix = rng.integers(-3, 6, (m, n)) * (rng.random((m, n)) < 0.75) * inside
    for _ in range(2 if "linked" in kind else 0):
        row, variable = rng.integers(n_linking, m), rng.integers(n)
        matrix[row, variable] = rng.integers(1, 4) * rng.choice([-1, 1])
    endless = 0.3 if "rays" in kind else 0.0
    lower = -rng.integers(0, 3, n) * 1.0
    upper = lower + rng.integers(0, 6, n)
    upper[rng.random(n) < endless], lower[rng.random(n) < endless / 5] = np.inf, -np.inf
    x = np.clip(rng.integers(0, 4, n), lower, upper)
    room = rng.integers(0, 4, (2, m))
    low, high = matrix @ x - room[0], matrix @ x + room[1]
    side = rng.integers(0, 3, m)
    low[side == 0], high[side == 1] = -np.inf, np.inf
    if seed % 10 == 9:
        low[-1] = high[-1] = float(matrix[-1] @ x) + 5.0
    cost = rng.integers(-4, 9, n).astype(float)
    cost = cost if seed % 3 == 0 else np.abs(cost)
    share = 1.0 if "whole" in kind else 0.5 if "mixed" in kind else 0.0
    own = Program(cost, matrix, low, high, lower, upper, None, rng.random(n) < share, constant=2.0)
    plain = as_model(own)
    blocks: Blocks = {f"r{row}": int(k) for row, k in enumerate(block_of_row) if k >= 0}
    return Model(plain.program, plain.row_names, plain.names, seed % 4 == 3), blocks


def makespan(seed: int) -> tuple[Model, Blocks]:
    """Jobs on three machines, each a block; the latest end is a variable of all of them."""
    rng = np.random.default_rng(seed)
    machines, jobs = 3, 6
    hours = rng.integers(2, 9, (machines, jobs)).astype(float)
    n = machines * jobs + 1
    matrix = np.zeros((jobs + machines, n))
    for k in range(machines):
        own = slice(k * jobs, (k + 1) * jobs)
        matrix[:jobs, own] = np.eye(jobs)
        matrix[jobs + k, own], matrix[jobs + k, -1] = hours[k], -1.0
    low = np.r_[np.ones(jobs), np.full(machines, -np.inf)]
    high = np.r_[np.ones(jobs), np.zeros(machines)]
    cost, upper = np.r_[np.zeros(n - 1), 1.0], np.r_[np.ones(n - 1), np.inf]
    model = as_model(Program(cost, matrix, low, high, 0, upper, None, np.r_[np.ones(n - 1), 0]))
    return model, {f"r{jobs + k}": k for k in range(machines)}


def lot_sizing(seed: int) -> tuple[Model, Blocks]:
    """Items with setups, each a block, and a capacity in every period."""
    rng = np.random.default_rng(seed)
    items, periods = 3, 4
    demand = rng.integers(0, 20, (items, periods)).astype(float)
    size = 3 * periods  # lots, stocks, setups
    n = items * size
    matrix, low, high = np.zeros((periods + 2 * items * periods, n)), [], []
    for t in range(periods):
        for i in range(items):
            matrix[t, i * size + t], matrix[t, i * size + 2 * periods + t] = 1.0, 3.0
        low.append(-np.inf)
        high.append(float(demand.sum() / periods) * 1.3 + 9.0)
    for i in range(items):
        for t in range(periods):
            row, lot = len(low), i * size + t
            matrix[row, lot], matrix[row, lot + periods] = 1.0, -1.0
            if t:
                matrix[row, lot + periods - 1] = 1.0
            matrix[row + 1, lot], matrix[row + 1, lot + 2 * periods] = 1.0, -60.0
            low += [demand[i, t], -np.inf]
            high += [demand[i, t], 0.0]
    cost = np.tile(np.repeat([1.0, 0.5, 25.0], periods), items) + rng.random(n)
    upper = np.tile(np.repeat([np.inf, np.inf, 1.0], periods), items)
    upper[:periods] = 4.0 * demand[0].max() + 1.0
    whole = np.tile(np.repeat([0, 0, 1], periods), items)
    model = as_model(Program(cost, matrix, low, high, 0, upper, None, whole))
    return model, {f"r{periods + k}": k // (2 * periods) for k in range(2 * items * periods)}


@dataclass(frozen=True, kw_only=True)
class ModelCase(Case[tuple[Model, Blocks]]):
    """Models by seeds.

    Parameters
    ----------
    seeds : range
    """

    seeds: range = range(3)


MODELS = [
    *(ModelCase(name=make.__name__, make=make) for make in PROBLEMS),
    *(
        ModelCase(name=kinds, make=lambda seed, kinds=kinds: model_of(seed, kinds), seeds=range(4))
        for kinds in ("nn", "sss", "ssn", "ff", "fs", "qq", "qs", "cs", "ccs")
    ),
    *(
        ModelCase(name=kind, make=lambda seed, kind=kind: anything(seed, kind), seeds=range(10))
        for kind in ("rays", "linked", "mixed", "linked whole", "rays mixed", "rays linked mixed")
    ),
    ModelCase(name="makespan", make=makespan),
    ModelCase(name="lot sizing", make=lot_sizing),
    ModelCase(name="small", make=small, seeds=range(20)),
    ModelCase(name="negative", make=of_negative_variables, seeds=range(1)),
    ModelCase(name="infeasible", make=infeasible),
]
