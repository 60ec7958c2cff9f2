"""Models with blocks: ``decompose`` compared with GCG, SCIP and HiGHS, in CPU seconds.

    python benchmarks/block_models.py FOLDER [LIMIT] [CSV]

FOLDER holds models (.lp, .lp.gz), where there is one a .dec or .blk file of the same name, and
OPTIMA.csv (name, file, sense, value). Every solver runs in a process with one thread and LIMIT
seconds (60); the imports are not counted. A time in brackets is that of a solver that proved
nothing. Lines are printed, and written to the file CSV.

GCG and SCIP take part where ``pygcgopt`` (1.0.0b0) and ``pyscipopt`` (6.0.0: it loops with later
ones) can be imported; GCG finds its blocks itself.
"""

import csv
import importlib
import multiprocessing
import resource
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

SHARE = 1e-6
"""A value is the optimum if it differs by at most this share."""


def with_decompose(path: Path, limit: float) -> tuple[float, float]:
    """Objective and bound."""
    from cgboost import decompose

    stem = str(path).removesuffix(".gz").removesuffix(".lp")
    files = [Path(stem + ending) for ending in (".dec", ".blk")]
    structure = next((file for file in files if file.exists()), None)
    result = decompose(path, structure).solve(time_limit=limit)
    return result.objective, result.bound


def with_highs(path: Path, limit: float) -> tuple[float, float]:
    """Objective and bound of the compact model."""
    import highspy

    highs = highspy.Highs()
    highs.silent()
    for name, value in (("time_limit", limit), ("threads", 1)):
        highs.setOptionValue(name, value)
    highs.readModel(str(path))
    highs.run()
    info = highs.getInfo()
    return info.objective_function_value, info.mip_dual_bound


def with_scip(path: Path, limit: float) -> tuple[float, float]:
    """Objective and bound of the compact model."""
    from pyscipopt import Model

    return _scip(Model(), path, limit)


def with_gcg(path: Path, limit: float) -> tuple[float, float]:
    """Objective and bound."""
    from pygcgopt import Model

    return _scip(Model(), path, limit)


def _scip(model, path: Path, limit: float) -> tuple[float, float]:
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.readProblem(str(path))
    model.optimize()
    return (model.getObjVal() if model.getNSols() else float("inf")), model.getDualbound()


SOLVERS = {
    "decompose": with_decompose,
    "GCG": with_gcg,
    "SCIP": with_scip,
    "HiGHS": with_highs,
}
MODULES = {"decompose": "cgboost", "GCG": "pygcgopt", "SCIP": "pyscipopt", "HiGHS": "highspy"}


def measure(name: str, path: Path, limit: float, results) -> None:
    """Put objective, bound and CPU seconds, or the error, into the queue."""
    try:
        importlib.import_module(MODULES[name])
        used = _cpu()
        objective, bound = SOLVERS[name](path, limit)
        results.put((objective, bound, _cpu() - used, ""))
    except Exception as error:  # a solver that fails is a line of the table
        results.put((float("nan"), float("nan"), float("nan"), repr(error)))


def _cpu() -> float:
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def measured(name: str, path: Path, limit: float, optimum: float) -> tuple[str, float | None]:
    """A cell of the table; and the seconds of a proof."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=measure, args=(name, path, limit, results))
    process.start()
    process.join(2 * limit + 30)
    if process.is_alive():
        process.kill()
    if results.empty():
        return "ended", None
    objective, bound, seconds, error = results.get()
    near = SHARE * max(1.0, abs(optimum))
    if abs(objective - optimum) <= near and abs(bound - optimum) < 1 - near:
        return f"{seconds:.2f}", seconds
    return error or f"({seconds:.0f})", None


def table(folder: Path, limit: float) -> Iterator[list[str]]:
    """A line for each model, and two of all."""
    with (folder / "OPTIMA.csv").open(encoding="utf-8") as lines:
        models = list(csv.DictReader(lines))
    times: dict[str, list[float]] = {name: [] for name in SOLVERS}
    yield ["model", "optimum", *SOLVERS]
    for model in models:
        optimum, cells = float(model["value"]), []
        for name in SOLVERS:
            cell, seconds = measured(name, folder / model["file"], limit, optimum)
            cells.append(cell)
            if seconds is not None:
                times[name].append(seconds)
        yield [model["name"], f"{optimum:g}", *cells]
    yield ["proven", str(len(models)), *(str(len(own)) for own in times.values())]
    medians = (f"{statistics.median(own):.2f}" if own else "" for own in times.values())
    yield ["median of these", "", *medians]


if __name__ == "__main__":
    rows = []
    for row in table(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 60.0):
        print(" | ".join(row), flush=True)
        rows.append(row)
    if len(sys.argv) > 3:
        with Path(sys.argv[3]).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
