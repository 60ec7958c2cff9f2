"""HiGHS: linear and mixed-integer programs in one live model that keeps its basis.

The simplex is matched to the move: new columns leave the last point primal feasible, so the
primal simplex continues from it; new rows leave it dual feasible, so the dual simplex does. The
wrong pairing costs two to four times the iterations. Every call is checked: the native library
reports errors by return code.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..program.arrays import DenseOrSparse, Float64Array, IntArray, is_sparse
from ..program.errors import check_tolerance, refusal
from ..program.growing import NewColumns, NewRows
from ..program.program import Program
from ..program.solution import Solution
from ..program.status import MissingBackendError, OptionError, SolverFailure, Status
from ..sessions.engine import empty_solution
from ..sessions.rebuilding import CheckedSession
from ..tolerances import MIP_GAP

IndexArray = npt.NDArray[np.int32]


WRONG_VERSION = "1.14.0"
"""Its presolve of mixed-integer programs calls wrong points optimal (HiGHS issues 2957, 2975, 3043
and 3094)."""


def load_highs() -> ModuleType:
    """Import highspy.

    Raises
    ------
    MissingBackendError
        If that cannot be done, or for the version with wrong optima.
    """
    try:
        import highspy
    except ModuleNotFoundError as error:
        raise MissingBackendError(
            "HiGHS is not installed: pip install highspy", backend="highs"
        ) from error
    except ImportError as error:
        raise MissingBackendError(
            f"highspy cannot be imported: {error}. Next to OR-Tools it needs version 1.16: "
            'pip install "highspy>=1.16"',
            backend="highs",
        ) from error
    if _version() == WRONG_VERSION:
        raise MissingBackendError(
            f"highspy {WRONG_VERSION} is refused: its presolve of mixed-integer programs calls "
            f'wrong points optimal. Take another one: pip install "highspy!={WRONG_VERSION}"',
            backend="highs",
        )
    return highspy


def quiet_highs() -> Any:
    """An empty model of HiGHS that prints nothing, not even who made it."""
    return _quiet_class()()


@cache
def _quiet_class() -> type:
    """HiGHS, quiet before it says a word.

    From 1.16 on the first model of a process prints two lines when it turns its callbacks on, which
    is before a user of the class can set an option.
    """
    highs: Any = load_highs().Highs

    class QuietHighs(highs):
        """HiGHS with its output off from the start."""

        def enableCallbacks(self) -> Any:  # noqa: N802
            """Turn the output off, then the callbacks on."""
            self.setOptionValue("output_flag", False)
            return super().enableCallbacks()

    return QuietHighs


@cache
def _version() -> str:
    try:
        return version("highspy")
    except PackageNotFoundError:
        return ""


def run_highs(native: Any) -> Any:
    """Run a model whatever number of threads HiGHS was used with before; its return code.

    HiGHS keeps a scheduler for each thread of Python, and refuses to run with another number of
    threads than it has. Nobody's is left behind, so that others can use HiGHS with any number; but
    within a callback of HiGHS, where it is in use, the model takes it as it is.
    """
    inside = _is_inside_highs()
    code = native.run()
    if code.name == "kError" and native.getModelStatus().name == "kNotset":
        _, threads = native.getOptionValue("threads")
        if inside:
            native.setOptionValue("threads", 0)
        else:
            native.resetGlobalScheduler(True)
        code = native.run()
        native.setOptionValue("threads", threads)
    if not inside:
        native.resetGlobalScheduler(True)
    return code


ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
]
"""Signals of which a handler may raise something to end what runs."""


def run_interruptible(native: Any, meanwhile: Callable[[], Any] = bool) -> bool:
    """Run a model that Ctrl-C ends; whether it came. What else handlers raise is raised at the end.

    ``meanwhile`` is called in between, and ends the run by a true value.

    Python handles signals in its main thread, between two lines of Python: while HiGHS runs there,
    those of a callback, in which HiGHS would take what is raised for a failure.
    (``HandleKeyboardInterrupt`` of highspy takes locks that all models have in common, and Ctrl-C
    at the wrong time leaves them taken, so that the next run never begins.)
    """
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    if threading.current_thread() is threading.main_thread():
        known = {number: signal.getsignal(number) for number in ENDING}
        handlers = {number: own for number, own in known.items() if callable(own)}
    raised: list[BaseException] = []
    runs = [True]

    def struck(number: int, frame: FrameType | None) -> None:
        if not runs:  # another signal, at the end, has left this handler in its place
            handlers[number](number, frame)
            return
        try:
            handlers[number](number, frame)
        except BaseException as error:
            raised.append(error)

    def asked(event: Any) -> None:
        over = bool(raised)
        if not over:
            try:
                over = bool(meanwhile())
            except BaseException as error:
                raised.append(error)
                over = True
        event.interrupt(over)  # always: what was set in an earlier run is still there

    kinds = native.cbMipInterrupt, native.cbSimplexInterrupt, native.cbIpmInterrupt
    try:
        for number in handlers:
            signal.signal(number, struck)
        for kind in kinds:
            kind.subscribe(asked)
        run_highs(native)
        for kind in kinds:
            kind.unsubscribe(asked)
    finally:
        runs.clear()
        for number, own in handlers.items():
            signal.signal(number, own)
    if raised and not isinstance(raised[0], KeyboardInterrupt):
        raise raised[0]
    return bool(raised)


def leave_no_scheduler() -> None:
    """End the scheduler that somebody's use of HiGHS has started in this thread."""
    if not _is_inside_highs():
        load_highs().Highs.resetGlobalScheduler(True)


