"""What columns that were never generated can take off the objective, at given row duals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np


def least_reduced_cost(reduced_cost: float | Mapping[Hashable, float]) -> float:
    """The least reduced cost, nan if any is unknown."""
    values = list(reduced_cost.values()) if isinstance(reduced_cost, Mapping) else [reduced_cost]
    return float(np.min(values)) if values else math.nan


def deficit_of(
    copies: float | Mapping[Hashable, float], reduced_cost: float | Mapping[Hashable, float]
) -> float:
    """Σ n_k·min(0, ρ_k), nan if a ρ_k is unknown."""
    if not isinstance(copies, Mapping):
        return copies * float(np.minimum(0.0, least_reduced_cost(reduced_cost)))
    if isinstance(reduced_cost, Mapping):
        least = {row: reduced_cost.get(row, math.nan) for row in copies}
    else:
        least = dict.fromkeys(copies, reduced_cost)
    return float(sum(count * np.minimum(0.0, least[row]) for row, count in copies.items()))
