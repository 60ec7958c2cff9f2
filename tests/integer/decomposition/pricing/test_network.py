"""Recognition of networks."""

from itertools import product

import numpy as np
import pytest

from cgboost.integer.decomposition.pricing.network import network_of

from .networks import block_of, flow


@pytest.mark.parametrize("ends", range(3))
def test_the_rows_are_those_of_the_network(ends: int) -> None:
    """Of all 0/1 points those meet the rows for which some slack gives the network's balances."""
    n_met = 0
    for seed in range(20):
        own = flow(seed, n=4, n_arcs=7, ends=ends)
        network = network_of(own)
        assert network is not None
        assert network.balance.sum() == 0
        n, n_nodes = len(own.variables), len(network.balance)
        incidence = np.zeros((n_nodes, n))
        incidence[network.tails[:n], np.arange(n)] += 1
        incidence[network.heads[:n], np.arange(n)] -= 1
        out, into = np.zeros((2, n_nodes), dtype=bool)
        out[network.tails[n:]] = into[network.heads[n:]] = True
        for point in product((0.0, 1.0), repeat=n):
            short = network.balance - incidence @ point
            met = ((short == 0) | ((short > 0) & out) | ((short < 0) & into))[:-1].all()
            rows = own.matrix @ np.array(point)
            assert met == ((rows >= own.row_lower).all() and (rows <= own.row_upper).all())
            n_met += met
    assert n_met


@pytest.mark.parametrize(
    ("matrix", "low", "high"),
    [
        ([[1.0, 2.0]], 1, 1),
        ([[1.0], [1], [1]], 1, 1),
        ([[1.0, 0.0]], 1, 1),
        ([[1.0, 1]], 0, 1),
        ([[1.0, 1]], -np.inf, np.inf),
        ([[1.0, 0, 1], [1, 1, 0], [0, 1, 1]], 1, 1),
    ],
    ids=["a two", "three entries", "no entry", "two sides", "no side", "an odd cycle"],
)
def test_what_is_no_network(matrix: list[list[float]], low: float, high: float) -> None:
    """Other entries, other rows, and an odd cycle of equal entries."""
    assert network_of(block_of(matrix, low, high)) is None
