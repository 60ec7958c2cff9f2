"""What a user calls, with nothing chosen, beside what else they would call: CPU seconds and ratios.

    python -m pip install -r benchmarks/users/requirements.txt
    python benchmarks/users --data DATA [--parts linear kernels …] [--rows TEXT] [--repeats 5]
    python benchmarks/users --data DATA --today CHECKOUT
    python benchmarks/users --data DATA --memory

One thread, one process; every entrant gets the same rows, the entrants in turn, medians. A peer
that is not installed is left out. ``--rows`` takes the rows whose name has this text. ``--today``
also runs the cgboost of another checkout, in a process of its own. ``--memory`` measures, each in a
new process, by how much one run raises the peak of the memory, in MB. With ``--docs FOLDER`` a line
for each row, beside the fastest of the others, is written to users.csv there.
"""

from __future__ import annotations

import csv
import dataclasses
import importlib
import json
import os
import sys
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)
sys.path.append(str(Path(__file__).resolve().parent))

from users_rows import OURS, Figure, Row, in_child, measured, peak_megabytes

from cgboost.studies.scripts import options

PARTS = ("linear", "kernels", "trees", "integer", "others")


def main() -> None:
    """Measure the rows that are asked for and print a table."""
    given = options(
        __doc__,
        data=str,
        parts=PARTS,
        rows="",
        repeats=5,
        today="",
        memory=False,
        docs="",
        entrant="",
        child=False,
    )
    rows: list[Row] = []
    for part in given.parts:
        rows += importlib.import_module(f"users_{part}").rows(Path(given.data))
    rows = [row for row in rows if given.rows in row.name]
    if given.child:
        _child(rows, given)
        return
    lines = []
    for row in rows:
        found = _memory(row, given) if given.memory else measured(row, given.repeats)
        if given.today:
            asked = ["--data", given.data, "--rows", row.name, "--repeats", str(given.repeats)]
            before = in_child([*asked, "--entrant", OURS], Path(given.today))
            for figure in (before or [])[:1]:
                found.append(Figure(**figure | {"entrant": "cgboost before"}))
        lines.append(_summary(row, found))
        print(_line(row, found, " MB" if given.memory else " s"), flush=True)
    if given.docs:
        path = Path(given.docs) / "users.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(
                ("work", "cgboost, CPU ms", "fastest other", "CPU ms", "ratio", "wanted")
            )
            table.writerows(lines)


def _child(rows: list[Row], given: object) -> None:
    """Print figures for a parent process; the row is the one of exactly this name."""
    row = next(row for row in rows if row.name == given.rows)
    if given.memory:
        print(json.dumps(peak_megabytes(row, given.entrant)))
    else:
        found = measured(row, given.repeats, (given.entrant,))
        print(json.dumps([dataclasses.asdict(figure) for figure in found]))


def _memory(row: Row, given: object) -> list[Figure]:
    """Peak memory of every entrant, each in a process of its own."""
    asked = ["--data", given.data, "--rows", row.name, "--memory", "--entrant"]
    found = [(name, in_child([*asked, name])) for name in row.entrants]
    return [Figure(row.name, name, peak, "") for name, peak in found if peak is not None]


def _summary(row: Row, found: list[Figure]) -> tuple[str, ...]:
    """A row beside the fastest of the others, as the cells of a table."""
    ours = min((own for own in found if own.entrant == OURS), key=lambda own: own.seconds)
    peers = [figure for figure in found if not figure.entrant.startswith(OURS)]
    best = min(peers, key=lambda own: own.seconds, default=None)
    cells = row.name, _milliseconds(ours.seconds)
    wanted = "" if row.goal is None else f"{row.goal:g}"
    if best is None:
        return *cells, "", "", "", wanted
    ratio = f"{ours.seconds / best.seconds:.2f}"
    return *cells, best.entrant, _milliseconds(best.seconds), ratio, wanted


def _milliseconds(seconds: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{1e3 * seconds:.3g}'):g}"


def _line(row: Row, found: list[Figure], unit: str) -> str:
    """One line of the table: ours, the peers, the ratio to the best of them."""
    ours = next((figure.seconds for figure in found if figure.entrant == OURS), float("nan"))
    peers = [figure.seconds for figure in found if not figure.entrant.startswith(OURS)]
    told = "; ".join(
        f"{figure.entrant} {figure.seconds:.4g}{unit}"
        + (f" ({figure.score})" if figure.score else "")
        for figure in found
    )
    best = min(peers, default=0.0)  # a run within the memory that reading the rows took has 0 MB
    ratio = f" → {ours / best:.2f} ×" if best > 0 else ""
    wanted = f" (wanted ≤ {row.goal:g})" if row.goal is not None else ""
    return f"{row.name}: {told}{ratio}{wanted}"


if __name__ == "__main__":
    main()
