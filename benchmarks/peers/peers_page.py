"""Picture and tables of the page, made from the records."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite, isnan
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from page_tables import plus_minus, table
from peers_classes import in_line, missing
from peers_entrants import Entrant
from peers_fits import Class, Fit, Summary, summarised
from peers_tasks import Task, all_tasks
from study_jobs import Store

OURS, PEERS = "#0072B2", "#E69F00"
SHOWN = ("digits", "adult", "boston", "diabetes")


def draw(tasks: Sequence[Task], fits: Sequence[Fit], path: Path) -> None:
    """Write the picture: a pair of panels for each task, the best entrant on top."""
    shown = [task for task in tasks if task.name in SHOWN]
    groups = [in_order(task, fits) for task in shown]
    heights = [len(group) + 1.5 for group in groups]
    canvas = Figure(figsize=(9, 0.26 * sum(heights) + 0.8), layout="constrained")
    panels = canvas.subplots(len(shown), 2, squeeze=False, height_ratios=heights)
    for axes in panels[1:, 1]:
        axes.sharex(panels[0, 1])  # so that times can be compared across the tasks
    for pair, task, group in zip(panels, shown, groups, strict=True):
        draw_scores(pair[0], task, group)
        draw_times(pair[1], task, group)
    for colour, label in ((OURS, "cgboost"), (PEERS, "others")):
        panels[0, 0].plot([], [], "o", color=colour, label=label)
    canvas.legend(loc="outside lower center", ncols=2, frameon=False)
    canvas.savefig(path, dpi=110)


def in_order(task: Task, fits: Sequence[Fit]) -> list[Summary]:
    """Those that were fitted, the best last, since axes count from below."""
    found = summarised(fits, task.name, task.higher_is_better).values()
    sign = 1 if task.higher_is_better else -1
    return sorted((own for own in found if own.fits), key=lambda own: sign * own.mean("test"))


def colour_of(task: Task, model: str) -> str:
    """One colour for cgboost, one for all others."""
    return OURS if any(e.name == model and e.is_ours for e in task.entrants) else PEERS


def draw_scores(axes: Axes, task: Task, group: Sequence[Summary]) -> None:
    """Mean and standard deviation on the test rows."""
    for place, own in enumerate(group):
        style = {"color": colour_of(task, own.model), "capsize": 2}
        axes.errorbar(own.mean("test"), place, xerr=own.spread("test"), fmt="o", **style)
    axes.set_yticks(range(len(group)), [own.model for own in group], fontsize="small")
    axes.set_title(task.title, loc="left", fontsize="medium", fontweight="bold")
    better = "higher" if task.higher_is_better else "lower"
    axes.xaxis.set_major_locator(MaxNLocator(6))
    finish(axes, f"{task.measure} ({better} is better)")


def draw_times(axes: Axes, task: Task, group: Sequence[Summary]) -> None:
    """Median CPU seconds of the chosen fit."""
    for place, own in enumerate(group):
        axes.plot(own.median("fit_seconds"), place, "o", color=colour_of(task, own.model))
    axes.set_yticks(range(len(group)), [""] * len(group))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    finish(axes, "seconds to fit (CPU, one thread)")


def finish(axes: Axes, label: str) -> None:
    """What both kinds of panels share."""
    axes.set_xlabel(label, fontsize="small")
    axes.tick_params(axis="x", labelsize="small")
    axes.set_ylim(-0.7, axes.get_ylim()[1])
    axes.margins(y=0.08)
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


SMALLEST_GAP = 1e-9
"""Smaller ones are rounding errors."""
LEADERS = "task | best of ours | score | best of the others | score | time to fit, ours / theirs"
PROGRAMS = (
    "problem | solved by | objective | test error, % | stumps with a weight | certificate | fit, s"
)
Found = dict[str, dict[str, Summary]]


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    fits = Store(folder / "peers.csv", Fit).rows
    classes = Store(folder / "peers.classes.csv", Class).rows
    versions = (folder / "peers.txt").read_text(encoding="utf-8").strip()
    return tables_of(list(all_tasks(None)), fits, classes, versions)


def tables_of(
    tasks: Sequence[Task], fits: Sequence[Fit], classes: Sequence[Class], versions: str
) -> dict[str, str]:
    """All tables, made from these records."""
    found = {task.name: summarised(fits, task.name, task.higher_is_better) for task in tasks}
    programs = [task for task in tasks if task.compared == "objective"]
    lines = in_line([*missing(classes), *classes])
    made = "task | seeds | fits | CPU minutes"
    return {
        "made": table(made_rows(tasks, fits, classes), made),
        "versions": table([[versions]], "made with"),
        "leaders": table(leader_rows(tasks, found), LEADERS),
        **{
            task.name.replace(" ", "-"): task_table(task, found[task.name])
            for task in tasks
            if task not in programs
        },
        "programs": table(program_rows(programs, found), PROGRAMS),
        "errors": table(error_rows(fits), "task | class | what it raised"),
        "packages": table(package_rows(lines), "package | version | licence | Python"),
        "classes": table(class_rows(lines), "class | package | failed | of | which"),
    }


def made_rows(
    tasks: Sequence[Task], fits: Sequence[Fit], classes: Sequence[Class]
) -> Iterator[Sequence[str]]:
    """Seeds, number of fits and CPU time of each task."""
    for task in tasks:
        own = [fit for fit in fits if fit.task == task.name]
        worked = [fit for fit in own if not fit.error]
        seeds = ", ".join(map(str, sorted({fit.seed for fit in own})))
        minutes = sum(fit.fit_seconds + fit.predict_seconds for fit in worked) / 60
        yield task.title, seeds, str(len(worked)), f"{minutes:.1f}"
    yield "`check_estimator`", "", "", f"{sum(own.seconds for own in classes) / 60:.1f}"


def leader_rows(tasks: Sequence[Task], found: Found) -> Iterator[Sequence[str]]:
    """The best of ours compared with the best of the others, the better score in bold."""
    for task in tasks:
        known = {entrant.name: entrant for entrant in task.entrants}
        order = ranked(found[task.name].values(), task.higher_is_better)
        groups = [[own for own in order if known[own.model].is_ours == ours] for ours in (1, 0)]
        if not task.compared and all(groups):
            pair = [group[0] for group in groups]
            cells = [
                cell
                for own in pair
                for cell in (own.model, f"**{score(own)}**" if own is order[0] else score(own))
            ]
            ours, theirs = (own.median("fit_seconds") for own in pair)
            yield task.title, *cells, short(ours / theirs)


def ranked(own: Iterable[Summary], higher_is_better: bool = False) -> list[Summary]:
    """Those that were fitted, the best mean test score first."""
    sign = -1 if higher_is_better else 1
    return sorted((s for s in own if s.fits), key=lambda s: sign * s.mean("test"))


def task_table(task: Task, found: dict[str, Summary]) -> str:
    """One row for each entrant of a task."""
    head = f"class | {task.measure} | fit, s | all candidates, s | predict, ms | size | certificate"
    return table(task_rows(task, found), f"{head} | {task.compared}" if task.compared else head)


def task_rows(task: Task, found: dict[str, Summary]) -> Iterator[Sequence[str]]:
    """One row an entrant, the best first, the best score in bold; who failed is below."""
    known = {entrant.name: entrant for entrant in task.entrants}
    worked = ranked(found.values(), task.higher_is_better)
    n_seeds = max((len(own.fits) for own in worked), default=0)
    for place, own in enumerate(worked):
        shown = score(own)
        some = f" ({len(own.fits)} of {n_seeds} seeds)" if len(own.fits) < n_seeds else ""
        cells = [
            name_of(known[own.model]) + some,
            f"**{shown}**" if not place and not task.compared else shown,
            short(own.median("fit_seconds")),
            short(own.total_seconds),
            short(1000 * own.median("predict_seconds")),
            f"{own.median('size'):.0f} {known[own.model].unit}",
            certificate(own),
        ]
        yield (*cells, short(own.mean("compared"))) if task.compared else cells
    for own in found.values():
        if not own.fits:
            cells = [name_of(known[own.model]), f"did not run: {own.error.split(':')[0]}"]
            yield cells + [""] * (5 + bool(task.compared))


def name_of(entrant: Entrant) -> str:
    """Bold for a class of cgboost."""
    return f"**{entrant.name}**" if entrant.is_ours else entrant.name


def score(own: Summary) -> str:
    """Mean test score ± standard deviation; the mean alone of one seed."""
    digits = 3 if abs(own.mean("test")) < 2 else 2
    return plus_minus([fit.test for fit in own.fits], digits)


def short(number: float) -> str:
    """Two digits that mean something."""
    if isnan(number):
        return ""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.2g}"


def certificate(own: Summary) -> str:
    """The largest gap over the seeds, or that there is none."""
    gap = max((fit.gap for fit in own.fits if not isnan(fit.gap)), default=float("inf"))
    return f"gap ≤ {max(gap, SMALLEST_GAP):.0e}" if isfinite(gap) else "none"


def program_rows(tasks: Sequence[Task], found: Found) -> Iterator[Sequence[str]]:
    """Objectives of the same program, lowest possible first."""
    for task in tasks:
        known = {entrant.name: entrant for entrant in task.entrants}
        for own in found[task.name].values():
            if own.fits:
                objective = statistics.mean(fit.compared for fit in own.fits)
                yield (
                    task.title,
                    name_of(known[own.model]),
                    f"{objective:.4g}",
                    score(own),
                    f"{own.median('size'):.0f}",
                    certificate(own),
                    short(own.median("fit_seconds")),
                )
            else:
                yield task.title, name_of(known[own.model]), "did not run", "", "", "", ""


def error_rows(fits: Sequence[Fit]) -> Iterator[Sequence[str]]:
    """What was raised, once for each task and class; of several sentences the first."""
    seen = {(fit.task, fit.model): fit.error for fit in reversed(fits) if fit.error}
    groups: dict[tuple[str, str], list[str]] = {}
    for (task, model), error in reversed(seen.items()):
        groups.setdefault((task, error.partition(";")[0]), []).append(model)
    rows = [(task, ", ".join(models), f"`{error}`") for (task, error), models in groups.items()]
    yield from rows or [("none", "", "")]


def package_rows(classes: Sequence[Class]) -> Iterator[Sequence[str]]:
    """One row a package."""
    recorded = {
        own.package: own for own in sorted(classes, key=lambda own: own.error != "not checked")
    }
    for own in (recorded[package] for package in dict.fromkeys(own.package for own in classes)):
        yield own.package, own.version, own.licence, own.python


def class_rows(classes: Sequence[Class]) -> Iterator[Sequence[str]]:
    """One row a class: how many checks failed, of how many, and their names."""
    for own in classes:
        if own.checks or own.name != own.package:
            failed = own.failed.split()
            names = ", ".join(name.removeprefix("check_") for name in failed)
            words = "; ".join(part for part in (names, own.error) if part)
            bold = "**" if own.package == "cgboost" else ""
            title = f"{bold}{own.name.rpartition('.')[2]}{bold}"
            counts = (str(len(failed)), str(own.checks)) if own.checks else ("", "")
            yield title, own.package, *counts, words
