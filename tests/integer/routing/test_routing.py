"""Routes by branch-and-price: against all routes there are, published optima, and bad input."""

import os
import re
from collections import Counter
from itertools import pairwise, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cgboost import ColumnGeneration
from cgboost.compiled import interruptible
from cgboost.generation.history import StopReason
from cgboost.integer import RestrictedMaster, listing
from cgboost.integer.decomposition import ModelError
from cgboost.integer.routing.first_routes import FirstRoutes
from cgboost.optional import is_installed
from cgboost.pricing import labelling
from cgboost.routing import RoutingPricer, read_routes
from solvers import Program, solve

needs_vrplib = pytest.mark.skipif(not is_installed("vrplib"), reason="vrplib is not installed")


def instance(seed: int, n_depots: int, n_customers: int = 6) -> dict[str, Any]:
    """A few customers and depots in a square, with loads, windows and a limit on stops."""
    rng = np.random.default_rng(seed)
    n = n_depots + n_customers
    places = rng.integers(0, 30, (n, 2)).astype(float)
    cost = np.round(np.hypot(*(places[:, None] - places).T)) + 1.0
    demand = np.append(np.zeros(n_depots), rng.integers(1, 5, n_customers))
    opens = np.append(np.zeros(n_depots), rng.integers(30, 80, n_customers))
    closes = opens + np.append(np.full(n_depots, 250.0), rng.integers(30, 90, n_customers))
    return {
        "cost": cost,
        "depots": tuple(range(n_depots)),
        "demand": demand,
        "capacity": [8.0 + depot for depot in range(n_depots)],
        "windows": np.column_stack([opens, closes]),
        "service": 5.0,
        "resources": [(np.ones((n, n)), np.zeros(n), np.full(n, 5.0))],
    }


def is_kept(case: dict[str, Any], path: tuple[int, ...]) -> bool:
    """Whether a route keeps to load, windows and four customers."""
    load = sum(case["demand"][list(path)])
    time, windows = case["windows"][path[0], 0], case["windows"]
    for tail, head in pairwise(path):
        time = max(time + case["service"] + case["cost"][tail, head], windows[head, 0])
        if time > windows[head, 1]:
            return False
    return bool(load <= case["capacity"][path[0]] and len(path) <= 6)


def all_routes(case: dict[str, Any]) -> dict[tuple[int, ...], float]:
    """Every route, and its length."""
    k = len(case["depots"])
    customers = range(k, len(case["cost"]))
    routes = {}
    for depot in case["depots"]:
        for size in range(1, 5):
            for stops in permutations(customers, size):
                path = (depot, *stops, depot)
                if is_kept(case, path):
                    routes[path] = float(sum(case["cost"][arc] for arc in pairwise(path)))
    return routes


def least_cost(case: dict[str, Any], n_vehicles: int) -> float:
    """The optimum over all routes, as an integer program; inf without a solution."""
    routes, n, k = all_routes(case), len(case["cost"]), len(case["depots"])
    matrix = np.zeros((n, len(routes)))
    for j, path in enumerate(routes):
        matrix[list(path[:-1]), j] = 1.0
    lower = np.where(np.arange(n) < k, -np.inf, 1.0)
    upper = np.where(np.arange(n) < k, float(n_vehicles), 1.0)
    m = len(routes)
    program = Program(list(routes.values()), matrix, lower, upper, 0.0, 1.0, None, np.ones(m, bool))
    return float(solve(program).objective)


@pytest.mark.parametrize(("seed", "n_depots"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)])
def test_the_optimum_of_all_routes_is_found(seed: int, n_depots: int) -> None:
    """The search ends at the optimum over all routes, with routes that keep to every limit."""
    case = instance(seed, n_depots)
    n_vehicles = 3 if n_depots == 1 else 2
    cost = case.pop("cost")
    result = RoutingPricer(cost, **case).search(n_vehicles=n_vehicles).run()
    case["cost"] = cost
    wanted = least_cost(case, n_vehicles)
    assert result.objective == result.bound == pytest.approx(wanted)
    served = [node for column in result.columns for node in column.key[1:-1]]
    assert sorted(served) == list(range(n_depots, len(cost)))
    assert all(is_kept(case, column.key) for column in result.columns)


