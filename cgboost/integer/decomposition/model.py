"""A mixed-integer linear model with names of its rows and variables, and its readers.

    min or max c'x + constant  with  row_lower ≤ Ax ≤ row_upper,  lower ≤ x ≤ upper,
                                     x_j whole for some j

Sources are MPS and LP files, a :class:`solvers.Program`, and objects of HiGHS, CVXPY and of the
modelling tools of ``modelling_tools.py``.
"""

from __future__ import annotations

import gzip
import logging
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import Program, ProgramError, quiet_highs
from cgboost.arrays import Mask, Vector
from cgboost.exceptions import DataWarning, warn_caller, without_hint
from cgboost.forks import cached_property
from cgboost.generation.resuming import fingerprint
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.lp_text import LP_COMMENT, read_lp
from cgboost.integer.decomposition.model_parts import ModelError, ModelParts, ModelText, text_of
from cgboost.integer.decomposition.modelling_tools import READERS
from cgboost.integer.decomposition.mps_text import DIALECTS, MPS_COMMENT, Dialect, read_mps
from cgboost.integer.decomposition.mps_writer import mps_of
from cgboost.tolerances import LP_FEASIBILITY

if TYPE_CHECKING:
    import highspy

logger = logging.getLogger(__name__)

SPECK = 1e-9
"""A coefficient up to this is left out by HiGHS."""


@dataclass(frozen=True, eq=False)
class Model:
    """A mixed-integer linear program with names.

    Attributes
    ----------
    program : Program
        To be minimised: costs and constant have the opposite sign if the model is to be maximised.
    row_names, names : tuple of str
        Names of the rows and of the variables.
    maximize : bool
    notes : tuple of str
        What was read, in sentences: the objective and its sense, the constant, bounds that the
        source does not give, rows and vectors left out, coefficients taken for 0.
    """

    program: Program
    row_names: tuple[str, ...]
    names: tuple[str, ...]
    maximize: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for kind, names, n in (
            ("rows", self.row_names, self.program.n_rows),
            ("variables", self.names, self.program.n_columns),
        ):
            if len(names) != n:
                raise ModelError(f"{len(names)} names were given for {n} {kind}")
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ModelError(f"two {kind} have the name {twice[0]!r}: names must be unique")
        if self.program.is_qp:
            raise ModelError("the objective is quadratic: only linear ones can be decomposed")

    @cached_property
    def matrix(self) -> sp.csr_array:
        """A, shape (n_rows, n_variables), without zeros: a copy."""
        matrix = sp.csr_array(self.program.matrix, copy=True)
        matrix.eliminate_zeros()
        return matrix

    @property
    def integer(self) -> Mask:
        """Which variables must be integer, shape (n_variables,)."""
        mask = self.program.integrality
        return np.zeros(len(self.names), dtype=np.bool_) if mask is None else mask

    @property
    def marks(self) -> dict[str, str]:
        """A hash of each part of it: models of which all are equal have the same solutions."""
        program, matrix = self.program, self.matrix.copy()
        matrix.sum_duplicates()
        parts: dict[str, tuple[Any, ...]] = {
            "names": (self.names, self.row_names),
            "costs": (program.cost + 0.0,),
            "matrix": (
                matrix.data,
                matrix.indices.astype(np.int64),
                matrix.indptr.astype(np.int64),
            ),
            "sides of rows": (program.row_lower + 0.0, program.row_upper + 0.0),
            "bounds": (program.lower + 0.0, program.upper + 0.0),
            "integer variables": (self.integer,),
        }
        return {name: fingerprint(*part) for name, part in parts.items()}

    def in_own_sense(self, value: float) -> float:
        """A value of the (minimised) program, in the sense of the model."""
        return -value if self.maximize else value

    def write(self, path: str | Path, dialect: str | None = None) -> None:
        """Write an MPS file with the same rows, variables, names and numbers.

        HiGHS, SCIP and CPLEX read this very model, to the last bit; CBC reads numbers of more than
        15 digits up to a unit in the last place. Rows without sides are of type N, which they
        leave out.

        Parameters
        ----------
        path : str or Path
            It ends in ``.mps`` or ``.mps.gz``.
        dialect : {"highs", "cplex", "scip", "cbc", "glpk"} or None
            Whose reader it is for. GLPK takes the constant with the other sign and knows no
            maximisation: what is written for it is the negative, to be minimised. To the others
            one file says the same.

        Raises
        ------
        ModelError
            For a name that no MPS file can have, such as one with a blank.
        ValueError
            For another end, and for a dialect that is not known.

        Warns
        -----
        DataWarning
            Where a row of two sides is off by a unit in the last place, since no length of a range
            leads from one to the other.
        """
        _check_dialect(dialect)
        path = Path(path)
        if not path.name.lower().endswith((".mps", ".mps.gz")):
            raise ValueError(f"path={str(path)!r} must end in .mps or .mps.gz")
        text = mps_of(self, Dialect() if dialect is None else DIALECTS[dialect]).encode()
        path.write_bytes(gzip.compress(text) if path.suffix.lower() == ".gz" else text)

    def violation(self, x: Vector) -> tuple[float, str]:
        """The largest violation, relative to max(1, size of the terms), and where it is."""
        program, matrix = self.program, self.matrix
        rows = matrix @ x
        size = np.maximum(1.0, abs(matrix) @ np.abs(x))
        off = np.maximum(program.row_lower - rows, rows - program.row_upper) / size
        bounds = np.maximum(program.lower - x, x - program.upper) / np.maximum(1.0, np.abs(x))
        whole = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        found = [
            (float(values.max(initial=0.0)), f"{kind} {names[int(values.argmax())]!r}")
            for kind, names, values in (
                ("row", self.row_names, off),
                ("the bounds of", self.names, bounds),
                ("the integrality of", self.names, whole),
            )
            if values.size
        ]
        return max(found, default=(0.0, ""))

    def is_feasible(self, x: Vector) -> bool:
        """Whether a point satisfies rows, bounds and integrality, up to rounding of solvers."""
        return self.violation(x)[0] <= max(INTEGRAL, LP_FEASIBILITY)


