"""Small integer problems with all their columns, so that HiGHS knows the optimum.

Their pricer looks at every column, and so respects every decision.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.integer import (
    Apart,
    BranchAndPriceResult,
    ComponentRow,
    CountRow,
    Restriction,
    SubsetRow,
    Together,
    VariableBound,
    VariableRow,
    respects,
)
from cgboost.masters import LinearMaster
from solvers import InfeasibleError, Program, solve

KINDS = (Together, Apart, VariableBound, VariableRow, CountRow, ComponentRow, SubsetRow)
"""Every kind of decision."""

ROUNDING = 1e-6
"""Optima of different solvers differ by less than this."""


@dataclass
class Problem:
    """A linear master and all columns that exist."""

    rows: Sequence[Hashable]
    sense: str | Sequence[str]
    rhs: Sequence[float]
    columns: Sequence[Column]
    copies: Any = None
    least_cost: float | None = None
    step: float | None = None
    declared: frozenset[Hashable] = frozenset()

    def master(self) -> LinearMaster:
        """A new master without columns."""
        return LinearMaster(
            self.rows, self.sense, self.rhs, copies=self.copies, least_cost=self.least_cost
        )

    def optimum(self, among: Iterable[Column] | None = None, integer: bool = True) -> float:
        """Of all columns at once by HiGHS; inf if infeasible."""
        columns = list(self.columns if among is None else among)
        if not columns:
            return math.inf
        constraints, n = self.master().constraints, len(columns)
        own = {(c.block, v) for c in columns for v in c.variables if v in self.declared}
        amounts = [[(c.block == b) * c.variables.get(v, 0.0) for c in columns] for b, v in own]
        sums, more = np.array(amounts).reshape(len(own), n), np.zeros(len(own))
        values = np.column_stack([column.values for column in columns])
        program = Program(
            cost=np.r_[[column.cost for column in columns], more],
            matrix=sp.csc_array(
                np.block([[values, np.zeros((len(values), len(own)))], [sums, -np.eye(len(own))]])
            ),
            row_lower=np.r_[constraints.lower, more],
            row_upper=np.r_[constraints.upper, more],
            upper=np.r_[[column.upper for column in columns], more + np.inf],
            integrality=np.r_[[column.integer and integer for column in columns], more == 0] > 0,
        )
        try:
            return solve(program, "highs", options={"mip_rel_gap": 0.0}).objective
        except InfeasibleError:
            return math.inf

    def reduced_costs(self, duals: Any) -> list[tuple[float, Column]]:
        """Those of all columns that the node allows, the cheapest first, computed one by one."""
        numbers = {name: i for i, name in enumerate(self.rows)}
        found = []
        for column in self.columns:
            if column.key in duals.capped or not keeps_to(column, duals.restrictions, numbers):
                continue
            reduced = column.cost - float(np.dot(duals, column.values))
            for row, dual in duals.extra.items():
                reduced -= dual * row.coefficient(column, numbers)
            found.append((reduced, column))
        return sorted(found, key=lambda each: each[0])

    def bound_of(self, found: Sequence[tuple[float, Column]]) -> Any:
        """The least reduced cost, or that of every convexity row."""
        if not isinstance(self.copies, Mapping):
            return found[0][0] if found else math.inf
        places = {name: i for i, name in enumerate(self.rows)}
        return {
            row: min((r for r, c in found if c.values[places[row]]), default=math.inf)
            for row in self.copies
        }

    def pricer(self, kinds: Sequence[type] = KINDS, most: int = 3) -> Callable[[Any], Any]:
        """Looks at every column; exact."""

        @respects(*kinds)
        def price(duals: Any) -> Any:
            found = self.reduced_costs(duals)
            return [c for r, c in found if r < -1e-9][:most], self.bound_of(found)

        return price

    def search(self, pricer: Any = None, **options: Any) -> BranchAndPrice:
        """A tree search."""
        options.setdefault("objective_step", self.step)
        return BranchAndPrice(self.master(), self.pricer() if pricer is None else pricer, **options)

    def solves(self, result: BranchAndPriceResult) -> bool:
        """Whether the columns of a result are whole, meet the rows and cost what it says."""
        constraints = self.master().constraints
        total = sum(
            (x * c.values for c, x in zip(result.columns, result.coef, strict=True)),
            np.zeros(len(self.rows)),
        )
        cost = sum(x * c.cost for c, x in zip(result.columns, result.coef, strict=True))
        pairs = list(zip(result.columns, result.coef, strict=True))
        whole = [float(x).is_integer() for c, x in pairs if c.integer]
        for block, v in {(c.block, v) for c, _ in pairs for v in self.declared}:
            z = sum(x * c.variables.get(v, 0.0) for c, x in pairs if c.block == block)
            whole.append(abs(z - round(z)) <= ROUNDING)
        return bool(
            all(whole)
            and (total >= constraints.lower - ROUNDING).all()
            and (total <= constraints.upper + ROUNDING).all()
            and all(
                x <= c.upper + ROUNDING for c, x in zip(result.columns, result.coef, strict=True)
            )
            and abs(cost - result.objective) <= ROUNDING * max(1.0, abs(cost))
        )


def check_tree(result: BranchAndPriceResult, optimum: float) -> None:
    """The global bound never falls, and bound ≤ optimum ≤ incumbent at every node."""
    tree, small = result.tree, ROUNDING * max(1.0, abs(optimum) if math.isfinite(optimum) else 1.0)
    assert (np.diff(tree["global_bound"]) >= -small).all()
    assert (tree["global_bound"] <= optimum + small).all()
    assert (tree["incumbent"] >= optimum - small).all()
    assert (np.diff(tree["incumbent"][np.isfinite(tree["incumbent"])]) <= 0).all()
    own = dict(zip(tree["node"].tolist(), tree["bound"].tolist(), strict=True))
    for node, parent in zip(tree["node"].tolist(), tree["parent"].tolist(), strict=True):
        assert parent == -1 or own[node] >= own[parent] - small
    assert result.bound is None or result.bound <= optimum + small
    assert result.objective >= optimum - small


def keeps_to(
    column: Column, restrictions: Iterable[Restriction], numbers: Mapping[Hashable, int]
) -> bool:
    """Whether all restrictions allow a column."""
    return all(restriction.allows(column, numbers) for restriction in restrictions)


def subsets(n: int, least: int = 1) -> Iterable[tuple[int, ...]]:
    """All subsets of 0 … n − 1 with at least so many elements."""
    for size in range(least, n + 1):
        yield from itertools.combinations(range(n), size)


def indicator(n: int, ones: Iterable[int]) -> np.ndarray:
    """1 at some places."""
    values = np.zeros(n)
    values[list(ones)] = 1.0
    return values


def bin_packing(seed: int) -> Problem:
    """Items in bins whose price depends on what is in them; every item in one bin."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 7))
    size = rng.integers(2, 8, n)
    columns = [
        Column(
            indicator(n, own),
            own,
            cost=float(rng.integers(6, 12)),
            variables=dict.fromkeys(itertools.pairwise(own), 1.0),
        )
        for own in subsets(n)
        if size[list(own)].sum() <= 12
    ]
    return Problem(range(n), "==", np.ones(n), columns, least_cost=6.0, step=1.0)


