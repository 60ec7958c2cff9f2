"""A HiGHS model whose every call is checked: the native library reports errors by return code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.arrays import FloatArray, IntArray, Matrix, is_sparse
from solvers.errors import MissingBackendError, OptionError, SolverFailure
from solvers.growing import NewColumns, NewRows
from solvers.program import Program

IndexArray = npt.NDArray[np.int32]


class HighsModel:
    """The native model of one session."""

    def __init__(self) -> None:
        try:
            import highspy
        except ImportError as error:
            raise MissingBackendError(
                "HiGHS is not installed: pip install highspy", backend="highs"
            ) from error
        self.native: Any = highspy.Highs()
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

    def change(self, what: str, indices: IntArray, *values: FloatArray) -> None:
        """Call ``delete...`` or ``change...`` of HiGHS on a set of rows or columns."""
        if indices.size:
            self._call(what, indices.size, indices.astype(np.int32), *values)

    def set_basis(self, columns: FloatArray, rows: FloatArray) -> None:
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


def compressed(matrix: Matrix, *, by_columns: bool) -> tuple[IndexArray, IndexArray, FloatArray]:
    """Return (starts, index, value) of the nonzeros, by rows or by columns."""
    if is_sparse(matrix):
        packed = matrix.tocsc() if by_columns else matrix
        starts, index = packed.indptr[:-1], packed.indices
        return starts.astype(np.int32), index.astype(np.int32), packed.data
    dense: FloatArray = np.ascontiguousarray(matrix.T if by_columns else matrix)
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
