"""Seeded problems, all public estimators × their options, and what they gave at some commit.

Code that is moved, divided or made shorter must not change what a user sees. This script fits every
public estimator with its losses, penalties, libraries, solvers and kinds of rows, runs column
generation, branch-and-price and decomposition, and keeps what a user reads: objectives, bounds,
predictions on 20 new rows (the rows of a program), and CPU times. A record of the code before a
change is compared with the code after it, on the same machine:

    python -m tests.seeded_fits --record before.json     # before
    python -m tests.seeded_fits --compare before.json    # after; exit status 1 if anything differs
    python -m tests.seeded_fits --compare before.json --only LPBoost

A number differs if it is apart by more than 1e-9, relative to max(1, its size). Numbers of columns
and rounds are printed with a difference, to explain it, and are not compared. The file
``seeded_fits.json`` is the record of the commit that it names. Another machine, or another version
of a solver, differs from it in the last digits, and by more where two columns are equally good.

The table is in ``tests/seeded``: ``estimators.py`` and ``programs.py`` have a line for each problem
or product of options, ``problem.py`` the data. Data are made from a hash of the problem's name:
a new line changes no other. No problem has a time limit, and only public names are imported.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tests.seeded import estimators, programs
from tests.seeded.problem import Problem

RECORD = Path(__file__).with_suffix(".json")
TOLERANCE = 1e-9
PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy", "clarabel", "osqp", "cvxpy")


@cache
def table() -> tuple[Problem, ...]:
    """All problems."""
    return (*estimators.table(), *programs.table())


def answers(only: str = "") -> dict[str, dict[str, Any]]:
    """Every problem's answer, by name; an error is one too."""
    chosen, found = [problem for problem in table() if only in problem.name], {}
    for number, problem in enumerate(chosen, 1):
        sys.stderr.write(f"\r\033[K{number}/{len(chosen)} {problem.name[:100]}")
        sys.stderr.flush()
        try:
            found[problem.name] = problem.answer()
        except Exception as error:
            found[problem.name] = {"error": f"{type(error).__name__}: {error}", "seconds": 0.0}
    sys.stderr.write("\r\033[K")
    return found


def distance(old: Sequence[float], new: Sequence[float]) -> float:
    """The largest difference, relative to max(1, the size); inf where one has no such number."""
    if len(old) != len(new):
        return math.inf
    a, b = np.array(old, dtype=float), np.array(new, dtype=float)
    alike = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        apart = np.where(alike, 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(a)))
    return float(np.nan_to_num(apart, nan=math.inf).max(initial=0.0))


def differences(old: dict[str, Any], new: dict[str, Any]) -> dict[str, float]:
    """What is apart in two answers, by its name."""
    if "error" in old or "error" in new:
        same = old.get("error") == new.get("error")
        return {"error": 0.0 if same else math.inf}
    names = {**old["values"], **new["values"]}
    return {k: distance(old["values"].get(k, []), new["values"].get(k, [])) for k in names}


def compare(old: dict[str, Any], new: dict[str, Any], tolerance: float = TOLERANCE) -> list[str]:
    """A line for each problem that differs, the largest differences first."""
    lines = [(math.inf, f"{name}: missing") for name in sorted(set(old) ^ set(new))]
    for name in sorted(set(old) & set(new)):
        apart = differences(old[name], new[name])
        worst = max(apart.values(), default=0.0)
        if worst > tolerance:
            said = ", ".join(f"{key} {size:.1e}" for key, size in apart.items() if size > tolerance)
            sizes = [answer.get("error") or answer["sizes"] for answer in (old[name], new[name])]
            lines.append((worst, f"{name}: {said}; {sizes[0]} → {sizes[1]}"))
    return [line for _, line in sorted(lines, key=lambda pair: -pair[0])]


def seconds(record: dict[str, Any]) -> float:
    """CPU seconds of all problems."""
    return float(sum(answer["seconds"] for answer in record.values()))


def circumstances() -> dict[str, str]:
    """The commit, and the versions of what computes."""
    asked = ["git", "-C", str(RECORD.parent), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return {"commit": commit} | {name: version(name) for name in PACKAGES}


def write(path: Path, found: dict[str, Any]) -> None:
    """A problem a line, with eleven digits: a comparison is to nine."""
    lines = [
        f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(_short(v))}" for k, v in found.items()
    ]
    made, text = json.dumps(circumstances()), ",\n".join(lines)
    path.write_text(f'{{"made": {made},\n"problems": {{\n{text}\n}}}}\n', encoding="utf-8")


def _short(answer: Any) -> Any:
    """The same with eleven significant digits."""
    if isinstance(answer, float):
        return float(f"{answer:.11g}")
    if isinstance(answer, dict):
        return {name: _short(own) for name, own in answer.items()}
    return [_short(own) for own in answer] if isinstance(answer, list) else answer


def problems_of(path: Path) -> dict[str, Any]:
    """The answers of a record."""
    return dict(json.loads(path.read_text(encoding="utf-8"))["problems"])


def main() -> int:
    """Record or compare; see the top of this file."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--record", type=Path, metavar="FILE", help="write what the problems give")
    task.add_argument("--compare", type=Path, metavar="FILE", help="compare with such a record")
    parser.add_argument("--only", default="", metavar="TEXT", help="problems whose name has it")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    given = parser.parse_args()
    new = answers(given.only)
    failed = {name: answer["error"] for name, answer in new.items() if "error" in answer}
    for name, error in failed.items():
        print(f"{name}: {error}")
    if given.record:
        write(given.record, new)
        print(f"{len(new)} problems, {len(failed)} errors, {seconds(new):.1f} CPU s")
        return bool(failed)
    old = {name: a for name, a in problems_of(given.compare).items() if given.only in name}
    lines = compare(old, new, given.tolerance)
    print(*lines, f"{len(lines)} of {len(new)} problems differ", sep="\n")
    print(f"CPU s: {seconds(old):.1f} before, {seconds(new):.1f} now")
    return bool(lines)


if __name__ == "__main__":
    one = dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    if any(os.environ.get(name) != number for name, number in one.items()):  # NumPy has read them
        again = [sys.executable, "-m", "tests.seeded_fits", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, **one})
    sys.exit(main())
