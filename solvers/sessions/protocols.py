"""What backends and live sessions look like from outside, and the catalogue of backends.

`solvers.api` enters the backends; a session only looks them up, to say who can do what it
cannot.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..program.arrays import MatrixLike
from ..program.program import Program
from ..program.solution import Solution
from ..program.status import UnsupportedProblemError


@runtime_checkable
class Backend(Protocol):
    """One solver: what it can do, and how to start it on a program."""

    @property
    def name(self) -> str:
        """The name it is asked for by."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What it solves, how, and what it keeps to.

        ``"lp", "qp", "mip"``
            Classes of problems.
        ``"warm-start", "add-columns"``
            It goes on from the last solution; its own model grows.
        ``"time-limit"``
            It stops when the time is up. Others refuse a limit, or log that they may exceed it.
        ``"certificates"``
            It proves infeasible and unbounded programs to be so, instead of running into a limit.
        ``"exact"``
            It solves every small program to its tolerance; first-order methods may not.
        """

    @property
    def is_installed(self) -> bool:
        """Whether the package it drives can be imported (found out without importing it)."""

    def open(self, program: Program, /, **options: Any) -> Session:
        """Start a session; raises `SolverError` if the backend cannot take the program."""


@runtime_checkable
class Session(Protocol):
    """A live program that can grow, shrink, change and be solved again.

    An update either applies fully or raises a `SolverError` and changes nothing. A solve that
    failed or hit a limit leaves the session usable.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_columns(self) -> int:
        """Number of variables."""

    @property
    def program(self) -> Program:
        """The current program, materialised on demand."""

    def add_columns(
        self,
        cost: npt.ArrayLike,
        matrix: MatrixLike,
        *,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        quadratic: npt.ArrayLike | None = None,
    ) -> None:
        """Append k variables; `matrix` is (n_rows, k), `quadratic` their (k,) diagonal of P."""

    def add_rows(self, matrix: MatrixLike, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
        """Append k rows; `matrix` is (k, n_columns)."""

    def remove_columns(self, indices: npt.ArrayLike) -> None:
        """Delete variables; later ones move down, as in `numpy.delete`."""

    def remove_rows(self, indices: npt.ArrayLike) -> None:
        """Delete rows; later ones move down, as in `numpy.delete`."""

    def change_cost(self, indices: npt.ArrayLike, cost: npt.ArrayLike) -> None:
        """Replace the linear cost of some variables."""

    def change_column_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some variables."""

    def change_row_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some rows."""

    def suggest_basis(self, columns: npt.ArrayLike, rows: npt.ArrayLike) -> None:
        """Suggest where the next solve should begin; a session without a simplex ignores it.

        Both hold a number for every column (or row): −1 at its lower bound, +1 at its upper bound,
        0 in the basis. There should be as many zeros as there are rows; a basis that is singular,
        or of another size, is completed by the solver.
        """

    def solve(self, *, tol: float | None = None, time_limit: float | None = None) -> Solution:
        """Solve the current program; raises unless there is a usable answer."""


BACKENDS: dict[str, Backend] = {}

PROBLEM_NAMES = {
    "lp": "linear program",
    "qp": "quadratic program",
    "mip": "mixed-integer linear program",
    "miqp": "mixed-integer quadratic program",
}


def class_name(*, is_qp: bool, is_mip: bool) -> str:
    """Return the capability a backend needs: ``"lp"``, ``"qp"``, ``"mip"`` or ``"miqp"``."""
    if is_mip:
        return "miqp" if is_qp else "mip"
    return "qp" if is_qp else "lp"


def local_backends(problem: str | None = None) -> tuple[str, ...]:
    """Return the installed backends with their own file; imports none of their packages."""
    return tuple(
        name
        for name, backend in BACKENDS.items()
        if backend.is_installed and (problem is None or problem in backend.capabilities)
    )


def require_support(backend: Backend, needed: str) -> None:
    """Raise `UnsupportedProblemError` unless the backend solves problems of this class."""
    if needed in backend.capabilities:
        return
    able = ", ".join(local_backends(needed)) or "no other backend either"
    raise UnsupportedProblemError(
        f"{backend.name} does not solve a {PROBLEM_NAMES[needed]}; these do: {able}",
        backend=backend.name,
    )
