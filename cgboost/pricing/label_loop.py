"""The labels of :mod:`cgboost.pricing.labelling` one after another, for numba.

The same labels in the same steps as there: what is compared with all labels of a node at once in
NumPy is here compared until the first that dominates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]


def label_paths(
    cost: Vector,
    consumption: Vector,
    lower: Vector,
    upper: Vector,
    nearest: Vector,
    near: NDArray[np.uint64],
    bit: NDArray[np.uint64],
    onward: Vector,
    step: float,
    n_cells: float,
    source: int,
    sink: int,
    below: float,
    remember: bool,
) -> tuple[Numbers, Numbers, Vector, Numbers]:
    """Label from the source to the sink.

    Parameters
    ----------
    cost : ndarray of shape (n_nodes, n_nodes)
    consumption, nearest : ndarray of shape (n_resources, n_nodes, n_nodes)
        Of arcs, and the least of any way.
    lower, upper : ndarray of shape (n_resources, n_nodes)
    near, bit : ndarray of shape (n_nodes, n_words)
        The nodes that a node remembers, and itself, as bits.
    onward : ndarray of shape (n_nodes, n_cells)
        What a path still costs at least.
    step : float
        Of the first resource.
    n_cells : float
        Cells in a step.
    source, sink : int
    below : float
    remember : bool
        Whether dominance looks at the closed nodes.

    Returns
    -------
    nodes, parents : ndarray of int, shape (n_labels,)
    costs : ndarray of shape (n_ends,)
        Of paths that reach the sink for less than ``below``.
    ends : ndarray of int, shape (n_ends,)
        Their last labels.
    """
    n_resources, n = lower.shape
    n_words = bit.shape[1]
    room = 1024
    node, parent = np.empty(room, np.int64), np.empty(room, np.int64)
    spent, used = np.empty(room), np.empty((room, n_resources))
    closed = np.empty((room, n_words), np.uint64)
    following = np.empty(room, np.int64)  # the next label of its step, then of its node
    low, high = lower[0].min(), upper[0].max()
    base = int(np.floor(low / step)) - 1  # the source has a step of its own, before all others
    first_of_step = np.full(int(np.floor(high / step)) - base + 2, -1, np.int64)
    first_kept, last_kept = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    end_costs, ends, n_ends = np.empty(64), np.empty(64, np.int64), 0

    node[0], parent[0], spent[0], following[0] = source, -1, 0.0, -1
    for r in range(n_resources):
        used[0, r] = lower[r, source]
    for word in range(n_words):
        closed[0, word] = bit[source, word]
    for k in range(n):
        for r in range(n_resources):
            if used[0, r] + nearest[r, source, k] > upper[r, k]:
                closed[0, k // 64] |= bit[k, k // 64]
    n_labels = 1
    first_of_step[0] = 0

    arrived = np.empty(n_resources)
    for number in range(len(first_of_step)):
        count, label = 0, first_of_step[number]
        while label >= 0:
            count += 1
            label = following[label]
        if count == 0:
            continue
        here, label = np.empty(count, np.int64), first_of_step[number]
        for place in range(count):
            here[place] = label
            label = following[label]
        here = here[np.argsort(spent[here])]
        for place in range(count):
            label = here[place]
            own = node[label]
            other, dominated = first_kept[own], False
            while other >= 0:
                better = spent[other] <= spent[label]
                r = 0
                while better and r < n_resources:
                    better = used[other, r] <= used[label, r]
                    r += 1
                if better and remember:
                    word = 0
                    while better and word < n_words:
                        better = (closed[other, word] & ~closed[label, word]) == 0
                        word += 1
                if better:
                    dominated = True
                    break
                other = following[other]
            if dominated:
                continue
            following[label] = -1
            if last_kept[own] >= 0:
                following[last_kept[own]] = label
            else:
                first_kept[own] = label
            last_kept[own] = label
            for k in range(n):
                if k == source or not np.isfinite(cost[own, k]):
                    continue
                if k != sink and closed[label, k // 64] & bit[k, k // 64] != 0:
                    continue
                fits = True
                for r in range(n_resources):
                    amount = used[label, r] + consumption[r, own, k]
                    arrived[r] = max(amount, lower[r, k])
                    fits = fits and arrived[r] <= upper[r, k]
                total = spent[label] + cost[own, k]
                if not fits:
                    continue
                if k == sink:
                    if total < below:
                        if n_ends == len(ends):
                            end_costs = np.append(end_costs, np.empty(n_ends))
                            ends = np.append(ends, np.empty(n_ends, np.int64))
                        end_costs[n_ends], ends[n_ends] = total, label
                        n_ends += 1
                    continue
                cell = int(np.floor((arrived[0] - low) * n_cells / step))
                if not total + onward[k, cell] < below:
                    continue
                if n_labels == room:
                    node, parent = np.append(node, node), np.append(parent, parent)
                    spent, following = np.append(spent, spent), np.append(following, following)
                    used, closed = np.concatenate((used, used)), np.concatenate((closed, closed))
                    room *= 2
                node[n_labels], parent[n_labels], spent[n_labels] = k, label, total
                for r in range(n_resources):
                    used[n_labels, r] = arrived[r]
                for word in range(n_words):
                    closed[n_labels, word] = (closed[label, word] & near[k, word]) | bit[k, word]
                for other in range(n):
                    for r in range(n_resources):
                        if arrived[r] + nearest[r, k, other] > upper[r, other]:
                            closed[n_labels, other // 64] |= bit[other, other // 64]
                            break
                # 0.5 + 0.1 in steps of 0.1 is rounded back into the step that is being extended
                at = max(int(np.floor(arrived[0] / step)) - base, number + 1)
                following[n_labels] = first_of_step[at]
                first_of_step[at] = n_labels
                n_labels += 1
    return node[:n_labels], parent[:n_labels], end_costs[:n_ends], ends[:n_ends]


def least_onward(
    cost: Vector,
    consumption: Vector,
    lower: Vector,
    upper: Vector,
    step: float,
    cells: float,
    n_cells: int,
    rounding: float,
    source: int,
    sink: int,
) -> Vector:
    """Least cost of a walk from a node to the sink, from the first amount of a cell on.

    Parameters
    ----------
    cost, consumption : ndarray of shape (n_nodes, n_nodes)
        Of the first resource.
    lower, upper : ndarray of shape (n_nodes,)
    step, cells : float
        Cells in a step.
    n_cells : int
    rounding : float
        An amount may be below its cell by this share of it.
    source, sink : int

    Returns
    -------
    ndarray of shape (n_nodes, n_cells)
    """
    n = len(lower)
    low = lower.min()
    onward = np.full((n, n_cells), np.inf)
    onward[sink] = 0.0
    for cell in range(n_cells - 1, -1, -1):
        amount = low + (cell - rounding) * step / cells
        for i in range(n):
            if i in (source, sink):
                continue
            least = np.inf
            for k in range(n):
                if k in (source, i) or not np.isfinite(cost[i, k]):
                    continue
                arrived = max(amount + consumption[i, k], lower[k])
                if arrived > upper[k]:
                    continue
                at = 0 if k == sink else int(np.floor((arrived - low) * cells / step))
                least = min(least, cost[i, k] + onward[k, at])
            onward[i, cell] = least
    return onward