def cutting_stock(seed: int) -> Problem:
    """Patterns of three widths, with waste that costs; demands are met or exceeded."""
    rng = np.random.default_rng(seed)
    width = rng.integers(3, 8, 3)
    demand = rng.integers(1, 6, 3).astype(float)
    patterns = [
        p for p in itertools.product(*(range(15 // w + 1) for w in width)) if 0 < p @ width <= 15
    ]
    columns = [
        Column(np.array(p, dtype=float), p, cost=float(10 + rng.integers(0, 4))) for p in patterns
    ]
    return Problem(
        [("width", i) for i in range(3)], ">=", demand, columns, least_cost=10.0, step=1.0
    )


def partly_continuous(seed: int) -> Problem:
    """Cutting stock in which some patterns may be used in fractions, at a higher price."""
    rng = np.random.default_rng(seed)
    problem = cutting_stock(seed)
    problem.columns = [
        replace(column, integer=False, cost=column.cost + float(rng.integers(1, 5)))
        if rng.random() < 0.4
        else column
        for column in problem.columns
    ]
    problem.step = None
    return problem


def mixed_blocks(seed: int) -> Problem:
    """Points of blocks with whole and continuous variables, of which means are points, too.

    In half of the problems the blocks use the same names.
    """
    rng = np.random.default_rng(seed)
    n, most = 3, int(rng.integers(1, 4))
    columns = []
    for block in range(n):
        name = "on" if seed % 2 else ("on", block)
        cost, value, gain = rng.integers(4, 13), rng.integers(1, 4, 2), rng.integers(2, 5, 2)
        for y in range(most + 1):
            for x in itertools.product(*((0.0, float(g * y)) for g in gain)) if y else [(0.0, 0.0)]:
                columns.append(
                    Column(
                        np.r_[value * x, indicator(n, [block])],
                        (block, y, *x),
                        cost=float(cost * y + sum(x)),
                        integer=False,
                        variables={name: float(y)},
                        block=("block", block),
                    )
                )
    rows: list[Hashable] = [0, 1, *(("block", block) for block in range(n))]
    reach = sum(np.max([c.values[:2] for c in columns if c.key[0] == k], 0) for k in range(n))
    rhs = np.r_[np.round(reach * rng.uniform(0.2, 0.8, 2)), np.ones(n)]
    declared = frozenset(v for column in columns for v in column.variables)
    copies = dict.fromkeys(rows[2:], 1.0)
    return Problem(rows, [">="] * 2 + ["=="] * n, rhs, columns, copies, declared=declared)


def generalised_assignment(seed: int) -> Problem:
    """Jobs to agents with capacities, and costs of the sets; every agent has one set, or none."""
    rng = np.random.default_rng(seed)
    m, n = 3, 6
    cost, weight = rng.integers(3, 15, (m, n)), rng.integers(2, 9, (m, n))
    capacity = (0.8 * weight.sum(axis=1) / m + 1).astype(int)
    agents = [("agent", i) for i in range(m)]
    columns = [
        Column(
            indicator(n + m, [*own, n + i]),
            (i, own),
            cost=float(cost[i, list(own)].sum() + rng.integers(0, 12)),
            variables={(i, j): 1.0 for j in own},
            block=("agent", i),
        )
        for i in range(m)
        for own in subsets(n, 0)
        if weight[i, list(own)].sum() <= capacity[i]
    ]
    return Problem(
        [*range(n), *agents],
        "==",
        np.ones(n + m),
        columns,
        copies=dict.fromkeys(agents, 1.0),
        step=1.0,
    )


def signed_amounts(seed: int) -> Problem:
    """Blocks with one column each, whose amounts of the variables may be negative."""
    rng = np.random.default_rng(seed)
    n_blocks, n_variables = 3, 2
    rows = ["first", "second", *range(n_blocks)]
    weight = rng.integers(-4, 5, (2, n_blocks, n_variables)).astype(float)
    cost = rng.integers(-5, 6, (n_blocks, n_variables)).astype(float)
    columns = []
    for k in range(n_blocks):
        for point in itertools.product(range(-2, 3), repeat=n_variables):
            values = np.concatenate([weight[:, k] @ point, indicator(n_blocks, [k])])
            columns.append(
                Column(
                    values,
                    (k, point),
                    cost=float(cost[k] @ point),
                    variables={(k, v): float(a) for v, a in enumerate(point)},
                    block=k,
                )
            )
    return Problem(
        rows,
        ["<=", ">="] + ["=="] * n_blocks,
        [1.5, -0.5] + [1.0] * n_blocks,
        columns,
        copies=dict.fromkeys(range(n_blocks), 1.0),
        step=1.0,
    )


def negative_assignment(seed: int) -> Problem:
    """Generalised assignment in variables that are −1 for what is assigned, 0 for the rest."""
    problem = generalised_assignment(seed)
    problem.columns = [
        replace(column, variables={v: -z for v, z in column.variables.items()})
        for column in problem.columns
    ]
    return problem


def identical_agents(seed: int) -> Problem:
    """Jobs to three equal agents; the variables are pairs of jobs that follow one another."""
    rng = np.random.default_rng(seed)
    n, m = 6, 3
    weight, change = rng.integers(2, 8, n), rng.integers(1, 12, (n, n))
    columns = [
        Column(
            indicator(n + 1, [*own, n]),
            own,
            cost=float(sum(change[a, b] for a, b in itertools.pairwise(own)) + rng.integers(0, 9)),
            variables=dict.fromkeys(itertools.pairwise((*own, "end")), 1.0),
            block="agents",
        )
        for own in subsets(n, 0)
        if weight[list(own)].sum() <= 14
    ]
    return Problem(
        [*range(n), "agents"],
        ["=="] * n + ["<="],
        [*np.ones(n), float(m)],
        columns,
        copies={"agents": float(m)},
        step=1.0,
    )


def signed_agents(seed: int) -> Problem:
    """The same with three variables whose amounts in the columns have either sign."""
    problem, rng = identical_agents(seed), np.random.default_rng(seed)
    problem.columns = [
        replace(column, variables={k: float(z) for k, z in enumerate(rng.integers(-2, 3, 3)) if z})
        for column in problem.columns
    ]
    return problem


def shared_variables(seed: int) -> Problem:
    """Generalised assignment; the agents have one variable in common, the number of odd jobs."""
    problem = generalised_assignment(seed)
    problem.columns = [
        replace(column, variables={"odd": float(sum(j % 2 for j in column.key[1]))})
        for column in problem.columns
    ]
    return problem


def signed_rows(seed: int) -> Problem:
    """Whole values of either sign in the rows, and four equal subproblems."""
    rng = np.random.default_rng(seed)
    points = np.unique(rng.integers(-3, 4, (40, 3)), axis=0).astype(float)
    columns = [
        Column(np.r_[z, 1.0], tuple(z), cost=float(rng.integers(1, 20)), block="all")
        for z in points
    ]
    rhs = [*rng.integers(-4, 5, 3).astype(float), 4.0]
    rows = [*range(3), "all"]
    return Problem(rows, "==", rhs, columns, copies={"all": 4.0}, step=1.0)


def colouring(seed: int) -> Problem:
    """Colours for seven vertices; a colour costs as much as the dearest vertex that has it."""
    rng = np.random.default_rng(seed)
    n = 7
    edge, weight = np.triu(rng.random((n, n)) < 0.4, 1), rng.integers(1, 6, n)
    columns = [
        Column(indicator(n, own), own, cost=float(weight[list(own)].max()))
        for own in subsets(n)
        if not edge[np.ix_(own, own)].any()
    ]
    return Problem(range(n), "==", np.ones(n), columns, least_cost=1.0, step=1.0)


def covering_colouring(seed: int) -> Problem:
    """The same with rows ≥: a vertex with two colours can be made one with one."""
    problem = colouring(seed)
    problem.sense = ">="
    return problem


def set_covering(seed: int, n: int = 8, m: int = 16) -> Problem:
    """Rows to be covered by some columns of a list, at least cost."""
    rng = np.random.default_rng(seed)
    columns = [
        Column(
            indicator(n, rng.choice(n, 3, replace=False)),
            j,
            cost=float(rng.integers(3, 7)) / 2,
            variables={("taken", j): 1.0},
        )
        for j in range(m)
    ]
    return Problem(range(n), ">=", np.ones(n), columns, least_cost=1.5, step=0.5)


def fixed_charge(seed: int) -> Problem:
    """Depots that are opened as a whole, and shares of customers that are supplied from them."""
    rng = np.random.default_rng(seed)
    n_depots, n_customers = 3, 4
    rows = [("customer", j) for j in range(n_customers)] + [("depot", k) for k in range(n_depots)]
    capacity = rng.integers(1, 4, n_depots) + 0.5
    columns = []
    for k in range(n_depots):
        opened = np.zeros(len(rows))
        opened[n_customers + k] = -capacity[k]
        columns.append(
            Column(
                opened,
                ("open", k),
                cost=float(rng.integers(5, 12)),
                upper=2.0,
                variables={("open", k): 1.0},
                block="depots",
            )
        )
        columns.extend(
            Column(
                indicator(len(rows), [j, n_customers + k]),
                ("flow", k, j),
                cost=float(rng.random() * 4),
                integer=False,
            )
            for j in range(n_customers)
        )
    return Problem(
        rows,
        ["=="] * n_customers + ["<="] * n_depots,
        [1.0] * n_customers + [0.0] * n_depots,
        columns,
        copies=float(n_customers + 2 * n_depots),
    )
