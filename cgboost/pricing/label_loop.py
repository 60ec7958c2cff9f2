"""The labels of :mod:`cgboost.pricing.labelling` one after another, for numba.

The same labels in the same steps as there: what is compared with all labels of a node at once in
NumPy is here compared until the first that dominates. The loop stops after some work, so that its
caller can look at the clock and Ctrl-C can strike, and goes on where it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector

Numbers = NDArray[np.int64]
Bits = NDArray[np.uint64]

Labels = tuple[Numbers, Numbers, Vector, Vector, Bits, Bits, Numbers]
"""Of all labels so far, with room for more: node, parent, cost, resources, nodes that are closed,
sets of which an odd number of nodes is visited, and the next label of its step, later of its node.
"""

Ends = tuple[Vector, Numbers]
"""Costs of paths that have reached the sink, and their last labels; with room for more."""

STEP, PLACE, N_LABELS, N_ENDS = range(4)
"""Places of what the loop counts: the step that it is in, the place among the labels of this step,
all labels, and all ends."""


def first_label(
    lower: Vector,
    upper: Vector,
    nearest: Vector,
    bit: Bits,
    step: float,
    source: int,
    member: Bits,
) -> tuple[Labels, Ends, Numbers, Numbers, Numbers, Numbers]:
    """The label of the source, from which :func:`label_paths` begins.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_resources, n_nodes)
    nearest : ndarray of shape (n_resources, n_nodes, n_nodes)
        The least consumption of any way.
    bit : ndarray of shape (n_nodes, n_words)
        Nodes as bits.
    step : float
        Of the first resource.
    member : ndarray of shape (n_nodes,)
        The sets that each node is in, as bits.

    Returns
    -------
    labels, ends
        With room for more.
    first_of_step : ndarray of int
        The first label of each step.
    kept : ndarray of int, shape (2, n_nodes)
        The first and the last label of each node that none dominates.
    here : ndarray of int
        The labels of the present step.
    counts : ndarray of int, shape (4,)
    """
    n_resources, n = lower.shape
    n_words = bit.shape[1]
    room = 1024
    node, parent = np.empty(room, np.int64), np.empty(room, np.int64)
    spent, used = np.empty(room), np.empty((room, n_resources))
    closed = np.empty((room, n_words), np.uint64)
    following, odd = np.empty(room, np.int64), np.empty(room, np.uint64)
    low, high = lower[0].min(), upper[0].max()
    base = int(np.floor(low / step)) - 1  # the source has a step of its own, before all others
    first_of_step = np.full(int(np.floor(high / step)) - base + 2, -1, np.int64)

    node[0], parent[0], spent[0], following[0] = source, -1, 0.0, -1
    for r in range(n_resources):
        used[0, r] = lower[r, source]
    for word in range(n_words):
        closed[0, word] = bit[source, word]
    for k in range(n):
        for r in range(n_resources):
            if used[0, r] + nearest[r, source, k] > upper[r, k]:
                closed[0, k // 64] |= bit[k, k // 64]
    first_of_step[0], odd[0] = 0, member[source]
    counts = np.zeros(4, np.int64)
    counts[N_LABELS] = 1
    labels = node, parent, spent, used, closed, odd, following
    ends = np.empty(64), np.empty(64, np.int64)
    kept = np.full((2, n), -1, np.int64)
    return labels, ends, first_of_step, kept, np.empty(0, np.int64), counts


def label_paths(
    labels: Labels,
    reached: Ends,
    first_of_step: Numbers,
    kept: Numbers,
    here: Numbers,
    counts: Numbers,
    work: int,
    cost: Vector,
    consumption: Vector,
    lower: Vector,
    upper: Vector,
    nearest: Vector,
    near: Bits,
    bit: Bits,
    onward: Vector,
    following_node: Numbers,
    step: float,
    n_cells: float,
    source: int,
    sink: int,
    below: float,
    remember: bool,
    member: Bits,
    prices: Vector,
) -> tuple[Labels, Ends, Numbers, bool]:
    """Label from the source to the sink, as far as some work leads.

    Parameters
    ----------
    labels, reached, first_of_step, kept, here, counts
        As :func:`first_label` makes them, or the last call has left them: ``first_of_step``,
        ``kept`` and ``counts`` are changed, the others returned.
    work : int
        Comparisons of labels, and nodes that labels are extended to, after which it stops.
    cost : ndarray of shape (n_nodes, n_nodes)
    consumption, nearest : ndarray of shape (n_resources, n_nodes, n_nodes)
        Of arcs, and the least of any way.
    lower, upper : ndarray of shape (n_resources, n_nodes)
    near, bit : ndarray of shape (n_nodes, n_words)
        The nodes that a node remembers, and itself, as bits.
    onward : ndarray of shape (2, n_nodes, n_cells)
    following_node : ndarray of int, shape (n_nodes, n_cells)
        What a path still costs at least, as of :func:`least_onward`.
    step : float
        Of the first resource.
    n_cells : float
        Cells in a step.
    below : float
        Only paths that cost less reach the sink.
    remember : bool
        Whether dominance looks at the closed nodes.
    member : ndarray of shape (n_nodes,)
        The sets that each node is in, as bits.
    prices : ndarray of shape (8, 256)
        What the sets of each byte of bits cost.

    Returns
    -------
    labels, reached, here
    over : bool
        Whether no label is left.
    """
    n_resources, n = lower.shape
    n_words = bit.shape[1]
    node, parent, spent, used, closed, odd, following = labels
    end_costs, ends = reached
    low = lower[0].min()
    base = int(np.floor(low / step)) - 1
    n_labels, n_ends, done = counts[N_LABELS], counts[N_ENDS], 0
    arrived = np.empty(n_resources)
    zero, octet, eight = np.uint64(0), np.uint64(255), np.uint64(8)
    number, place = counts[STEP], counts[PLACE]
    while number < len(first_of_step) and done < work:
        if place == 0:
            count, label = 0, first_of_step[number]
            while label >= 0:
                count += 1
                label = following[label]
            here, label = np.empty(count, np.int64), first_of_step[number]
            for at in range(count):
                here[at] = label
                label = following[label]
            here = here[np.argsort(spent[here])]
        while place < len(here) and done < work:
            label = here[place]
            place += 1
            done += n
            own = node[label]
            other, dominated = kept[0, own], False
            while other >= 0:
                done += 1
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
                        total, sets, byte = spent[other], odd[other] & ~odd[label], 0
                        while sets != zero:
                            total += prices[byte, np.int64(sets & octet)]
                            sets, byte = sets >> eight, byte + 1
                        better = total <= spent[label]
                if better:
                    dominated = True
                    break
                other = following[other]
            if dominated:
                continue
            following[label] = -1
            if kept[1, own] >= 0:
                following[kept[1, own]] = label
            else:
                kept[0, own] = label
            kept[1, own] = label
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
                if not fits:
                    continue
                total, sets, byte = spent[label] + cost[own, k], odd[label] & member[k], 0
                while sets != zero:
                    total += prices[byte, np.int64(sets & octet)]
                    sets, byte = sets >> eight, byte + 1
                if k == sink:
                    if total < below:
                        if n_ends == len(ends):
                            end_costs = np.append(end_costs, np.empty(n_ends))
                            ends = np.append(ends, np.empty(n_ends, np.int64))
                        end_costs[n_ends], ends[n_ends] = total, label
                        n_ends += 1
                    continue
                cell = int(np.floor((arrived[0] - low) * n_cells / step))
                rest, head = onward[0, k, cell], following_node[k, cell]
                if head >= 0:
                    closes = closed[label, head // 64] & near[k, head // 64]
                    if closes & bit[head, head // 64] != zero:
                        rest = onward[1, k, cell]
                if not total + rest < below:
                    continue
                if n_labels == len(node):
                    node, parent = np.append(node, node), np.append(parent, parent)
                    spent, following = np.append(spent, spent), np.append(following, following)
                    used, closed = np.concatenate((used, used)), np.concatenate((closed, closed))
                    odd = np.append(odd, odd)
                node[n_labels], parent[n_labels], spent[n_labels] = k, label, total
                odd[n_labels] = odd[label] ^ member[k]
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
        if place == len(here):
            number, place = number + 1, 0
    counts[STEP], counts[PLACE] = number, place
    counts[N_LABELS], counts[N_ENDS] = n_labels, n_ends
    labels = node, parent, spent, used, closed, odd, following
    return labels, (end_costs, ends), here, number == len(first_of_step)


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
) -> tuple[Vector, Numbers]:
    """Least cost of a walk without circles of two arcs from a node to the sink.

    From the first amount of a cell on (Christofides, Mingozzi, Toth, Networks 11, 1981).

    Parameters
    ----------
    cost, consumption : ndarray of shape (n_nodes, n_nodes)
        Of the first resource.
    lower, upper : ndarray of shape (n_nodes,)
    step, cells : float
        Cells in a step.
    rounding : float
        An amount may be below its cell by this share of it.

    Returns
    -------
    onward : ndarray of shape (2, n_nodes, n_cells)
        Of all walks, and of those that do not begin with the best one's first arc.
    following_node : ndarray of int, shape (n_nodes, n_cells)
        The second node of the best walk; −1 where there is none.
    """
    n = len(lower)
    low = lower.min()
    onward = np.full((2, n, n_cells), np.inf)
    following_node = np.full((n, n_cells), -1, np.int64)
    onward[:, sink] = 0.0
    for cell in range(n_cells - 1, -1, -1):
        amount = low + (cell - rounding) * step / cells
        for i in range(n):
            if i in (source, sink):
                continue
            least, second, best = np.inf, np.inf, -1
            for k in range(n):
                if k in (source, i) or not np.isfinite(cost[i, k]):
                    continue
                arrived = max(amount + consumption[i, k], lower[k])
                if arrived > upper[k]:
                    continue
                at = 0 if k == sink else int(np.floor((arrived - low) * cells / step))
                total = cost[i, k] + onward[1 if following_node[k, at] == i else 0, k, at]
                if total < least:
                    least, second, best = total, least, k
                elif total < second:
                    second = total
            onward[0, i, cell], onward[1, i, cell], following_node[i, cell] = least, second, best
    return onward, following_node
