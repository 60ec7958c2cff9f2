"""Tables of the sparse linear study, for its page and for the guide's page.

Suboptimality is (objective − bound) / |bound|, with the bound that our fit of the task has
certified. Ratios divide the time of a solver by ours.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import isfinite, isnan, nan
from pathlib import Path

from page_tables import MARKED, csv_rows, refresh, table
from sparse_records import Measured, latest, records
from sparse_solvers import (
    EXACT,
    LINEAR_SVC,
    OURS,
    PATH,
    PROGRAMS,
    SCIKIT,
    SMOOTHED,
)
from sparse_tasks import (
    CORRELATIONS,
    GROUPS,
    PATHS,
    PENALTIES,
    QUANTILES,
    SETTINGS,
    SHAPES,
    SIZES,
    SVM,
    all_tasks,
    setting_name,
)

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "user_guide" / "sparse_linear_models.md"
"""The page of the guide; it shows those of the tables that it has markers for."""

GOAL_RATIO = 10.0
"""The summary counts the settings in which we are this many times faster."""

RIGHT = 1e-6
"""Largest relative suboptimality of an answer that counts as exact in the summary."""

Group = Mapping[str, Mapping[str, Measured]]

PEERS: dict[str, tuple[str, ...]] = {
    "scikit-learn": tuple(SCIKIT),
    "full LP, HiGHS": tuple(PROGRAMS)[:2],
    SMOOTHED: (SMOOTHED,),
    EXACT: (EXACT,),
}
"""Columns of the table of settings: the fastest of these solvers."""

ALL = (
    "n × p | ρ | λ / λ_max | q | coefficients | **cgboost**, s | gap | scikit-learn, s | "
    "full LP, s | skglm smoothed, s | suboptimal by | skglm PDCD_WS, s | suboptimal by | "
    "scikit-learn / cgboost"
)
SUMMARY = (
    "n × p | compared with | settings | smallest ratio | median | largest | ≥ 10 times | "
    "exact answers"
)
SHAPE = "task | solver | CPU s | times ours | suboptimal by | memory, MB"
MACHINE = (
    "task | coefficients | **cgboost**, s | gap | full LP, s | dual of the full LP, s | "
    "LinearSVC (squared hinge), s | its coefficients"
)
PATH_HEAD = (
    "path | coefficients at its end | fit at its end, s | gap | path of 100, s | times the fit"
)
BENCHOPT = "data | objective | cgboost, s | suboptimal by | other solver | s | suboptimal by"


def tables(folder: Path) -> dict[str, str]:
    """All tables of the study's page."""
    rows = records(folder).rows
    groups = {group: in_order(group, rows) for group in GROUPS}
    versions = (folder / "sparse_linear.txt").read_text(encoding="utf-8").strip()
    ours = sorted({row.version for group in groups.values() for row in group_ours(group)})
    return {
        "settings_summary": table(summary_rows(groups[SETTINGS]), SUMMARY),
        "settings": table(setting_rows(groups[SETTINGS]), ALL),
        "shapes": table(shape_rows(groups[SHAPES]), SHAPE),
        "svm": table(machine_rows(groups[SVM]), MACHINE),
        "paths": table(path_rows(groups[PATHS]), PATH_HEAD),
        "made": table([[versions, ", ".join(ours)]], "made with | cgboost"),
        **benchopt_tables(folder),
    }


def settings_of(folder: Path) -> Group:
    """Records of the settings of benchopt's quantile benchmark."""
    return in_order(SETTINGS, records(folder).rows)


def in_order(group: str, rows: Sequence[Measured]) -> Group:
    """Records of a group, tasks and solvers in the order of their lists, whenever measured."""
    found = latest([row for row in rows if row.group == group])
    return {
        task.name: {
            name: found[task.name][name] for name in task.solvers if name in found[task.name]
        }
        for task in all_tasks()
        if task.name in found
    }


def refresh_pages(folder: Path, guide: Path) -> None:
    """The study's page, and the guide's page."""
    found = tables(folder)
    refresh(folder / "page.md", found)
    refresh_guide(guide, found)


