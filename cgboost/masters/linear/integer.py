"""An integer solution from generated columns: a heuristic, with its gap to the bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost._solvers import LimitError, Program, Solution, SolverError, solve
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Result, relative_gap
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.optimizers.linear.restricted_primal import MasterRows
from cgboost.optimizers.solver_options import checked_options


@dataclass(frozen=True)
class IntegerResult:
    """The best integer combination of the generated columns that was found.

    A *heuristic*: columns that the linear relaxation did not need are missing. What is proven is
    the gap to the bound of the run.

    Attributes
    ----------
    objective : float
    bound : float or None
        Lower bound of the column generation run, valid for the integer problem as well.
    gap : float
        ``|objective − bound|/max(1, |objective|)``; inf without a bound.
    columns : tuple of Column
    coef : ndarray of shape (n_columns,)
        Values of the columns, exactly integer where they had to be.
    proven : bool
        Whether no better combination *of these columns* exists (branch and cut was complete).
    """

    objective: float
    bound: float | None
    gap: float
    columns: tuple[Column, ...] = field(repr=False)
    coef: NDArray[np.float64] = field(repr=False)
    proven: bool

    def __str__(self) -> str:
        """The summary."""
        return self.summary()

    def summary(self) -> str:
        """A few lines for a person."""
        bound = "none" if self.bound is None else f"{self.bound:.8g}"
        among = "best" if self.proven else "found"
        return "\n".join(
            [
                f"integer      {self.objective:.8g} (heuristic: {among} over "
                f"{len(self.coef)} generated columns)",
                f"lower bound  {bound}",
                f"gap          {self.gap:.2e}",
            ]
        )


class SearchedColumns(Protocol):
    """What a tree search has found, as :class:`~cgboost.integer.BranchAndPriceResult` has it."""

    @property
    def bound(self) -> float | None:
        """Lower bound on all solutions."""
        ...

    @property
    def pool(self) -> Sequence[Column]:
        """All columns."""
        ...

    @property
    def whole_sums(self) -> Sequence[Sequence[tuple[int, float]]]:
        """Sums of columns that must be whole; see :func:`combination`."""
        ...


def solve_integer(
    master: LinearMaster,
    result: Result | SearchedColumns,
    *,
    time_limit: float | None = None,
    solver: str = "highs",
    solver_options: Mapping[str, Any] | None = None,
) -> IntegerResult:
    """Solve the restricted master in integers, by branch and cut over the generated columns.

    Parameters
    ----------
    master : LinearMaster
        Its rows and all its columns; those with ``integer=False`` stay continuous.
    result : Result or BranchAndPriceResult
        The run, for its bound. Of a tree search also the columns (its ``pool``), of which the
        master has only those that it began with.
    time_limit : float or None
        Seconds; the best solution found until then is returned, with ``proven=False``.
    solver : str
        A name of :func:`solvers.available_backends` for integer programs.
    solver_options : mapping of str to object, optional
        Options of the solver that is named, by its own names.

    Raises
    ------
    MasterError
        If there is no integer solution over these columns, or none was found in time.
    """
    sums: Sequence[Sequence[tuple[int, float]]] = ()
    if isinstance(result, Result):
        columns = tuple(master.columns)
    else:
        columns, sums = tuple(result.pool), result.whole_sums
    if not columns:
        raise MasterError("there are no columns to combine")
    program = combination(master.constraints, columns, sums)
    options = checked_options(solver, solver_options)
    solution, proven = _solution(program, solver, time_limit, options)
    x = solution.x[: len(columns)]
    coef = np.where([column.integer for column in columns], np.round(x), x)
    objective = float(program.cost[: len(columns)] @ coef)
    return IntegerResult(
        objective=objective,
        bound=result.bound,
        gap=relative_gap(objective, -math.inf if result.bound is None else result.bound),
        columns=columns,
        coef=coef,
        proven=proven,
    )


def combination(
    rows: MasterRows,
    columns: Sequence[Column],
    whole_sums: Sequence[Sequence[tuple[int, float]]] = (),
) -> Program:
    """The integer program over some columns; each sum that must be whole is a variable after them.

    Parameters
    ----------
    whole_sums : sequence of sequence of (int, float)
        Places of columns, and factors on their coefficients.
    """
    n, n_sums = len(columns), len(whole_sums)
    amounts = sp.lil_array((n_sums, n))
    for k, own in enumerate(whole_sums):
        for j, amount in own:
            amounts[k, j] = amount
    values = sp.csc_array(np.column_stack([column.values for column in columns]))
    nothing, ends = np.zeros(n_sums), np.full(n_sums, np.inf)
    return Program(
        cost=np.r_[[column.cost for column in columns], nothing],
        matrix=sp.block_array([[values, None], [amounts, -sp.eye_array(n_sums)]], format="csc"),
        row_lower=np.r_[rows.lower, nothing],
        row_upper=np.r_[rows.upper, nothing],
        lower=np.r_[np.zeros(n), -ends],
        upper=np.r_[[column.upper for column in columns], ends],
        integrality=np.r_[[column.integer for column in columns], ends > 0],
    )


def _solution(
    program: Program, solver: str, time_limit: float | None, options: Mapping[str, Any]
) -> tuple[Solution, bool]:
    try:
        return solve(program, solver, time_limit=time_limit, options=options), True
    except LimitError as error:
        if error.solution is None or not error.solution.primal_residual <= 1e-6:
            raise MasterError(f"no integer solution in time: {error}") from error
        return error.solution, False
    except SolverError as error:
        raise MasterError(f"no integer solution over the generated columns: {error}") from error
