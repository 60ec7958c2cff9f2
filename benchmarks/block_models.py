"""Models with blocks: ``decompose`` compared with GCG, SCIP and HiGHS, in CPU seconds.

    python benchmarks/block_models.py FOLDER [LIMIT] [CSV]
    python benchmarks/block_models.py --whole LIMIT CSV FOLDER[@LARGEST] …

The second form takes every model (.lp, .mps; up to LARGEST kB) as it is, without blocks, and says
whether ``decompose`` ends as HiGHS does: the same status and objective, or a refusal that the user
guide documents. It counts the models that take more than 1.5 times as long as HiGHS, and a second.
A process that has used LIMIT CPU seconds is ended.

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
import os
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
MODULES = {
    "decompose": "cgboost.integer.decomposition.decomposition",
    "GCG": "pygcgopt",
    "SCIP": "pyscipopt",
    "HiGHS": "highspy",
}


def measure(name: str, path: Path, limit: float, results) -> None:
    """Put objective, bound and CPU seconds, or the error, into the queue."""
    try:
        importlib.import_module(MODULES[name])
        used = _cpu()
        objective, bound = SOLVERS[name](path, limit)
        results.put((objective, bound, _cpu() - used, ""))
    except Exception as error:  # a solver that fails is a line of the table
        results.put((float("nan"), float("nan"), float("nan"), repr(error)))


DOCUMENTED = (
    "quadratic", "semi-continuous", "semi-integer", "QUADOBJ", "QSECTION", "QMATRIX", "QCMATRIX",
    "constant", "is no number", "there is no row",
)  # fmt: skip
"""What the user guide says is refused, in the words of a refusal: what a linear model cannot have,
and what readers of solvers take for something else."""

SHARE_OF_WHOLE = 1e-5
"""Objectives of whole models are equal up to this share: both solvers stop at a gap."""

MOST_TIMES, MOST_MORE = 1.5, 1.0
"""A model may take so many times as long as HiGHS, and so many seconds."""


NOT_ENDED = "not ended"
"""What is said of a process that has used up its time."""


def whole_with_decompose(path: Path) -> tuple[str, float]:
    """Status and objective."""
    from cgboost import decompose

    result = decompose(path).solve()
    return str(result.stop_reason), result.objective


def whole_with_highs(path: Path) -> tuple[str, float]:
    """Status and objective."""
    import highspy

    highs = highspy.Highs()
    highs.silent()
    for name, value in (("threads", 1), ("mip_rel_gap", 1e-6)):
        highs.setOptionValue(name, value)
    if highs.readModel(str(path)) == highspy.HighsStatus.kError:
        return "unreadable", float("nan")
    highs.run()
    status = highs.getModelStatus().name[1:].lower()
    if status == "unboundedorinfeasible":
        highs.setOptionValue("presolve", "off")
        highs.run()
        status = highs.getModelStatus().name[1:].lower()
    value = highs.getInfo().objective_function_value
    return ("optimal" if status == "modelempty" else status), value


def verdict(highs: tuple[str, float], own: tuple[str, float], error: str) -> str:
    """How an end compares with that of HiGHS."""
    if error == NOT_ENDED:
        return "not ended" if highs[0] == "" else "LATE"
    if error:
        if any(word in error for word in DOCUMENTED):
            return "refused"
        return "unreadable" if highs[0] == "unreadable" and "ModelError" in error else "FAILED"
    ended = "optimal" if own[0] in ("optimal", "gap") else own[0]
    if ended != highs[0]:
        return "DIFFERENT"
    near = SHARE_OF_WHOLE * max(1.0, abs(highs[1]))
    return "same" if ended != "optimal" or abs(own[1] - highs[1]) <= near else "DIFFERENT"


def whole_models(limit: float, folders: list[str]) -> Iterator[list[str]]:
    """A line for each model, and one for each folder."""
    for module in ("decompose", "HiGHS"):
        importlib.import_module(MODULES[module])
    yield ["model", "HiGHS", "objective", "seconds", "decompose", "objective", "seconds", "verdict"]
    for folder, _, largest in (each.partition("@") for each in folders):
        counts: dict[str, int] = {}
        for path in sorted(Path(folder).iterdir()):
            size = path.stat().st_size / 1000
            if path.suffix not in (".lp", ".mps") or size > float(largest or "inf"):
                continue
            ends = [
                _end(solver, path, limit) for solver in (whole_with_highs, whole_with_decompose)
            ]
            (known, known_error, seconds), (own, error, own_seconds) = ends
            word = verdict(known, own, error)
            late = own_seconds > MOST_TIMES * seconds + MOST_MORE
            for each in (word, *["slow"] * late):
                counts[each] = counts.get(each, 0) + 1
            cells = [known[0] or known_error, f"{known[1]:.8g}", f"{seconds:.2f}"]
            cells += [own[0], f"{own[1]:.8g}", f"{own_seconds:.2f}{' SLOW' if late else ''}"]
            yield [f"{path.parent.name}/{path.name}", *cells, f"{word} {error}".strip()]
        yield [Path(folder).name, *(f"{word}: {count}" for word, count in sorted(counts.items()))]


def _end(solver, path: Path, limit: float) -> tuple[tuple[str, float], str, float]:
    """How a solver ends in a process of its own, its error, and its CPU seconds.

    It is forked from one that has all modules and no threads, so that imports are not counted.
    """
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=_ended, args=(solver, path, limit, results))
    process.start()
    process.join()
    return (("", float("nan")), NOT_ENDED, limit) if results.empty() else results.get()


def _ended(solver, path: Path, limit: float, results) -> None:
    """Put the end, the error and the CPU seconds into the queue."""
    used = _cpu()
    most = int(used + limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    try:
        results.put((solver(path), "", _cpu() - used))
    except Exception as error:  # a model that is refused is a line of the table
        words = f"{type(error).__name__}: {error}".replace(f"{path.parent}{os.sep}", "")
        words = words.partition(" (more:")[0]
        results.put((("", float("nan")), words, _cpu() - used))


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


def main() -> None:
    """Print lines as they come, and write them."""
    if sys.argv[1] == "--whole":
        limit, file_name, *folders = sys.argv[2:]
        lines = whole_models(float(limit), folders)
    else:
        limit = sys.argv[2] if len(sys.argv) > 2 else "60"
        file_name = sys.argv[3] if len(sys.argv) > 3 else os.devnull
        lines = table(Path(sys.argv[1]), float(limit))
    with Path(file_name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in lines:
            print(" | ".join(row), flush=True)
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
