"""Steps of a vertex as loops that numba compiles: :meth:`KinkedVertex.step`, many at a time."""

from __future__ import annotations

import numpy as np

from cgboost.arrays import Indices, Vector

DONE, NONE, ENDLESS = 0, 1, 2
"""What became of the last step, as in :class:`~cgboost.optimizers.simplex.vertex.StepOutcome`."""


def make_steps(
    limit: int,
    smallest_pivot: float,
    violation: float,
    tableau: tuple[Vector, Vector, Vector],
    pending: int,
    numbers: tuple[Indices, Indices],
    at_others: tuple[Vector, Vector, Vector, Vector],
    at_zero: tuple[Vector, Vector, Vector, Vector, Vector, Vector],
) -> tuple[int, int, int]:
    """At most ``limit`` steps; how many were made, what became of the last one, and its edge.

    Parameters
    ----------
    limit : int
        As many as exchanges may still be pending.
    smallest_pivot, violation : float
    tableau : tuple of ndarray
        What is held, and the left and right factors of pending exchanges, which are ``pending``.
    numbers : tuple of ndarray
        Of the quantities that are 0, and of the others.
    at_others : tuple of ndarray
        Value, side, jump of the slope, and both slopes.
    at_zero : tuple of ndarray
        Dual, length, upper and lower slope, and limits of the dual.
    """
    held, left, right = tableau
    value, side, jump, ends = at_others
    dual, length, upper, lower, most, least = at_zero
    count, width = len(value), len(dual)
    column, row, times = np.empty(count), np.empty(width), np.empty(count)
    order = np.empty(count, dtype=np.intp)
    for number in range(limit):
        place, best = -1, 0.0
        for j in range(width):
            off = max(dual[j] - most[j], least[j] - dual[j])
            if off > best * length[j]:
                place, best = j, off / length[j]
        if place < 0:
            return number, NONE, 0
        up = dual[place] > most[place]
        way = 1.0 if up else -1.0
        slope = max(dual[place] - most[place], least[place] - dual[place])
        for i in range(count):
            column[i] = held[i, place]
        for k in range(pending):
            share = right[k, place]
            for i in range(count):
                column[i] -= share * left[i, k]
        fastest = 1.0
        for i in range(count):
            fastest = max(fastest, -way * column[i] * side[i])
        for i in range(count):
            speed = -way * column[i] * side[i]
            meets = speed > smallest_pivot * fastest
            times[i] = value[i] * side[i] / speed if meets else np.inf
        # across kinks, in the order of their times, until the slope is used up
        n_crossed, kink = 0, -1
        while kink < 0:
            first = int(np.argmin(times))
            if times[first] == np.inf:
                return number, ENDLESS, place if up else -1 - place
            slope -= jump[first] * abs(column[first])
            if slope <= 0.0:
                kink = first
            else:
                order[n_crossed], times[first] = first, np.inf
                n_crossed += 1
        time = max(0.0, times[kink])
        for i in range(count):
            value[i] += way * time * column[i]
        dual[place] -= upper[place] if up else lower[place]
        for crossed in order[:n_crossed]:
            side[crossed] = -side[crossed]
            weight = jump[crossed] * side[crossed]
            for j in range(width):
                dual[j] -= weight * held[crossed, j]
            for k in range(pending):
                share = weight * left[crossed, k]
                for j in range(width):
                    dual[j] += share * right[k, j]
        row[:] = held[kink, :width]
        for k in range(pending):
            share = left[kink, k]
            for j in range(width):
                row[j] -= share * right[k, j]
        pivot = row[place]
        share, stretch = dual[place] / pivot, length[place] / abs(pivot)
        for j in range(width):
            dual[j] -= share * row[j]
            length[j] = max(length[j], stretch * abs(row[j]))
        dual[place] = share + (ends[0, kink] if side[kink] > 0 else ends[1, kink])
        length[place] = max(stretch, 1.0)
        for i in range(count):
            left[i, pending] = column[i] / column[kink]
        left[kink, pending] = (column[kink] + 1.0) / column[kink]
        right[pending, :width] = row
        right[pending, place] -= 1.0
        pending += 1
        high, low = ends[0, kink], ends[1, kink]
        ends[0, kink], ends[1, kink] = upper[place], lower[place]
        jump[kink] = upper[place] - lower[place]
        upper[place], lower[place] = high, low
        most[place] = (1.0 + violation) * high
        least[place] = low - violation * high
        numbers[0][place], numbers[1][kink] = numbers[1][kink], numbers[0][place]
        value[kink], side[kink] = way * time, way
    return limit, DONE, 0
