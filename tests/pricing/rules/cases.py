"""Small tables with missing values and categories, and all conjunctions on them one by one."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from cgboost.pricing.rules import Literals


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