@pytest.mark.parametrize("longest", [-1, 40, 10_000])
def test_nodes_end_by_lists_of_routes_at_the_optimum(
    longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a list may be, and without a first solution; most end at the root."""
    monkeypatch.setattr(listing, "MOST_IN_A_LIST", longest)
    ends, tried = listing.Listing.ends, []
    monkeypatch.setattr(listing.Listing, "ends", lambda *own: tried.append(ends(*own)) or tried[-1])
    for seed in range(4):
        case = instance(seed, 1, 7) | {"capacity": 7.0}
        search = RoutingPricer(**case).search(start=(), heuristics=[RestrictedMaster(every=1)])
        result = search.run()
        wanted = least_cost(case | {"capacity": [7.0]}, 7)
        assert result.objective == result.bound == pytest.approx(wanted)
    assert any(tried) == (longest > 0)


@pytest.mark.parametrize(("seed", "n_depots"), [(0, 1), (2, 2), (5, 2), (4, 3)])
def test_first_solutions_keep_to_every_limit_and_get_better(seed: int, n_depots: int) -> None:
    """All customers but those left out are served once, within the fleets."""
    case = instance(seed, n_depots, 9)
    pricer, lengths = RoutingPricer(**case), []
    nodes = [[depot, *range(n_depots, n_depots + 9), depot] for depot in range(n_depots)]
    costs = [case["cost"][np.ix_(own, own)] for own in nodes]
    for n_missing, routes in FirstRoutes(pricer._paths, costs, [2] * n_depots).solutions():
        paths = [tuple(nodes[depot][place] for place in route) for depot, route in routes]
        assert all(is_kept(case, path) for path in paths)
        served = [node for path in paths for node in path[1:-1]]
        assert len(set(served)) == len(served) == 9 - n_missing
        assert max(Counter(depot for depot, _ in routes).values()) <= 2
        length = sum(case["cost"][arc] for path in paths for arc in pairwise(path))
        lengths.append((n_missing, length))
    assert lengths == sorted(lengths, reverse=True)


def test_names_own_routes_and_the_loop() -> None:
    """Routes are known by the names of nodes; the loop alone gives a bound below the optimum."""
    case = instance(3, 2)
    names = ["north", "south", *(f"customer {j}" for j in range(6))]
    pricer = RoutingPricer(**case, names=names)
    master = pricer.master()
    route = pricer.route(("north", "customer 0", "north"), master.constraints.names)
    assert route.cost == 2.0 * case["cost"][0, 2]
    assert route.values.tolist() == [1.0, 0, 0, 0, 0, 0, 1.0, 0]
    master.add([route])
    relaxed = ColumnGeneration(master, pricer, columns_per_round=20).run()
    result = pricer.search().run()
    assert relaxed.bound is not None
    assert relaxed.bound <= result.objective + 1e-9
    assert {name for column in result.columns for name in column.key} <= set(names)


def test_customers_that_pay_are_served_where_it_is_worth_it() -> None:
    """With rows "<=" and prizes in the costs, no customer is served at a loss."""
    cost = np.array([[0, 5, 9.0], [5, 0, 9], [9, 9, 0]])
    prize = np.array([0.0, 11.0, 3.0])
    result = RoutingPricer(cost - prize[:, None]).search("<=").run()
    assert [column.key for column in result.columns] == [(0, 1, 0)]
    assert result.objective == result.bound == pytest.approx(-1.0)


@pytest.mark.parametrize("remember", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_compiled_loop_finds_what_numpy_finds(
    seed: int, remember: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Costs of all paths below a limit are the same with numba and without it."""
    if not is_installed("numba"):
        pytest.skip("numba is not installed")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 70)) if seed == 7 else int(rng.integers(4, 12))
    places = rng.uniform(0, 100, (n, 2))
    drive = np.round(np.hypot(*(places[:, None] - places).T), 1)
    load = rng.integers(1, 9, n).astype(float)
    opens = rng.uniform(0, 80, n)
    closes = opens + rng.uniform(20, 200, n)
    opens[0], closes[-1] = 0.0, 500.0
    cost = drive - rng.uniform(0, 60, n)[:, None]
    cost[rng.random((n, n)) < 0.1] = np.inf
    inner = np.arange(1, n - 1)
    subsets = [(rng.choice(inner, min(3, n - 2), False), 9.0 * rng.random()) for _ in range(20)]

    def found() -> list[Any]:
        graph = labelling.ElementaryPaths(
            [drive + 5.0, np.tile(load, (n, 1))],
            [opens, np.zeros(n)],
            [closes, np.full(n, 20.0)],
            0,
            n - 1,
            memory=3,
        )
        if not remember:
            return [graph.heuristic(cost, 1000, subsets=subsets).costs]
        paths = graph.shortest(cost, 1000, subsets=subsets)
        return [paths.costs, paths.bound, graph.relaxed_bound(cost)]

    fast = found()
    monkeypatch.setattr(labelling, "WORK", 1)  # portions of one label
    in_portions = found()
    monkeypatch.setattr(labelling, "compiled", lambda function: None)
    for one, other, portions in zip(fast, found(), in_portions, strict=True):
        np.testing.assert_allclose(one, other)
        np.testing.assert_array_equal(one, portions)


