"""Shortest paths with resource constraints: against all paths of small graphs."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.pricing import ElementaryPaths

Graph = dict[str, np.ndarray]


def graph(seed: int, n_inner: int) -> tuple[Graph, np.ndarray]:
    """Time with windows, a load, and costs of which some are inf and many negative."""
    rng = np.random.default_rng(seed)
    n = n_inner + 2
    time = rng.integers(1, 6, size=(n, n)).astype(float)
    load = np.broadcast_to(rng.integers(0, 4, size=n), (n, n)).astype(float)
    ready = rng.integers(0, 12, size=n)
    ready[0] = 0
    due = ready + rng.integers(3, 20, size=n)
    due[-1] = 30
    cost = rng.integers(-9, 7, size=(n, n)).astype(float)
    cost[rng.random((n, n)) < 0.2] = np.inf
    zero = np.zeros(n)
    resources = {
        "consumption": np.array([time, load]),
        "lower": np.array([ready, zero]),
        "upper": np.array([due, zero + 8]),
    }
    return resources, cost


def all_paths(resources: Graph, cost: np.ndarray) -> dict[tuple[int, ...], float]:
    """Every elementary path from the first node to the last within the windows, and its cost."""
    last = len(cost) - 1

    def onward(path: tuple[int, ...], used: np.ndarray, total: float) -> Iterator[tuple]:
        if path[-1] == last:
            yield path, total
            return
        for j in set(range(1, last + 1)) - set(path):
            arc = path[-1], j
            then = np.maximum(used + resources["consumption"][:, *arc], resources["lower"][:, j])
            if np.isfinite(cost[arc]) and (then <= resources["upper"][:, j]).all():
                yield from onward((*path, j), then, total + cost[arc])

    return dict(onward((0,), resources["lower"][:, 0], 0.0))


graphs = st.builds(graph, st.integers(0, 10**6), st.integers(1, 6))
memories = st.sampled_from([None, 0, 2])


@given(graphs, memories)
def test_the_cheapest_of_all_paths_is_found(case: tuple[Graph, np.ndarray], memory: int | None):
    """With any memory the bound is the least cost of all elementary paths, and a path has it."""
    resources, cost = case
    every = all_paths(resources, cost)
    paths = ElementaryPaths(**resources, source=0, sink=len(cost) - 1, memory=memory)
    found = paths.shortest(cost, 5, below=np.inf)
    assert found.bound == min(every.values(), default=np.inf)
    assert found.costs == [every[path] for path in found.paths] == sorted(found.costs)
    assert found.costs[:1] == ([found.bound] if every else [])


@given(graphs, memories, st.integers(-12, 3))
def test_only_paths_below_the_threshold_come_back(
    case: tuple[Graph, np.ndarray], memory: int | None, below: int
):
    """A threshold bounds what is returned, and is the bound where no path costs less."""
    resources, cost = case
    every = all_paths(resources, cost)
    paths = ElementaryPaths(**resources, source=0, sink=len(cost) - 1, memory=memory)
    found = paths.shortest(cost, 100, below=below)
    assert found.bound == min([*every.values(), below])
    assert bool(found.paths) == (found.bound < below)
    assert all(value < below for value in found.costs)


@given(graphs, memories)
def test_heuristic_paths_are_feasible_and_prove_nothing(
    case: tuple[Graph, np.ndarray], memory: int | None
):
    """Each is one of all elementary paths with its cost; the bound is −inf."""
    resources, cost = case
    every = all_paths(resources, cost)
    paths = ElementaryPaths(**resources, source=0, sink=len(cost) - 1, memory=memory)
    found = paths.heuristic(cost, 3)
    assert found.costs == [every[path] for path in found.paths]
    assert len(found.paths) <= 3
    assert all(value < 0 for value in found.costs)
    assert found.bound == -np.inf


@given(graphs, st.integers(0, 5))
def test_ng_paths_bound_elementary_ones(case: tuple[Graph, np.ndarray], memory: int):
    """The cheapest ng-path costs no more than the elementary one, and less memory lowers it."""
    resources, cost = case
    every = all_paths(resources, cost)
    bounds = [
        ElementaryPaths(**resources, source=0, sink=len(cost) - 1, memory=m).relaxed_bound(cost)
        for m in (memory, memory + 1, None)
    ]
    assert bounds == sorted(bounds)
    assert bounds[-1] == min(every.values(), default=np.inf)


def circle(n: int, memory: int | None) -> tuple[ElementaryPaths, np.ndarray]:
    """Nodes in a row, with a circle of two of them that pays at every turn."""
    time = np.ones((1, n, n))
    cost = np.full((n, n), np.inf)
    for i in range(n - 1):
        cost[i, i + 1] = 1.0
    cost[2, 1] = -3.0
    paths = ElementaryPaths(time, np.zeros((1, n)), np.full((1, n), 20.0), 0, n - 1, memory=memory)
    return paths, cost


def test_a_short_memory_goes_in_circles_and_learns_of_it():
    """Without memory a circle pays: the relaxed bound is lower, until a search has met it."""
    paths, cost = circle(5, 0)
    assert paths.relaxed_bound(cost) < 4.0
    assert paths.shortest(cost, 1, below=np.inf).paths == [(0, 1, 2, 3, 4)]
    assert paths.relaxed_bound(cost) == 4.0


def test_more_nodes_than_bits_of_a_word():
    """A row of 140 nodes, whose sets take three words, has one elementary path."""
    n = 140
    paths = ElementaryPaths(
        np.ones((1, n, n)), np.zeros((1, n)), np.full((1, n), 2.0 * n), 0, n - 1
    )
    cost = np.full((n, n), np.inf)
    for i in range(n - 1):
        cost[i, i + 1] = -1.0
        cost[i + 1, i] = -1.0
    found = paths.shortest(cost, 3)
    assert found.paths == [tuple(range(n))]
    assert found.bound == 1.0 - n


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"consumption": np.ones((3, 3))}, r"shape \(n_resources, n_nodes, n_nodes\)"),
        ({"consumption": np.zeros((1, 4, 4))}, "counts arcs"),
        ({"consumption": np.full((1, 4, 4), -1.0)}, "at least 0, got -1"),
        ({"lower": np.zeros((2, 4))}, r"lower must have the shape \(1, 4\), got \(2, 4\)"),
        ({"upper": np.zeros(4)}, r"upper must have the shape \(1, 4\), got \(4,\)"),
        ({"upper": np.full((1, 4), np.inf)}, "upper must be finite for the first resource"),
        ({"sink": 0}, "two nodes, got 0 for both"),
    ],
)
def test_what_cannot_be_searched_is_refused(changed: dict, message: str):
    """Shapes that do not fit, resources that fall or stand still, and one node for both ends."""
    right = {
        "consumption": np.ones((1, 4, 4)),
        "lower": np.zeros((1, 4)),
        "upper": np.ones((1, 4)),
        "source": 0,
        "sink": 3,
    }
    with pytest.raises(ValueError, match=message):
        ElementaryPaths(**{**right, **changed})
