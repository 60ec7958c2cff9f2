"""Shortest walks: the shortest of all with so few arcs, and clear about bad input."""

import itertools

import numpy as np
import pytest

from cgboost.pricing import shortest_walks


def every_walk(
    arcs: list[tuple[int, int, float]], source: int, most: int
) -> dict[tuple[int, ...], tuple[int, float]]:
    """All walks with at most so many arcs: their arcs, where they end, and how long they are."""
    walks: dict[tuple[int, ...], tuple[int, float]] = {(): (source, 0.0)}
    new = walks
    for _ in range(most):
        new = {
            (*walk, a): (head, length + cost)
            for (walk, (node, length)), (a, (tail, head, cost)) in itertools.product(
                new.items(), enumerate(arcs)
            )
            if tail == node and cost < np.inf
        }
        walks = {**walks, **new}
    return walks


@pytest.mark.parametrize("seed", range(20))
def test_no_other_walk_is_shorter(seed: int) -> None:
    """Of all walks in a random network with cycles, parallel arcs, loops and arcs of cost inf."""
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(0, 5, size=(2, 12)).tolist()
    costs = rng.integers(-5, 9, size=12).astype(float)
    costs[rng.random(12) < 0.1] = np.inf
    arcs = list(zip(tails, heads, costs.tolist(), strict=True))
    for most in range(4):
        walks = every_walk(arcs, 2, most)
        found = shortest_walks(tails, heads, costs, 2, most)
        for node in range(len(found.length)):
            lengths = [length for end, length in walks.values() if end == node]
            assert found.length[node] == min(lengths, default=np.inf)
            if lengths:
                assert walks[tuple(found.to(node))] == (node, found.length[node])


def test_a_node_that_no_walk_reaches_is_named() -> None:
    """And there are networks without arcs."""
    found = shortest_walks([], [], [], 1, 3)
    assert found.to(1) == []
    with pytest.raises(ValueError, match="no walk leads to node 0"):
        found.to(0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"costs": [1.0]}, r"rows of one length, got shapes \(2,\), \(2,\) and \(1,\)"),
        ({"costs": [1.0, np.nan]}, "costs must be numbers above -inf"),
        ({"costs": [1.0, -np.inf]}, "costs must be numbers above -inf"),
        ({"most": -1}, "at least 0"),
        ({"source": -1}, "at least 0"),
        ({"tails": [0, -1]}, "at least 0"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], words: str) -> None:
    """What was wrong and its value."""
    network = {"tails": [0, 1], "heads": [1, 2], "costs": [1.0, 2.0], "source": 0, "most": 2}
    with pytest.raises(ValueError, match=words):
        shortest_walks(**{**network, **change})  # type: ignore[arg-type]
