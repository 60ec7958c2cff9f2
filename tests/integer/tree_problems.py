"""Small integer problems with all their columns, so that HiGHS knows the optimum.

Their pricer looks at every column, and so respects every decision.
"""

import itertools
import math
import runpy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import as_pricer
from cgboost.generation.history import StopReason
from cgboost.integer import (
    Apart,
    BranchAndPriceResult,
    ComponentRow,
    CountRow,
    Residual,
    Restriction,
    Row,
    SubsetRow,
    Together,
    VariableBound,
    VariableRow,
)
from cgboost.integer.branching.decisions import respected_by
from cgboost.integer.search_state import Search
from cgboost.masters import LinearMaster
from solvers import InfeasibleError, Program, solve

EXAMPLES = Path(__file__).parents[2] / "examples"

KINDS = (Together, Apart, VariableBound, VariableRow, CountRow, ComponentRow, SubsetRow)
"""Every kind of decision."""

PROVEN = (StopReason.OPTIMAL, StopReason.GAP, StopReason.INFEASIBLE)
"""Reasons that say that the result is the answer."""

ROUNDING = 1e-6
"""Optima of different solvers differ by less than this."""


@dataclass
class AllColumns:
    """A pricer that looks at every column; exact.

    Attributes
    ----------
    rows : sequence of hashable
    columns : sequence of Column
    copies : float, mapping or None
        As of the master.
    respects : sequence of type
        Kinds of decisions; with ``Residual`` it keeps to ``duals.rhs``.
    most : int
        Columns that are returned.
    unit : float
        The size of costs.
    """

    rows: Sequence[Hashable]
    columns: Sequence[Column]
    copies: Any = None
    respects: Sequence[type] = KINDS
    most: int = 3
    unit: float = 1.0
    _known: dict[Any, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = {name: i for i, name in enumerate(self.rows)}
        values = [column.values for column in self.columns]
        self.matrix = np.array(values).reshape(len(values), len(self.rows)).T
        self.costs = np.array([column.cost for column in self.columns])

    def _of(self, decision: Any) -> np.ndarray:
        """What a decision says of every column."""
        if decision not in self._known:
            says = decision.coefficient if isinstance(decision, Row) else decision.allows
            self._known[decision] = np.array([says(c, self.numbers) for c in self.columns])
        return self._known[decision]

    def reduced_costs(self, duals: Any) -> np.ndarray:
        """Those of all columns; inf for those that the node does not allow."""
        reduced = self.costs - np.asarray(duals) @ self.matrix
        for row, dual in duals.extra.items():
            reduced -= dual * self._of(row)
        for restriction in duals.restrictions:
            reduced[~self._of(restriction)] = math.inf
        if Residual in self.respects:
            reduced[(self.matrix > np.maximum(duals.rhs, 0.0)[:, None]).any(axis=0)] = math.inf
        reduced[[c.key in duals.capped for c in self.columns]] = math.inf
        return reduced

    def bound(self, reduced: np.ndarray) -> Any:
        """The least reduced cost, or that of every convexity row."""
        if not isinstance(self.copies, Mapping):
            return float(reduced.min(initial=math.inf))
        inside = {row: self.matrix[self.numbers[row]] != 0 for row in self.copies}
        return {row: reduced[own].min(initial=math.inf) for row, own in inside.items()}

    def __call__(self, duals: Any) -> Any:
        """The cheapest columns, and the bound."""
        reduced = self.reduced_costs(duals)
        best = np.argsort(reduced, kind="stable")[: self.most]
        found = [self.columns[j] for j in best.tolist() if reduced[j] < -1e-9 * self.unit]
        return found, self.bound(reduced)


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
    respects: Sequence[type] = KINDS

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
        return optimum_of(program)

    def pricer(self, **options: Any) -> AllColumns:
        """Looks at every column; exact."""
        return AllColumns(
            self.rows, self.columns, self.copies, **{"respects": self.respects} | options
        )

    def search(self, pricer: Any = None, **options: Any) -> BranchAndPrice:
        """A tree search."""
        options.setdefault("objective_step", self.step)
        return BranchAndPrice(self.master(), self.pricer() if pricer is None else pricer, **options)

    def check(self, result: BranchAndPriceResult) -> None:
        """The columns of a result are whole, meet the rows and cost what it says."""
        constraints = self.master().constraints
        pairs = list(zip(result.columns, result.coef, strict=True))
        total = sum((x * c.values for c, x in pairs), np.zeros(len(self.rows)))
        cost = sum(x * c.cost for c, x in pairs)
        assert all(float(x).is_integer() for c, x in pairs if c.integer)
        for block, v in {(c.block, v) for c, _ in pairs for v in self.declared}:
            z = sum(x * c.variables.get(v, 0.0) for c, x in pairs if c.block == block)
            assert abs(z - round(z)) <= ROUNDING
        assert (total >= constraints.lower - ROUNDING).all()
        assert (total <= constraints.upper + ROUNDING).all()
        assert all(x <= c.upper + ROUNDING for c, x in pairs)
        assert abs(cost - result.objective) <= ROUNDING * max(1.0, abs(cost))
        names = {v for c in result.columns for v in c.variables}
        amounts = {v: sum(x * c.variables.get(v, 0.0) for c, x in pairs) for v in names}
        assert result.variables == {v: a for v, a in amounts.items() if a != 0}


def optimum_of(program: Program) -> float:
    """By HiGHS; inf if infeasible."""
    try:
        return solve(program, "highs", options={"mip_rel_gap": 0.0}).objective
    except InfeasibleError:
        return math.inf


def check(result: BranchAndPriceResult, problem: Any, optimum: float | None = None) -> None:
    """Bound ≤ optimum ≤ objective at every node; what is called a solution or a proof is one.

    The global bound never falls, and a node's is not below that of its parent.
    """
    best = problem.optimum() if optimum is None else optimum
    tree, small = result.tree, ROUNDING * max(1.0, abs(best) if math.isfinite(best) else 1.0)
    bounds = tree["global_bound"]
    assert (bounds[1:] >= bounds[:-1] - small).all()
    assert (bounds <= best + small).all()
    assert (tree["incumbent"] >= best - small).all()
    assert (np.diff(tree["incumbent"][np.isfinite(tree["incumbent"])]) <= 0).all()
    own = dict(zip(tree["node"].tolist(), tree["bound"].tolist(), strict=True))
    for node, parent in zip(tree["node"].tolist(), tree["parent"].tolist(), strict=True):
        assert parent == -1 or own[node] >= own[parent] - small
    assert result.bound is None or result.bound <= best + small
    assert result.objective >= best - small
    assert result.message
    if math.isfinite(result.objective):
        problem.check(result)
    if result.stop_reason in PROVEN:
        assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)


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