def _is_inside_highs() -> bool:
    """Whether highspy is calling: that is in its callbacks."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("highspy."):
            return True
        frame = frame.f_back
    return False


class HighsModel:
    """The native model of one session."""

    def __init__(self) -> None:
        highspy = load_highs()
        self.native: Any = quiet_highs()
        self._error = highspy.HighsStatus.kError
        self._integer = int(highspy.HighsVarType.kInteger)

    def load(self, program: Program) -> None:
        """Fill the empty model."""
        no_rows = sp.csr_array((0, program.n_columns))
        self.add_columns(NewColumns(program.cost, no_rows, program.lower, program.upper, None))
        self.add_rows(NewRows(program.matrix, program.row_lower, program.row_upper))
        self._call("changeObjectiveOffset", program.constant)
        if program.integrality is not None:
            at = np.flatnonzero(program.integrality).astype(np.int32)
            kinds = np.full(at.size, self._integer, dtype=np.uint8)
            self._call("changeColsIntegrality", at.size, at, kinds)

    def set_option(self, name: str, value: Any) -> None:
        """Set an option; raises `OptionError` if HiGHS does not take it."""
        try:
            self._call("setOptionValue", name, value)
        except SolverFailure as error:
            raise OptionError(
                f"HiGHS rejects the option {name} = {value!r}", backend="highs", words=error.words
            ) from error

    def add_columns(self, new: NewColumns) -> None:
        """Append columns; the basis stays."""
        starts, index, value = compressed(new.matrix, by_columns=True)
        sizes = (new.cost.size, new.cost, new.lower, new.upper, value.size)
        self._call("addCols", *sizes, starts, index, value)

    def add_rows(self, new: NewRows) -> None:
        """Append rows; the basis stays."""
        starts, index, value = compressed(new.matrix, by_columns=False)
        sizes = (new.lower.size, new.lower, new.upper, value.size)
        self._call("addRows", *sizes, starts, index, value)

    def change(self, what: str, indices: IntArray, *values: Float64Array) -> None:
        """Call ``delete...`` or ``change...`` of HiGHS on a set of rows or columns."""
        if indices.size:
            self._call(what, indices.size, indices.astype(np.int32), *values)

    def set_basis(self, columns: Float64Array, rows: Float64Array) -> None:
        """Set a basis: −1 at the lower bound, +1 at the upper one, 0 basic."""
        import highspy

        status = highspy.HighsBasisStatus
        names = {-1.0: status.kLower, 0.0: status.kBasic, 1.0: status.kUpper}
        basis = highspy.HighsBasis()
        basis.col_status = [names[value] for value in columns.tolist()]
        basis.row_status = [names[value] for value in rows.tolist()]
        basis.valid = basis.alien = True  # alien: HiGHS completes what is no basis
        self._call("setBasis", basis)

    def _call(self, name: str, *args: Any) -> None:
        function: Callable[..., Any] = getattr(self.native, name)
        try:
            code = function(*args)
        except (RuntimeError, TypeError, ValueError) as error:
            raise SolverFailure(
                f"HiGHS {name} failed: {error}", backend="highs", words=str(error)
            ) from error
        if code == self._error:  # a warning is no error: it reports dropped entries below 1e-9
            raise SolverFailure(f"HiGHS refused {name}", backend="highs", words="kError")


def compressed(
    matrix: DenseOrSparse, *, by_columns: bool
) -> tuple[IndexArray, IndexArray, Float64Array]:
    """Return (starts, index, value) of the nonzeros, by rows or by columns."""
    if is_sparse(matrix):
        packed = matrix.tocsc() if by_columns else matrix
        starts, index = packed.indptr[:-1], packed.indices
        return starts.astype(np.int32), index.astype(np.int32), packed.data
    dense: Float64Array = np.ascontiguousarray(matrix.T if by_columns else matrix)
    k, n = dense.shape
    mask = dense != 0.0
    counts = np.count_nonzero(mask, axis=1)
    if counts.sum() == dense.size:
        index, value = np.tile(np.arange(n, dtype=np.int32), k), dense.ravel()
    else:
        index, value = np.nonzero(mask)[1].astype(np.int32), dense[mask]
    starts = np.zeros(k, dtype=np.int32)
    np.cumsum(counts[:-1], out=starts[1:])
    return starts, index, value


logger = logging.getLogger(__name__)

DUAL_SIMPLEX = 1

PRIMAL_SIMPLEX = 4

SIMPLEX_TOLERANCE = 1e-7
"""HiGHS's own default."""

