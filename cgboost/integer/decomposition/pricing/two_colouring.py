"""Two-colouring of a graph whose edges ask for equal or for different colours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from cgboost.arrays import Mask
from cgboost.integer.decomposition.blocks import Positions


def two_colouring(n: int, first: Positions, second: Positions, different: Mask) -> Mask | None:
    """Colours of n nodes such that every edge has what it asks for; None if there are none.

    Components of the graph with two copies of each node, one for either colour: an edge joins
    copies that go together. There is a colouring exactly if no node has both copies in one
    component (Harary, Michigan Math. J. 2, 1953).

    Parameters
    ----------
    n : int
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