@pytest.mark.parametrize("loop", [labelling.compiled, lambda function: None])
def test_a_label_loop_ends_with_its_time(loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever that is: with paths below the limit, and without a bound unless it is over."""
    monkeypatch.setattr(labelling, "compiled", loop)
    monkeypatch.setattr(labelling, "WORK", 1)
    rng = np.random.default_rng(0)
    n = 9
    cost = rng.integers(1, 9, (n, n)) - 4.0
    load = np.ones((1, n, n))
    whole = labelling.ElementaryPaths(load, np.zeros((1, n)), np.full((1, n), n), 0, n - 1)
    best, ends = whole.shortest(cost, 1).bound, set()
    for ticks in (0, 1, 3, 10, 40, 160, 10**6):
        clock = iter(range(10**7))
        timer = SimpleNamespace(perf_counter=lambda clock=clock: next(clock))
        monkeypatch.setattr(labelling, "time", timer)
        found = whole.shortest(cost, 100, time_limit=ticks)
        assert all(best <= own < 0 for own in found.costs)
        assert found.bound in (-np.inf, best)
        ends.add(found.bound)
    assert ends == {-np.inf, best}


def test_a_search_that_runs_out_of_time_within_a_pricing_claims_nothing_wrong() -> None:
    """It ends as out of time, and its bound is below the optimum."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, 100, (10, 2))
    cost = np.round(np.hypot(*(places[:, None] - places).T))
    pricer = RoutingPricer(cost, demand=np.ones(10), capacity=4)
    optimum = pricer.search().run().objective
    for limit in (0.0, 0.003, 0.01, 0.03):
        result = pricer.search().run(time_limit=limit)
        assert result.stop_reason in (StopReason.TIME, StopReason.OPTIMAL)
        assert result.bound is None or result.bound <= optimum + 1e-6
        assert result.objective >= optimum - 1e-6
    search = pricer.search()
    state = search.options.master.solve()
    pricer.seconds_left = 0.0
    priced = pricer.price(state, 10)
    assert not priced.exact


SQUARE: NDArray[np.float64] = np.ones((3, 3))
BAD: list[tuple[dict[str, Any], str]] = [
    ({"cost": np.ones((2, 3))}, r"square matrix.*\(2, 3\)"),
    ({"cost": np.full((3, 3), np.nan)}, "with nan"),
    ({"cost": np.full((3, 3), -np.inf)}, "with -inf"),
    ({"cost": [[1.0]]}, "at least two nodes"),
    ({"cost": SQUARE, "depots": 0}, "list of numbers of nodes from 0 to 2"),
    ({"cost": SQUARE, "depots": (0, 0)}, "different nodes"),
    ({"cost": SQUARE, "depots": (0.5,)}, "nodes from 0 to 2"),
    ({"cost": -SQUARE, "windows": np.ones((3, 2))}, "travel_time .the costs.* at least 0, got -1"),
    ({"cost": SQUARE, "travel_time": SQUARE}, "go with windows"),
    ({"cost": SQUARE, "service": 1}, "go with windows"),
    ({"cost": SQUARE, "service": -1, "windows": np.ones((3, 2))}, "service must be at least 0"),
    ({"cost": SQUARE, "windows": np.full((3, 2), -np.inf)}, "a number at the depot 0, got -inf"),
    ({"cost": SQUARE, "demand": [0, -1, 1], "capacity": 2}, "demand must be at least 0, got -1"),
    ({"cost": SQUARE, "demand": [0, 1, 1], "capacity": np.nan}, "capacity has nan"),
    ({"cost": SQUARE, "demand": [0, 1, 1], "capacity": [2, 3]}, r"capacity must have .*\(1,\)"),
    ({"cost": SQUARE, "n_routes": 0}, "n_routes must be a whole number"),
    ({"cost": SQUARE, "memory": -1}, "memory must be a whole number"),
    ({"cost": SQUARE, "depots": (3,)}, "nodes from 0 to 2"),
    ({"cost": SQUARE, "depots": ()}, "nodes from 0 to 2"),
    ({"cost": SQUARE, "demand": [0, 1, 1]}, "go together"),
    ({"cost": SQUARE, "demand": [0, 1], "capacity": 2}, r"demand must have the shape \(3,\)"),
    ({"cost": SQUARE, "names": ["a", "a", "b"]}, "3 different ones, got 2"),
    ({"cost": SQUARE, "resources": [(SQUARE, [0, 0], [1, 1, 1])]}, r"lower ends of resources\[0\]"),
]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_bad_input_is_named(given: dict[str, Any], words: str) -> None:
    """What does not fit is refused with its name and value."""
    with pytest.raises(ValueError, match=words):
        RoutingPricer(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"demand": [0, 5, 1], "capacity": 2},
        {"windows": [[0, 9], [0, 0.5], [0, 9]]},
        {"cost": [[0, np.inf, 1], [1, 0, 1], [1, np.inf, 0]]},
        {"resources": [([[0, 4, 1], [1, 0, 1], [1, 4, 0]], 0, 3)]},
    ],
)
def test_customers_that_no_route_serves_are_named(given: dict[str, Any]) -> None:
    """Who must be served and cannot be is named; who need not be is left alone."""
    pricer = RoutingPricer(**{"cost": SQUARE, **given})
    with pytest.raises(ValueError, match="customer 1 cannot be served"):
        pricer.search()
    assert pricer.search("<=").run().objective == 0.0