TOLERANCE_RANGE = (1e-10, 1e-2)
"""HiGHS takes none below the first; answers looser than the second would be of no use."""

LONG_SOLVE_SECONDS = 0.1

LARGE_MODEL_NONZEROS = 500_000

_STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kUnboundedOrInfeasible": Status.INFEASIBLE_OR_UNBOUNDED,
    "kTimeLimit": Status.TIME_LIMIT,
    "kIterationLimit": Status.ITERATION_LIMIT,
    "kSolutionLimit": Status.ITERATION_LIMIT,
    "kInterrupt": Status.INTERRUPTED,
    "kHighsInterrupt": Status.INTERRUPTED,
}

CHANGES = {
    ("cost",): "changeColsCost",
    ("lower", "upper"): "changeColsBounds",
    ("row_lower", "row_upper"): "changeRowsBounds",
}
"""What HiGHS calls the change of these vectors of a program."""

_FAILURES = {"kSolveError", "kUnknown", "kNotset", "kPresolveError", "kPostsolveError"}


class HighsBackend:
    """HiGHS through highspy.

    Options of `open` are HiGHS's own (``presolve="on"``, ``solver="ipm"``,
    ``simplex_strategy=1``, ...) and win over the choices made here; ``max_iterations`` limits the
    simplex iterations (the nodes of a mixed-integer program) of each solve.
    """

    name = "highs"
    package = "highspy"
    capabilities = frozenset(
        {"lp", "mip", "warm-start", "add-columns", "time-limit", "certificates", "exact"}
    )

    @property
    def is_installed(self) -> bool:
        """Whether highspy can be imported."""
        return find_spec(self.package) is not None

    def open(self, program: Program, /, **options: Any) -> HighsSession:
        """Start a live model."""
        return HighsSession(self, program, options)


