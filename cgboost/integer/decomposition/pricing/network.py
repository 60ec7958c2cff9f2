"""Recognition of networks: blocks whose rows say that flow is conserved.

l_i ≤ Σ_{arcs out of i} z − Σ_{arcs into i} z ≤ u_i    after some rows are multiplied by −1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from cgboost.arrays import Mask, Vector
from cgboost.integer.decomposition.blocks import Positions
from cgboost.integer.decomposition.pricing.block import Block


@dataclass(frozen=True, eq=False)
class Network:
    """A directed graph with a balance of each node: what leaves it less what enters it.

    Attributes
    ----------
    tails, heads : ndarray of int, shape (n_arcs,)
        The arcs of the variables, in their order, and behind them one for each row that is an
        inequality. The last node is where arcs of a single row end or begin.
    balance : ndarray of shape (n_nodes,)
    """

    tails: Positions
    heads: Positions
    balance: Vector


def network_of(block: Block) -> Network | None:
    """The network of a block; None if it is none.

    Every variable has one entry or two, ±1. Rows get signs such that the entries of a variable are
    one +1 and one −1; if there are such signs, a two-colouring of the rows finds them. A row with
    one side gets a slack arc. The balance of the last node is what is missing to 0.
    """
    matrix = sp.csc_array(block.matrix)
    n_rows, n = matrix.shape
    n_entries = np.diff(matrix.indptr)
    if not n or not np.isin(n_entries, (1, 2)).all() or (np.abs(matrix.data) != 1).any():
        return None
    first, last = matrix.indptr[:-1], matrix.indptr[1:] - 1
    colours = two_colouring(
        n_rows,
        matrix.indices[first].astype(np.intp),
        matrix.indices[last].astype(np.intp),
        (matrix.data[first] == matrix.data[last]) & (n_entries == 2),
    )
    if colours is None:
        return None
    signs = np.where(colours, -1.0, 1.0)
    low = np.where(colours, -block.row_upper, block.row_lower)
    high = np.where(colours, -block.row_lower, block.row_upper)
    below, above = np.isfinite(low), np.isfinite(high)
    if not (below | above).all() or (below & above & (low != high)).any():
        return None
    leaves = signs[matrix.indices] * matrix.data > 0
    column = np.repeat(np.arange(n), n_entries)
    tails, heads = np.full(n, n_rows, dtype=np.intp), np.full(n, n_rows, dtype=np.intp)
    tails[column[leaves]] = matrix.indices[leaves]
    heads[column[~leaves]] = matrix.indices[~leaves]
    at_most, at_least = np.flatnonzero(~below), np.flatnonzero(~above)
    ends = np.full(at_most.size, n_rows), np.full(at_least.size, n_rows)
    own = np.where(below, low, high)
    return Network(
        np.concatenate([tails, at_most, ends[1]]),
        np.concatenate([heads, ends[0], at_least]),
        np.append(own, -own.sum()),
    )


def two_colouring(n: int, first: Positions, second: Positions, different: Mask) -> Mask | None:
    """Colours of n nodes such that every edge has what it asks for; None if there are none.

    Components of the graph with two copies of each node, one for either colour: an edge joins
    copies that go together. There is a colouring exactly if no node has both copies in one
    component (Harary, Michigan Math. J. 2, 1953).

    Parameters
    ----------
    first, second : ndarray of int, shape (n_edges,)
    different : ndarray of bool, shape (n_edges,)
        Whether the colours of an edge differ.

    Returns
    -------
    ndarray of bool, shape (n,), or None
    """
    start = np.r_[first, first + n]
    end = np.r_[np.where(different, second + n, second), np.where(different, second, second + n)]
    graph = sp.coo_array((np.ones(start.size), (start, end)), shape=(2 * n, 2 * n))
    _, component = connected_components(graph, directed=False)
    one, other = component[:n], component[n:]
    return None if (one == other).any() else np.asarray(one > other)
