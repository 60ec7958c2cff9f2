"""Types of the arrays that most modules pass on. It imports nothing of cgboost."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Numbers, of any shape."""

Indices = NDArray[np.intp]
"""Positions of rows, columns or variables."""

Mask = NDArray[np.bool_]
"""Which of them."""

Matrix = NDArray[np.floating[Any]]
"""Numbers in float64 or float32."""