class HighsSession(CheckedSession):
    """A live HiGHS model."""

    def __init__(self, backend: HighsBackend, program: Program, options: dict[str, Any]) -> None:
        super().__init__(backend, program)
        self._is_mip = program.is_mip
        limit = "mip_max_nodes" if self._is_mip else "simplex_iteration_limit"
        aliases = {"max_iterations": limit}
        self._options = {aliases.get(name, name): value for name, value in options.items()}
        self._model = HighsModel()
        self._has_basis = False
        self._is_primal_feasible = False
        self._last_seconds, self._end = 0.0, np.inf
        self._configure()
        self._model.load(program)

    def solve(self, *, tol: float | None = None, time_limit: float | None = None) -> Solution:
        """Solve from the last basis; see `Session.solve`."""
        if self.n_columns == 0:
            return empty_solution(self._growing, "highs")
        start = time.perf_counter()
        self._end = start + (np.inf if time_limit is None else time_limit)
        self._set_tolerance(tol)
        self._match_simplex_to_move()
        status = self._run_until_clear()
        self._has_basis = status == "kOptimal" and not self._is_mip
        self._is_primal_feasible = self._has_basis
        self._last_seconds = time.perf_counter() - start
        return self._conclude(status, tol)

    # --- running -------------------------------------------------------------------------

    def _run_until_clear(self) -> str:
        """Run, and again where HiGHS is known to need it."""
        status = self._run()
        if status == "kUnboundedOrInfeasible":  # presolve found it and did not say which
            self._set("presolve", "off")
            status = self._run()
        if status in _FAILURES:
            self._model.native.clearSolver()  # rare, after many warm starts (HiGHS#1785)
            status = self._run()
        return status

    def _run(self) -> str:
        """Run HiGHS, open to Ctrl-C only where it may take long: that costs 5 µs an iteration."""
        native = self._model.native
        # The limit of a linear program counts over the life of the object, that of others anew.
        used = 0.0 if self._is_mip else native.getRunTime()
        self._set("time_limit", used + max(0.0, self._end - time.perf_counter()))
        is_long = self._is_mip or self._last_seconds > LONG_SOLVE_SECONDS
        if is_long or native.getNumNz() > LARGE_MODEL_NONZEROS:
            if run_interruptible(native):
                return "kInterrupt"
        else:
            run_highs(native)
        return str(native.getModelStatus().name)

    def _match_simplex_to_move(self) -> None:
        if not self._is_mip:
            self._set("presolve", "off" if self._has_basis else "choose")
            self._set(
                "simplex_strategy", PRIMAL_SIMPLEX if self._is_primal_feasible else DUAL_SIMPLEX
            )

    def _configure(self) -> None:
        self._set("output_flag", False)
        self._set("threads", 1)
        if not self._is_mip:
            self._set("solver", "simplex")
        for name, value in self._options.items():
            self._model.set_option(name, value)

    def _set_tolerance(self, tol: float | None) -> None:
        level = SIMPLEX_TOLERANCE if tol is None else float(np.clip(tol, *TOLERANCE_RANGE))
        self._set("primal_feasibility_tolerance", level)
        self._set("dual_feasibility_tolerance", level)
        if self._is_mip:
            self._set("mip_rel_gap", MIP_GAP if tol is None else tol)

    def _set(self, name: str, value: Any) -> None:
        if name not in self._options:
            self._model.set_option(name, value)

    # --- answers -------------------------------------------------------------------------

    def _conclude(self, native_status: str, tol: float | None) -> Solution:
        native = self._model.native
        status = _STATUS.get(native_status, Status.FAILED)
        words = native.modelStatusToString(native.getModelStatus())
        last = self._last_point(status, words)
        if status is not Status.OPTIMAL or last is None:
            raise refusal(status, "highs", words, last)
        found, allowed = self._worst_infeasibility(), check_tolerance(tol)
        if found <= allowed:
            return last
        logger.info("highs: infeasible by %.1e, more than %.0e", found, allowed)
        return replace(last, status=Status.INACCURATE)

    def _worst_infeasibility(self) -> float:
        """Return what HiGHS itself measured; cheap enough for every solve of an inner loop."""
        info = self._model.native.getInfo()
        found = [info.max_primal_infeasibility]
        if not self._is_mip:
            found.append(info.max_dual_infeasibility)
        return float(np.max(found))

    def _last_point(self, status: Status, words: str) -> Solution | None:
        native = self._model.native
        found, info = native.getSolution(), native.getInfo()
        if not found.value_valid:
            return None
        has_duals = found.dual_valid and not self._is_mip
        return Solution(
            status=status,
            x=np.array(found.col_value),
            objective=info.objective_function_value,
            row_duals=np.array(found.row_dual) if has_duals else np.full(self.n_rows, np.nan),
            reduced_costs=np.array(found.col_dual)
            if has_duals
            else np.full(self.n_columns, np.nan),
            iterations=_iterations(info),
            seconds=self._last_seconds,
            backend="highs",
            message=words,
            source=self._growing.snapshot(),
        )

    # --- updates -------------------------------------------------------------------------

    def _native_suggest_basis(self, columns: Float64Array, rows: Float64Array) -> None:
        """Begin there with the primal simplex: a guess is rarely feasible for either."""
        if not self._is_mip:
            self._model.set_basis(columns, rows)
            self._has_basis = self._is_primal_feasible = True

    def _native_add_columns(self, new: NewColumns) -> None:
        self._model.add_columns(new)

    def _native_add_rows(self, new: NewRows) -> None:
        self._model.add_rows(new)
        self._is_primal_feasible = False

    def _native_remove_columns(self, indices: IntArray) -> None:
        self._model.change("deleteCols", np.sort(indices))

    def _native_remove_rows(self, indices: IntArray) -> None:
        self._model.change("deleteRows", np.sort(indices))
        self._is_primal_feasible = False

    def _native_change(self, indices: IntArray, **values: Float64Array) -> None:
        self._model.change(CHANGES[tuple(values)], indices, *values.values())
        self._is_primal_feasible &= "cost" in values


def _iterations(info: Any) -> int:
    counts = (info.simplex_iteration_count, info.ipm_iteration_count, info.pdlp_iteration_count)
    return int(sum(max(0, count) for count in counts))
