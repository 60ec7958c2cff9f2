"""What other programs, and we, say of a model, in the same words: those of ``other_programs``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cgboost.integer.decomposition.model import Model

ROOT = Path(__file__).parents[3]
PACKAGES = {"highs": "highspy", "scip": "pyscipopt", "glpk": "swiglpk", "cbc": "cbcbox"}


def ask(
    program: str, paths: Sequence[Path], answers: Path, folder: Path | None = None
) -> list[dict[str, Any] | None]:
    """What a program reads in each file, in a process of its own; a skip without its package."""
    if find_spec(PACKAGES[program]) is None:
        pytest.skip(f"{PACKAGES[program]} is not installed: it is in the extra of peers")
    command = [sys.executable, "-m", "tests.integer.decomposition.other_programs", program]
    command += [str(answers), str(folder or ""), *map(str, paths)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert not ended.returncode, ended.stderr.decode(errors="replace")
    return [json.loads(line) for line in answers.read_text().splitlines()]


def told(model: Model) -> dict[str, Any]:
    """A model of ours in the same words."""
    program, matrix = model.program, model.matrix
    sign = -1.0 if model.maximize else 1.0
    rows = {}
    for i, row in enumerate(model.row_names):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        names = [model.names[j] for j in matrix.indices[part]]
        terms = dict(zip(names, matrix.data[part].tolist(), strict=True))
        rows[row] = [float(program.row_lower[i]), float(program.row_upper[i]), terms]
    columns = zip(program.lower, program.upper, model.integer, sign * program.cost, strict=True)
    return {
        "maximize": model.maximize,
        "constant": sign * program.constant,
        "columns": {
            name: [float(low), float(high), bool(whole), float(cost)]
            for name, (low, high, whole, cost) in zip(model.names, columns, strict=True)
        },
        "rows": rows,
    }
