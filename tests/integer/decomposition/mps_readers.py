"""What readers of other programs make of MPS files, as JSON: one line for each file.

    python -m tests.integer.decomposition.mps_readers scip a.mps b.mps

A file that a program refuses is null. Infinite bounds are infinite, whatever the program writes for
them; variables and rows have their names, and coefficients of zero are left out.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any


def entry(lower: float, upper: float, *rest: Any) -> list[Any]:
    """The ends of an interval, and what else there is to say."""
    return [-math.inf if lower <= -1e20 else lower, math.inf if upper >= 1e20 else upper, *rest]


def highs(path: str) -> dict[str, Any] | None:
    """What HiGHS reads."""
    import highspy

    own = highspy.Highs()
    own.silent()
    if own.readModel(path) == highspy.HighsStatus.kError:
        return None
    lp = own.getLp()
    whole = [each == highspy.HighsVarType.kInteger for each in lp.integrality_] or [False] * 99
    terms: list[dict[str, float]] = [{} for _ in lp.row_names_]
    own.ensureColwise()
    matrix = own.getLp().a_matrix_
    for j, name in enumerate(lp.col_names_):
        for place in range(matrix.start_[j], matrix.start_[j + 1]):
            terms[matrix.index_[place]][name] = float(matrix.value_[place])
    columns = zip(lp.col_names_, lp.col_lower_, lp.col_upper_, whole, lp.col_cost_, strict=False)
    return {
        "maximize": lp.sense_ == highspy.ObjSense.kMaximize,
        "constant": lp.offset_,
        "columns": {name: entry(float(a), float(b), k, float(c)) for name, a, b, k, c in columns},
        "rows": {
            name: entry(float(a), float(b), own)
            for name, a, b, own in zip(
                lp.row_names_, lp.row_lower_, lp.row_upper_, terms, strict=True
            )
        },
    }


def scip(path: str) -> dict[str, Any] | None:
    """What SCIP reads."""
    import pyscipopt

    own = pyscipopt.Model()
    own.hideOutput()
    try:
        own.readProblem(path)
    except OSError:
        return None
    return {
        "maximize": own.getObjectiveSense() == "maximize",
        "constant": own.getObjoffset(),
        "columns": {
            each.name: entry(
                each.getLbOriginal(),
                each.getUbOriginal(),
                each.vtype() != "CONTINUOUS",
                each.getObj(),
            )
            for each in own.getVars()
        },
        "rows": {
            each.name: entry(own.getLhs(each), own.getRhs(each), own.getValsLinear(each))
            for each in own.getConss(transformed=False)
        },
    }


def glpk(path: str) -> dict[str, Any] | None:
    """What GLPK reads."""
    import swiglpk as tool

    tool.glp_term_out(0)
    own = tool.glp_create_prob()
    if tool.glp_read_mps(own, tool.GLP_MPS_FILE, None, path):
        return None
    n = tool.glp_get_num_cols(own)
    rows = {}
    for i in range(1, 1 + tool.glp_get_num_rows(own)):
        places, values = tool.intArray(n + 1), tool.doubleArray(n + 1)
        length = tool.glp_get_mat_row(own, i, places, values)
        terms = {tool.glp_get_col_name(own, places[k]): values[k] for k in range(1, length + 1)}
        ends = tool.glp_get_row_lb(own, i), tool.glp_get_row_ub(own, i)
        rows[tool.glp_get_row_name(own, i)] = entry(*ends, terms)
    return {
        "maximize": tool.glp_get_obj_dir(own) == tool.GLP_MAX,
        "constant": tool.glp_get_obj_coef(own, 0),
        "columns": {
            tool.glp_get_col_name(own, j): entry(
                tool.glp_get_col_lb(own, j),
                tool.glp_get_col_ub(own, j),
                tool.glp_get_col_kind(own, j) != tool.GLP_CV,
                tool.glp_get_obj_coef(own, j),
            )
            for j in range(1, n + 1)
        },
        "rows": rows,
    }


READERS: dict[str, Callable[[str], dict[str, Any] | None]] = {
    "highs": highs,
    "scip": scip,
    "glpk": glpk,
}


def main(program: str, paths: Iterable[str]) -> None:
    """Print what a program reads in each file."""
    for path in paths:
        sys.stdout.write("\n" + json.dumps(READERS[program](path)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