def refresh_guide(guide: Path, found: Mapping[str, str]) -> None:
    """The tables that the guide's page has markers for."""
    marked = {name for name, _ in MARKED.findall(guide.read_text(encoding="utf-8"))}
    refresh(guide, {name: text for name, text in found.items() if name in marked})


def group_ours(group: Group) -> Iterable[Measured]:
    """Our records."""
    return (runs[OURS] for runs in group.values() if OURS in runs)


def bound_of(runs: Mapping[str, Measured]) -> float:
    """Our certified bound of a task; nan without."""
    return runs[OURS].bound if OURS in runs else nan


def suboptimality(run: Measured | None, bound: float) -> float:
    """Relative to the bound; nan where there is no answer or no bound."""
    if run is None or isnan(bound) or not isfinite(run.objective):
        return nan
    return max(0.0, run.objective - bound) / max(abs(bound), 1e-300)


def fastest(runs: Mapping[str, Measured], names: Sequence[str]) -> Measured | None:
    """Of these solvers the one that ended first; one that was stopped if none ended."""
    own = [runs[name] for name in names if name in runs]
    ended = [run for run in own if run.solved]
    return min(ended, key=lambda run: run.seconds) if ended else next(iter(own), None)


def ratio(run: Measured | None, ours: Measured | None) -> float:
    """Times slower than ours; nan where one of the two has no time."""
    if run is None or ours is None or not (run.solved and ours.solved):
        return nan
    return run.seconds / ours.seconds


def seconds(run: Measured | None) -> str:
    """CPU seconds, or why there are none."""
    if run is None:
        return ""
    if not run.solved:
        return run.error.replace("stopped after ", "> ")
    return f"{run.seconds:.3f}" if run.seconds < 1 else f"{run.seconds:.1f}"


def small(value: float) -> str:
    """A relative number."""
    return "" if isnan(value) else f"{value:.0e}" if value >= 1e-15 else "0"


def times(value: float) -> str:
    """A ratio."""
    return "" if isnan(value) else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def whole_settings(group: Group) -> list[tuple[tuple[str, ...], Mapping[str, Measured]]]:
    """Cells and records of every setting that has records."""
    found = []
    for (n, p), rho, reg, q in product(SIZES, CORRELATIONS, PENALTIES, QUANTILES):
        runs = group.get(setting_name(n, p, rho, reg, q))
        if runs:
            found.append(((f"{n} × {p}", f"{rho:g}", f"{reg:g}", f"{q:g}"), runs))
    return found


def setting_rows(group: Group) -> list[list[str]]:
    """A row for every setting."""
    rows = []
    for cells, runs in whole_settings(group):
        ours, bound = runs.get(OURS), bound_of(runs)
        best = {name: fastest(runs, own) for name, own in PEERS.items()}
        rows.append(
            [
                *cells,
                str(ours.nonzeros) if ours else "",
                f"**{seconds(ours)}**" if ours else "",
                small(suboptimality(ours, bound)),
                seconds(best["scikit-learn"]),
                seconds(best["full LP, HiGHS"]),
                *(
                    cell
                    for name in (SMOOTHED, EXACT)
                    for cell in (seconds(best[name]), small(suboptimality(best[name], bound)))
                ),
                times(ratio(best["scikit-learn"], ours)),
            ]
        )
    return rows


def summary_rows(group: Group) -> list[list[str]]:
    """Ratios by size and peer; a peer that was stopped counts with the time at which it was."""
    rows = []
    sizes: list[tuple[str, Callable[[str], bool]]] = [
        *((f"{n} × {p}", f"{n} × {p}".__eq__) for n, p in SIZES),
        ("all", lambda _: True),
    ]
    for size, belongs in sizes:
        runs = [own for cells, own in whole_settings(group) if belongs(cells[0]) and OURS in own]
        for peer, names in PEERS.items():
            pairs = [(fastest(own, names), own[OURS], bound_of(own)) for own in runs]
            known = [(run, ours, bound) for run, ours, bound in pairs if run is not None]
            ratios = [least_ratio(run, ours) for run, ours, _ in known]
            ratios = [own for own in ratios if not isnan(own)]
            if not ratios:
                continue
            exact = sum(suboptimality(run, bound) <= RIGHT for run, _, bound in known)
            many = sum(own >= GOAL_RATIO for own in ratios)
            of = (min(ratios), statistics.median(ratios), max(ratios))
            counts = [str(len(ratios)), *map(times, of), f"{many} of {len(ratios)}"]
            rows.append([size, peer, *counts, f"{exact} of {len(known)}"])
    return rows


