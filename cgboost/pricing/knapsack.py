"""Knapsacks by dynamic programming over the capacity: the pricing problem of many models.

Gilmore and Gomory, *A Linear Programming Approach to the Cutting-Stock Problem*, Oper. Res. 9,
1961. Amounts are written as sums of 1, 2, 4, … copies, each of which is taken or not (Martello and
Toth, *Knapsack Problems*, 1990, chapter 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]


def solve_knapsack(
    values: ArrayLike, weights: ArrayLike, capacity: int, upper: ArrayLike = 1
) -> tuple[NDArray[np.int64], float]:
    """The most valuable amounts of items within a capacity.

        max Σ vᵢ xᵢ,   Σ wᵢ xᵢ ≤ C,   0 ≤ xᵢ ≤ uᵢ,   x integer

    Parameters
    ----------
    values : array-like of shape (n_items,)
        v; items of a value ≤ 0 are left out.
    weights : array-like of int, shape (n_items,)
        w ≥ 0.
    capacity : int
        C ≥ 0. Time and memory grow with C times the number of items of positive value, times
        log₂(u + 1).
    upper : array-like of int, shape (n_items,) or ()
        u ≥ 0; by default each item is there once. ``capacity // weights`` is no limit.

    Returns
    -------
    amounts : ndarray of int64, shape (n_items,)
        x.
    value : float
        Σ vᵢ xᵢ, the optimum.

    Raises
    ------
    ValueError
        If weights, capacity or upper are not whole or negative, values are nan, or lengths differ.

    Examples
    --------
    >>> from cgboost.pricing import solve_knapsack
    >>> amounts, value = solve_knapsack([5.0, 4.0, 3.0], [4, 3, 2], 7, upper=2)
    >>> amounts.tolist(), value
    ([0, 1, 2], 10.0)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise ValueError(f"values must be a row of numbers without nan, got {values!r}")
    size = _whole("weights", weights, len(values))
    most = _whole("upper", upper, len(values))
    room = int(_whole("capacity", capacity, 1)[0])
    amounts = np.zeros(len(values), dtype=np.int64)
    useful = values > 0
    weightless = useful & (size == 0)
    amounts[weightless] = most[weightless]
    fitting = np.flatnonzero(useful & (size > 0) & (size <= room) & (most > 0))
    parts = [
        (item, part)
        for item, copies in zip(
            fitting.tolist(),
            np.minimum(most, room // np.maximum(size, 1))[fitting].tolist(),
            strict=True,
        )
        for part in (_parts(copies) if copies > 1 else (1,))
    ]
    best = np.zeros(room + 1)
    taken = np.zeros((len(parts), room + 1), dtype=np.bool_)
    for own, (item, part) in zip(taken, parts, strict=True):
        weight = part * int(size[item])
        with_it = best[: room + 1 - weight] + part * values[item]
        np.greater(with_it, best[weight:], out=own[weight:])
        best[weight:] = np.where(own[weight:], with_it, best[weight:])
    left = room
    for own, (item, part) in zip(taken[::-1], parts[::-1], strict=True):
        if own[left]:
            amounts[item] += part
            left -= part * int(size[item])
    return amounts, float(values[amounts > 0] @ amounts[amounts > 0])


def _parts(most: int) -> list[int]:
    """Numbers that add up to any amount up to the most: 1, 2, 4, … and the rest."""
    parts, part = [], 1
    while most > 0:
        parts.append(min(part, most))
        most, part = most - part, 2 * part
    return parts


def _whole(name: str, given: Any, length: int) -> NDArray[np.int64]:
    numbers = np.asarray(given, dtype=np.float64)
    if numbers.shape not in ((), (length,)):
        raise ValueError(f"{name} must have {length} numbers, got shape {numbers.shape}")
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)))]
    if wrong.size:
        raise ValueError(f"{name} must be whole and not negative, got {float(wrong.flat[0])!r}")
    return np.broadcast_to(numbers.astype(np.int64), length)
