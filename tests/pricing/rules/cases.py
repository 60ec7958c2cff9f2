"""Small tables with missing values and categories, and all conjunctions on them one by one."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from cgboost.pricing.rules import Literals
from solvers import Program, solve


@st.composite
def tables(draw):
    """Numbers with ties, a category, a number with missing values; and a pseudo-response."""
    n = draw(st.integers(4, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.column_stack(
        [
            rng.integers(0, draw(st.integers(2, 5)), n).astype(float),
            np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n).round(1)),
            rng.integers(0, 3, n).astype(float),
            rng.integers(0, 2, n).astype(float),
        ]
    )
    response = rng.normal(size=n) * (rng.random(n) < 0.8)
    return X, (False, False, True, False), response


def enumerated(literals: Literals, longest: int):
    """The places of all conjunctions that hold for enough rows, and where they hold."""
    for size in range(1, longest + 1):
        for places in combinations(range(len(literals)), size):
            inside = np.ones(literals.n_rows, dtype=bool)
            for place in places:
                inside &= literals.cover([place])
            if inside.sum() >= max(1, literals.min_support):
                yield places, inside


def all_rules(literals, cost):
    """Every conjunction as a column of the master."""
    columns = [inside / cost[len(p)] for p, inside in enumerated(literals, len(cost) - 1)]
    return np.array(columns).reshape(-1, literals.n_rows).T


def least_hinge(H, y, price):
    """The optimum of the linear program over given columns, with a free offset."""
    n, m = H.shape
    A = np.hstack([y[:, None] * H, -y[:, None] * H, y[:, None], np.eye(n)])
    cost = np.concatenate([np.ones(2 * m), [0.0], price])
    lower = np.concatenate([np.zeros(2 * m), [-np.inf], np.zeros(n)])
    program = Program(cost=cost, matrix=A, row_lower=np.ones(n), row_upper=np.inf, lower=lower)
    return solve(program, "highs").objective
