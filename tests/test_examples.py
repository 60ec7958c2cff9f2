"""The examples from operations research: valid bounds, known optima, and their size."""

import csv
import math
import os
import re
import runpy
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.stabilization import NoSmoothing, Wentges
from solvers import Program, SolverError, solve

EXAMPLES = Path(__file__).parents[1] / "examples"
WITHOUT_FILES = ["cutting_stock", "multicommodity_flow", "graph_colouring"]
NAMES = [*WITHOUT_FILES, "generalised_assignment", "p_median", "vehicle_routing", "crew_pairing"]
SMOOTHINGS = pytest.mark.parametrize("smoothing", [NoSmoothing(), Wentges()], ids=["off", "on"])


def example(name: str) -> dict[str, Any]:
    """The functions of an example, without running it."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def data_files(folder: str, pattern: str) -> list[Path]:
    """Real data, or skip."""
    root = os.environ.get("CGBOOST_DATA")
    found = sorted((Path(root) / folder).glob(pattern)) if root else []
    if not found:
        pytest.skip(f"set CGBOOST_DATA to a folder with {folder}/{pattern}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short(name: str) -> None:
    """At most 80 lines, of at most 100 characters, and a docstring that says how to run it."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    assert max(len(line) for line in text.splitlines()) <= 100
    assert f"    python examples/{name}.py " in text


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_examples_run_without_files(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of these solves a small problem, and prints the nodes and the bound."""
    path = EXAMPLES / f"{name}.py"
    monkeypatch.setattr("sys.argv", [path.name])
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert "nodes" in printed
    assert "bound" in printed


def small_order(seed: int, n_widths: int, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Widths, demand and capacity."""
    rng = np.random.default_rng(seed)
    widths = np.sort(rng.choice(np.arange(30, 100), n_widths, replace=False))
    return widths, rng.integers(1, most + 1, n_widths), 150


@SMOOTHINGS
def test_random_orders_are_cut_within_their_bounds(smoothing: Any) -> None:
    """Bound ≤ optimum ≤ objective in every round of the relaxation; fewest whole rolls."""
    functions = example("cutting_stock")
    for seed in range(3):
        order = small_order(seed, 12, 8)
        relaxation = ColumnGeneration(*functions["model"](*order), tol=1e-6, smoothing=smoothing)
        result = relaxation.run()
        optimum = all_patterns(*order)
        assert result.objective == pytest.approx(optimum, rel=1e-6)
        assert (result.history["objective"] >= optimum - 1e-6).all()
        assert (result.history["bound"] <= optimum * (1 + 1e-6)).all()
        rolls = functions["cut"](*order, smoothing=smoothing).run()
        assert rolls.objective == rolls.bound == round(all_patterns(*order, whole=True))


def test_whole_rolls_are_proven_by_branches_alone() -> None:
    """Random orders without heuristics, some of which need a tree: as HiGHS over all patterns."""
    cut, n_nodes = example("cutting_stock")["cut"], []
    for seed in range(12):
        order = small_order(seed, 8, 4)
        result = cut(*order, heuristics=[]).run()
        assert result.objective == result.bound == round(all_patterns(*order, whole=True))
        assert (result.coef @ [column.values for column in result.columns] >= order[1]).all()
        assert all(order[0] @ column.values <= order[2] for column in result.columns)
        n_nodes.append(result.n_nodes)
    assert np.count_nonzero(np.array(n_nodes) > 2) >= 2


def all_patterns(
    widths: np.ndarray, demand: np.ndarray, capacity: int, *, whole: bool = False
) -> float:
    """Optimum over every pattern (no more of a width than ordered), all at once."""
    patterns = [[]]
    for width, most in zip(widths, demand, strict=True):
        patterns = [
            [*p, k]
            for p in patterns
            for k in range(
                min(most, (capacity - int(widths[: len(p)] @ np.array(p, int))) // width) + 1
            )
        ]
    program = Program(
        cost=np.ones(len(patterns)),
        matrix=np.array(patterns).T,
        row_lower=demand,
        integrality=np.full(len(patterns), whole),
    )
    return solve(program, "highs").objective


@SMOOTHINGS
def test_flow_on_a_random_network_is_optimal(smoothing: Any) -> None:
    """The relaxation of the path formulation reaches that of the arc formulation."""
    functions = example("multicommodity_flow")
    arcs, commodities = functions["random_network"]()
    relaxation = ColumnGeneration(
        *functions["model"](arcs, commodities), tol=1e-8, columns_per_round=20, smoothing=smoothing
    )
    result = relaxation.run()
    optimum = arc_formulation(arcs, commodities)
    assert result.objective == pytest.approx(optimum, rel=1e-8)
    assert result.bound == pytest.approx(optimum, rel=1e-7)
    assert not (result.history["bound"] > optimum * (1 + 1e-7)).any()


def test_one_path_for_each_commodity_is_proven() -> None:
    """Small random networks with tight arcs: as HiGHS on the arc formulation, or none for both."""
    functions, n_nodes, found = example("multicommodity_flow"), [], []
    for seed in range(12):
        arcs, commodities = functions["random_network"](seed, 7, 8)
        arcs = [(i, j, cost, 2.0 + capacity // 3) for i, j, cost, capacity in arcs]
        result = functions["flow"](arcs, commodities, heuristics=[]).run()
        try:
            best = arc_formulation(arcs, commodities, whole=True)
        except SolverError:  # no paths fit
            best = math.inf
        assert result.objective == pytest.approx(best, rel=1e-9)
        assert result.stop_reason == ("optimal" if math.isfinite(best) else "infeasible")
        load = np.zeros(len(arcs))
        for k, arc in result.variables:
            load[arc] += commodities[k][2]
        assert (load <= [capacity for *_, capacity in arcs]).all()
        n_nodes.append(result.n_nodes)
        found.append(math.isfinite(best))
    assert np.count_nonzero(np.array(n_nodes) > 2) >= 2
    assert any(found)
    assert not all(found)


def arc_formulation(arcs: list[Any], commodities: list[Any], *, whole: bool = False) -> float:
    """Optimum of the flow problem with the share of each commodity on each arc as a variable."""
    nodes = sorted({node for arc in arcs for node in arc[:2]})
    incidence = np.zeros((len(nodes), len(arcs)))
    for a, (i, j, *_) in enumerate(arcs):
        incidence[nodes.index(i), a] += 1.0
        incidence[nodes.index(j), a] -= 1.0
    supply = np.zeros((len(commodities), len(nodes)))
    for k, (source, target, _) in enumerate(commodities):
        supply[k, nodes.index(source)] += 1.0
        supply[k, nodes.index(target)] -= 1.0
    n, demand = len(commodities), np.array([d for *_, d in commodities])
    balance = np.kron(np.eye(n), incidence)
    shared = np.kron(demand, np.eye(len(arcs)))
    capacity = np.array([arc[3] for arc in arcs])
    return solve(
        Program(
            cost=np.kron(demand, [arc[2] for arc in arcs]),
            matrix=np.vstack([balance, shared]),
            row_lower=np.concatenate([supply.ravel(), np.full(len(arcs), -np.inf)]),
            row_upper=np.concatenate([supply.ravel(), capacity]),
            upper=np.ones(n * len(arcs)),
            integrality=np.full(n * len(arcs), whole),
        ),
        "highs",
    ).objective


def test_a_network_without_room_is_infeasible_and_says_which_demand() -> None:
    """Demand 5 over an arc of capacity 3: proven infeasible, the rows named; whole paths too."""
    functions = example("multicommodity_flow")
    arcs, commodities = [(0, 1, 1.0, 3.0)], [(0, 1, 5.0)]
    result = ColumnGeneration(*functions["model"](arcs, commodities)).run()
    assert result.stop_reason == "infeasible"
    assert "'demand 0' (by 0.4)" in result.message
    assert functions["flow"](arcs, commodities).run().stop_reason == "infeasible"


@pytest.mark.parametrize(
    ("graph", "colours"),
    [
        (nx.cycle_graph(5), 3),
        (nx.petersen_graph(), 3),
        (nx.complete_graph(4), 4),
        (nx.mycielski_graph(4), 4),
        (nx.gnp_random_graph(30, 0.5, seed=6), 7),
    ],
)
@pytest.mark.parametrize(
    "options", [{}, {"heuristics": (), "start": (), "start_duals": None}], ids=["all", "tree"]
)
def test_small_graphs_are_coloured_with_their_known_numbers(
    graph: nx.Graph, colours: int, options: dict[str, Any]
) -> None:
    """Chromatic numbers of graphs that everybody knows, and of one that the tree alone divides."""
    result = example("graph_colouring")["colour"](graph, **options).run()
    assert result.objective == result.bound == colours


@pytest.mark.data
def test_or_library_instances_are_proven_at_the_root() -> None:
    """The first two of each class: the bound rounds up to the best known number or one less."""
    functions = example("cutting_stock")
    for path in data_files("cutstock", "binpack*.txt"):
        for _, *order, best in list(functions["instances"](path))[:2]:
            relaxation = ColumnGeneration(*functions["model"](*order), tol=1e-6).run()
            assert best - 1 <= math.ceil(relaxation.bound - 1e-6) <= best
            result = functions["cut"](*order).run()
            assert result.objective == result.bound == math.ceil(relaxation.bound - 1e-6)
            assert result.n_nodes == 1


def fleet(seed: int, n_customers: int) -> tuple[Any, ...]:
    """Customers with windows, for the example of vehicle routing; whole distances."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 100, size=(2, n_customers + 2))
    demand, ready = rng.integers(1, 9, n_customers + 2), rng.integers(0, 200, n_customers + 2)
    x[-1], y[-1], demand[[0, -1]], ready[[0, -1]] = x[0], y[0], 0, 0
    due = ready + rng.integers(80, 300, n_customers + 2)
    due[[0, -1]] = 1000
    distance = np.floor(np.hypot(x[:, None] - x, y[:, None] - y)) + 1
    window = np.array([np.minimum(ready, due), np.maximum(due, 160)])
    return distance, demand, window, np.full(n_customers + 2, 5.0), 20.0


def best_routes(fleet: tuple[Any, ...]) -> float:
    """Least length of routes over all orders of all sets of customers, by a partition of them."""
    distance, demand, window, service, capacity = fleet
    n = len(demand) - 2
    least: dict[frozenset[int], float] = {}

    def onward(path: list[int], time: float, length: float) -> None:
        visited = frozenset(path[1:])
        if visited:
            back = length + distance[path[-1], n + 1]
            least[visited] = min(least.get(visited, math.inf), back)
        for j in set(range(1, n + 1)) - visited:
            arrival = max(time + service[path[-1]] + distance[path[-1], j], window[0, j])
            if arrival <= window[1, j] and demand[[*visited, j]].sum() <= capacity:
                onward([*path, j], arrival, length + distance[path[-1], j])

    onward([0], 0.0, 0.0)
    sets = list(least)
    matrix = np.array([[float(i in own) for own in sets] for i in range(1, n + 1)])
    return solve(
        Program(
            cost=np.array([least[own] for own in sets]),
            matrix=matrix,
            row_lower=np.ones(n),
            row_upper=np.ones(n),
            upper=np.ones(len(sets)),
            integrality=np.ones(len(sets), dtype=bool),
        ),
        "highs",
    ).objective


def test_routes_are_the_shortest_of_all() -> None:
    """Random customers: the length is that of the best partition into all routes that exist."""
    for seed in range(5):
        own = fleet(seed, 7)
        result = example("vehicle_routing")["route"](own).run()
        assert result.objective == result.bound == round(best_routes(own))
        assert sorted(c for column in result.columns for c in column.key[1:-1]) == [*range(1, 8)]


def small_airline(seed: int, n_flights: int) -> tuple[tuple[Any, ...], list[str]]:
    """Random flights of three days from a base out and, most of them, back."""
    rng = np.random.default_rng(seed)
    flights = []
    for _ in range(n_flights // 2):
        leaves, place = rng.integers(0, 3) * 1440 + rng.integers(300, 900), rng.choice(["B", "C"])
        back = leaves + rng.choice([140, 240, 900, 1500])
        flights += [("A", leaves, place, leaves + 70), (place, back, "A", back + 70)]
    if seed % 4 == 3:  # nobody comes there
        flights.append(("D", 2000, "A", 2070))
    flights.sort(key=lambda flight: flight[1])
    return tuple(np.array(part) for part in zip(*flights, strict=True)), ["A", "B"]


def best_pairings(flights: tuple[Any, ...], bases: list[str], names: dict[str, Any]) -> float:
    """Least time away from base of a cover by all pairings that the rules allow, listed here."""
    origin, departure, destination, arrival = flights
    n = len(origin)
    pairings: dict[frozenset[int], float] = {}

    def onward(path: list[int], start: int, in_duty: int, n_duties: int) -> None:
        if destination[path[-1]] == origin[path[0]]:
            away = float(arrival[path[-1]] - departure[path[0]])
            pairings[frozenset(path)] = min(pairings.get(frozenset(path), math.inf), away)
        for j in np.flatnonzero(origin == destination[path[-1]]).tolist():
            wait = departure[j] - arrival[path[-1]]
            short = names["SIT"][0] <= wait <= names["SIT"][1]
            long = names["REST"][0] <= wait <= names["REST"][1]
            if short and in_duty < names["N_FLIGHTS"] and arrival[j] - start <= names["DUTY"]:
                onward([*path, j], start, in_duty + 1, n_duties)
            if long and n_duties < names["N_DUTIES"]:
                onward([*path, j], departure[j], 1, n_duties + 1)

    for i in np.flatnonzero(np.isin(origin, bases)).tolist():
        onward([i], departure[i], 1, 1)
    matrix = np.array([[float(i in own) for own in pairings] for i in range(n)])
    return solve(
        Program(
            cost=np.array(list(pairings.values())),
            matrix=matrix,
            row_lower=np.ones(n),
            row_upper=np.full(n, np.inf),
            upper=np.ones(len(pairings)),
            integrality=np.ones(len(pairings), dtype=bool),
        ),
        "highs",
    ).objective


def test_pairings_are_the_best_of_all() -> None:
    """Random flights: the time of the best cover by all pairings, or that there is no cover."""
    names = example("crew_pairing")
    covered = []
    for seed in range(16):
        flights, bases = small_airline(seed, 20)
        result = names["crew"](flights, bases).run()
        try:
            best = best_pairings(flights, bases, names)
        except SolverError:  # some flight has no pairing
            best = math.inf
        assert result.objective == pytest.approx(best, rel=1e-9)
        assert result.stop_reason == ("optimal" if math.isfinite(best) else "infeasible")
        covered.append(math.isfinite(best))
    assert any(covered)
    assert not all(covered)


@pytest.mark.data
def test_a_month_of_flights_has_its_crews() -> None:
    """1013 flights: the optimum that HiGHS proves on the compact model, 117 078 variables."""
    names = example("crew_pairing")
    (bases,) = data_files("crew/kasirzadeh1", "listOfBases.csv")
    result = names["crew"](*names["read"](bases.parent)).run()
    assert result.objective == result.bound == 282791.0
    assert (sum(column.values for column in result.columns) >= 1).all()


@pytest.mark.data
def test_solomon_instances_reach_their_optimum() -> None:
    """Three instances with 25 customers, of which RC101 has a gap at the root: proven optima."""
    functions = example("vehicle_routing")
    (values,) = data_files("vrptw", "OPTIMA.csv")
    with values.open(encoding="utf-8") as lines:
        optima = {row["name"]: float(row["value"]) for row in csv.DictReader(lines)}
    for name in ("C102", "R106", "RC101"):
        (path,) = data_files("vrptw", f"{name}.txt")
        result = functions["route"](functions["read"](path)).run()
        assert result.stop_reason == "optimal"
        assert result.objective / 10 == pytest.approx(optima[f"{name}.25"], rel=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("sense", ["min", "max"])
def test_generalised_assignment_reaches_its_known_optima(sense: str) -> None:
    """The five problems of gap1 and of gap5 are proven, for costs and for profits."""
    functions = example("generalised_assignment")
    (values,) = data_files("gap", "OPTIMA.csv")
    with values.open(encoding="utf-8") as lines:
        optima = {(r["file"], r["problem"], r["sense"]): r["value"] for r in csv.DictReader(lines)}
    for name in ("gap1.txt", "gap5.txt"):
        for number, (cost, weight, capacity) in enumerate(
            functions["instances"](values.parent / name), 1
        ):
            sign = 1.0 if sense == "min" else -1.0
            result = functions["assign"](sign * cost, weight, capacity).run()
            assert sign * result.objective == float(optima[name, str(number), sense])
            assert result.objective == result.bound


@pytest.mark.data
def test_p_medians_are_proven() -> None:
    """Five problems of 50 customers and 5 depots have their known optima."""
    functions = example("p_median")
    (values,) = data_files("pmedian", "OPTIMA.csv")
    with values.open(encoding="utf-8") as lines:
        optima = {row["file"]: float(row["value"]) for row in csv.DictReader(lines)}
    for number in (1, 2, 3, 4, 5):
        name = f"pmedcap1_{number}.txt"
        result = functions["locate"](*functions["instance"](values.parent / name)).run()
        assert result.objective == result.bound == optima[name]


@pytest.mark.data
def test_canad_networks_reach_their_known_optimum() -> None:
    """c33, c41 and c49: the fractional optimum to 1e-6; paths of c41 are proven, and cost more."""
    functions = example("multicommodity_flow")
    (values,) = data_files("mcf/canad", "optimal_values.csv")
    with values.open(encoding="utf-8") as lines:
        optima = {row["name"]: float(row["optimal_value"]) for row in csv.DictReader(lines)}
    for path in data_files("mcf/canad", "*.dow"):
        network = functions["network"](path)
        result = ColumnGeneration(*functions["model"](*network), tol=1e-8).run()
        assert result.objective == pytest.approx(optima[path.stem], rel=1e-6)
        assert result.bound == pytest.approx(optima[path.stem], rel=1e-6)
    paths = functions["flow"](*functions["network"](values.parent / "c41.dow")).run()
    assert paths.objective == pytest.approx(paths.bound, rel=1e-6)
    assert paths.objective > optima["c41"] + 1.0


def test_the_page_on_column_generation_runs_and_its_numbers_are_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The loop by hand has about 40 lines, and the toolkit agrees with it to the digits printed."""
    page = (EXAMPLES.parent / "docs" / "user_guide" / "column_generation.md").read_text(
        encoding="utf-8"
    )
    by_hand, toolkit, _ = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len([line for line in by_hand.splitlines() if line.strip()]) <= 45
    names: dict[str, Any] = {}
    exec(compile(by_hand, "by hand", "exec"), names)
    assert capsys.readouterr().out == "33.6429 rolls, at least 33.6429\n"
    exec(compile(toolkit, "toolkit", "exec"), names)
    assert names["result"].objective == pytest.approx(names["objective"], rel=1e-9)
    assert names["result"].bound == pytest.approx(33.6429, abs=5e-5)
    assert names["rolls"].objective == 34.0
