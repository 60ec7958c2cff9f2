"""Which backend may be given which class of problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.errors import UnsupportedProblemError

if TYPE_CHECKING:
    from solvers.program import Program
    from solvers.session import Backend

PROBLEM_NAMES = {
    "lp": "linear program",
    "qp": "quadratic program",
    "mip": "mixed-integer linear program",
    "miqp": "mixed-integer quadratic program",
}


def problem_class(program: Program) -> str:
    """Return the capability a backend needs: ``"lp"``, ``"qp"``, ``"mip"`` or ``"miqp"``."""
    return class_name(is_qp=program.is_qp, is_mip=program.is_mip)


def class_name(*, is_qp: bool, is_mip: bool) -> str:
    """Return the name of the problem class with these properties."""
    if is_mip:
        return "miqp" if is_qp else "mip"
    return "qp" if is_qp else "lp"


def require_support(backend: Backend, needed: str) -> None:
    """Raise `UnsupportedProblemError` unless the backend solves problems of this class."""
    if needed in backend.capabilities:
        return
    from solvers.registry import local_backends  # the registry imports the backends

    able = ", ".join(local_backends(needed)) or "no other backend either"
    raise UnsupportedProblemError(
        f"{backend.name} does not solve a {PROBLEM_NAMES[needed]}; these do: {able}",
        backend=backend.name,
    )
