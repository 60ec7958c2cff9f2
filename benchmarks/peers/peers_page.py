"""The page: tables made of the records, and sentences whose numbers are looked up in them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite, isnan
from pathlib import Path

from classes import LIMIT_SECONDS, in_line, missing
from entrants import Entrant
from fits import Class, Fit, Summary, summarised
from peers_advice import advice
from peers_numbers import Found, listed, ranked
from peers_verdict import overall, verdict
from peers_words import PAGE, WEIGHTS, WEIGHTS_CHECK
from tasks import Task

SECTIONS = ("digits", "adult", "boston", "diabetes")
SMALLEST_GAP = 1e-9
"""Smaller ones are rounding errors."""


def write_page(
    tasks: Sequence[Task], fits: Sequence[Fit], classes: Sequence[Class], made: str, path: Path
) -> None:
    """Write docs/peers.md."""
    found = {task.name: summarised(fits, task.name, task.higher_is_better) for task in tasks}
    seconds = sum(f.fit_seconds + f.predict_seconds for f in fits if not f.error)
    all_classes = in_line([*missing(classes), *classes])
    page = PAGE.format(
        overall=overall(tasks, found),
        seeds=seeds_of(tasks, fits),
        n_fits=sum(not fit.error for fit in fits),
        minutes=f"{seconds / 60:.0f}",
        check_minutes=f"{sum(own.seconds for own in classes) / 60:.0f}",
        made=made,
        advice="\n".join(f"* {line}" for line in advice(found)),
        tasks="\n\n".join(section(task, found[task.name]) for task in chosen(tasks, SECTIONS)),
        latent="\n\n".join(section(task, found[task.name]) for task in tasks if is_latent(task)),
        programs=table(
            program_rows([task for task in tasks if is_program(task)], found),
            "problem | solved by | objective | test error, % | stumps with a weight | certificate "
            "| fit, s",
        ),
        program_words="\n".join(
            f"* {task.title}: {task.words}" for task in tasks if is_program(task)
        ),
        errors=table(error_rows(fits), "task | class | what it raised"),
        limit=LIMIT_SECONDS,
        weights=WEIGHTS * any(fails_weights(own) for own in classes),
        packages=table(package_rows(all_classes), "package | version | licence | Python"),
        classes=table(class_rows(all_classes), "class | package | failed | of | which"),
    )
    path.write_text(page, encoding="utf-8")


def seeds_of(tasks: Sequence[Task], fits: Sequence[Fit]) -> str:
    """Which seeds were measured; by task where they differ."""
    groups: dict[str, list[str]] = {}
    for task in tasks:
        if own := sorted({fit.seed for fit in fits if fit.task == task.name}):
            groups.setdefault(listed(list(map(str, own))), []).append(task.title.partition(",")[0])
    if len(groups) == 1:
        return f"the seeds {next(iter(groups))}"
    words = [f"{own} ({', '.join(dict.fromkeys(names))})" for own, names in groups.items()]
    return f"the seeds {'; '.join(words)}"


def fails_weights(own: Class) -> bool:
    """Whether it is ours, and weights are not the same as repeated rows."""
    return own.package == "cgboost" and WEIGHTS_CHECK in own.failed


def is_latent(task: Task) -> bool:
    """Whether partial least squares are compared."""
    return task.name.startswith("latent")


def is_program(task: Task) -> bool:
    """Whether objectives of one program are compared."""
    return task.compared == "objective"


def chosen(tasks: Sequence[Task], names: Sequence[str]) -> list[Task]:
    """The tasks of these names."""
    return [task for task in tasks if task.name in names]


def table(rows: Iterable[Sequence[str]], head: str) -> str:
    """A Markdown table."""
    lines = [f"| {head} |", "|" + " --- |" * (head.count("|") + 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def section(task: Task, found: dict[str, Summary]) -> str:
    """Heading, rows, table and what it shows of one task."""
    head = f"class | {task.measure} | fit, s | all candidates, s | predict, ms | size | certificate"
    if task.compared:
        head += f" | {task.compared}"
    if not any(own.fits for own in found.values()):
        return f"### {task.title}\n\nNot measured."
    parts = (task.words, table(task_rows(task, found), head), verdict(task, found))
    return f"### {task.title}\n\n" + "\n\n".join(part for part in parts if part)


def task_rows(task: Task, found: dict[str, Summary]) -> Iterator[Sequence[str]]:
    """One row an entrant, the best first, the best score in bold; who failed is below."""
    known = {entrant.name: entrant for entrant in task.entrants}
    worked = ranked(found.values(), task.higher_is_better)
    n_seeds = max((len(own.fits) for own in worked), default=0)
    for place, own in enumerate(worked):
        score = spread(own, "test")
        some = f" ({len(own.fits)} of {n_seeds} seeds)" if len(own.fits) < n_seeds else ""
        cells = [
            name_of(known[own.model]) + some,
            f"**{score}**" if not place and not task.name.startswith("latent") else score,
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


def spread(own: Summary, name: str) -> str:
    """Mean ± standard deviation; the mean alone of one seed."""
    mean = own.mean(name)
    digits = 3 if abs(mean) < 2 else 2
    if len(own.fits) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {own.spread(name):.{digits}f}"


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
                    spread(own, "test"),
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
