"""Types of the arrays that most modules pass on, and their parts. It imports nothing of cgboost."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Numbers, of any shape."""

Indices = NDArray[np.intp]
"""Positions of rows, columns or variables."""

ShortIndices = NDArray[np.int32]
"""Positions in half the memory."""

Mask = NDArray[np.bool_]
"""Which of them."""

Matrix = NDArray[np.floating[Any]]
"""Numbers in float64 or float32."""


def blocks_of(count: int, size: int) -> Iterator[slice]:
    """Slices of the places 0, …, count − 1, so many at a time."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
