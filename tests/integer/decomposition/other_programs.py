"""What other programs make of model files, as JSON, and the files that they write of them.

    python -m tests.integer.decomposition.other_programs scip ANSWERS FOLDER a.mps b.lp

The file ANSWERS has one line for each file: what the program reads, or null where it refuses. If
FOLDER is not empty, the program writes what it has read there, as ``scip_a.mps`` and ``scip_a.lp``.
Infinite bounds are infinite, whatever a program writes for them; coefficients of zero are left out.
"""

from __future__ import annotations

import ctypes
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol


class Loaded(Protocol):
    """A model in the memory of a program."""

    def __init__(self, path: str) -> None:
        """Read a file; an OSError if the program refuses it."""

    def told(self) -> dict[str, Any]:
        """Sense, constant, columns and rows."""

    def write(self, stem: str) -> None:
        """Write an MPS and an LP file."""


def entry(lower: float, upper: float, *rest: Any) -> list[Any]:
    """The ends of an interval, and what else there is to say."""
    return [-math.inf if lower <= -1e20 else lower, math.inf if upper >= 1e20 else upper, *rest]


class Highs:
    """A model of HiGHS."""

    def __init__(self, path: str) -> None:
        import highspy

        self.own = highspy.Highs()
        self.own.silent()
        if self.own.readModel(path) == highspy.HighsStatus.kError:
            raise OSError(path)

    def told(self) -> dict[str, Any]:
        """Sense, constant, columns and rows."""
        import highspy

        self.own.ensureColwise()
        lp = self.own.getLp()
        whole = [each == highspy.HighsVarType.kInteger for each in lp.integrality_]
        whole = whole or [False] * lp.num_col_
        terms: list[dict[str, float]] = [{} for _ in range(lp.num_row_)]
        matrix = lp.a_matrix_
        starts, places, values = matrix.start_, matrix.index_, matrix.value_
        for j, name in enumerate(lp.col_names_):
            for at in range(starts[j], starts[j + 1]):
                terms[places[at]][name] = float(values[at])
        columns = zip(lp.col_names_, lp.col_lower_, lp.col_upper_, whole, lp.col_cost_, strict=True)
        rows = zip(lp.row_names_, lp.row_lower_, lp.row_upper_, terms, strict=True)
        return {
            "maximize": lp.sense_ == highspy.ObjSense.kMaximize,
            "constant": lp.offset_,
            "columns": {
                name: entry(float(a), float(b), k, float(c)) for name, a, b, k, c in columns
            },
            "rows": {name: entry(float(a), float(b), own) for name, a, b, own in rows},
        }

    def write(self, stem: str) -> None:
        """Write an MPS and an LP file."""
        for end in ("mps", "lp"):
            self.own.writeModel(f"{stem}.{end}")


class Scip:
    """A model of SCIP."""

    def __init__(self, path: str) -> None:
        import pyscipopt

        self.own = pyscipopt.Model()
        self.own.hideOutput()
        self.own.readProblem(path)

    def told(self) -> dict[str, Any]:
        """Sense, constant, columns and rows."""
        own = self.own
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
                each.name or f"row {i}": entry(
                    own.getLhs(each), own.getRhs(each), self._terms(each)
                )
                for i, each in enumerate(own.getConss(transformed=False))
            },
        }

    def _terms(self, row: Any) -> dict[str, float]:
        """A variable may be there twice."""
        terms: dict[str, float] = {}
        values = self.own.getConsVals(row)
        for each, value in zip(self.own.getConsVars(row), values, strict=True):
            terms[each.name] = terms.get(each.name, 0.0) + value
        return {name: value for name, value in terms.items() if value}

    def write(self, stem: str) -> None:
        """Write an MPS and an LP file."""
        for end in ("mps", "lp"):
            self.own.writeProblem(f"{stem}.{end}", verbose=False)


class Glpk:
    """A model of GLPK."""

    def __init__(self, path: str) -> None:
        import swiglpk as tool

        tool.glp_term_out(0)
        self.tool, self.own = tool, tool.glp_create_prob()
        if path.endswith(".lp"):
            failed = tool.glp_read_lp(self.own, None, path)
        else:
            failed = tool.glp_read_mps(self.own, tool.GLP_MPS_FILE, None, path)
        if failed:
            raise OSError(path)

    def told(self) -> dict[str, Any]:
        """Sense, constant, columns and rows."""
        tool, own = self.tool, self.own
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

    def write(self, stem: str) -> None:
        """Write an MPS and an LP file."""
        self.tool.glp_write_lp(self.own, None, f"{stem}.lp")
        self.tool.glp_write_mps(self.own, self.tool.GLP_MPS_FILE, None, f"{stem}.mps")


