"""Knapsacks by dynamic programming over the capacity: the pricing problem of many models.

Gilmore and Gomory, *A Linear Programming Approach to the Cutting-Stock Problem*, Oper. Res. 9,
1961. Amounts are written as sums of 1, 2, 4, … copies, each of which is taken or not (Martello and
Toth, *Knapsack Problems*, 1990, chapter 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.arrays import Mask, Vector

ROUNDING = 1e-12
"""Share of the value of a relaxation by which sums of values may be off: a few units in the last
place for each of thousands of terms."""


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
    pieces = np.array(parts, dtype=np.int64).reshape(-1, 2)
    worth, heavy = pieces[:, 1] * values[pieces[:, 0]], pieces[:, 1] * size[pieces[:, 0]]
    taken = _certainly(worth, heavy, room)
    open_ones = np.flatnonzero(np.isnan(taken))
    room -= int(heavy[taken == 1].sum())
    taken[open_ones] = _best(worth[open_ones], heavy[open_ones].tolist(), room)
    np.add.at(amounts, pieces[:, 0], pieces[:, 1] * (taken == 1))
    return amounts, float(values[amounts > 0] @ amounts[amounts > 0])


def _certainly(values: Vector, weights: NDArray[np.int64], room: int) -> Vector:
    """1 for parts that are in an optimal choice, 0 for those that are not, nan for the others.

    Let s be the first part in the order of value per weight that does not fit, and e its value per
    weight. The relaxation takes those before it and a share of it, and each part that is decided
    against the relaxation costs |vᵢ − e wᵢ| of its value at least (Dembo and Hammer 1980). Where
    this is more than what the relaxation has above a choice at hand, the relaxation is right.
    """
    order = np.argsort(-values / weights, kind="stable")
    used = np.cumsum(weights[order])
    n_whole = int(np.searchsorted(used, room, side="right"))
    result = np.full(len(values), np.nan)
    if n_whole == len(values):
        result[:] = 1.0
        return result
    inside = order[:n_whole]
    left = room - (int(used[n_whole - 1]) if n_whole else 0)
    price = values[order[n_whole]] / weights[order[n_whole]]
    sure = float(values[inside].sum())
    relaxed, at_hand = sure + price * left, sure
    for value, weight in zip(
        values[order[n_whole:]].tolist(), weights[order[n_whole:]].tolist(), strict=True
    ):
        if weight <= left:
            at_hand, left = at_hand + value, left - weight
    loss = np.abs(values - price * weights)
    wrong = loss > (relaxed - at_hand) + ROUNDING * relaxed
    result[wrong] = 0.0
    result[inside[wrong[inside]]] = 1.0
    return result


def _best(values: Vector, weights: list[int], room: int) -> Mask:
    """Which parts are taken in a best choice, by dynamic programming."""
    best = np.zeros((len(weights) + 1, room + 1))
    for k, (value, weight) in enumerate(zip(values.tolist(), weights, strict=True)):
        if weight <= room:
            np.add(best[k, : room + 1 - weight], value, out=best[k + 1, weight:])
            np.maximum(best[k + 1, weight:], best[k, weight:], out=best[k + 1, weight:])
        best[k + 1, : min(weight, room + 1)] = best[k, : min(weight, room + 1)]
    taken = np.zeros(len(weights), dtype=np.bool_)
    for k in range(len(weights) - 1, -1, -1):
        taken[k] = best[k + 1, room] > best[k, room]
        if taken[k]:
            room -= weights[k]
    return taken


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