def triangle() -> Problem:
    """Three rows, the pairs of them and single ones: the relaxation takes a half of each pair."""
    sets = [own for size in (2, 1) for own in itertools.combinations(range(3), size)]
    columns = [Column(indicator(3, own), "".join("abc"[i] for i in own), cost=2.0) for own in sets]
    return Problem("abc", "==", [1.0, 1.0, 1.0], columns, least_cost=2.0)


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


def half_amounts(seed: int) -> Problem:
    """A partition whose variables come in halves, which need not add up to a whole number."""
    rng = np.random.default_rng(seed)
    columns = [
        Column(
            rng.choice([0.0, 0.0, 1.0], 5),
            j,
            cost=float(rng.integers(1, 9)),
            variables=dict(enumerate(rng.choice([0.0, 0.5, 1.0, 1.5], 3).tolist())),
        )
        for j in range(25)
    ]
    return Problem(range(5), "==", np.ones(5), columns, least_cost=1.0)


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


def inner_search(
    master: LinearMaster, pricer: Any, step: float | None = None, **options: Any
) -> Search:
    """What a tree search keeps: pool, incumbent, and how nodes are solved."""
    return Search(
        master,
        as_pricer(pricer),
        **{
            "objective_step": step,
            "columns_per_round": 20,
            "smoothing": None,
            "gap": 1e-6,
            "time_limit": None,
        }
        | options,
    )


def large_assignment(n_agents: int, n_jobs: int, seed: int) -> Any:
    """Master and pricer of the example script, with costs that are hard for it."""
    assign = runpy.run_path(str(EXAMPLES / "generalised_assignment.py"))["assign"]
    rng = np.random.default_rng(seed)
    weight = rng.integers(5, 26, (n_agents, n_jobs))
    cost = 111.0 - weight + rng.integers(-10, 11, weight.shape)
    return assign(cost, weight, (0.8 * weight.sum(axis=1) / n_agents).astype(int)).options


class Failing:
    """A pricer that raises at one of its calls.

    Parameters
    ----------
    pricer : Pricer
    calls : int
        That go well before.
    error : BaseException
    """

    def __init__(self, pricer: Any, calls: int, error: BaseException) -> None:
        self.pricer, self.left, self.error = pricer, calls, error
        self.respects = respected_by(pricer)

    def price(self, state: Any, limit: int) -> Any:
        """As the pricer does, while there are calls left."""
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.pricer.price(state, limit)


def failing(search: BranchAndPrice, calls: int, error: BaseException) -> BranchAndPrice:
    """The search with a pricer that raises after so many calls."""
    search.options = replace(search.options, pricer=Failing(search.options.pricer, calls, error))
    return search