def test_the_number_of_vehicles_is_checked() -> None:
    """Half a vehicle, a negative number and numbers for more depots than there are are errors."""
    pricer = RoutingPricer(SQUARE)
    for wrong, words in ((1.5, "whole, got 1.5"), (-1, "at least 0"), ([1, 2], "the shape")):
        with pytest.raises(ValueError, match=f"n_vehicles must .*{words}"):
            pricer.search(n_vehicles=wrong)


def test_a_customer_may_be_reached_by_way_of_others() -> None:
    """A customer that a route alone would reach late is served after another."""
    time = np.array([[0, 1, 9.0], [1, 0, 1], [1, 1, 0]])
    windows = [[0, 5], [0, 5], [0, 5]]
    result = RoutingPricer(SQUARE, windows=windows, travel_time=time).search().run()
    assert [column.key for column in result.columns] == [(0, 1, 2, 0)]


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e5, 1e10])
def test_units_of_money_load_and_time_do_not_count(unit: float) -> None:
    """In any unit the same customers share routes, proven; the depot never closes."""
    routes = []
    for own in (1.0, unit):
        case = instance(1, 1)
        case["cost"] += np.arange(49).reshape(7, 7) * np.pi / 100
        case["windows"][0, 1] = 1e9
        case |= {name: own * np.array(case[name]) for name in ("demand", "capacity", "windows")}
        case |= {"cost": own * case["cost"], "service": own * 5.0}
        result = RoutingPricer(**case).search().run()
        assert result.bound is not None
        assert 0.0 <= result.objective - result.bound <= 1e-6 * max(1.0, result.objective)
        routes.append({frozenset(column.key) for column in result.columns})
    assert routes[0] == routes[1]