def as_model(source: Any, dialect: str | None = None) -> Model:
    """The model in a file, a program, a model of HiGHS or a problem of CVXPY.

    Parameters
    ----------
    source : str or Path, Program, highspy.Highs, cvxpy.Problem, Model, or of a modelling tool
        A file has the end ``.mps`` or ``.lp``, either with ``.gz``. Modelling tools are PuLP,
        Pyomo, linopy, python-mip, OR-Tools (MathOpt, ``model_builder``, ``pywraplp``), PySCIPOpt
        and gurobipy. What is read is the object, not a file that the tool writes of it.
    dialect : {"highs", "cplex", "scip", "cbc", "glpk"} or None
        Whose reader a file is for, where these differ.

    Raises
    ------
    ModelError
        For a file that is missing or damaged, and for a model that is not linear.
    ValueError
        For a dialect that is not known, or of what is no file.
    """
    _check_dialect(dialect)
    model = _without_specks(_copied(_read(source, dialect)))
    if model.notes:
        logger.info("read a model: %s", "; ".join(model.notes))
    return model


def _check_dialect(dialect: str | None) -> None:
    if dialect is not None and dialect not in DIALECTS:
        raise ValueError(
            f"dialect must be {', '.join(map(repr, DIALECTS))} or None, got {dialect!r}"
        )


def _copied(model: Model) -> Model:
    """The same with copies of the arrays: those of a program or a tool are the user's."""
    program = model.program
    own = {each.name: copy(getattr(program, each.name)) for each in fields(program)}
    return replace(model, program=Program.from_valid(**{**own, "matrix": model.matrix}))


def _read(source: Any, dialect: str | None = None) -> Model:
    """The model as it is written."""
    if isinstance(source, str | Path):
        return read_model(source, dialect)
    if dialect is not None:
        raise ValueError(
            f"dialect={dialect!r} says whose reader a file is for, and the model is a "
            f"{type(source).__name__}: leave it out"
        )
    if isinstance(source, Model):
        return source
    if isinstance(source, Program):
        return Model(source, _numbered("r", source.n_rows), _numbered("x", source.n_columns))
    for kind in type(source).__mro__:  # of a class of the user's, the tool is further up
        origin = kind.__module__.split(".")[0]
        if origin == "highspy":
            return from_highs(source)
        if origin == "cvxpy":
            return from_cvxpy(source)
        if origin in READERS:
            return _of_tool(origin, source)
    raise TypeError(
        "a model must be the path of an MPS or LP file, a solvers.Program, or a model of highspy, "
        f"cvxpy, {', '.join(READERS)}; got {type(source).__name__}"
    )


