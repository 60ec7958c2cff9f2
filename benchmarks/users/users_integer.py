"""Rows of the comparison: integer programs with blocks, and colourings."""

from __future__ import annotations

import importlib.util
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from users_rows import OURS, Row

LIMIT = 60.0
"""Seconds; what is not proven by then has its bound in the table."""

ASSIGNMENTS = (
    ("gap8", 0, "max"),
    ("gap10", 0, "max"),
    ("gap11", 0, "max"),
    ("gap12", 0, "max"),
    ("gap12", 1, "max"),
    ("gapa", 0, "min"),
    ("gapa", 2, "min"),
    ("gapb", 0, "min"),
    ("gapb", 2, "min"),
    ("gapc", 0, "min"),
    ("gapc", 2, "min"),
)
"""Files of generalised assignment, numbers of problems in them, and senses."""

GRAPHS = (
    "myciel3",
    "myciel4",
    "myciel5",
    "queen5_5",
    "queen6_6",
    "queen7_7",
    "huck",
    "jean",
    "david",
    "anna",
    "games120",
    "miles250",
    "mulsol.i.1",
    "miles1500",
    "fpsol2.i.1",
)


def rows(data: Path) -> list[Row]:
    """Rows of this part; ``data`` is the folder of public data sets."""
    assigned = {OURS: _decomposed, "GCG": _gcg, "HiGHS": _highs}
    coloured = {OURS: _coloured, "CP-SAT": _cp_sat}
    return [
        *(
            Row(
                f"assignment, {name} {number + 1}",
                partial(_assignment, data / "gap" / f"{name}.txt", number, sense),
                assigned,
                _proven,
                2.0,
            )
            for name, number, sense in ASSIGNMENTS
        ),
        *(
            Row(
                f"colouring, {name}",
                partial(_graph, data / "coloring" / f"{name}.col"),
                coloured,
                _proven,
                2.0,
            )
            for name in GRAPHS
        ),
    ]


def _proven(data: Any, found: tuple[float, float]) -> str:
    objective, bound = found
    return f"{objective:g}" if abs(objective - bound) < 1 - 1e-6 else f"{objective:g}, not proven"


def _assignment(file: Path, number: int, sense: str) -> str:
    """The path of an LP file: every job to one agent, within the capacity of each."""
    numbers = iter(file.read_text(encoding="utf-8").split()[1:])
    for _ in range(number + 1):
        m, n = int(next(numbers)), int(next(numbers))
        cost, weight = (
            np.array([[next(numbers) for _ in range(n)] for _ in range(m)]) for _ in "cw"
        )
        capacity = [next(numbers) for _ in range(m)]
    agents, jobs = range(m), range(n)
    lines = ["Maximize" if sense == "max" else "Minimize", " cost:"]
    lines += [f" + {cost[i, j]} x_{i}_{j}" for i in agents for j in jobs]
    lines += ["Subject To"]
    for j in jobs:
        lines += [f" job_{j}: " + " + ".join(f"x_{i}_{j}" for i in agents) + " = 1"]
    for i in agents:
        lines += [f" room_{i}:", *(f" + {weight[i, j]} x_{i}_{j}" for j in jobs)]
        lines += [f" <= {capacity[i]}"]
    lines += ["Binary", *(f" x_{i}_{j}" for i in agents for j in jobs), "End", ""]
    path = Path(tempfile.mkdtemp()) / f"{file.stem}_{number + 1}.lp"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def _decomposed(path: str) -> tuple[float, float]:
    from cgboost import decompose

    result = decompose(path).solve(time_limit=LIMIT)
    return result.objective, result.bound


def _gcg(path: str) -> tuple[float, float]:
    from pygcgopt import Model

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", LIMIT)
    model.readProblem(path)
    model.optimize()
    return model.getObjVal(), model.getDualbound()


def _highs(path: str) -> tuple[float, float]:
    import highspy

    highs = highspy.Highs()
    highs.silent()
    for name, value in (("threads", 1), ("time_limit", LIMIT)):
        highs.setOptionValue(name, value)
    highs.readModel(path)
    highs.run()
    info = highs.getInfo()
    return info.objective_function_value, info.mip_dual_bound


def _graph(file: Path) -> nx.Graph:
    lines = file.read_text(encoding="utf-8").splitlines()
    return nx.Graph(line.split()[1:] for line in lines if line.startswith("e "))


def _coloured(graph: nx.Graph) -> tuple[float, float]:
    """The search of the example on graph colouring."""
    import cgboost

    checkout = Path(cgboost.__file__).parents[1]
    found = importlib.util.spec_from_file_location(
        "graph_colouring", checkout / "examples" / "graph_colouring.py"
    )
    example = importlib.util.module_from_spec(found)
    found.loader.exec_module(example)
    result = example.colour(graph).run(time_limit=LIMIT)
    return result.objective, -np.inf if result.bound is None else result.bound


def _cp_sat(graph: nx.Graph) -> tuple[float, float]:
    """As many colours as DSATUR needs, at most; the nodes of a clique have one each."""
    from ortools.sat.python import cp_model

    model, nodes = cp_model.CpModel(), list(graph)
    colours = range(max(nx.greedy_color(graph, "DSATUR").values()) + 1)
    order, clique = sorted(nodes, key=lambda node: -graph.degree(node)), []
    for node in order:
        if all(graph.has_edge(node, other) for other in clique):
            clique.append(node)
    x = {(node, k): model.new_bool_var("") for node in nodes for k in colours}
    used = [model.new_bool_var("") for _ in colours]
    for node in nodes:
        model.add_exactly_one(x[node, k] for k in colours)
        for k in colours:
            model.add_implication(x[node, k], used[k])
    for k in colours:
        for a, b in graph.edges:
            model.add_at_most_one([x[a, k], x[b, k]])
        if k:
            model.add_implication(used[k], used[k - 1])
    for k, node in enumerate(clique):
        model.add(x[node, k] == 1)
    model.minimize(sum(used))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 1, LIMIT
    solver.solve(model)
    return solver.objective_value, solver.best_objective_bound
