"""When a search has a solution and a bound, with all defaults: routing, packing, cutting, shifts.

    python benchmarks/first_solutions.py --data DATA [--limit 20] [--numba] [--only …] [--write]

DATA holds ``cvrp``, ``vrptw``, ``coloring`` and ``gap`` (A-n32-k5.vrp, R108.txt, le450_15b.col,
gapd.txt, …). Other instances are made here, from a fixed seed. Models are those of the scripts in
``examples``, of ``RoutingPricer``, and of ``decompose`` with blocks by name (packing). Each runs in
a process of its own, one thread, as if numba were not installed. Seconds are CPU seconds from the
making of the search on, and the limit is one of them. Best known values of instances that are made
here are proven, that of shifts is a bound. With ``--write`` the table is
written as a CSV file for the page of performance, and the course of all searches as a picture.
"""

import argparse
import csv
import itertools
import math
import multiprocessing
import runpy
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "development" / "performance" / "first_solutions.csv"
MOST_TIMES = 30.0
"""A limit of CPU seconds is at most so many times as long by the clock."""

NEAR, SOON, LATER, BOUND_SOON = 1.05, 2.0, 20.0, 10.0
"""A solution in 2 s, one within 5 % of the best known in 20 s, and a bound in 10 s are wanted."""


def example(name):
    """What a script of ``examples`` defines."""
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def routes(name, n_customers=None):
    """A file of routes."""

    def search(data):
        from cgboost.routing import read_routes

        own = read_routes(data / ("cvrp" if name.endswith("vrp") else "vrptw") / name)
        return (own if n_customers is None else own.first(n_customers)).pricer().search

    return search


def depots(data):
    """Three depots, 25 customers with windows; a vehicle serves four to six."""
    from cgboost.routing import RoutingPricer

    rng, n = np.random.default_rng(3), 25
    places = rng.integers(0, 100, (n + 3, 2))
    distance = np.round(np.hypot(*(places[:, None] - places).transpose(2, 0, 1)))
    opens = np.append([0, 0, 0], rng.integers(0, 200, n))
    closes = np.append([400, 400, 400], opens[3:] + rng.integers(60, 160, n))
    demand = np.append([0, 0, 0], rng.integers(4, 16, n))
    windows = np.column_stack([opens, closes])
    pricer = RoutingPricer(
        distance, depots=(0, 1, 2), demand=demand, capacity=50, windows=windows, service=5
    )
    return lambda **options: pricer.search(n_vehicles=4, **options)


def colours(name):
    """A graph of DIMACS, as the example colours it."""

    def search(data):
        own = example("graph_colouring")
        graph = own["read"](data / "coloring" / name)
        return lambda **options: own["colour"](graph, **options)

    return search


def assignment(data):
    """The first problem of gapd: 100 jobs, 5 agents."""
    own = example("generalised_assignment")
    problem = next(own["instances"](data / "gap" / "gapd.txt"))
    return lambda **options: own["assign"](*problem, **options)


def cutting(data):
    """100 widths from 50 to 500 of rolls of 1000, 10 to 99 pieces of each."""
    rng, own = np.random.default_rng(100), example("cutting_stock")
    widths = np.sort(rng.choice(np.arange(50, 501), 100, replace=False))
    demand = rng.integers(10, 100, 100)
    return lambda **options: own["cut"](widths, demand, 1000, **options)


def packing(n, n_conflicts):
    """Pieces in bins of 100, pairs of which may not be in one bin: a compact model."""

    def search(data):
        from cgboost import decompose

        model = decompose(conflicts(n, n_conflicts), lambda row: row.partition("@")[2] or None)
        return lambda **options: _Solving(model, options)

    return search


class _Solving:
    """A decomposed model as a search."""

    def __init__(self, model, options):
        self.model, self.options = model, options

    def run(self, time_limit):
        return self.model.solve(time_limit=time_limit, **self.options)