def least_ratio(run: Measured, ours: Measured) -> float:
    """Of a solver that was stopped, what is known of its ratio."""
    if run.error.startswith("stopped after ") and ours.solved:
        return float(run.error.removeprefix("stopped after ").removesuffix(" s")) / ours.seconds
    return ratio(run, ours)


def shape_rows(group: Group) -> list[list[str]]:
    """A row for every solver of every task."""
    rows = []
    for name, runs in group.items():
        ours, bound = runs.get(OURS), bound_of(runs)
        first = [OURS] if OURS in runs else []
        for solver in (*first, *(own for own in runs if own != OURS)):
            run = runs[solver]
            memory = "" if isnan(run.megabytes) else f"{run.megabytes:.0f}"
            told = "" if solver == OURS else times(ratio(run, ours))
            words = f"**{solver}**" if solver == OURS else solver
            off = small(suboptimality(run, bound))
            rows.append([name, words, seconds(run), told, off, memory])
    return rows


def machine_rows(group: Group) -> list[list[str]]:
    """A row for every support vector machine."""
    rows = []
    for name, runs in group.items():
        ours, other = runs.get(OURS), runs.get(LINEAR_SVC)
        rows.append(
            [
                name,
                str(ours.nonzeros) if ours else "",
                f"**{seconds(ours)}**" if ours else "",
                small(suboptimality(ours, bound_of(runs))),
                *(seconds(runs.get(program)) for program in tuple(PROGRAMS)[:2]),
                seconds(other),
                str(other.nonzeros) if other else "",
            ]
        )
    return rows


def path_rows(group: Group) -> list[list[str]]:
    """A row for every path."""
    rows = []
    for name, runs in group.items():
        single, whole = runs.get(OURS), runs.get(PATH)
        if single is not None and whole is not None:
            gap = small(suboptimality(single, single.bound))
            cells = [str(single.nonzeros), seconds(single), gap, seconds(whole)]
            rows.append([name, *cells, times(ratio(whole, single))])
    return rows


def benchopt_tables(folder: Path) -> dict[str, str]:
    """What benchopt itself has recorded: the last point of every curve."""
    found = {}
    for name in ("benchopt_quantile", "benchopt_l1_svm"):
        rows = csv_rows(folder / f"{name}.csv")
        if rows:
            found[name] = table(benchopt_rows(rows), BENCHOPT)
    return found


def benchopt_rows(rows: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Our solver compared with each other one of the same problem, at its lowest objective."""
    curves: dict[tuple[str, str], dict[str, Mapping[str, str]]] = {}
    for row in rows:
        own = curves.setdefault((row["dataset_name"], row["objective_name"]), {})
        before = own.get(row["solver_name"])
        if before is None or float(row["objective_value"]) < float(before["objective_value"]):
            own[row["solver_name"]] = row
    cells = []
    for (data, objective), own in curves.items():
        lowest = min(float(row["objective_value"]) for row in own.values())
        mine = [row for name, row in own.items() if name.startswith("cgboost")]
        ours = min(mine, key=lambda row: float(row["objective_value"]), default=None)
        for name, row in own.items():
            if ours is not None and not name.startswith("cgboost"):
                points = benchopt_point(ours, lowest), benchopt_point(row, lowest)
                cells.append([data, objective, *points[0], name, *points[1]])
    return cells


def benchopt_point(row: Mapping[str, str], lowest: float) -> list[str]:
    """Seconds by the wall clock, and how far above the lowest objective of all."""
    off = (float(row["objective_value"]) - lowest) / abs(lowest)
    return [f"{float(row['time']):.3f}", small(off)]