def _without_specks(model: Model) -> Model:
    """A model without coefficients that HiGHS takes for 0, of which a warning says how many."""
    matrix = model.matrix
    specks = np.abs(matrix.data) <= SPECK
    if not specks.any():
        return model
    place = int(np.flatnonzero(specks)[0])
    row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
    said = (
        f"{int(specks.sum())} coefficients of at most {SPECK:g} are taken for 0, as by HiGHS; the "
        f"first is that of {model.names[int(matrix.indices[place])]!r} in the row "
        f"{model.row_names[row]!r}, {matrix.data[place]:g}"
    )
    warn_caller(f"{said}: use other units", DataWarning)
    larger = matrix.copy()
    larger.data[specks] = 0.0
    program = replace(model.program, matrix=larger)
    return replace(model, program=program, notes=(*model.notes, said))


def _of_tool(tool: str, source: Any) -> Model:
    """What the reader of a modelling tool makes of its object."""
    try:
        return model_of(READERS[tool](source))
    except ProgramError as error:
        raise ModelError(f"the model of {tool}: {without_hint(error)}") from error


def read_model(path: str | Path, dialect: str | None = None) -> Model:
    """The model in an MPS or LP file, with ``.gz`` or without."""
    path = Path(path)
    if not path.is_file():
        raise ModelError(f"there is no file {str(path)!r}")
    kind = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else path.suffix
    own = None if dialect is None else DIALECTS[dialect]
    of_mps = read_mps, MPS_COMMENT
    readers = {".lp": (read_lp, LP_COMMENT), ".mps": of_mps, ".qps": of_mps}
    if kind.lower() not in readers:
        raise ModelError(f"the name of {str(path)!r} must end in .mps or .lp, or with .gz after it")
    text = ModelText(path=path)
    read, comment = readers[kind.lower()]
    read(text_of(path, comment), text, own)
    try:
        return model_of(text)
    except (ModelError, ProgramError) as error:
        raise ModelError(f"{str(path)!r}: {without_hint(error)}") from error


def model_of(parts: ModelParts) -> Model:
    """The model of parts that a reader has filled in.

    Raises
    ------
    ModelError
        For bounds and sides that leave no number.
    """
    for what, names, ends in (
        ("row", parts.rows, parts.sides),
        ("variable", parts.names, parts.bounds),
    ):
        _require_order(what, list(names), *np.array(ends, dtype=np.float64).reshape(-1, 2).T)
    return Model(
        parts.program(),
        tuple(parts.rows),
        tuple(parts.names),
        maximize=parts.maximize,
        notes=tuple(parts.notes),
    )


def filled_highs(
    what: str,
    cost: Vector,
    bounds: tuple[Vector, Vector],
    matrix: sp.csr_array,
    sides: tuple[Vector, Vector],
    integer: Mask | None = None,
) -> highspy.Highs:
    """A model of HiGHS that prints nothing and runs in one thread; ``what`` is for messages."""
    highs: highspy.Highs = quiet_highs()
    set_options(highs, threads=1)
    n, empty = len(cost), np.zeros(0, dtype=np.int32)
    columns = highs.addCols(n, cost, *bounds, 0, empty, empty, np.zeros(0))
    checked(columns, f"the variables of {what}")
    entries = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    checked(highs.addRows(len(sides[0]), *sides, matrix.nnz, *entries), f"the rows of {what}")
    if integer is not None:
        kinds = np.arange(n, dtype=np.int32), integer.astype(np.uint8)
        checked(highs.changeColsIntegrality(n, *kinds), f"the integrality of {what}")
    return highs


def set_options(highs: highspy.Highs, **options: Any) -> None:
    """Set options of HiGHS by their names."""
    for name, value in options.items():
        checked(highs.setOptionValue(name, value), f"the option {name}")


def checked(status: Any, what: str) -> None:
    """Raise a ModelError if a call of HiGHS reports an error."""
    if status.name == "kError":
        raise ModelError(f"HiGHS reports an error for {what}")


def whole_ends(lower: Vector, upper: Vector, integer: Mask) -> tuple[Vector, Vector]:
    """Bounds, those of integer variables rounded to whole numbers."""
    inner = np.ceil(lower - INTEGRAL), np.floor(upper + INTEGRAL)
    return np.where(integer, inner[0], lower), np.where(integer, inner[1], upper)


