"""A sample of the training rows, where there are many more than columns.

The outputs of a model of c columns that is fitted to m of n rows are off by about √(c/m) of what
separates rows near their margin: about n√(c/m) rows are so near to it that the sample leaves open
on which side they are. Both problems, over the sample and over these rows, are about as large for
m = (nc)^⅔ (Portnoy, Koenker, *The Gaussian hare and the Laplacian tortoise*, Statistical Science
12, 1997). All rows are checked afterwards, so that the answer does not depend on the sample.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses.dual.support_vector import Indices

SAMPLE_SIZE = 0.5
"""A sample has this many times (rows · columns)^⅔ rows …"""

MANY_TIMES = 4.0
"""… where there are at least this many times as many, …"""

SLOW_AT_ONCE = 1e4
"""… and rows times columns are this much: less is solved as fast at once."""

STANDARD_DEVIATIONS = 3.0
"""The solution of a sample is trusted within so many of them. Then, with the few rows that were on
the wrong side of their margin, …"""

NEXT_ROWS = 100
"""… at least so many of the nearest variables are left for each column."""


def sample_of(n_rows: int, n_columns: int) -> tuple[Indices, float]:
    """Rows to begin with, in order, and the share of all rows that are near their margin then.

    No rows where there are too few for a sample to be of use.
    """
    size = int(SAMPLE_SIZE * (n_rows * n_columns) ** (2.0 / 3.0))
    if MANY_TIMES * size > n_rows or n_rows * n_columns < SLOW_AT_ONCE:
        return np.zeros(0, dtype=np.intp), 1.0
    rows = np.random.default_rng(0).choice(n_rows, size, replace=False, shuffle=False)
    return np.sort(rows), min(1.0, STANDARD_DEVIATIONS * float(np.sqrt(n_columns / size)))