def conflicts(n, n_conflicts):
    """The path of a file with the compact model of packing with conflicts."""
    rng = np.random.default_rng(n)
    size = rng.integers(20, 60, n)
    pairs = list(itertools.combinations(range(n), 2))
    apart = [pairs[k] for k in sorted(rng.choice(len(pairs), n_conflicts, replace=False))]
    lines = ["Minimize", " + ".join(f"y_{b}" for b in range(n)), "Subject To"]
    lines += [f"piece_{i}: {' + '.join(f'x_{i}_{b}' for b in range(n))} = 1" for i in range(n)]
    for b in range(n):
        weights = " + ".join(f"{size[i]} x_{i}_{b}" for i in range(n))
        lines.append(f"fits@{b}: {weights} - 100 y_{b} <= 0")
        lines += [f"apart_{i}_{j}@{b}: x_{i}_{b} + x_{j}_{b} - y_{b} <= 0" for i, j in apart]
    names = [f"y_{b}" for b in range(n)] + [f"x_{i}_{b}" for i in range(n) for b in range(n)]
    path = Path(tempfile.mkdtemp()) / f"conflicts_{n}.lp"
    path.write_text("\n".join([*lines, "Binaries", *names, "End"]), encoding="utf-8")
    return path


def shifts(data):
    """168 hours of a week; a person works five shifts of 6 to 10 hours, with 11 hours of rest."""
    from cgboost import BranchAndPrice
    from cgboost.generation import Column
    from cgboost.integer import CountRow, VariableRow, respects
    from cgboost.masters import LinearMaster

    rng, hours, rest, most = np.random.default_rng(168), 168, 11, 5
    hour = np.arange(hours)
    daily = 14 + 10 * np.sin((hour % 24 - 8) / 12 * np.pi) - 4 * (hour // 24 >= 5)
    need = np.maximum(1, np.round(daily + rng.normal(0, 2, hours)))
    every = [(t, n) for n in range(6, 11) for t in range(hours - n + 1)]
    begin, length = np.array(every).T

    def week(own):
        values = np.zeros(hours)
        for t, n in own:
            values[t : t + n] = 1.0
        return Column(values, own, cost=float(values.sum() + 4), variables=dict.fromkeys(own, 1.0))

    @respects(CountRow, VariableRow)
    def price(duals):
        total = np.append(0.0, np.cumsum(duals))
        worth = total[begin + length] - total[begin] - length
        worth += [duals.prices.get(shift, 0.0) for shift in every]
        rows = np.full((10, hours), -np.inf)
        rows[length - 6, begin] = worth
        best, choice = rows.max(axis=0), rows.argmax(axis=0) + 6
        after = np.minimum(hour + choice + rest, hours)
        value, first = np.zeros((most + 1, hours + 1)), np.zeros((most + 1, hours + 1), int)
        for k in range(1, most + 1):  # at most k shifts from an hour on
            through = best + value[k - 1, after]
            for t in range(hours - 1, -1, -1):
                value[k, t], first[k, t] = value[k, t + 1], first[k, t + 1]
                if through[t] > value[k, t]:
                    value[k, t], first[k, t] = through[t], t
        reduced, columns = 4 - duals.constant() - through, []
        for t in np.argsort(reduced):  # for every first hour the best week
            if reduced[t] >= -1e-9:
                break
            own, k, at = [], most, t
            while k and value[k, at] > (0 if own else -np.inf) and at < hours:
                at = first[k, at] if own else at
                own.append((int(at), int(choice[at])))
                k, at = k - 1, min(after[at], hours)
            columns.append(week(tuple(own)))
        return columns, reduced.min()

    master = LinearMaster(hours, ">=", need, least_cost=10.0)
    return lambda **options: BranchAndPrice(master, price, objective_step=1.0, **options)


INSTANCES = {
    "A-n16-k3": (routes("A-n16-k3.vrp"), 504),
    "A-n32-k5": (routes("A-n32-k5.vrp"), 784),
    "R108, 50 customers": (routes("R108.txt", 50), 617.7),
    "RC105, 50 customers": (routes("RC105.txt", 50), 855.3),
    "three depots, 25 customers": (depots, 587),
    "le450_15b": (colours("le450_15b.col"), 15),
    "fpsol2.i.1": (colours("fpsol2.i.1.col"), 65),
    "gapd 5 × 100": (assignment, 6353),
    "conflicts, 24 pieces": (packing(24, 69), 11),
    "conflicts, 60 pieces": (packing(60, 300), 25),
    "cutting stock, 100 widths": (cutting, 1620),
    "shifts, 168 hours": (shifts, 2389),
}


def measure(name, data, limit, numba, results):
    """Put the course of a search, and its end, into a queue."""
    if not numba:
        sys.modules["numba"] = None  # as where it is not installed
    from cgboost.generation.callbacks import Callback
    from cgboost.routing import RoutingPricer

    RoutingPricer(np.ones((3, 3))).search().run()  # numba compiles

    course = []

    class Watch(Callback):
        """Keeps what is new, with the CPU seconds."""

        def __call__(self, state):
            own, seconds = (state.bound, state.objective), time.process_time() - begin
            if not course or course[-1][1:] != own:
                course.append((seconds, *own))
            return seconds > limit

        waiting = __call__

    search = INSTANCES[name][0](data)
    begin = time.process_time()
    result = search(callbacks=[Watch()]).run(time_limit=MOST_TIMES * limit)
    bound = -math.inf if result.bound is None else result.bound
    course.append((time.process_time() - begin, bound, result.objective))
    results.put((course, str(result.stop_reason)))


def row(name, course, stop_reason):
    """A line of the table."""
    best = INSTANCES[name][1]
    seconds, bound, objective = course[-1]

    def first(is_it):
        return next((t for t, *own in course if is_it(*own)), math.inf)

    times = [
        first(lambda _, own: math.isfinite(own)),
        first(lambda _, own: own <= NEAR * best),
        first(lambda own, _: math.isfinite(own)),
    ]
    limits = SOON, LATER, BOUND_SOON
    cells = [
        f"{t:.2f}" + ("" if t <= most else " late") for t, most in zip(times, limits, strict=True)
    ]
    return [
        name,
        f"{best:g}",
        *cells,
        f"{bound:g}",
        f"{objective:g}",
        f"{seconds:.1f}",
        stop_reason,
    ]


def draw(courses) -> None:
    """Solutions and bounds of all searches against CPU seconds, relative to the best known."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(3, 4, sharex=True).ravel()
    for axis, (name, course) in zip(axes, courses.items(), strict=False):
        seconds, bounds, objectives = np.array(course).T
        for values, colour, label in (
            (objectives, "#0072B2", "solution"),
            (bounds, "#E69F00", "bound"),
        ):
            shares = np.where(np.isfinite(values), values / INSTANCES[name][1], np.nan)
            axis.step(seconds, shares, ".-", where="post", color=colour, label=label)
        axis.axhspan(1.0, NEAR, color="0.9")
        axis.set(title=name, xscale="log", ylim=(0.8, 1.5))
        axis.title.set_fontsize("small")
    axes[0].legend(frameon=False)
    figure.supxlabel("CPU seconds")
    figure.supylabel("share of the best known value")
    figure.savefig(TABLE.with_suffix(".png"), dpi=100)


def main() -> None:
    """Run all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--only", nargs="*", default=list(INSTANCES))
    parser.add_argument("--numba", action="store_true", help="with the extra fast")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    head = [
        "instance",
        "best known",
        "first solution, CPU s",
        "within 5 %, CPU s",
        "first bound, CPU s",
    ]
    head += ["bound", "solution", "CPU s", "end"]
    rows, courses = [head], {}
    for name in given.only:
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        process = context.Process(
            target=measure, args=(name, given.data, given.limit, given.numba, results)
        )
        process.start()
        courses[name], reason = results.get(timeout=MOST_TIMES * given.limit + 60)
        process.join()
        rows.append(row(name, courses[name], reason))
        print(" | ".join(rows[-1]), flush=True)
    if given.write:
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        draw(courses)


if __name__ == "__main__":
    main()
