"""Where to start from: the columns that a part of the training rows asks for.

With many rows the first rounds are spent on finding what a few thousand rows can say as well. The
problem is therefore solved coarsely on a random part of the rows first (and that one from a part of
its own, if it is still large), and the full problem starts with the columns it uses, and with the
rows that are near their margin there. Nothing of the certificate rests on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cgboost.generation.loop import ColumnGeneration
from cgboost.kernels import KernelLibrary
from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.master import SupportVectorMaster, WarmStart
from cgboost.pricing import KernelPool, StrataPricer

MANY_ROWS = 6000
"""A first guess is made from this number of rows."""

PART = 6
"""One row in so many takes part in it."""

COARSE = 0.05
"""Relative gap at which the guess is good enough."""

COLUMNS = 0.05
"""Columns a round, as a share of the rows of the part."""


def first_guess(
    pool: KernelPool,
    loss: SupportVectorLoss,
    make_master: Callable[[SupportVectorLoss], SupportVectorMaster],
) -> WarmStart:
    """What a part of the rows of a pool makes use of; nothing where the rows are few.

    Parameters
    ----------
    pool : KernelPool
    loss : SupportVectorLoss
        On all rows of the pool.
    make_master : callable
        A master for such a loss.
    """
    n_rows = len(pool.X)
    if n_rows < MANY_ROWS:
        return WarmStart()
    rows = np.sort(np.random.default_rng(0).permutation(n_rows)[: n_rows // PART])
    kernels = {family.name: family.kernel for family in pool.families}
    part, part_loss = KernelPool(KernelLibrary(kernels), pool.X[rows]), loss.on_part(rows)
    master = make_master(part_loss)
    master.start_from(first_guess(part, part_loss, make_master))
    ColumnGeneration(
        master,
        StrataPricer(part, tol=COARSE),
        tol=COARSE,
        columns_per_round=round(COLUMNS * len(rows)),
    ).run()
    numbers = {name: stratum for stratum, name in enumerate(pool.strata)}
    own = master.warm_start
    keys = [(numbers[column.stratum], int(rows[column.key[1]])) for column in own.columns]  # type: ignore[index]
    columns = pool.columns([stratum for stratum, _ in keys], [row for _, row in keys])
    return replace(own, columns=columns)