def from_highs(highs: highspy.Highs) -> Model:
    """The model in an object of HiGHS."""
    import highspy

    lp = highs.getLp()
    try:
        row_names, column_names = list(lp.row_names_), list(lp.col_names_)
    except UnicodeDecodeError as error:
        raise ModelError(f"the name of a row or variable is no UTF-8 text: {error}") from error
    if highs.getModel().hessian_.dim_:
        raise ModelError("the objective is quadratic: only linear ones can be decomposed")
    n_rows, n = lp.num_row_, lp.num_col_
    own = lp.a_matrix_
    data = (np.asarray(own.value_), np.asarray(own.index_), np.asarray(own.start_))
    by_columns = own.format_ == highspy.MatrixFormat.kColwise
    kind = sp.csc_array if by_columns else sp.csr_array
    kinds = [each.name for each in lp.integrality_]
    odd = [number for number, each in enumerate(kinds) if each not in ("kContinuous", "kInteger")]
    names = _named(column_names, "x", n)
    if odd:
        raise ModelError(
            f"variable {names[odd[0]]!r} is of the kind {kinds[odd[0]]}: only kContinuous and "
            "kInteger can be decomposed"
        )
    maximize = lp.sense_ == highspy.ObjSense.kMaximize
    sign = -1.0 if maximize else 1.0
    rows = _named(row_names, "r", n_rows)
    _require_order("row", rows, np.asarray(lp.row_lower_), np.asarray(lp.row_upper_))
    _require_order("variable", names, np.asarray(lp.col_lower_), np.asarray(lp.col_upper_))
    program = Program(
        cost=sign * np.asarray(lp.col_cost_, dtype=np.float64),
        matrix=sp.csr_array(kind(data, shape=(n_rows, n))),
        row_lower=np.asarray(lp.row_lower_),
        row_upper=np.asarray(lp.row_upper_),
        lower=np.asarray(lp.col_lower_),
        upper=np.asarray(lp.col_upper_),
        integrality=np.array([each == "kInteger" for each in kinds]) if kinds else None,
        constant=sign * float(lp.offset_),
    )
    return Model(program, rows, names, maximize)


def _require_order(kind: str, names: Sequence[str], lower: Vector, upper: Vector) -> None:
    """Raise a ModelError for crossed bounds, and for infinite ones that leave no value."""
    beyond = np.flatnonzero((lower == np.inf) | (upper == -np.inf))
    if beyond.size:
        j = beyond[0]
        raise ModelError(
            f"{kind} {names[j]!r} must be from {lower[j]:g} to {upper[j]:g}: no number is"
        )
    crossed = np.flatnonzero(lower > upper)
    if crossed.size:
        j = crossed[0]
        raise ModelError(
            f"{kind} {names[j]!r} has the lower bound {lower[j]:g} above the upper one {upper[j]:g}"
        )


def from_cvxpy(problem: Any) -> Model:
    """The standard form of a linear problem of CVXPY, with integer variables or without.

    An entry of a variable is called ``x[0,1]`` after the name of the variable, a variable without
    entries ``y``. Rows are numbered in CVXPY's order (equations first), and have the side of the
    constant on the right. Rows with one variable become bounds.
    """
    import cvxpy

    if not isinstance(problem, cvxpy.Problem):
        raise TypeError(f"expected a cvxpy.Problem, got {type(problem).__name__}")
    unset = [each.name() for each in problem.parameters() if each.value is None]
    if unset:
        raise ModelError(f"parameters without a value: {', '.join(unset)}")
    if not problem.is_dcp():
        raise ModelError("the CVXPY problem is not convex by the rules of CVXPY (is_dcp)")
    maximize = isinstance(problem.objective, cvxpy.Maximize)
    if not problem.variables():
        return _of_constants(problem, maximize)
    try:
        data, _, inverse = problem.get_problem_data("HIGHS")
    except cvxpy.error.SolverError as error:
        raise ModelError(
            f"CVXPY cannot write this as a mixed-integer linear program: {error}"
        ) from error
    if data.get("P") is not None:
        raise ModelError("the objective is quadratic: only linear ones can be decomposed")
    cost = np.asarray(data["c"], dtype=np.float64)
    n, n_equal = cost.size, int(data["dims"].zero)
    right = np.asarray(data["b"], dtype=np.float64)
    low = np.where(np.arange(right.size) < n_equal, right, -np.inf)
    matrix, members = sp.csr_array(data["A"]), dict(_members(inverse))
    turned = _with_the_constant_first(problem, members)
    if turned.size == right.size:  # CVXPY writes a'x >= b as -a'x <= -b
        low, right = np.where(turned, -right, low), np.where(turned, -low, right)
        matrix = sp.csr_array(sp.diags_array(np.where(turned, -1.0, 1.0)) @ matrix)
    whole, binary = np.zeros(n, dtype=np.bool_), np.asarray(data["bool_vars_idx"], dtype=np.intp)
    whole[binary] = True
    whole[np.asarray(data["int_vars_idx"], dtype=np.intp)] = True
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    for own, key in ((lower, "lower_bounds"), (upper, "upper_bounds")):
        if data.get(key) is not None:
            own[:] = data[key]
    lower[binary], upper[binary] = np.maximum(lower[binary], 0), np.minimum(upper[binary], 1)
    offset = float(members.get("offset", 0.0))
    program = _with_bounds(Program(cost, matrix, low, right, lower, upper, None, whole, offset))
    names = _cvxpy_names(inverse, n)
    return Model(program, _numbered("r", program.n_rows), names, maximize)


