"""Features that a kernel reads: its centres have coordinates in these alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cgboost.kernels import Columns, Kernel
from cgboost.kernels.on_columns import On


def columns_read(kernel: Kernel) -> Iterator[Columns | None]:
    """The columns that each part of a fitted kernel reads; None: all of them."""
    if isinstance(kernel, On):
        yield kernel.columns
        return
    parts = list(kernel.parts())
    for part in parts:
        yield from columns_read(part)
    if not parts:
        yield None


def features_read(kernel: Kernel, n_features: int) -> NDArray[np.bool_]:
    """Whether a fitted kernel reads each feature, shape (n_features,)."""
    read = np.zeros(n_features, dtype=bool)
    for columns in columns_read(kernel):
        read[slice(None) if columns is None else list(columns.places)] = True
    return read
