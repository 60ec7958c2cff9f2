"""Random linear programs whose columns are generated, small enough to be solved all at once."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cgboost.generation.columns import Column
from cgboost.masters import LinearMaster
from solvers import InfeasibleError, Program, solve


class Family:
    """A finite family of columns, priced exactly by looking at all of them but the capped."""

    def __init__(
        self, H: np.ndarray, cost: np.ndarray, groups: Sequence[str] = (), upper: Any = np.inf
    ) -> None:
        self.H, self.cost, self.groups = H, cost, groups
        self.upper = np.broadcast_to(upper, len(cost))
        self.columns = [
            Column(H[:, j], j, cost=float(cost[j]), upper=float(self.upper[j]))
            for j in range(H.shape[1])
        ]

    def __call__(self, duals: Any) -> Any:
        return self.search(duals, duals.capped, most=2)

    def careless(self, duals: Any) -> Any:
        """All columns that price out, the capped ones among them."""
        return self.search(duals, (), most=len(self.columns))

    def search(self, duals: Any, left_out: Any, *, most: int) -> Any:
        """The best columns and the least reduced cost, in all or of each group."""
        reduced = self.cost - duals @ self.H
        reduced[list(left_out)] = np.inf
        best = np.argsort(reduced)[:most]
        found = [self.columns[j] for j in best if reduced[j] < -1e-9]
        if not self.groups:
            return found, reduced.min()
        return found, {name: reduced[self.H[k] == 1].min() for k, name in enumerate(self.groups)}


def full_optimum(master: LinearMaster, family: Family) -> float:
    """All columns at once; inf where that is infeasible."""
    program = Program(
        cost=family.cost,
        upper=family.upper,
        matrix=family.H,
        row_lower=master.constraints.lower,
        row_upper=master.constraints.upper,
    )
    try:
        return solve(program).objective
    except InfeasibleError:
        return math.inf


def covering(seed: int, **options: Any) -> tuple[LinearMaster, Family]:
    """Rows of all three senses and either sign of right-hand side; some are infeasible."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 9)), int(rng.integers(3, 30))
    H = rng.integers(-1, 4, size=(m, n)).astype(float)
    sense = rng.choice(["<=", "==", ">="], size=m, p=[0.3, 0.2, 0.5])
    rhs = rng.integers(-2, 9, size=m) if seed % 5 == 0 else H @ rng.integers(0, 3, size=n)
    cost = rng.uniform(0.5, 3.0, size=n)
    return LinearMaster(m, list(sense), rhs, least_cost=0.5, **options), Family(H, cost)


def convex(seed: int, **options: Any) -> tuple[LinearMaster, Family]:
    """Two convexity rows with known numbers of copies, coupled by ≤ rows; costs of any sign."""
    rng = np.random.default_rng(seed)
    n, coupled = int(rng.integers(4, 30)), int(rng.integers(1, 6))
    owner = np.arange(n) % 2
    coupling = rng.uniform(2, 3, size=(coupled, n))  # the entries 1 belong to the convexity rows
    H = np.vstack([owner == 0, owner == 1, coupling]).astype(float)
    counts = rng.integers(1, 5, size=2).astype(float)
    weights = rng.dirichlet(np.ones(n)) * n
    x = np.array(
        [weights[j] * counts[owner[j]] / weights[owner == owner[j]].sum() for j in range(n)]
    )
    rhs = [*counts, *(H[2:] @ x)]
    sense = ["==", "=="] + ["<="] * coupled
    copies = {"first": counts[0], "second": counts[1]}
    rows = ["first", "second", *range(coupled)]
    cost = rng.normal(size=n)
    master = LinearMaster(rows, sense, rhs, copies=copies, **options)
    return master, Family(H, cost, rows[:2])


def bounded(seed: int, **options: Any) -> tuple[LinearMaster, Family]:
    """As ``convex``, every third column without and the others with an upper bound."""
    _, family = convex(seed)
    rng = np.random.default_rng(seed)
    H = family.H
    counts = rng.integers(2, 6, size=2).astype(float)
    x = np.zeros(H.shape[1])
    for k in range(2):
        x[H[k] == 1] = counts[k] * rng.dirichlet(np.ones(int(H[k].sum())))
    upper = np.where(np.arange(len(x)) % 3 == 0, np.inf, x * rng.uniform(1.0, 2.0, size=len(x)))
    rows = ["first", "second", *range(len(H) - 2)]
    master = LinearMaster(
        rows,
        ["==", "=="] + ["<="] * (len(H) - 2),
        [*counts, *(H[2:] @ x)],
        copies={"first": counts[0], "second": counts[1]},
        **options,
    )
    return master, Family(H, family.cost, rows[:2], upper)
