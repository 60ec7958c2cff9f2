"""Knapsacks, walks, paths and independent sets against enumeration, and clear about bad input."""

from collections.abc import Callable, Iterator
from itertools import combinations, count, product
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.integer import ZykovBranching
from cgboost.pricing import (
    ElementaryPaths,
    contracted_graph,
    dominated_nodes,
    few_colours,
    greedy_independent_set,
    heaviest_independent_set,
    independent_set,
    shortest_walks,
    solve_knapsack,
)
from tests.effort import examples

ITEMS = st.lists(
    st.tuples(st.floats(-5, 10), st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=5
)


@settings(max_examples=examples(60))
@given(ITEMS, st.integers(0, 25))
def test_no_other_amounts_are_worth_more(
    items: list[tuple[float, int, int]], capacity: int
) -> None:
    """Of all amounts within bounds and capacity, by enumeration."""
    values, weights, upper = (np.array(part) for part in zip(*items, strict=True))
    amounts, value = solve_knapsack(values, weights, capacity, upper)
    assert ((amounts >= 0) & (amounts <= upper)).all()
    assert weights @ amounts <= capacity
    assert value == pytest.approx(values @ amounts, abs=1e-9)
    every = (np.array(x) for x in product(*(range(u + 1) for u in upper.tolist())))
    assert value == pytest.approx(
        max(values @ x for x in every if weights @ x <= capacity), abs=1e-9
    )


@pytest.mark.parametrize("seed", range(8))
def test_items_that_the_relaxation_decides(seed: int) -> None:
    """Of 40 items most are never looked at again; the value is that of the whole table."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 30, 40)
    values = rng.permutation([weights, rng.uniform(0, 30, 40), np.full(40, 3.0)])[0] * 10.0**seed
    best = np.zeros(201)
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        best[weight:] = np.maximum(best[weight:], best[: 201 - weight] + value)
    amounts, value = solve_knapsack(values, weights, 200)
    assert value == pytest.approx(best[-1])
    assert weights @ amounts <= 200


def test_each_item_is_there_once_by_default() -> None:
    """And nothing is taken where nothing fits or helps."""
    amounts, value = solve_knapsack([5.0, 4.0, 3.0], [4, 3, 2], 7)
    assert (amounts.tolist(), value) == ([1, 1, 0], 9.0)
    assert solve_knapsack([1.0, -1.0], [5, 1], 4) == (pytest.approx([0, 0]), 0.0)
    amounts, value = solve_knapsack(np.zeros(0), np.zeros(0), 3)
    assert (len(amounts), value) == (0, 0.0)


# ---------------------------------------------------------------------------- walks


def every_walk(
    arcs: list[tuple[int, int, float]], source: int, most: int
) -> dict[tuple[int, ...], tuple[int, float]]:
    """All walks with at most so many arcs: their arcs, where they end, and how long they are."""
    walks: dict[tuple[int, ...], tuple[int, float]] = {(): (source, 0.0)}
    new = walks
    for _ in range(most):
        new = {
            (*walk, a): (head, length + cost)
            for (walk, (node, length)), (a, (tail, head, cost)) in product(
                new.items(), enumerate(arcs)
            )
            if tail == node and cost < np.inf
        }
        walks = {**walks, **new}
    return walks


@pytest.mark.parametrize("seed", range(12))
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


# ---------------------------------------------------------------------------- paths

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


SUBSETS = st.lists(
    st.tuples(st.sets(st.integers(1, 6), min_size=2, max_size=4), st.integers(0, 5)), max_size=10
)
"""Sets of inner nodes of a graph of six, and what every second node of them costs."""


def paid(path: tuple[int, ...], subsets: list[tuple[set[int], int]]) -> int:
    """What a path pays for the nodes of some sets."""
    return sum(len(nodes & set(path)) // 2 * price for nodes, price in subsets)


@settings(max_examples=examples(60))
@given(
    st.builds(graph, st.integers(0, 10**6), st.just(6)),
    st.sampled_from([None, 0, 2]),
    st.integers(-12, 3),
    SUBSETS,
)
def test_the_cheapest_of_all_paths_is_found(
    case: tuple[Graph, np.ndarray], memory: int | None, below: int, subsets: list
) -> None:
    """With any memory the bound is the least cost of all elementary paths, and a path has it.

    A threshold bounds what is returned, and is the bound where no path costs less. Heuristic paths
    are among all, and prove nothing. The cheapest ng-path costs no more, and more memory raises it.
    """
    resources, cost = case
    alone = all_paths(resources, cost)
    every = {path: total + paid(path, subsets) for path, total in alone.items()}
    ends = {"source": 0, "sink": len(cost) - 1}
    paths = ElementaryPaths(**resources, **ends, memory=memory)
    quick = paths.heuristic(cost, 3, subsets=subsets)
    assert quick.costs == [every[path] for path in quick.paths]
    assert len(quick.paths) <= 3
    assert all(value < 0 for value in quick.costs)
    assert quick.bound == -np.inf
    found = paths.shortest(cost, 5, below=np.inf, subsets=subsets)
    assert found.bound == min(every.values(), default=np.inf)
    assert found.costs == [every[path] for path in found.paths] == sorted(found.costs)
    assert found.costs[:1] == ([found.bound] if every else [])
    paths = ElementaryPaths(**resources, **ends, memory=memory)
    found = paths.shortest(cost, 100, below=below, subsets=subsets)
    assert found.bound == min([*every.values(), below])
    assert bool(found.paths) == (found.bound < below)
    assert all(value < below for value in found.costs)
    bounds = [
        ElementaryPaths(**resources, **ends, memory=m).relaxed_bound(cost)
        for m in (memory or 0, (memory or 0) + 1, None)
    ]
    assert bounds == sorted(bounds)
    assert bounds[-1] == min(alone.values(), default=np.inf)


@settings(max_examples=examples(60))
@given(
    st.builds(graph, st.integers(0, 10**6), st.just(6)),
    st.integers(-12, 12),
    st.integers(0, 9),
    SUBSETS,
)
def test_every_set_of_nodes_has_its_best_path(
    case: tuple[Graph, np.ndarray], below: int, seed: int, subsets: list
) -> None:
    """Of all paths that cost less, the best by the other cost; None where there are too many."""
    resources, cost = case
    other = cost + np.random.default_rng(seed).integers(-3, 4, cost.shape)
    every, by_other = all_paths(resources, cost), all_paths(resources, other)
    best: dict[frozenset[int], float] = {}
    every = {path: total + paid(path, subsets) for path, total in every.items()}
    for path, total in every.items():
        if total < below:
            nodes = frozenset(path)
            best[nodes] = min(best.get(nodes, np.inf), by_other[path])
    paths = ElementaryPaths(**resources, source=0, sink=len(cost) - 1, memory=2)
    found = paths.every(cost, below, 10**4, also=other, subsets=subsets)
    assert {frozenset(path): by_other[path] for path in found.paths} == best
    assert len(found.paths) == len(best)
    assert found.costs == [every[path] for path in found.paths] == sorted(found.costs)
    most = len(best) - 1
    assert not best or paths.every(cost, below, most, also=other, subsets=subsets) is None


def row_of_nodes(n: int, cost: float, most: float, memory: int | None) -> tuple:
    """Nodes in a row, and what their arcs cost."""
    costs = np.full((n, n), np.inf)
    costs[np.arange(n - 1), np.arange(1, n)] = cost
    limits = np.zeros((1, n)), np.full((1, n), most)
    return ElementaryPaths(np.ones((1, n, n)), *limits, 0, n - 1, memory=memory), costs


def test_a_short_memory_goes_in_circles_and_learns_of_it() -> None:
    """Without memory a circle pays: the relaxed bound is lower, until a search has met it."""
    paths, cost = row_of_nodes(5, 1.0, 20.0, 0)
    cost[2, 1] = -3.0
    assert paths.relaxed_bound(cost) < 4.0
    assert paths.shortest(cost, 1, below=np.inf).paths == [(0, 1, 2, 3, 4)]
    assert paths.relaxed_bound(cost) == 4.0


def test_more_nodes_than_bits_of_a_word() -> None:
    """A row of 140 nodes, whose sets take three words, has one elementary path."""
    paths, cost = row_of_nodes(140, -1.0, 280.0, None)
    cost[np.arange(1, 140), np.arange(139)] = -1.0
    found = paths.shortest(cost, 3)
    assert found.paths == [tuple(range(140))]
    assert found.bound == 1.0 - 140


# ---------------------------------------------------------------------------- independent sets


def independent(graph: nx.Graph, nodes: object) -> bool:
    """Whether no two of the nodes are joined."""
    return graph.subgraph(nodes).number_of_edges() == 0


@pytest.mark.parametrize("seed", range(12))
def test_no_other_independent_set_is_heavier(seed: int) -> None:
    """Of all sets of nodes, of positive and negative weights; the greedy one is no heavier."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(9, rng.uniform(0.1, 0.9), seed=seed)
    weights = dict(enumerate(rng.uniform(-1, 3, size=9).tolist()))
    every = (nodes for n in range(10) for nodes in combinations(graph, n))
    best = max(sum(weights[v] for v in nodes) for nodes in every if independent(graph, nodes))
    nodes, weight, bound = heaviest_independent_set(graph, weights)
    assert independent(graph, nodes)
    assert best <= bound <= best + 9 * 3e-6
    assert weight == pytest.approx(sum(weights[v] for v in nodes))
    assert weight == pytest.approx(best, abs=9 * 3e-6)
    for above in (0.9 * best, best, best + 1.0):
        nodes, weight, bound = heaviest_independent_set(graph, weights, above=above)
        assert bound == pytest.approx(max(best, above))
        assert bound >= best
        assert (weight == pytest.approx(best)) if nodes else above >= best - 1e-9
    quick, quick_weight = greedy_independent_set(graph, weights)
    assert independent(graph, quick)
    assert quick_weight == pytest.approx(sum(weights[v] for v in quick))
    assert quick_weight <= bound


@pytest.mark.parametrize("seed", range(4))
def test_a_search_without_time_still_has_a_bound(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many branches are searched by then: a clock of ours ticks once at each."""
    graph = nx.gnp_random_graph(30, 0.3, seed=seed)
    weights = dict(enumerate(np.random.default_rng(seed).uniform(1, 2, size=30).tolist()))
    _, best, _ = heaviest_independent_set(graph, weights)
    bounds = []
    for ticks in (0, 1, 5, 10**6):
        clock = SimpleNamespace(perf_counter=count().__next__)
        monkeypatch.setattr(independent_set, "time", clock)
        nodes, weight, bound = heaviest_independent_set(graph, weights, time_limit=ticks)
        assert independent(graph, nodes)
        assert weight <= best + 1e-9 <= bound + 2e-9
        assert bound <= 2.0 * sum(weights.values())
        bounds.append(bound)
    assert bounds[0] > best + 1e-6
    assert bounds[-1] == pytest.approx(best)


def test_the_greedy_set_cannot_be_extended() -> None:
    """Each node that is left out has a neighbour in it, if all weights are positive.

    Without nodes, or without a positive weight, nothing weighs 0.
    """
    graph = nx.gnp_random_graph(30, 0.2, seed=1)
    chosen, _ = greedy_independent_set(graph, dict.fromkeys(graph, 1.0))
    assert nx.is_dominating_set(graph, chosen)
    for weight, graph in product([0.0, -1.0], [nx.Graph(), nx.path_graph(3)]):
        weights = dict.fromkeys(graph, weight)
        assert heaviest_independent_set(graph, weights)[1:] == (0.0, 0.0)
        assert greedy_independent_set(graph, weights)[1] == 0.0


def n_colours(graph: nx.Graph) -> int:
    """The chromatic number, by trying all colourings with one colour more each time."""
    nodes = list(graph)
    for n in range(len(nodes) + 1):
        first = [c for c in product(range(n), repeat=len(nodes)) if c[:1] in ((), (0,))]
        for colours in first:
            of = dict(zip(nodes, colours, strict=True))
            if all(of[a] != of[b] for a, b in graph.edges):
                return n
    raise AssertionError("a colour for each node is enough")


@pytest.mark.parametrize("seed", range(12))
def test_contracting_joining_and_dominated_nodes_keep_the_colours(seed: int) -> None:
    """The fewer colours of a pair contracted and of it joined are those of the graph.

    All dominated pairs alike leave the chromatic number; what is left has no dominated node.
    """
    graph = nx.gnp_random_graph(6, 0.45, seed=seed)
    for pair in list(nx.non_edges(graph))[:3]:
        alike, differ = contracted_graph(graph, [pair]), contracted_graph(graph, differ=[pair])
        assert frozenset(pair) in alike
        assert len(differ) == 6
        assert min(n_colours(alike), n_colours(differ)) == n_colours(graph)
    pairs = dominated_nodes(graph)
    reduced = contracted_graph(graph, pairs)
    assert len(reduced) == 6 - len(pairs)
    assert n_colours(reduced) == n_colours(graph)
    assert not dominated_nodes(graph.subgraph(set(graph) - {a for a, _ in pairs}))


@pytest.mark.parametrize("density", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("seed", range(8))
def test_colours_are_between_the_bound_and_a_colouring(seed: int, density: float) -> None:
    """The sets are independent and cover each node once."""
    graph = nx.gnp_random_graph(7, density, seed=seed)
    sets, bound = few_colours(graph, random_state=seed)
    assert bound <= n_colours(graph) == len(sets)
    assert sorted(node for nodes in sets for node in nodes) == sorted(graph)
    assert all(independent(graph, nodes) for nodes in sets)


def test_few_colours_end_in_time() -> None:
    """With the colouring of DSATUR, and a bound that holds; an ample limit changes nothing."""
    graph = nx.gnp_random_graph(60, 0.5, seed=1)
    sets, bound = few_colours(graph, time_limit=0.0)
    assert len(sets) == max(nx.greedy_color(graph, "DSATUR").values()) + 1
    assert bound <= len(few_colours(graph)[0]) < len(sets)
    assert few_colours(graph, time_limit=1e6) == few_colours(graph)


@pytest.mark.parametrize(("clique", "times"), [(1, 4), (2, 3), (3, 2), (4, 2)])
def test_mycielskians_need_one_colour_more_each(clique: int, times: int) -> None:
    """With all nodes renamed and in another order; the cliques do not grow."""
    graph, rng = nx.complete_graph(clique), np.random.default_rng(clique)
    for more in range(times + 1):
        assert few_colours(graph)[1] == clique + more
        graph = nx.mycielskian(graph)
        order = rng.permutation(len(graph)).tolist()
        mixed = nx.Graph()
        mixed.add_nodes_from(sorted(order))
        mixed.add_edges_from((order[a], order[b]) for a, b in graph.edges)
        graph = mixed


def test_queens_have_a_colour_for_each_row_of_the_board() -> None:
    """DSATUR has nine colours for 6 × 6 and eleven for 7 × 7; seven are enough for both."""
    for side in (6, 7):
        squares = list(product(range(side), repeat=2))
        graph = nx.Graph()
        for a, b in combinations(squares, 2):
            if a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1]):
                graph.add_edge(a, b)
        sets, bound = few_colours(graph)
        assert (len(sets), bound) == (7, side)


def weighted(search: Callable[..., tuple[object, ...]]) -> Callable[[nx.Graph], object]:
    """A search for independent sets, all nodes of weight 1."""
    return lambda graph: search(graph, dict.fromkeys(range(3), 1.0))


@pytest.mark.parametrize(
    "use",
    [
        few_colours,
        contracted_graph,
        dominated_nodes,
        ZykovBranching,
        weighted(greedy_independent_set),
        weighted(heaviest_independent_set),
    ],
)
def test_graphs_are_undirected_and_without_loops(use: Callable[[nx.Graph], object]) -> None:
    """Arcs one way would join one end only; no set has a node that is joined to itself."""
    with pytest.raises(ValueError, match=r"undirected, got DiGraph.*to_undirected"):
        use(nx.DiGraph([(0, 1), (1, 2), (2, 0)]))
    with pytest.raises(ValueError, match=r"no loops, but node 1 is joined to itself"):
        use(nx.Graph([(0, 1), (1, 1), (1, 2)]))
    with pytest.raises(TypeError, match=r"networkx.Graph, got list"):
        use([(0, 1), (1, 2)])
    use(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]))


@pytest.mark.parametrize("search", [greedy_independent_set, heaviest_independent_set])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, "heavy", None])
def test_weights_are_numbers(search: Callable[..., object], wrong: object) -> None:
    """The bound of sums with others would prove nothing."""
    path = nx.path_graph(3)
    with pytest.raises(ValueError, match=r"weights must .* of node 1 is missing or is not one"):
        search(path, {0: 1.0, 1: wrong, 2: 1.0})
    with pytest.raises(ValueError, match=r"of node 2 is missing"):
        search(path, [1.0, 1.0])


@pytest.mark.parametrize("seed", [np.int64(3), None, np.random.RandomState(0)])
def test_seeds_of_colourings_are_those_of_scikit_learn(seed: object) -> None:
    """A whole number of NumPy is that number."""
    graph = nx.gnp_random_graph(20, 0.5, seed=0)
    sets, bound = few_colours(graph, random_state=seed)
    assert bound <= len(sets)
    if seed is not None and isinstance(seed, np.integer):
        assert sets == few_colours(graph, random_state=3)[0]


def test_graphs_without_edges_have_one_colour_or_none() -> None:
    """No nodes, no colours."""
    for n in range(3):
        graph = nx.empty_graph(n)
        sets, bound = few_colours(graph)
        assert len(sets) == bound == min(n, 1)


def test_a_group_with_an_edge_inside_is_left_out() -> None:
    """It has no independent set."""
    graph = nx.path_graph(3)
    assert set(contracted_graph(graph, [(0, 1)])) == {frozenset({2})}
    assert set(contracted_graph(graph, [(0, 2)], [(0, 2)])) == {frozenset({1})}


# ---------------------------------------------------------------------------- bad input


def knapsack(**given: object) -> object:
    """One item, but for what is given."""
    return solve_knapsack(**{"values": [1.0], "weights": [1], "capacity": 1} | given)


def walks(**given: object) -> object:
    """Two arcs, but for what is given."""
    network = {"tails": [0, 1], "heads": [1, 2], "costs": [1.0, 2.0], "source": 0, "most": 2}
    return shortest_walks(**network | given)


def paths(**given: object) -> object:
    """Four nodes, but for what is given."""
    limits = {"lower": np.zeros((1, 4)), "upper": np.ones((1, 4))}
    ends = {"consumption": np.ones((1, 4, 4)), "source": 0, "sink": 3}
    return ElementaryPaths(**limits | ends | given)


@pytest.mark.parametrize(
    ("make", "given", "words"),
    [
        (knapsack, {"values": [np.nan]}, "values must be .* without nan"),
        (knapsack, {"weights": [1.5]}, "weights must be whole .* 1.5"),
        (knapsack, {"weights": [-1]}, "weights must be .* not negative, got -1"),
        (knapsack, {"weights": [1, 2]}, "weights must have 1 numbers"),
        (knapsack, {"capacity": -2}, "capacity must be .* -2"),
        (knapsack, {"upper": np.inf}, "upper must be .* inf"),
        (walks, {"costs": [1.0]}, r"rows of one length, got shapes \(2,\), \(2,\) and \(1,\)"),
        (walks, {"costs": [1.0, np.nan]}, "costs must be numbers above -inf"),
        (walks, {"costs": [1.0, -np.inf]}, "costs must be numbers above -inf"),
        (walks, {"most": -1}, "at least 0"),
        (walks, {"source": -1}, "at least 0"),
        (walks, {"tails": [0, -1]}, "at least 0"),
        (paths, {"consumption": np.ones((3, 3))}, r"shape \(n_resources, n_nodes, n_nodes\)"),
        (paths, {"consumption": np.zeros((1, 4, 4))}, "counts arcs"),
        (paths, {"consumption": np.full((1, 4, 4), -1.0)}, "at least 0, got -1"),
        (paths, {"lower": np.zeros((2, 4))}, r"lower must have the shape \(1, 4\), got \(2, 4\)"),
        (paths, {"upper": np.zeros(4)}, r"upper must have the shape \(1, 4\), got \(4,\)"),
        (paths, {"upper": np.full((1, 4), np.inf)}, "upper must be finite for the first resource"),
        (paths, {"sink": 0}, "two nodes, got 0 for both"),
    ],
)
def test_bad_input_is_named(
    make: Callable[..., object], given: dict[str, object], words: str
) -> None:
    """What was wrong and its value."""
    with pytest.raises(ValueError, match=words):
        make(**given)