def _of_constants(problem: Any, maximize: bool) -> Model:
    """A problem without variables: a row 0 ≤ −violation for each constraint."""
    missed = [float(np.max(each.violation(), initial=0.0)) for each in problem.constraints]
    n, none, value = len(missed), np.zeros(0), float(problem.objective.expr.value)
    sides = np.full(n, -np.inf), -np.array(missed)
    constant = -value if maximize else value
    program = Program(none, sp.csr_array((n, 0)), *sides, none, none, None, None, constant)
    return Model(program, _numbered("r", n), (), maximize)


def _members(inverse: Any) -> list[tuple[str, Any]]:
    """What the solver's interface says of the way back: the offset is among it."""
    own = inverse[-1]
    return list((own if isinstance(own, dict) else own.inverse_data).items())


def _with_the_constant_first(problem: Any, members: dict[str, Any]) -> Mask:
    """Rows of constraints whose left argument has no variable, as in b <= a'x."""
    turned = {
        each.id
        for each in problem.constraints
        if len(each.args) == 2 and each.args[0].is_constant() and not each.args[1].is_constant()
    }
    groups = (members.get(kind) or [] for kind in ("eq_constr", "other_constr"))
    own = [np.full(each.size, each.id in turned) for group in groups for each in group]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *own])


def _cvxpy_names(inverse: Any, n: int) -> tuple[str, ...]:
    names = list(_numbered("auxiliary", n))
    stuffed = next(each for each in reversed(inverse) if hasattr(each, "var_offsets"))
    for number, start in stuffed.var_offsets.items():
        shape, name = stuffed.var_shapes[number], stuffed.id2var[number].name()
        size = int(np.prod(shape))
        for place in range(size):
            entry = np.unravel_index(place, shape, order="F") if shape else ()
            names[start + place] = f"{name}[{','.join(map(str, entry))}]" if shape else name
    return tuple(names)


def _with_bounds(program: Program) -> Program:
    """The same program with rows of one variable as bounds."""
    matrix = sp.csr_array(program.matrix, copy=True)
    matrix.eliminate_zeros()
    single = np.flatnonzero(np.diff(matrix.indptr) == 1)
    lower, upper = program.lower.copy(), program.upper.copy()
    for row in single.tolist():
        place = matrix.indptr[row]
        j, a = int(matrix.indices[place]), float(matrix.data[place])
        ends = sorted((program.row_lower[row] / a, program.row_upper[row] / a))
        lower[j], upper[j] = max(lower[j], ends[0]), min(upper[j], ends[1])
    crossed = np.flatnonzero(lower > upper)
    if crossed.size:
        raise ModelError(f"variable {int(crossed[0])} has crossed bounds: nothing is feasible")
    keep = np.diff(matrix.indptr) != 1
    return Program(
        program.cost,
        matrix[keep],
        program.row_lower[keep],
        program.row_upper[keep],
        lower,
        upper,
        None,
        program.integrality,
        program.constant,
    )


def _numbered(letter: str, n: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(n))


def _named(names: Sequence[str], letter: str, n: int) -> tuple[str, ...]:
    given = list(names) if len(names) else [""] * n
    return tuple(name or f"{letter}{number}" for number, name in enumerate(given))