class Cbc:
    """A model of CBC, in the library that the package cbcbox brings.

    That has no function for constants: Clp, which reads MPS files by the same code, tells them.
    """

    def __init__(self, path: str) -> None:
        import cbcbox

        folder = Path(cbcbox.__file__).parent / "cbc_dist" / "lib"
        self.cbc, clp = (ctypes.CDLL(str(folder / f"lib{name}.so")) for name in ("Cbc", "Clp"))
        self.own = self._call("newModel", ctypes.c_void_p)
        self._call("setLogLevel", None, 0)
        is_lp = path.endswith(".lp")
        if self._call("readLp" if is_lp else "readMps", ctypes.c_int, path.encode()):
            raise OSError(path)
        if not self._call("getNumCols", ctypes.c_int):
            raise OSError(path)  # what it says of some files that it does not read
        self.constant: float | None = None
        if not is_lp:
            clp.Clp_newModel.restype = ctypes.c_void_p
            clp.Clp_objectiveOffset.restype = ctypes.c_double
            model = ctypes.c_void_p(clp.Clp_newModel())
            clp.Clp_setLogLevel(model, 0)
            clp.Clp_readMps(model, path.encode(), 1, 0)
            self.constant = 0.0 - float(clp.Clp_objectiveOffset(model))

    def _call(self, name: str, kind: Any, *arguments: Any) -> Any:
        function = getattr(self.cbc, f"Cbc_{name}")
        function.restype = kind
        if name == "newModel":
            return ctypes.c_void_p(function())
        return function(self.own, *arguments)

    def _name(self, kind: str, place: int) -> str:
        text = ctypes.create_string_buffer(1000)
        self._call(f"get{kind}Name", None, place, text, ctypes.c_size_t(1000))
        return text.value.decode()

    def _values(self, name: str, length: int, kind: Any = ctypes.c_double, *at: int) -> list[Any]:
        return list(self._call(name, ctypes.POINTER(kind), *at)[:length]) if length else []

    def told(self) -> dict[str, Any]:
        """Sense, constant, columns and rows."""
        n, m = self._call("getNumCols", ctypes.c_int), self._call("getNumRows", ctypes.c_int)
        lower, upper, cost = (
            self._values(name, n) for name in ("getColLower", "getColUpper", "getObjCoefficients")
        )
        low, high = self._values("getRowLower", m), self._values("getRowUpper", m)
        names, rows = [self._name("Col", j) for j in range(n)], {}
        for i in range(m):
            size = self._call("getRowNz", ctypes.c_int, i)
            places = self._values("getRowIndices", size, ctypes.c_int, i)
            values = self._values("getRowCoeffs", size, ctypes.c_double, i)
            terms = {names[j]: value for j, value in zip(places, values, strict=True) if value}
            rows[self._name("Row", i)] = entry(low[i], high[i], terms)
        return {
            "maximize": self._call("getObjSense", ctypes.c_double) < 0,
            "constant": self.constant,
            "columns": {
                name: entry(
                    lower[j], upper[j], bool(self._call("isInteger", ctypes.c_int, j)), cost[j]
                )
                for j, name in enumerate(names)
            },
            "rows": rows,
        }

    def write(self, stem: str) -> None:
        """Write an MPS and an LP file."""
        self._call("writeLp", None, f"{stem}.lp".encode())
        self._call("writeMps", None, stem.encode())  # it adds .mps.gz


PROGRAMS: dict[str, type[Loaded]] = {"highs": Highs, "scip": Scip, "glpk": Glpk, "cbc": Cbc}


def main(program: str, answers: str, folder: str, paths: Iterable[str]) -> None:
    """Write what a program reads in each file, and let it write that."""
    with Path(answers).open("w", encoding="utf-8") as file:
        for path in paths:
            try:
                model = PROGRAMS[program](path)
            except OSError:
                file.write("null\n")
                file.flush()
                continue
            file.write(json.dumps(model.told()) + "\n")
            if folder:
                model.write(str(Path(folder) / f"{program}_{Path(path).stem}"))


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4:])