def test_a_big_number_is_as_good_as_no_arc() -> None:
    """Arcs of 1e12, and any diagonal, change nothing of what is found and proven without them."""
    case = instance(2, 1)
    case["travel_time"] = case["cost"].copy()
    found = []
    for dear in (1e12, np.inf):
        case["cost"][1, 2] = case["cost"][3, 4] = dear
        np.fill_diagonal(case["cost"], dear)
        result = RoutingPricer(**case).search().run()
        assert result.objective == pytest.approx(result.bound)
        found.append(result.objective)
    assert found[0] == found[1]


@pytest.mark.parametrize("loop", [lambda function: None, lambda function: function])
def test_sums_that_are_rounded_down_lose_no_label(
    loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(0.5 + 0.1) / 0.1 is 5.99…, in the step of 0.5: the path by both is found all the same."""
    monkeypatch.setattr(labelling, "compiled", loop)
    load = np.tile([0.0, 0.5, 0.1, 0.0], (1, 4, 1))
    cost = np.full((4, 4), np.inf)
    cost[[0, 1, 2], [1, 2, 3]] = -1.0
    graph = labelling.ElementaryPaths(load, np.zeros((1, 4)), np.full((1, 4), 1.0), 0, 3)
    assert graph.shortest(cost, 5).paths == [(0, 1, 2, 3)]


def test_ctrl_c_in_a_compiled_loop_is_ctrl_c() -> None:
    """The SystemError that numba makes of Ctrl-C is Ctrl-C again, any other stays what it is."""

    def struck(cause: BaseException) -> None:
        raise SystemError("returned a result with an exception set") from cause

    with pytest.raises(KeyboardInterrupt):
        interruptible(struck, KeyboardInterrupt())
    with pytest.raises(SystemError):
        interruptible(struck, ValueError())


TSPLIB = """NAME : small
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 0
DEMAND_SECTION
1 0
2 7
3 5
DEPOT_SECTION
 1
 -1
EOF
"""


@needs_vrplib
def test_a_file_is_read_and_solved(tmp_path: Path) -> None:
    """Distances are rounded as asked, and the routes of a small file are the cheapest."""
    path = tmp_path / "small.vrp"
    path.write_text(TSPLIB)
    routes = read_routes(path)
    assert routes.cost.tolist() == [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    assert (routes.demand.tolist(), routes.capacity, routes.depots) == ([0, 7, 5], 10.0, (0,))
    assert routes.pricer().search().run().objective == 14.0
    assert routes.pricer(capacity=12).search().run().objective == 12.0
    assert routes.first(1).pricer().search().run().objective == 6.0
    skew = TSPLIB.replace("3 4 0", "3 4 1")
    for kind, rounded in (("EUC_2D", np.round), ("CEIL_2D", np.ceil), ("FLOOR_2D", np.floor)):
        path.write_text(skew.replace("EUC_2D", kind))
        exact = np.hypot(4.0, 1.0)  # 4.12
        for rounding, expected in (
            (None, rounded(exact)), ("nearest", 4.0), ("tenths", 4.1), ("none", exact),
        ):  # fmt: skip
            assert read_routes(path, rounding).cost[0, 2] == pytest.approx(expected)
            assert f"({kind})" in read_routes(path, rounding).distances
        assert read_routes(path).cost[0, 1] == 3.0
        with pytest.raises(ValueError, match="rounding must be"):
            read_routes(path, "up")


@needs_vrplib
def test_places_with_decimals_have_exact_distances(tmp_path: Path) -> None:
    """Two customers at one place are 0 apart, and places 5 apart are 5 apart, also rounded up."""
    path, places = tmp_path / "places.vrp", ("81.3 91.3", "81.3 91.3", "84.3 95.3")
    for kind in ("EUC_2D", "CEIL_2D", "FLOOR_2D"):
        own = TSPLIB.replace("EUC_2D", kind)
        for k, place in enumerate(places, 1):
            own = re.sub(rf"(?m)^{k} -?[\d.]+ -?[\d.]+$", f"{k} {place}", own, count=1)
        path.write_text(own)
        assert read_routes(path).cost.tolist() == [[0, 0, 5], [0, 0, 5], [5, 5, 0]]


@needs_vrplib
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("2 7\n3 5", "3 5\n2 7", "DEMAND_SECTION must be of the nodes 1 to 3"),
        ("2 0 3\n", "4 0 3\n", "NODE_COORD_SECTION must be of the nodes 1 to 3"),
        (" 1\n -1", " 7\n -1", "depots .7., of nodes 1 to 3"),
        (" 1\n -1", " 0\n -1", "depots .0., of nodes 1 to 3"),
        ("CAPACITY : 10\n", "", "has no 'capacity'"),
        ("DIMENSION : 3\n", "DIMENSION : 4\n", "nodes 1 to 4"),
        ("CAPACITY : 10\n", "CAPACITY : 10\nDISTANCE : 7\n", "has DISTANCE, which"),
        ("EOF", "BACKHAUL_SECTION\n1 0\n2 7\n3 0\nEOF", "has BACKHAUL, which"),
        ("2 7\n", "2 x\n", "no number"),
        ("2 7\n", "2 nan\n", "nan among the demand of node 2"),
    ],
)
def test_files_that_say_something_else_are_refused(
    before: str, after: str, words: str, tmp_path: Path
) -> None:
    """Node numbers, depots and sizes that a reader would take for others are errors."""
    path = tmp_path / "small.vrp"
    assert before in TSPLIB
    path.write_text(TSPLIB.replace(before, after))
    with pytest.raises(ModelError, match=words):
        read_routes(path)
    with pytest.raises(ModelError, match="there is no file"):
        read_routes(tmp_path / "none.vrp")


@needs_vrplib
def test_matrices_of_distances(tmp_path: Path) -> None:
    """Lower triangles in lines of any length are read; a matrix on one line is not."""
    path, head = tmp_path / "small.vrp", TSPLIB.partition("NODE_COORD")[0]
    rest = "DEMAND_SECTION" + TSPLIB.partition("DEMAND_SECTION")[2]

    def read(form: str, numbers: str) -> list[list[float]]:
        kind = head.replace("EUC_2D", f"EXPLICIT\nEDGE_WEIGHT_FORMAT : {form}")
        path.write_text(f"{kind}EDGE_WEIGHT_SECTION\n{numbers}\n{rest}")
        return read_routes(path).cost.tolist()

    whole = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    assert read("LOWER_ROW", "3\n4 5") == read("LOWER_ROW", "3 4 5") == whole
    assert read("FULL_MATRIX", "0 3 4\n3 0 5\n4 5 0") == whole
    with pytest.raises(ModelError, match=r"DIMENSION 3, but distances of shape \(1, 9\)"):
        read("FULL_MATRIX", "0 3 4 3 0 5 4 5 0")
    with pytest.raises(ModelError, match="cannot be read: vrplib says"):
        read("UPPER_ROW", "3 4\n5")


SOLOMON = """R1

VEHICLE
NUMBER     CAPACITY
  2         20

CUSTOMER
CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME

    0      0       0        0       0           99        0
    1      41      49       10.5    0           99        1
    2      0       3.5      7       0           99        1
"""


@needs_vrplib
def test_what_is_read_says_how_distances_were_made(tmp_path: Path) -> None:
    """Half a unit is rounded up, as TSPLIB says, demands are not, and the words say which it is.

    PyVRP rounds halves to even and its ``round_func`` scales loads; vrplib does not round.
    """
    path, text = tmp_path / "half.vrp", TSPLIB.replace("3 4 0", "3 3.5 0").replace("2 7", "2 7.5")
    for kind, rounding, words, distance in (
        ("EUC_2D", None, "rounded to the nearest whole number, halves up", 4.0),
        ("CEIL_2D", None, "rounded up", 4.0),
        ("FLOOR_2D", None, "rounded down", 3.0),
        ("FLOOR_2D", "none", "not rounded", 3.5),
        ("EUC_2D", "tenths", "cut after one decimal", 3.5),
    ):
        path.write_text(text.replace("EUC_2D", kind))
        routes = read_routes(path, rounding)
        assert (routes.cost[0, 2], routes.demand.tolist()) == (distance, [0, 7.5, 5])
        assert words in routes.distances
        assert kind in repr(routes.first(1))
    path.write_text(text.replace("EUC_2D", "EXACT_2D"))
    routes = read_routes(path)
    assert (routes.cost[0, 2], routes.distances) == (3500.0, "as vrplib has them (EXACT_2D)")
    path = tmp_path / "half.txt"
    path.write_text(SOLOMON)
    routes = read_routes(path)
    assert (*routes.cost[0], routes.demand[1]) == (0.0, 63.8, 3.5, 10.5)
    for before, after in (
        ("    2      0  ", "    3      0  "),
        ("7       0      ", "7       0  5   "),
    ):
        path.write_text(SOLOMON.replace(before, after))
        with pytest.raises(ModelError, match=r"half.txt.*(seven numbers|cannot be read|no number)"):
            read_routes(path)
    assert routes.distances == "Euclidean, cut after one decimal (Solomon)"


@needs_vrplib
@pytest.mark.parametrize(
    ("name", "n_customers", "optimum"), [("R101", 25, 617.1), ("C101", 25, 191.3)]
)
def test_published_optima(name: str, n_customers: int, optimum: float) -> None:
    """Solomon's instances end proven at the published optimum."""
    folder = Path(os.environ.get("CGBOOST_DATA", "")) / "vrptw"
    if not folder.is_dir():
        pytest.skip("the data are not here")
    routes = read_routes(folder / f"{name}.txt").first(n_customers)
    result = routes.pricer().search().run()
    assert result.objective == result.bound == pytest.approx(optimum)


def test_a_number_is_the_time_at_each_customer() -> None:
    """A route that may last 12 drives 8, and has 4 for its only customer: none for the depot."""
    cost = np.array([[0.0, 4.0], [4.0, 0.0]])
    windows = [[0.0, 12.0], [0.0, 12.0]]
    for service in (4.0, [0.0, 4.0]):
        assert RoutingPricer(cost, windows=windows, service=service).search().run().objective == 8.0
    with pytest.raises(ValueError, match="cannot be served"):
        RoutingPricer(cost, windows=windows, service=[1.0, 4.0]).search().run()
